package tokenize_test

import (
	"compress/gzip"
	"encoding/json"
	"maps"
	"math"
	"os"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-d8745b77/rag/internal/tokenize"
)

// file is a tokenizer.json, field by field.
type file map[string]any

// wordPieceFile is the tokenizer of the built-in model, as its tokenizer.json has it.
func wordPieceFile(t testing.TB) file {
	t.Helper()
	words := vocabulary(t)
	ids := map[string]int{}
	for i, w := range words {
		ids[w] = i
	}
	var tokens []any
	for _, w := range []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"} {
		tokens = append(tokens, file{"id": ids[w], "content": w, "special": true})
	}
	token := func(name string, kind int) file { return file{"SpecialToken": file{"id": name, "type_id": kind}} }
	text := func(name string, kind int) file { return file{"Sequence": file{"id": name, "type_id": kind}} }
	return file{
		"added_tokens":  tokens,
		"normalizer":    file{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "lowercase": true},
		"pre_tokenizer": file{"type": "BertPreTokenizer"},
		"post_processor": file{
			"type":   "TemplateProcessing",
			"single": []any{token("[CLS]", 0), text("A", 0), token("[SEP]", 0)},
			"pair":   []any{token("[CLS]", 0), text("A", 0), token("[SEP]", 0), text("B", 1), token("[SEP]", 1)},
			"special_tokens": file{
				"[CLS]": file{"ids": []int{ids["[CLS]"]}},
				"[SEP]": file{"ids": []int{ids["[SEP]"]}},
			},
		},
		"model": file{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": ids},
	}
}

// unigramFile is the tokenizer of the multilingual model that is part of the project.
func unigramFile(t testing.TB) file {
	t.Helper()
	f, err := readUnigram()
	if err != nil {
		t.Fatal(err)
	}
	return maps.Clone(f)
}

// readUnigram reads it once for all tests: its vocabulary has 80,000 entries.
var readUnigram = sync.OnceValues(func() (file, error) {
	raw, err := os.Open("../../embed/local/multilingual/model/tokenizer.json.gz")
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	r, err := gzip.NewReader(raw)
	if err != nil {
		return nil, err
	}
	var f file
	err = json.NewDecoder(r).Decode(&f)
	return f, err
})

