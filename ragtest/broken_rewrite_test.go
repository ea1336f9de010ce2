package ragtest_test

import (
	"context"
	"maps"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

func init() { maps.Copy(broken, brokenRewrites) }

// brokenRewrites are broken query transformers.
var brokenRewrites = map[string]brokenCase{
	"query transformer that takes the question away": {"what is looked up is a text: plain", rewriterThat(func(rag.RewriteRequest) rag.Rewritten {
		return rag.Rewritten{Text: "something else"}
	})},
	"query transformer that repeats the question": {"what is looked up is a text: plain", rewriterThat(func(req rag.RewriteRequest) rag.Rewritten {
		return rag.Rewritten{Also: []rag.SubQuery{{Text: req.Query}}}
	})},
	"query transformer that adds nothing as a text": {"what is looked up is a text: signs", rewriterThat(func(rag.RewriteRequest) rag.Rewritten {
		return rag.Rewritten{Also: []rag.SubQuery{{Text: " "}}}
	})},
	"query transformer that changes the conversation": {"the same question gives the same, also in many goroutines, and the conversation stays as it is", rewriterThat(func(req rag.RewriteRequest) rag.Rewritten {
		if len(req.Turns) > 0 && req.Turns[0].Text != "" {
			req.Turns[0].Text = ""
			return rag.Rewritten{Text: "first"}
		}
		return rag.Rewritten{}
	})},
	"query transformer that ignores its context": {"a cancelled context ends the work with its error", rewriterThat(func(rag.RewriteRequest) rag.Rewritten {
		return rag.Rewritten{}
	})},
}

// rewriterFunc is a query transformer that looks at no context.
type rewriterFunc func(req rag.RewriteRequest) rag.Rewritten

func (f rewriterFunc) Rewrite(_ context.Context, req rag.RewriteRequest) (rag.Rewritten, error) {
	return f(req), nil
}

func rewriterThat(f rewriterFunc) func(*testing.T) {
	return func(t *testing.T) {
		ragtest.TestQueryTransformer(t, func(*testing.T) rag.QueryTransformer { return f })
	}
}
