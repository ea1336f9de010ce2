package tokenize_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-d8745b77/rag/internal/tokenize"
)

func FuzzUnigram(f *testing.F) {
	for _, c := range goldenCases(f) {
		f.Add(string(c.Text), 8)
	}
	tok := parse(f, unigramFile(f))
	f.Fuzz(func(t *testing.T, text string, limit int) { checkTokenizer(t, tok, text, limit) })
}

func FuzzWordPieceCased(f *testing.F) {
	for _, c := range goldenCases(f) {
		f.Add(string(c.Text), 8)
	}
	cased := wordPieceFile(f)
	cased["normalizer"] = file{"type": "BertNormalizer", "clean_text": false}
	tok := parse(f, cased)
	f.Fuzz(func(t *testing.T, text string, limit int) { checkTokenizer(t, tok, text, limit) })
}

// checkTokenizer holds what every tokenizer must do with every text.
func checkTokenizer(t *testing.T, tok tokenize.Tokenizer, text string, limit int) {
	t.Helper()
	whole, cut := tok.Encode(text, math.MaxInt)
	tokens := tok.Tokens(text)
	if cut || len(tokens) != tok.Count(text) || len(whole) != len(tokens)+2 {
		t.Fatalf("%q: %d ids, cut %t, %d tokens, Count %d", text, len(whole), cut, len(tokens), tok.Count(text))
	}
	start := 0
	for i, token := range tokens {
		if token.ID != whole[i+1] {
			t.Fatalf("%q: token %d is %d in Tokens and %d in Encode", text, i, token.ID, whole[i+1])
		}
		if token.Start < start || token.End < token.Start || token.End > len(text) {
			t.Fatalf("%q: token %d at [%d, %d) after one that begins at %d", text, i, token.Start, token.End, start)
		}
		start = token.Start
	}
	short, cut := tok.Encode(text, limit)
	room := min(max(limit, 2), len(whole))
	if cut != (room < len(whole)) || !cmp.Equal(short[:len(short)-1], whole[:room-1]) {
		t.Fatalf("%q cut at %d: %v of %v, cut %t", text, limit, short, whole, cut)
	}
	var valid []rune // each bad byte is a U+FFFD
	valid = append(valid, []rune(text)...)
	if got, _ := tok.Encode(string(valid), math.MaxInt); !cmp.Equal(got, whole) {
		t.Fatalf("%q: its bad bytes do not count as U+FFFD", text)
	}
	pair, types, _ := tok.EncodePair(text, "b", max(limit, 0))
	if len(pair) != len(types) {
		t.Fatalf("%q: %d ids and %d types", text, len(pair), len(types))
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"normalizer": {"type": "BertNormalizer"}, "pre_tokenizer": {"type": "BertPreTokenizer"},
"model": {"type": "WordPiece", "unk_token": "a", "continuing_subword_prefix": "##", "vocab": {"a": 0}}}`))
	f.Add([]byte(`{"normalizer": {"type": "Precompiled", "precompiled_charsmap": "CAAAAAAEAABhBQAAeAA="},
"pre_tokenizer": {"type": "Metaspace", "replacement": "▁"},
"added_tokens": [{"id": 0, "content": "<unk>", "normalized": true}],
"model": {"unk_id": 0, "vocab": [["<unk>", 0], ["▁\u00e9\\", -1.5]]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		tok, err := tokenize.Parse(raw)
		if err != nil {
			return
		}
		ids, _ := tok.Encode("a é\u0301\xff ▁b", math.MaxInt)
		again, _ := tok.Encode("a é\u0301\xff ▁b", math.MaxInt)
		if diff := cmp.Diff(ids, again, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("two calls differ:\n%s", diff)
		}
	})
}
