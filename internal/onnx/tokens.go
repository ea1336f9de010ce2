package onnx

import (
	"fmt"
	"slices"

	"github.com/seed-d8745b77/rag/internal/tokenize"
)

// Tokenizer turns text into the ids that the model knows. It is safe for concurrent use.
type Tokenizer interface {
	// Encode returns the ids of a text between the model's special tokens, at most limit in all; the text's last ones
	// are left out, and cut says whether any were.
	Encode(text string, limit int) (ids []int32, cut bool, err error)
	// EncodePair returns the ids of two texts as one sequence, at most limit in all, and the segment of each. The last
	// ones of the second text are left out; the first's only where it does not fit alone.
	EncodePair(first, second string, limit int) (ids, types []int32, cut bool, err error)
	// Count returns the number of tokens of a text without special tokens. Where the tokenizer fails, it is the number
	// of bytes, which is never too few.
	Count(text string) int
	// Close frees the tokenizer.
	Close() error
}

// newTokenizer reads a tokenizer.json: our own tokenizers where they know it, which are equal to the reference, else
// the library that hugot has for its backend. kind names which.
func newTokenizer(tokenizerJSON []byte) (t Tokenizer, kind string, err error) {
	own, err := tokenize.Parse(tokenizerJSON)
	if err == nil {
		return exact{own}, "exact", nil
	}
	lib, libErr := newLibrary(tokenizerJSON)
	if libErr != nil {
		return nil, "", fmt.Errorf("%v; %w", err, libErr)
	}
	f, err := newFramed(lib)
	return f, libraryName, err
}

// exact is a tokenizer of our own.
type exact struct{ tokenize.Tokenizer }

func (e exact) Encode(text string, limit int) ([]int32, bool, error) {
	ids, cut := e.Tokenizer.Encode(text, limit)
	return ids, cut, nil
}

func (e exact) EncodePair(first, second string, limit int) (ids, types []int32, cut bool, err error) {
	ids, types, cut = e.Tokenizer.EncodePair(first, second, limit)
	return ids, types, cut, nil
}

func (e exact) Close() error { return nil }

// library is a tokenizer of somebody else, without truncation and padding.
type library interface {
	// ids returns the tokens of a text, with the special tokens of a single text around it if asked.
	ids(text string, special bool) ([]int32, error)
	// name returns a token's text.
	name(id int32) string
	close() error
}

// framed puts special tokens around what a library finds, and cuts.
type framed struct {
	library
	before, between, after []int32
	second                 int32 // segment of the second text and what follows it
}

// newFramed learns the special tokens from a short text. Pairs are joined as BERT does, [CLS] first [SEP] second
// [SEP], or as RoBERTa does, <s> first </s></s> second </s>.
func newFramed(lib library) (*framed, error) {
	const short = "a"
	bare, err := lib.ids(short, false)
	if err != nil {
		return nil, err
	}
	whole, err := lib.ids(short, true)
	if err != nil {
		return nil, err
	}
	at := 0
	for at+len(bare) <= len(whole) && !slices.Equal(bare, whole[at:at+len(bare)]) {
		at++
	}
	if len(bare) == 0 || at+len(bare) > len(whole) {
		return nil, fmt.Errorf("its special tokens cannot be told from text: %v without, %v with them: %w", bare, whole, ErrUnsupported)
	}
	f := &framed{library: lib, before: whole[:at], after: whole[at+len(bare):], second: 1}
	f.between = f.after
	if n := len(f.after); n > 0 && lib.name(f.after[n-1]) == "</s>" {
		f.between, f.second = slices.Concat(f.after, f.after), 0
	}
	return f, nil
}

func (f *framed) Encode(text string, limit int) (ids []int32, cut bool, err error) {
	body, err := f.ids(text, false)
	if err != nil {
		return nil, false, err
	}
	room := max(0, limit-len(f.before)-len(f.after))
	cut = len(body) > room
	return slices.Concat(f.before, body[:min(len(body), room)], f.after), cut, nil
}

func (f *framed) EncodePair(first, second string, limit int) (ids, types []int32, cut bool, err error) {
	a, err := f.ids(first, false)
	if err != nil {
		return nil, nil, false, err
	}
	b, err := f.ids(second, false)
	if err != nil {
		return nil, nil, false, err
	}
	room := max(0, limit-len(f.before)-len(f.between)-len(f.after))
	cut = len(a)+len(b) > room
	a = a[:min(len(a), room)]
	b = b[:min(len(b), room-len(a))]
	ids = slices.Concat(f.before, a, f.between, b, f.after)
	types = make([]int32, len(ids))
	for i := len(f.before) + len(a) + len(f.between); i < len(types); i++ {
		types[i] = f.second
	}
	return ids, types, cut, nil
}

func (f *framed) Count(text string) int {
	ids, err := f.ids(text, false)
	if err != nil {
		return len(text)
	}
	return len(ids)
}

func (f *framed) Close() error { return f.close() }
