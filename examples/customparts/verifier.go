package main

import (
	"context"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// Verbatim is a verifier that believes only what stands in the passage word by word.
type Verbatim struct{}

// Verify returns a verdict for each claim.
func (Verbatim) Verify(ctx context.Context, claims []rag.Claim) ([]rag.Verdict, error) {
	verdicts := make([]rag.Verdict, len(claims))
	for i, c := range claims {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		verdicts[i] = rag.Verdict{Supported: true, Reason: "it stands in the passage"}
		if said := plain(c.Text); said == "" || !strings.Contains(plain(c.Passage), said) {
			verdicts[i] = rag.Verdict{Reason: "it does not stand in the passage word by word"}
		}
	}
	return verdicts, ctx.Err()
}

// plain is a text with one blank between words, in small letters, without the mark at its end.
func plain(text string) string {
	return strings.TrimRight(strings.Join(strings.Fields(strings.ToLower(text)), " "), ".!?")
}
