package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSearchRewrites(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.rag("ingest", "docs").want(exitDone)
	const question = "compare the notice period with the coffee machine"
	var res struct {
		Rewrites []struct {
			Method string
			Also   []struct{ Text string }
		}
	}
	o := s.rag("search", question, "--rewrite", "decompose", "--json").want(exitDone)
	checkJSON(t, "JSON of search", o)
	o.into(&res)
	if len(res.Rewrites) != 1 || res.Rewrites[0].Method != "decompose" || len(res.Rewrites[0].Also) != 2 {
		t.Fatalf("rewrites %+v", res.Rewrites)
	}
	s.rag("search", question, "--rewrite", "decompose", "--verbose").want(exitDone).prints("rewrite decompose", "  + the notice period\n", "  + the coffee machine\n")
	s.rag("explain", question, "--rewrite", "decompose", "--text", "coffee").want(exitDone)

	s.write("hash.yaml", "embedder: hash\nquery_transforms:\n  - provider: decompose\n    max: 1\n")
	s.rag("search", question, "--json").want(exitDone).into(&res)
	if len(res.Rewrites) != 1 || len(res.Rewrites[0].Also) != 1 {
		t.Errorf("configured: %+v", res.Rewrites)
	}
	s.rag("search", question, "--json", "--rewrite", "history,decompose").want(exitDone).into(&res)
	var methods []string
	for _, r := range res.Rewrites {
		methods = append(methods, r.Method)
	}
	if diff := cmp.Diff([]string{"history", "decompose"}, methods); diff != "" || len(res.Rewrites[1].Also) != 1 {
		t.Errorf("a configured transform keeps its settings: %s %+v", diff, res.Rewrites)
	}
	s.rag("search", question, "--json", "--rewrite", "none").want(exitDone).into(&res)
	if len(res.Rewrites) != 0 {
		t.Errorf("none: %+v", res.Rewrites)
	}
	if o := s.rag("search", question, "--rewrite", "hyde"); o.code == exitDone || !strings.Contains(o.stderr, "hyde: it needs a chat model") {
		t.Errorf("without a model: exit code %d, %s", o.code, o.stderr)
	}
	if o := s.rag("search", question, "--rewrite", "hide"); o.code == exitDone || !strings.Contains(o.stderr, `did you mean "hyde"`) {
		t.Errorf("unknown: exit code %d, %s", o.code, o.stderr)
	}
}

// Each verb that takes --rewrite heeds it: the transform that needs a chat model is missed by all.
func TestEveryQuestionIsRewritten(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.rag("ingest", "docs").want(exitDone)
	const missing = "hyde: it needs a chat model"
	s.rag("search", "annual leave", "--rewrite", "hyde").want(exitFailed).says(missing)
	s.rag("explain", "annual leave", "--rewrite", "hyde", "--text", "leave").want(exitFailed).says(missing)
	s.rag("ask", "annual leave", "--rewrite", "hyde").want(exitFailed).says(missing)
	s.chatWith("annual leave\n", "--rewrite", "hyde").want(exitFailed).says(missing)
}