func parse(t testing.TB, f file) tokenize.Tokenizer {
	t.Helper()
	raw, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	tok, err := tokenize.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// TestVariantsEqualHuggingFace reads what scripts/models/golden_variants.py made.
func TestVariantsEqualHuggingFace(t *testing.T) {
	raw, err := os.ReadFile("testdata/variants.json")
	if err != nil {
		t.Fatal(err)
	}
	var variants []struct {
		Name, Base string
		Patch      file
		Cases      []struct {
			Text  []byte
			Pair  *[]byte
			Limit int
			IDs   []int32
			Types []int32
		}
	}
	if err := json.Unmarshal(raw, &variants); err != nil {
		t.Fatal(err)
	}
	bases := map[string]file{"wordpiece": wordPieceFile(t), "unigram": unigramFile(t)}
	for _, v := range variants {
		t.Run(v.Base+" "+v.Name, func(t *testing.T) {
			whole := maps.Clone(bases[v.Base])
			maps.Copy(whole, v.Patch)
			tok := parse(t, whole)
			for _, c := range v.Cases {
				var ids, types []int32
				if c.Pair == nil {
					ids, _ = tok.Encode(string(c.Text), math.MaxInt)
					types = c.Types
				} else {
					if c.Limit == 0 {
						c.Limit = math.MaxInt
					}
					ids, types, _ = tok.EncodePair(string(c.Text), string(*c.Pair), c.Limit)
				}
				if diff := cmp.Diff(c.IDs, ids, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%q: ids (-want +got):\n%s", c.Text, diff)
				}
				if diff := cmp.Diff(c.Types, types, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%q: types (-want +got):\n%s", c.Text, diff)
				}
			}
		})
	}
}

func TestTokensCoverTheText(t *testing.T) {
	for _, tt := range []struct {
		name string
		file file
		text string
		want []string // the text that each token covers
	}{
		{"words and their parts", wordPieceFile(t), "Unhappiness, Café!", []string{"Un", "ha", "pp", "iness", ",", "Café", "!"}},
		{"accents that are dropped", wordPieceFile(t), "cafe\u0301 s", []string{"cafe", "s"}},
		{"ideographs", wordPieceFile(t), "人 大", []string{"人", "大"}},
		{"special tokens", wordPieceFile(t), "a[SEP]b", []string{"a", "[SEP]", "b"}},
		{"unknown words", wordPieceFile(t), "hi 🙂🙂 you", []string{"hi", "🙂🙂", "you"}},
		{"words with their space", unigramFile(t), "Hello world", []string{"Hello", " world"}},
		{"a mark of its own", unigramFile(t), "合同", []string{"", "合同"}},
		{"wide letters", unigramFile(t), "ＡＢＣ", []string{"ＡＢＣ"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, token := range parse(t, tt.file).Tokens(tt.text) {
				got = append(got, tt.text[token.Start:token.End])
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestEncodePairCutsTheSecondFirst(t *testing.T) {
	tok := parse(t, wordPieceFile(t))
	first, second := "one two three", "four five six seven"
	whole, _, cut := tok.EncodePair(first, second, math.MaxInt)
	if cut || len(whole) != 3+4+3 {
		t.Fatalf("%v, cut %t: want ten ids, not cut", whole, cut)
	}
	for _, tt := range []struct{ limit, first, second int }{{10, 3, 4}, {9, 3, 3}, {6, 3, 0}, {5, 2, 0}, {3, 0, 0}, {0, 0, 0}} {
		ids, types, cut := tok.EncodePair(first, second, tt.limit)
		want := append(append(append(append([]int32{whole[0]}, whole[1:1+tt.first]...), whole[4]), whole[5:5+tt.second]...), whole[9])
		if diff := cmp.Diff(want, ids); diff != "" {
			t.Errorf("limit %d: ids (-want +got):\n%s", tt.limit, diff)
		}
		var kinds []int32
		for i := range ids {
			kinds = append(kinds, int32(min(1, (i)/(tt.first+2))))
		}
		if diff := cmp.Diff(kinds, types); diff != "" {
			t.Errorf("limit %d: types (-want +got):\n%s", tt.limit, diff)
		}
		if cut != (tt.limit < 10) {
			t.Errorf("limit %d: cut is %t", tt.limit, cut)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	none := file(nil)
	for _, tt := range []struct {
		name  string
		base  func(testing.TB) file
		patch file
	}{
		{"another model", wordPieceFile, file{"model": file{"type": "BPE"}}},
		{"no model", wordPieceFile, file{"model": none}},
		{"another normalizer", wordPieceFile, file{"normalizer": file{"type": "NFC"}}},
		{"no pre-tokenizer", wordPieceFile, file{"pre_tokenizer": none}},
		{"another post-processor", wordPieceFile, file{"post_processor": file{"type": "ByteLevel"}}},
		{"a post-processor without ids", wordPieceFile, file{"post_processor": file{"type": "TemplateProcessing", "single": []file{{"SpecialToken": file{"id": "[X]"}}}}}},
		{"an unknown token that is not there", wordPieceFile, file{"model": file{"type": "WordPiece", "unk_token": "?", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": file{"a": 0}}}},
		{"a gap in the ids", wordPieceFile, file{"model": file{"type": "WordPiece", "vocab": file{"[UNK]": 0, "a": 2}}}},
		{"an added token with another's id", wordPieceFile, file{"added_tokens": []file{{"content": "[SEP]", "id": 7}}}},
		{"whole words only", wordPieceFile, file{"added_tokens": []file{{"content": "x", "single_word": true}}}},
		{"another normalizer for Unigram", unigramFile, file{"normalizer": file{"type": "NFKC"}}},
		{"another order", unigramFile, file{"normalizer": file{"type": "Sequence", "normalizers": []file{{"type": "Replace", "pattern": file{"Regex": "x"}}}}}},
		{"a broken charsmap", unigramFile, file{"normalizer": file{"type": "Precompiled", "precompiled_charsmap": "AAAA"}}},
		{"another pre-tokenizer", unigramFile, file{"pre_tokenizer": file{"type": "ByteLevel"}}},
		{"another mark", unigramFile, file{"pre_tokenizer": file{"type": "Metaspace", "replacement": "_"}}},
		{"a mark before the first word only", unigramFile, file{"pre_tokenizer": file{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"}}},
		{"no unknown token", unigramFile, file{"model": file{"type": "Unigram", "vocab": []any{[]any{"a", -1.0}}}}},
		{"an unknown token outside", unigramFile, file{"model": file{"type": "Unigram", "unk_id": 1, "vocab": []any{[]any{"a", -1.0}}}}},
		{"a vocabulary of another form", unigramFile, file{"model": file{"type": "Unigram", "unk_id": 0, "vocab": []any{[]any{"a"}}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			whole := tt.base(t)
			maps.Copy(whole, tt.patch)
			raw, err := json.Marshal(whole)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tokenize.Parse(raw); err == nil {
				t.Error("accepted")
			} else {
				t.Log(err)
			}
		})
	}
	if _, err := tokenize.Parse([]byte("{")); err == nil {
		t.Error("half a file was accepted")
	}
}
