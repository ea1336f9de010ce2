// Package tokenize turns text into the token ids that encoder models were trained on, equal id by id to Hugging
// Face `tokenizers`.
//
//	tok, err := tokenize.Parse(tokenizerJSON)
//	ids, cut := tok.Encode("What does the contract say?", 256)
//
// It knows WordPiece (BERT, MiniLM, BGE, GTE; cased and uncased) and Unigram (SentencePiece: XLM-R, multilingual E5).
package tokenize

// Tokenizer is what every kind of tokenizer here does. All are immutable after construction and safe for
// concurrent use. Text may hold any bytes; each that is not UTF-8 counts as U+FFFD.
//
// "Special tokens" below are those that the model wants around a text, such as [CLS] and [SEP]. One that stands
// literally in a text is that token too.
type Tokenizer interface {
	// Encode returns the ids of text between the model's special tokens, at most limit ids in all: the text's last
	// tokens are left out, the special ones never, not even where limit is below their number. cut says whether any
	// were left out.
	Encode(text string, limit int) (ids []int32, cut bool)
	// EncodePair returns the ids of two texts as the model wants them joined, at most limit in all, and the segment
	// type of each id. The second text's last tokens are left out; the first's only where it does not fit alone. cut
	// says whether any were.
	EncodePair(first, second string, limit int) (ids, types []int32, cut bool)
	// Count returns the number of tokens of text, without special tokens around it.
	Count(text string) int
	// Tokens returns the tokens of text, without special tokens around it, and where they stand in it.
	Tokens(text string) []Token
}

// Token is a token and the bytes [Start, End) of the text that it covers. Tokens are in the order of the text. A mark
// that the model puts before a word covers nothing where it is a token of its own; tokens of one character's parts
// all cover the character.
type Token struct {
	ID         int32
	Start, End int
}
