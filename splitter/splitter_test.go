package splitter_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

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
		"characters": {Unit: splitter.UnitCharacters, MaxTokens: 300, OverlapTokens: 60}, "words": {Unit: splitter.UnitWords, MaxTokens: 40, OverlapTokens: 8},
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

// Sizes in characters or words are kept to the letter, whatever a tokenizer makes of the text.
func TestUnits(t *testing.T) {
	text := strings.Repeat("Die größte Wärmepumpe läuft ohne Öl. A heat pump moves heat, it makes none. ", 40)
	for _, c := range []struct {
		unit          string
		most, overlap int
		size          func(string) int
	}{
		{splitter.UnitCharacters, 800, 150, utf8.RuneCountInString},
		{splitter.UnitWords, 200, 40, func(s string) int { return len(strings.Fields(s)) }},
	} {
		t.Run(c.unit, func(t *testing.T) {
			s := recursive(t, splitter.Config{Unit: c.unit, MaxTokens: c.most, OverlapTokens: c.overlap})
			chunks, err := s.Split(t.Context(), rag.Document{Text: text})
			if err != nil || len(chunks) < 3 {
				t.Fatalf("%d chunks, %v", len(chunks), err)
			}
			longest := 0
			for i, ch := range chunks {
				longest = max(longest, c.size(ch.Text))
				if i == 0 {
					continue
				}
				if shared := text[ch.Start:chunks[i-1].End]; shared == "" || c.size(shared) > c.overlap {
					t.Errorf("chunk %d repeats %d %s, want 1 to %d", i, c.size(shared), c.unit, c.overlap)
				}
			}
			if longest > c.most || longest < c.most/2 {
				t.Errorf("the longest chunk has %d %s, want %d at most and not far below", longest, c.unit, c.most)
			}
		})
	}
	if a, b := recursive(t, splitter.Config{MaxTokens: 800}).Fingerprint(), recursive(t, splitter.Config{MaxTokens: 800, Unit: splitter.UnitCharacters}).Fingerprint(); a == b {
		t.Errorf("both units have the fingerprint %q", a)
	}
	for want, c := range map[string]splitter.Config{
		`did you mean "characters"`: {Unit: "character"}, "max_tokens is missing": {Unit: splitter.UnitWords},
	} {
		if _, err := splitter.NewRecursive(c, nil); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
}
