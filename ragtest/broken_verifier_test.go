package ragtest_test

import (
	"context"
	"maps"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

func init() { maps.Copy(broken, brokenVerifiers) }

const verifierCounts = "there is one verdict for each claim, in order, with a reason where it is not supported"

// brokenVerifiers are broken verifiers.
var brokenVerifiers = map[string]brokenCase{
	"verifier that believes everything": {verifierCounts, verifierThat(func(rag.Claim) rag.Verdict { return rag.Verdict{Supported: true} })},
	"verifier without reasons":          {verifierCounts, verifierThat(func(c rag.Claim) rag.Verdict { return rag.Verdict{Supported: stands(c)} })},
	"verifier that finds nothing everywhere": {"an empty claim and an empty passage support nothing", verifierThat(func(c rag.Claim) rag.Verdict {
		return rag.Verdict{Supported: strings.Contains(c.Passage, c.Text), Reason: "it was looked for"}
	})},
	"verifier that ignores its context": {"a cancelled context ends the work with its error", verifierThat(func(c rag.Claim) rag.Verdict {
		return rag.Verdict{Supported: stands(c), Reason: "it was looked for"}
	})},
}

func stands(c rag.Claim) bool { return c.Text != "" && strings.Contains(c.Passage, c.Text) }

// verifierFunc is a verifier that looks at no context.
type verifierFunc func(rag.Claim) rag.Verdict

func (f verifierFunc) Verify(_ context.Context, claims []rag.Claim) ([]rag.Verdict, error) {
	verdicts := make([]rag.Verdict, len(claims))
	for i, c := range claims {
		verdicts[i] = f(c)
	}
	return verdicts, nil
}

func verifierThat(f verifierFunc) func(*testing.T) {
	return func(t *testing.T) {
		ragtest.TestVerifier(t, func(*testing.T) rag.Verifier { return f })
	}
}
