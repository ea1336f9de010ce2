package tokenize

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWordRunes is the longest word that BERT models look up in pieces ("max_input_chars_per_word").
const maxWordRunes = 100

// continuing marks a vocabulary entry that continues a word, in BERT models ("continuing_subword_prefix").
const continuing = "##"

// WordPiece is the tokenizer of BERT models. It normalizes, cuts at white space and punctuation, and covers each word
// by the longest vocabulary entries from the left; a word that cannot be covered is [UNK].
type WordPiece struct{ *pipeline }

// NewWordPiece makes the tokenizer of an uncased BERT vocabulary: the entry at index i has id i. The entries [PAD],
// [UNK], [CLS], [SEP] and [MASK] must be there.
func NewWordPiece(vocabulary []string) (*WordPiece, error) {
	pieces := newWordPieces(vocabulary, "[UNK]", continuing, maxWordRunes)
	var tokens []addedToken
	for _, name := range []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"} {
		id, ok := pieces.starts[name]
		if !ok {
			return nil, fmt.Errorf("vocabulary of %d entries has no %s", len(vocabulary), name)
		}
		tokens = append(tokens, addedToken{text: name, id: id})
	}
	uncased := bertNormalizer{clean: true, ideographs: true, stripAccents: true, lowercase: true}
	return &WordPiece{newPipeline(uncased, pieces, bertFrame(pieces.starts["[CLS]"], pieces.starts["[SEP]"]), tokens)}, nil
}

// wordPieces is the model of [WordPiece].
type wordPieces struct {
	starts    map[string]int32 // entries that begin a word
	continues map[string]int32 // entries that continue one, without the prefix
	longest   int              // bytes of the longest entry
	unknown   int32
	wordRunes int // a longer word is unknown
}

// newWordPieces makes the model of a vocabulary by id. An unknown token that is not in it has id -1.
func newWordPieces(vocabulary []string, unknown, prefix string, wordRunes int) *wordPieces {
	m := &wordPieces{
		starts:    make(map[string]int32, len(vocabulary)),
		continues: make(map[string]int32),
		unknown:   -1,
		wordRunes: wordRunes,
	}
	for i, entry := range vocabulary {
		m.longest = max(m.longest, len(entry))
		if rest, ok := strings.CutPrefix(entry, prefix); ok && rest != "" {
			m.continues[rest] = int32(i)
		}
		m.starts[entry] = int32(i)
	}
	if id, ok := m.starts[unknown]; ok {
		m.unknown = id
	}
	return m
}

func (m *wordPieces) tokenize(w *work, text normalized) {
	start, runes := 0, 0 // of the word
	for i := 0; i < len(text.text) && !w.full(); {
		r, size := rune(text.text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text.text[i:])
		}
		switch {
		case unicode.IsSpace(r):
			m.word(w, &text, start, i, runes)
			start, runes = i+size, 0
		case isPunctuation(r):
			m.word(w, &text, start, i, runes)
			m.word(w, &text, i, i+size, 1)
			start, runes = i+size, 0
		default:
			runes++
		}
		i += size
	}
	if !w.full() {
		m.word(w, &text, start, len(text.text), runes)
	}
}

// word emits the tokens of the word at [from, to).
func (m *wordPieces) word(w *work, text *normalized, from, to, runes int) {
	if from == to {
		return
	}
	ids, spans := len(w.ids), len(w.spans)
	if runes > m.wordRunes || !m.cover(w, text, from, to) {
		w.ids, w.spans = w.ids[:ids], w.spans[:spans]
		w.emit(m.unknown, text.covers(from, to))
	}
}

// cover emits the longest entries from the left; it reports whether they cover the word.
func (m *wordPieces) cover(w *work, text *normalized, from, to int) bool {
	entries := m.starts
	for from < to {
		end := min(to, from+m.longest)
		id, ok := entries[string(text.text[from:end])]
		for !ok && end > from+1 {
			end--
			id, ok = entries[string(text.text[from:end])]
		}
		if !ok {
			return false
		}
		w.emit(id, text.covers(from, end))
		from, entries = end, m.continues
	}
	return true
}
