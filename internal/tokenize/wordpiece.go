package tokenize

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxWordRunes is the longest word that is looked up in pieces; a longer one is the unknown token
// ("max_input_chars_per_word" of tokenizer.json).
const maxWordRunes = 100

// continuing marks a vocabulary entry that continues a word.
const continuing = "##"

// WordPiece is the tokenizer of uncased BERT models. It normalizes (see normalize), cuts at white space and
// punctuation, and covers each word by the longest vocabulary entries from the left; a word that cannot be covered
// is [UNK]. A special token that stands literally in the text is that token.
type WordPiece struct {
	starts                map[string]int32 // entries that begin a word
	continues             map[string]int32 // entries that continue one, without ##
	longest               int              // bytes of the longest entry
	unknown, class, close int32            // [UNK], [CLS], [SEP]
	specials              []special
	scratch               sync.Pool // of *pieces
}

// special is a token that is found in the raw text, before anything is normalized.
type special struct {
	text string
	id   int32
}

var _ Tokenizer = (*WordPiece)(nil)

// NewWordPiece makes a tokenizer of a BERT vocabulary: the entry at index i has id i. The entries [PAD], [UNK],
// [CLS], [SEP] and [MASK] must be there.
func NewWordPiece(vocabulary []string) (*WordPiece, error) {
	w := &WordPiece{
		starts:    make(map[string]int32, len(vocabulary)),
		continues: make(map[string]int32),
	}
	w.scratch.New = func() any { return &pieces{} }
	for i, entry := range vocabulary {
		w.longest = max(w.longest, len(entry))
		if rest, ok := strings.CutPrefix(entry, continuing); ok && rest != "" {
			w.continues[rest] = int32(i)
		} else {
			w.starts[entry] = int32(i)
		}
	}
	for _, name := range []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"} {
		id, ok := w.starts[name]
		if !ok {
			return nil, fmt.Errorf("vocabulary of %d entries has no %s", len(vocabulary), name)
		}
		w.specials = append(w.specials, special{name, id})
	}
	w.unknown, w.class, w.close = w.starts["[UNK]"], w.starts["[CLS]"], w.starts["[SEP]"]
	return w, nil
}

// Encode implements [Tokenizer].
func (w *WordPiece) Encode(text string, limit int) (ids []int32, cut bool) {
	room := max(limit, 2) - 2
	p := w.pieces(text, room)
	defer w.scratch.Put(p)
	cut = len(p.ids) > room
	found := p.ids[:min(len(p.ids), room)]
	ids = make([]int32, 0, len(found)+2)
	ids = append(ids, w.class)
	ids = append(ids, found...)
	return append(ids, w.close), cut
}

// Count implements [Tokenizer].
func (w *WordPiece) Count(text string) int {
	p := w.pieces(text, math.MaxInt)
	defer w.scratch.Put(p)
	return len(p.ids)
}

// pieces is the work in progress on one text.
type pieces struct {
	vocabulary *WordPiece
	ids        []int32
	enough     int // more ids than this are not wanted
	word       []byte
	runes      int // in word
	norm       normalizer
}

// pieces tokenizes text until it has more than enough ids.
func (w *WordPiece) pieces(text string, enough int) *pieces {
	p := w.scratch.Get().(*pieces)
	p.vocabulary, p.ids, p.enough = w, p.ids[:0], enough
	for text != "" && !p.full() {
		at, found := w.nextSpecial(text)
		p.segment(text[:at])
		if found.text != "" && !p.full() {
			p.ids = append(p.ids, found.id)
		}
		text = text[at+len(found.text):]
	}
	return p
}

// nextSpecial finds the first special token in text; without one it returns the end and an empty special.
func (w *WordPiece) nextSpecial(text string) (at int, found special) {
	for from := 0; ; {
		i := strings.IndexByte(text[from:], '[')
		if i < 0 {
			return len(text), special{}
		}
		from += i
		for _, s := range w.specials {
			if strings.HasPrefix(text[from:], s.text) {
				return from, s
			}
		}
		from++
	}
}

func (p *pieces) full() bool { return len(p.ids) > p.enough }

// segment tokenizes text that holds no special token.
func (p *pieces) segment(text string) {
	for r := range p.norm.runes(text) {
		switch {
		case r == ' ':
			p.endWord()
		case isPunctuation(r):
			p.endWord()
			p.addRune(r)
			p.endWord()
		default:
			p.addRune(r)
		}
		if p.full() {
			break
		}
	}
	p.endWord()
}

func (p *pieces) addRune(r rune) {
	p.word = utf8.AppendRune(p.word, r)
	p.runes++
}

// endWord appends the ids of the word gathered so far and begins the next.
func (p *pieces) endWord() {
	if len(p.word) == 0 {
		return
	}
	before := len(p.ids)
	if p.runes > maxWordRunes || !p.cover(p.word) {
		p.ids = append(p.ids[:before], p.vocabulary.unknown)
	}
	p.word, p.runes = p.word[:0], 0
}

// cover appends the ids of the longest entries from the left; it reports whether they cover the word.
func (p *pieces) cover(word []byte) bool {
	entries := p.vocabulary.starts
	for len(word) > 0 {
		end := min(len(word), p.vocabulary.longest)
		id, ok := entries[string(word[:end])]
		for !ok && end > 1 {
			end--
			id, ok = entries[string(word[:end])]
		}
		if !ok {
			return false
		}
		p.ids = append(p.ids, id)
		word, entries = word[end:], p.vocabulary.continues
	}
	return true
}
