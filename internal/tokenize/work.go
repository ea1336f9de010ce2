package tokenize

import (
	"unicode/utf8"
)

// span is a range of bytes of the original text.
type span struct{ start, end int }

// normalized is text as the model's vocabulary has it, and where each byte of it comes from.
type normalized struct {
	text  []byte
	spans []span // of each byte of text; kept only if track
	track bool
}

func (n *normalized) reset() { n.text, n.spans = n.text[:0], n.spans[:0] }

// add appends a character that stands for these bytes of the original.
func (n *normalized) add(r rune, from span) {
	before := len(n.text)
	n.text = utf8.AppendRune(n.text, r)
	n.mark(before, from)
}

// addString appends characters that stand for these bytes of the original.
func (n *normalized) addString(s string, from span) {
	before := len(n.text)
	n.text = append(n.text, s...)
	n.mark(before, from)
}

// mark says where the bytes from before on come from.
func (n *normalized) mark(before int, from span) {
	if !n.track {
		return
	}
	for range len(n.text) - before {
		n.spans = append(n.spans, from)
	}
}

// part returns the bytes [from, to) as a text of its own, in the same memory.
func (n *normalized) part(from, to int) normalized {
	p := normalized{text: n.text[from:to], track: n.track}
	if n.track {
		p.spans = n.spans[from:to]
	}
	return p
}

// covers returns what the bytes [from, to) come from.
func (n *normalized) covers(from, to int) span {
	if !n.track || from == to {
		return span{}
	}
	return span{n.spans[from].start, n.spans[to-1].end}
}

// work is the tokenizing of one text; its buffers serve one text after the other.
type work struct {
	ids    []int32
	spans  []span // of each id; kept only if normal.track
	enough int    // more ids than this are not wanted
	normal normalized
	marks  []mark     // of [bertNormalizer]
	folded normalized // of [precompiled]
	word   normalized // of [unigram]
	paths  []path     // of [unigram]
	chosen []piece    // of [unigram]
}

func (w *work) reset(enough int, track bool) {
	w.ids, w.spans, w.enough = w.ids[:0], w.spans[:0], enough
	w.normal.track, w.folded.track, w.word.track = track, track, track
}

// emit appends a token.
func (w *work) emit(id int32, from span) {
	w.ids = append(w.ids, id)
	if w.normal.track {
		w.spans = append(w.spans, from)
	}
}

func (w *work) full() bool { return len(w.ids) > w.enough }
