package terms

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/seed-d8745b77/rag/internal/analyze"
)

// Range is a part of a text in bytes, half-open.
type Range struct{ Start, End int }

// Highlight returns where words that a question asks for stand in texts, in the order of the texts. A word is marked whole if a
// term of the question is found by it, and so is an identifier of which the question names a part. In scripts without blanks
// those characters are marked that the question has in this order. Of the passages it looks at Text and Language.
func (k *Maker) Highlight(asked *Asked, question string, passages []Passage) [][]Range {
	h := highlighter{analyzer: k.Analyzer, terms: map[string]bool{}, grams: map[string]bool{}, seen: map[string]map[string]bool{}}
	for _, clause := range asked.Clauses {
		for _, term := range clause.Terms {
			h.terms[term] = true
		}
	}
	plain := newPlain(question)
	for piece := range markable(plain.text) {
		if piece.gram {
			h.grams[h.first(plain.text[piece.Start:piece.End])] = true
		}
	}
	found := make([][]Range, len(passages))
	for i, p := range passages {
		found[i] = h.text(p)
	}
	return found
}

// highlighter compares the words of texts with what a query asks for.
type highlighter struct {
	analyzer *analyze.Analyzer
	terms    map[string]bool
	grams    map[string]bool            // the same of scripts without blanks: a single character only if it stands alone in the query
	stemming string                     // of the text at hand
	seen     map[string]map[string]bool // whether a word gives one of the terms, by stemming
}

func (h *highlighter) text(p Passage) (found []Range) {
	h.stemming = Stemming(p.Text, p.Language)
	if h.seen[h.stemming] == nil {
		h.seen[h.stemming] = map[string]bool{}
	}
	text := newPlain(p.Text)
	for piece := range markable(text.text) {
		if piece.gram {
			found = append(found, h.gram(text.text, piece.Range)...)
		} else {
			found = append(found, h.token(text.text, piece.Range)...)
		}
	}
	for i := range found {
		found[i] = text.original(found[i])
	}
	return found
}

// plain is a text as the analyzer cuts it: a letter may have been written in several characters (a base and its accent,
// the parts of a Hangul syllable), or several letters in one (㎏).
type plain struct {
	text string
	from []Range // by byte of text: where in the original it came from; nil if text is the original
}

func newPlain(text string) plain {
	if norm.NFKC.IsNormalString(text) {
		return plain{text: text}
	}
	var p plain
	var out strings.Builder
	var segments norm.Iter
	ended := 0 // bytes of which it is known where they come from
	for segments.InitString(norm.NFKC, text); !segments.Done(); {
		start := segments.Pos()
		segment := segments.Next()
		out.Write(segment)
		for range segment {
			p.from = append(p.from, Range{Start: start})
		}
		if end := segments.Pos(); end > start { // else there is more of a character that stands for several
			for ; ended < len(p.from); ended++ {
				p.from[ended].End = end
			}
		}
	}
	p.text = out.String()
	return p
}

// original returns where a range of the text, which is not empty, came from.
func (p plain) original(r Range) Range {
	if p.from == nil {
		return r
	}
	return Range{Start: p.from[r.Start].Start, End: p.from[r.End-1].End}
}

// gram marks an n-gram that is asked for, or the characters of it that are asked for alone.
func (h *highlighter) gram(text string, g Range) []Range {
	gram := text[g.Start:g.End]
	if h.grams[h.first(gram)] {
		return []Range{g}
	}
	var found []Range
	for i, r := range gram {
		if h.grams[string(r)] {
			found = append(found, Range{Start: g.Start + i, End: g.Start + i + utf8.RuneLen(r)})
		}
	}
	return found
}

// token marks the words of a token that are asked for, or all of it if only the whole is.
func (h *highlighter) token(text string, t Range) []Range {
	if !h.matches(text[t.Start:t.End]) {
		return nil
	}
	var found []Range
	for start := t.Start; start < t.End; {
		end := t.End
		if n := strings.IndexFunc(text[start:t.End], func(r rune) bool { return !isWordPart(r) }); n >= 0 {
			end = start + n
		}
		if end > start && h.matches(text[start:end]) {
			found = append(found, Range{Start: start, End: end})
		}
		_, joint := utf8.DecodeRuneInString(text[end:t.End])
		start = end + joint
	}
	if found == nil {
		return []Range{t}
	}
	return found
}

// matches reports whether the index finds the word by the query.
func (h *highlighter) matches(word string) bool {
	hit, known := h.seen[h.stemming][word]
	if !known {
		h.analyzer.Passage(word, h.stemming, func(t analyze.Term) { hit = hit || h.terms[t.Text] })
		h.seen[h.stemming][word] = hit
	}
	return hit
}

// first returns the first term of a piece, "" if it has none: of an n-gram that is the n-gram.
func (h *highlighter) first(piece string) string {
	first := ""
	h.analyzer.Passage(piece, h.stemming, func(t analyze.Term) {
		if first == "" {
			first = t.Text
		}
	})
	return first
}

// span is a part of a text that terms are made of: a token with its connectors, or an n-gram of a script without blanks.
type span struct {
	Range
	gram bool
}

// markable yields the pieces of a text. The analyzer's own cuts have no places.
func markable(text string) func(yield func(span) bool) {
	return func(yield func(span) bool) {
		for at := 0; at < len(text); {
			r, size := utf8.DecodeRuneInString(text[at:])
			n := gramLength(r)
			if n == 0 && !isWordPart(r) {
				at += size
				continue
			}
			end := len(text)
			if k := strings.IndexFunc(text[at:], func(r rune) bool { return gramLength(r) != n || n == 0 && !isWordPart(r) && !isJoint(r) }); k >= 0 {
				end = at + k
			}
			if n == 0 {
				end = at + len(strings.TrimRightFunc(text[at:end], func(r rune) bool { return isJoint(r) && r != '+' && r != '#' }))
				if !yield(span{Range: Range{Start: at, End: end}}) {
					return
				}
			} else if !yieldGrams(text, at, end, n, yield) {
				return
			}
			at = end
		}
	}
}

// yieldGrams yields every n characters in a row, or all of them if they are fewer.
func yieldGrams(text string, at, end, n int, yield func(span) bool) bool {
	var starts []int
	for i := range text[at:end] {
		starts = append(starts, at+i)
	}
	starts = append(starts, end)
	last := len(starts) - 1
	for i := range max(1, last-n+1) {
		if !yield(span{Range{Start: starts[i], End: starts[min(i+n, last)]}, true}) {
			return false
		}
	}
	return true
}

// gramLength is the length of the terms of a script without blanks, 0 for the others; as the analyzer has it.
func gramLength(r rune) int {
	switch {
	case r < 0x0E00: // below Thai there are only scripts with blanks
		return 0
	case unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan):
		return 3
	case r == 'ー', unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo):
		return 2
	}
	return 0
}

// isWordPart reports whether a rune is part of a word of a script with blanks.
func isWordPart(r rune) bool {
	return unicode.In(r, unicode.L, unicode.N, unicode.M) && gramLength(r) == 0
}

// isJoint reports whether a rune joins words to a token, or ends one as in C++ and C#.
func isJoint(r rune) bool { return strings.ContainsRune("_.-',’ʼ+#", r) }
