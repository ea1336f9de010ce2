package tokenize_test

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/internal/testdata"
	"github.com/seed-d8745b77/rag/internal/tokenize"
)

// vocabulary returns the entries of the built-in model.
func vocabulary(t testing.TB) []string {
	t.Helper()
	raw, err := os.ReadFile("../../embed/local/model/vocab.txt")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
}

func newWordPiece(t testing.TB) *tokenize.WordPiece {
	t.Helper()
	wp, err := tokenize.NewWordPiece(vocabulary(t))
	if err != nil {
		t.Fatal(err)
	}
	return wp
}

// goldenCase is a text and what Hugging Face tokenizers made of it; see scripts/models/golden_tokens.py.
type goldenCase struct {
	Text  []byte  `json:"text"`
	Limit int     `json:"limit"` // 0: none
	IDs   []int32 `json:"ids"`
}

func goldenCases(t testing.TB) []goldenCase {
	t.Helper()
	raw, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []goldenCase
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

func TestWordPieceEqualsHuggingFace(t *testing.T) {
	wp := newWordPiece(t)
	for _, c := range goldenCases(t) {
		limit := c.Limit
		if limit == 0 {
			limit = math.MaxInt
		}
		got, cut := wp.Encode(string(c.Text), limit)
		if diff := cmp.Diff(c.IDs, got); diff != "" {
			t.Errorf("%q: ids (-want +got):\n%s", c.Text, diff)
		}
		count := wp.Count(string(c.Text))
		if c.Limit == 0 && count != len(c.IDs)-2 {
			t.Errorf("%q: Count is %d, want %d", c.Text, count, len(c.IDs)-2)
		}
		if want := count+2 > limit; cut != want {
			t.Errorf("%q: cut is %t with limit %d and %d tokens, want %t", c.Text, cut, limit, count, want)
		}
	}
}

func TestEncodeKeepsTheClosingToken(t *testing.T) {
	wp := newWordPiece(t)
	whole, _ := wp.Encode("one two three", math.MaxInt)
	for limit := -1; limit < len(whole)+2; limit++ {
		got, cut := wp.Encode("one two three", limit)
		n := min(max(limit, 2), len(whole))
		want := append(append([]int32{}, whole[:n-1]...), whole[len(whole)-1])
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("limit %d (-want +got):\n%s", limit, diff)
		}
		if cut != (n < len(whole)) {
			t.Errorf("limit %d: cut is %t", limit, cut)
		}
	}
}

func TestNewWordPieceNeedsSpecialTokens(t *testing.T) {
	if _, err := tokenize.NewWordPiece([]string{"[PAD]", "[UNK]", "[CLS]", "[MASK]", "a"}); err == nil {
		t.Error("a vocabulary without [SEP] was accepted")
	}
}

func TestParseVocabulary(t *testing.T) {
	const good = `{"normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
		"pre_tokenizer": {"type": "BertPreTokenizer"},
		"model": {"type": "WordPiece", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": {"b": 1, "a": 0}}}`
	got, err := tokenize.ParseVocabulary([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" {
		t.Errorf("vocabulary (-want +got):\n%s", diff)
	}
	for name, change := range map[string][2]string{
		"no JSON":           {"{", "["},
		"cased":             {`"lowercase": true`, `"lowercase": false`},
		"keeps accents":     {`"strip_accents": null`, `"strip_accents": false`},
		"other model":       {`"WordPiece"`, `"Unigram"`},
		"other splitter":    {`"BertPreTokenizer"`, `"Metaspace"`},
		"gap in the ids":    {`"b": 1`, `"b": 2`},
		"an id twice":       {`"b": 1`, `"b": 0`},
		"other prefix":      {`"##"`, `"@@"`},
		"other word length": {`100`, `200`},
	} {
		if _, err := tokenize.ParseVocabulary([]byte(strings.Replace(good, change[0], change[1], 1))); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestParseVocabularyOfTheModel(t *testing.T) {
	raw, err := os.ReadFile(testdata.Shared(t, "models", "all-minilm-l6-v2", "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := tokenize.ParseVocabulary(raw)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(vocabulary(t), got); diff != "" {
		t.Errorf("the built-in vocabulary is not the model's (-built-in +model):\n%s", diff)
	}
}

func FuzzWordPiece(f *testing.F) {
	for _, c := range goldenCases(f) {
		f.Add(string(c.Text), 8)
	}
	wp := newWordPiece(f)
	size := int32(len(vocabulary(f)))
	f.Fuzz(func(t *testing.T, text string, limit int) {
		whole, cut := wp.Encode(text, math.MaxInt)
		if cut || len(whole) != wp.Count(text)+2 {
			t.Fatalf("%q: %d ids, cut %t, Count %d", text, len(whole), cut, wp.Count(text))
		}
		for _, id := range whole {
			if id < 0 || id >= size {
				t.Fatalf("%q: id %d is outside the vocabulary", text, id)
			}
		}
		short, cut := wp.Encode(text, limit)
		room := min(max(limit, 2), len(whole))
		if len(short) != room || cut != (room < len(whole)) || !cmp.Equal(short[:room-1], whole[:room-1]) || short[room-1] != whole[len(whole)-1] {
			t.Fatalf("%q cut at %d: %v of %v", text, limit, short, whole)
		}
		if valid := strings.ToValidUTF8(text, "\ufffd"); !utf8.ValidString(text) {
			if got, _ := wp.Encode(valid, math.MaxInt); !cmp.Equal(got, whole) {
				t.Fatalf("%q: its bad bytes do not count as U+FFFD", text)
			}
		}
	})
}

func BenchmarkCount(b *testing.B) {
	wp := newWordPiece(b)
	text := strings.Repeat("The supplier shall notify the customer of any delay without undue hesitation. ", 20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		wp.Count(text)
	}
}
