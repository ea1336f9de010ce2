package splitter_test

import (
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/splitter"
)

func recursive(t testing.TB, c splitter.Config) *splitter.Splitter {
	t.Helper()
	s, err := splitter.NewRecursive(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func section(t testing.TB, c splitter.Config) *splitter.Splitter {
	t.Helper()
	s, err := splitter.NewSection(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestContract(t *testing.T) {
	for name, c := range map[string]splitter.Config{
		"default sizes": {}, "small": {MaxTokens: 20}, "least": {MaxTokens: 8, OverlapTokens: 4, MinTokens: -1}, "no overlap": {OverlapTokens: -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Run("recursive", func(t *testing.T) {
				ragtest.TestSplitter(t, func(t *testing.T) rag.Splitter { return recursive(t, c) })
			})
			t.Run("section", func(t *testing.T) {
				ragtest.TestSplitter(t, func(t *testing.T) rag.Splitter { return section(t, c) })
			})
		})
	}
}
