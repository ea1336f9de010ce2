package main

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// Abbreviations is a query transform that looks up what abbreviations in a question stand for, too. Keys are in small
// letters.
type Abbreviations map[string]string

// Rewrite leaves the question as it is, and has its other wording looked up beside it.
func (a Abbreviations) Rewrite(ctx context.Context, req rag.RewriteRequest) (rag.Rewritten, error) {
	if err := ctx.Err(); err != nil {
		return rag.Rewritten{}, err
	}
	asked := words(req.Query)
	var meant []string
	for _, short := range slices.Sorted(maps.Keys(a)) { // always in the same order
		if asked[short] {
			meant = append(meant, a[short])
		}
	}
	if len(meant) == 0 {
		return rag.Rewritten{}, nil
	}
	return rag.Rewritten{Also: []rag.SubQuery{{Text: req.Query + " " + strings.Join(meant, " ")}}}, nil
}
