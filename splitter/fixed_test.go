package splitter_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/splitter"
)

func fixed(t testing.TB, c splitter.Config) *splitter.Fixed {
	t.Helper()
	s, err := splitter.NewFixed(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFixedContract(t *testing.T) {
	for name, c := range map[string]splitter.Config{
		"tokens": {}, "few tokens": {MaxTokens: 8, OverlapTokens: 4}, "no overlap": {MaxTokens: 10, OverlapTokens: -1},
		"words": {Unit: splitter.UnitWords, MaxTokens: 200, OverlapTokens: 40}, "characters": {Unit: splitter.UnitCharacters, MaxTokens: 60, OverlapTokens: 30},
	} {
		t.Run(name, func(t *testing.T) {
			ragtest.TestSplitter(t, func(t *testing.T) rag.Splitter { return fixed(t, c) })
		})
	}
}

func TestFixedWindows(t *testing.T) {
	words := func(overlap int) splitter.Config {
		return splitter.Config{Unit: splitter.UnitWords, MaxTokens: 8, OverlapTokens: overlap}
	}
	for _, tt := range []struct {
		c    splitter.Config
		text string
		want []string
	}{
		{words(2), " a b c  d\ne f g h i j k l m n ", []string{"a b c  d\ne f g h", "g h i j k l m n"}},
		{words(2), "a b c d e f g h i j k l m n o", []string{"a b c d e f g h", "g h i j k l m n", "m n o"}},
		{words(-1), "a b c d e f g h i", []string{"a b c d e f g h", "i"}},
		{words(4), "a b c", []string{"a b c"}},
		{splitter.Config{Unit: splitter.UnitCharacters, MaxTokens: 9, OverlapTokens: 4}, "abc def ghi jkl", []string{"abc def", "def ghi", "ghi jkl"}},
	} {
		chunks, err := fixed(t, tt.c).Split(t.Context(), rag.Document{Text: tt.text})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range chunks {
			got = append(got, c.Text)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%+v %q: %s", tt.c, tt.text, diff)
		}
	}
}

// Text without blank space is cut too: sixteen bytes count as a word.
func TestFixedLongWord(t *testing.T) {
	chunks, err := fixed(t, splitter.Config{Unit: splitter.UnitWords, MaxTokens: 8, OverlapTokens: -1}).Split(t.Context(), rag.Document{Text: strings.Repeat("课程", 200)})
	if err != nil || len(chunks) < 2 {
		t.Errorf("%d chunks, %v", len(chunks), err)
	}
}

func TestFixedSettings(t *testing.T) {
	if _, err := splitter.NewFixed(splitter.Config{Unit: splitter.UnitWords, MaxTokens: 200, OverlapTokens: 101}, nil); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("an overlap of more than half: %v", err)
	}
	c := splitter.Config{Unit: splitter.UnitWords, MaxTokens: 200, OverlapTokens: 40}
	if a, b := fixed(t, c).Fingerprint(), recursive(t, c).Fingerprint(); a == b {
		t.Errorf("both have the fingerprint %q", a)
	}
}
