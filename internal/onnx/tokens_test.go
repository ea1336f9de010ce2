package onnx

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/internal/testdata"
)

// letters is a library whose tokens are the bytes of a text, and that fails on "!".
type letters struct{ before, after []int32 }

var errMark = errors.New("a mark")

func (l letters) ids(text string, special bool) ([]int32, error) {
	if strings.Contains(text, "!") {
		return nil, errMark
	}
	var ids []int32
	if special {
		ids = append(ids, l.before...)
	}
	for _, b := range []byte(text) {
		ids = append(ids, int32(b))
	}
	if special {
		ids = append(ids, l.after...)
	}
	return ids, nil
}

func (l letters) name(id int32) string {
	return map[int32]string{1: "[CLS]", 2: "[SEP]", 3: "<s>", 4: "</s>"}[id]
}

func (l letters) close() error { return nil }

func TestFramed(t *testing.T) {
	bert, roberta, bare := letters{[]int32{1}, []int32{2}}, letters{[]int32{3}, []int32{4}}, letters{}
	cases := []struct {
		name          string
		lib           letters
		first, second string
		limit         int
		ids, types    []int32
		cut           bool
	}{
		{"as BERT", bert, "ab", "cd", 9, []int32{1, 'a', 'b', 2, 'c', 'd', 2}, []int32{0, 0, 0, 0, 1, 1, 1}, false},
		{"as RoBERTa", roberta, "ab", "cd", 9, []int32{3, 'a', 'b', 4, 4, 'c', 'd', 4}, make([]int32, 8), false},
		{"without special tokens", bare, "ab", "cd", 9, []int32{'a', 'b', 'c', 'd'}, []int32{0, 0, 1, 1}, false},
		{"the second is cut", bert, "ab", "cd", 6, []int32{1, 'a', 'b', 2, 'c', 2}, []int32{0, 0, 0, 0, 1, 1}, true},
		{"the first is cut where it does not fit", bert, "abc", "d", 5, []int32{1, 'a', 'b', 2, 2}, []int32{0, 0, 0, 0, 1}, true},
		{"no room", bert, "ab", "cd", 2, []int32{1, 2, 2}, []int32{0, 0, 1}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f, err := newFramed(c.lib)
			if err != nil {
				t.Fatal(err)
			}
			ids, types, cut, err := f.EncodePair(c.first, c.second, c.limit)
			if err != nil || cut != c.cut {
				t.Errorf("cut %t, error %v", cut, err)
			}
			if diff := cmp.Diff([][]int32{c.ids, c.types}, [][]int32{ids, types}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	f, err := newFramed(bert)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("a single text keeps its closing token", func(t *testing.T) {
		ids, cut, err := f.Encode("abcdef", 4)
		if diff := cmp.Diff([]int32{1, 'a', 'b', 2}, ids); diff != "" || !cut || err != nil {
			t.Errorf("cut %t, error %v, ids (-want +got):\n%s", cut, err, diff)
		}
	})
	t.Run("the library's error is passed on", func(t *testing.T) {
		_, _, one := f.Encode("!", 9)
		_, _, _, two := f.EncodePair("a", "!", 9)
		if !errors.Is(one, errMark) || !errors.Is(two, errMark) {
			t.Errorf("got errors %v and %v", one, two)
		}
	})
	t.Run("tokens are counted, bytes where the library fails", func(t *testing.T) {
		if got := []int{f.Count(""), f.Count("abc"), f.Count("abc!")}; !cmp.Equal(got, []int{0, 3, 4}) {
			t.Errorf("got %v", got)
		}
	})
}

// A byte-pair tokenizer is none of ours: the library reads it.
func TestLibraryReadsWhatWeDoNot(t *testing.T) {
	tok, kind, err := newTokenizer([]byte(`{
		"added_tokens": [
			{"id": 0, "content": "<s>", "special": true, "normalized": false, "single_word": false, "lstrip": false, "rstrip": false},
			{"id": 1, "content": "<pad>", "special": true, "normalized": false, "single_word": false, "lstrip": false, "rstrip": false},
			{"id": 2, "content": "</s>", "special": true, "normalized": false, "single_word": false, "lstrip": false, "rstrip": false}],
		"normalizer": null,
		"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true},
		"post_processor": {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": true, "add_prefix_space": false},
		"truncation": {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0},
		"model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": "", "end_of_word_suffix": "", "fuse_unk": false,
			"vocab": {"<s>": 0, "<pad>": 1, "</s>": 2, "a": 3, "b": 4, "Ġ": 5, "ab": 6}, "merges": ["a b"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if kind != libraryName {
		t.Errorf("read by %q, want %q", kind, libraryName)
	}
	ids, types, _, err := tok.EncodePair("ab a", "b", 32)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]int32{{0, 6, 5, 3, 2, 2, 4, 2}, make([]int32, 8)}, [][]int32{ids, types}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := tok.Close(); err != nil {
		t.Error(err)
	}
}

// On plain English the library is right, and agrees with our tokenizer.
func TestLibraryAgreesOnEnglish(t *testing.T) {
	file, err := os.ReadFile(testdata.Shared(t, "models", "all-minilm-l6-v2", "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	own, kind, err := newTokenizer(file)
	if err != nil || kind != "exact" {
		t.Fatalf("kind %q, error %v", kind, err)
	}
	lib, err := newLibrary(file)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := newFramed(lib)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "Payment is due within thirty days.", "Unbelievable: 3.14 kg of flavourings?", strings.Repeat("long ", 40)} {
		type pair struct{ IDs, Types []int32 }
		var got, want pair
		want.IDs, want.Types, _, _ = own.EncodePair("When is it due?", text, 24)
		got.IDs, got.Types, _, _ = theirs.EncodePair("When is it due?", text, 24)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-ours +theirs):\n%s", text, diff)
		}
	}
}
