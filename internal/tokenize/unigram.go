package tokenize

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// unknownPenalty is how much worse an unknown character is than the worst entry: SentencePiece's kUnkPenalty.
const unknownPenalty = 10

// wordMark stands for the space before a word.
const wordMark = "▁"

// unigram is the model of SentencePiece: of all ways to cut a word into vocabulary entries it takes the one with the
// highest sum of scores. Characters that no entry covers are unknown, neighbouring ones together one token.
type unigram struct {
	trie         *trie
	scores       []float64
	unknown      int32
	unknownScore float64
	bytes        []int32 // ids of the 256 bytes, which stand for unknown characters; nil: they are one unknown token
	words        metaspace
}

// metaspace is how text becomes words: each space becomes a wordMark, which begins a word.
type metaspace struct {
	splitSpace bool // words end at white space, which is dropped, beforehand
	prepend    bool // a text that does not begin with a wordMark is given one
	split      bool // words end before each wordMark; otherwise the text is one word
}

// newUnigram makes the model of a vocabulary by id.
func newUnigram(pieces []string, scores []float64, unknown int32, byteFallback bool, words metaspace) (*unigram, error) {
	if unknown < 0 || int(unknown) >= len(pieces) {
		return nil, fmt.Errorf("unknown token has id %d in a vocabulary of %d", unknown, len(pieces))
	}
	m := &unigram{trie: newTrie(pieces), scores: scores, unknown: unknown, words: words}
	for _, s := range scores {
		m.unknownScore = min(m.unknownScore, s)
	}
	m.unknownScore -= unknownPenalty
	if byteFallback {
		m.bytes = byteIDs(pieces)
	}
	return m, nil
}

// byteIDs returns the ids of <0x00> to <0xFF>; -1 for those that are not there.
func byteIDs(pieces []string) []int32 {
	ids := make([]int32, 1<<8)
	byName := make(map[string]int, len(ids))
	for b := range ids {
		ids[b] = -1
		byName[fmt.Sprintf("<0x%02X>", b)] = b
	}
	for id, piece := range pieces {
		if b, ok := byName[piece]; ok {
			ids[b] = int32(id)
		}
	}
	return ids
}

func (m *unigram) tokenize(w *work, text normalized) {
	if !m.words.splitSpace {
		m.metaspace(w, text)
		return
	}
	for at := 0; at < len(text.text) && !w.full(); {
		rest := bytes.TrimLeftFunc(text.text[at:], unicode.IsSpace)
		from := len(text.text) - len(rest)
		length := bytes.IndexFunc(rest, unicode.IsSpace)
		if length < 0 {
			length = len(rest)
		}
		at = from + length
		m.metaspace(w, text.part(from, at))
	}
}

// metaspace marks where words begin and tokenizes each.
func (m *unigram) metaspace(w *work, text normalized) {
	if len(text.text) == 0 {
		return
	}
	word := &w.word
	word.reset()
	if m.words.prepend && text.text[0] != ' ' && !bytes.HasPrefix(text.text, []byte(wordMark)) {
		at := text.covers(0, 1).start
		word.addString(wordMark, span{at, at})
	}
	for i, b := range text.text {
		from := text.covers(i, i+1)
		if b == ' ' {
			word.addString(wordMark, from)
			continue
		}
		word.text = append(word.text, b)
		word.mark(len(word.text)-1, from)
	}
	for from := 0; from < len(word.text) && !w.full(); {
		to := len(word.text)
		if m.words.split {
			begun := from + min(len(wordMark), len(word.text)-from) // past a mark at the beginning
			if !bytes.HasPrefix(word.text[from:], []byte(wordMark)) {
				begun = from
			}
			if next := bytes.Index(word.text[begun:], []byte(wordMark)); next >= 0 {
				to = begun + next
			}
		}
		m.word(w, from, to)
		from = to
	}
}

// path is the best way to cut a word up to one of its bytes.
type path struct {
	score float64
	start int32 // of the last piece; -1: no way ends here
	id    int32
}

// piece is a part of a word that is one entry, or unknown.
type piece struct{ from, to, id int32 }

// word emits the tokens of the word at [from, to) of w.word.
func (m *unigram) word(w *work, from, to int) {
	text := w.word.text[from:to]
	m.search(w, text)
	w.chosen = w.chosen[:0]
	for end := int32(len(text)); end > 0; {
		p := w.paths[end]
		last := len(w.chosen) - 1
		if p.id == m.unknown && last >= 0 && w.chosen[last].id == m.unknown {
			w.chosen[last].from = p.start
		} else {
			w.chosen = append(w.chosen, piece{p.start, end, p.id})
		}
		end = p.start
	}
	for i := len(w.chosen) - 1; i >= 0; i-- {
		c := w.chosen[i]
		covers := w.word.covers(from+int(c.from), from+int(c.to))
		if c.id != m.unknown || !m.spell(w, text[c.from:c.to], covers) {
			w.emit(c.id, covers)
		}
	}
}

// search fills w.paths with the best way to each byte of text.
func (m *unigram) search(w *work, text []byte) {
	w.paths = append(w.paths[:0], path{})
	for range text {
		w.paths = append(w.paths, path{start: -1})
	}
	for at := 0; at < len(text); {
		_, size := utf8.DecodeRune(text[at:])
		before := w.paths[at].score
		covered := false
		node := uint32(0)
		for end := at; end < len(text); {
			if node = m.trie.child(node, text[end]); node == 0 {
				break
			}
			end++
			if id := m.trie.ids[node]; id >= 0 {
				w.paths[end].offer(before+m.scores[id], at, id)
				covered = covered || end == at+size
			}
		}
		if !covered {
			w.paths[at+size].offer(before+m.unknownScore, at, m.unknown)
		}
		at += size
	}
}

// offer takes a way that is better.
func (p *path) offer(score float64, start int, id int32) {
	if p.start < 0 || score > p.score {
		*p = path{score, int32(start), id}
	}
}

// spell emits unknown text byte by byte; it reports whether the vocabulary has all its bytes.
func (m *unigram) spell(w *work, text []byte, covers span) bool {
	if m.bytes == nil {
		return false
	}
	for _, b := range text {
		if m.bytes[b] < 0 {
			return false
		}
	}
	for _, b := range text {
		w.emit(m.bytes[b], covers)
	}
	return true
}
