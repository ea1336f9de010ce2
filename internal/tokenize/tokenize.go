// Package tokenize turns text into the token ids that encoder models were trained on, equal id by id to Hugging
// Face `tokenizers`.
//
//	wp, err := tokenize.NewWordPiece(vocabulary)
//	ids, cut := wp.Encode("What does the contract say?", 256)
package tokenize

// Tokenizer is what every kind of tokenizer here does. All are immutable after construction and safe for
// concurrent use. Text may hold any bytes; those that are not UTF-8 count as U+FFFD.
type Tokenizer interface {
	// Encode returns the ids of text between the model's opening and closing special tokens, at most limit ids in
	// all: the text's last tokens are left out, the closing one never. cut says whether any were. A limit below 2
	// counts as 2.
	Encode(text string, limit int) (ids []int32, cut bool)
	// Count returns the number of tokens of text, without special tokens around it.
	Count(text string) int
}
