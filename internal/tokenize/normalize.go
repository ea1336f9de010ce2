package tokenize

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// bertNormalizer is BERT's, each step of it if set: control characters are dropped and white space becomes a space,
// ideographs are set apart by spaces, accents are stripped (canonical decomposition without its nonspacing marks),
// letters become lower case.
type bertNormalizer struct {
	clean, ideographs, stripAccents, lowercase bool
}

// mark is a character that may change places with its neighbours: those of a run stand by rising class.
type mark struct {
	r     rune
	class uint8
	from  span
}

func (n bertNormalizer) normalize(w *work, text string, at int) {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			n.ascii(w, text[i], span{at + i, at + i + 1})
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		from := span{at + i, at + i + size}
		i += size
		switch {
		case n.clean && unicode.Is(removed, r):
		case n.clean && unicode.IsSpace(r):
			n.flush(w)
			w.normal.add(' ', from)
		case n.ideographs && unicode.Is(ideographs, r):
			n.flush(w)
			w.normal.add(' ', from)
			n.decompose(w, r, from)
			n.flush(w)
			w.normal.add(' ', from)
		default:
			n.decompose(w, r, from)
		}
	}
	n.flush(w)
}

func (n bertNormalizer) ascii(w *work, b byte, from span) {
	r := rune(b)
	if n.clean {
		switch asciiClass[b] {
		case classRemoved:
			return
		case classSpace:
			r = ' '
		}
	}
	n.flush(w)
	if n.lowercase && 'A' <= r && r <= 'Z' {
		r += 'a' - 'A'
	}
	w.normal.add(r, from)
}

// decompose puts the parts of a character where they belong, if accents are stripped; otherwise the character itself.
func (n bertNormalizer) decompose(w *work, r rune, from span) {
	if !n.stripAccents {
		n.put(w, r, from)
		return
	}
	var buf [utf8.UTFMax]byte
	char := buf[:utf8.EncodeRune(buf[:], r)]
	p := norm.NFD.Properties(char)
	parts := p.Decomposition()
	if '가' <= r && r <= '힣' { // composed by rule, not by table
		parts = norm.NFD.Append(nil, char...)
	}
	if parts == nil {
		n.part(w, r, p.CCC(), from)
		return
	}
	for len(parts) > 0 {
		r, size := utf8.DecodeRune(parts)
		n.part(w, r, norm.NFD.Properties(parts).CCC(), from)
		parts = parts[size:]
	}
}

// part takes one part of a decomposed character: a mark waits for the marks after it.
func (n bertNormalizer) part(w *work, r rune, class uint8, from span) {
	if class != 0 {
		w.marks = append(w.marks, mark{r, class, from})
		return
	}
	n.flush(w)
	if !unicode.Is(marks, r) {
		n.put(w, r, from)
	}
}

// flush writes the marks that wait, in canonical order, without those that are stripped.
func (n bertNormalizer) flush(w *work) {
	if len(w.marks) == 0 {
		return
	}
	slices.SortStableFunc(w.marks, func(a, b mark) int { return int(a.class) - int(b.class) })
	for _, m := range w.marks {
		if !unicode.Is(marks, m.r) {
			n.put(w, m.r, m.from)
		}
	}
	w.marks = w.marks[:0]
}

func (n bertNormalizer) put(w *work, r rune, from span) {
	switch {
	case !n.lowercase:
		w.normal.add(r, from)
	case r == 'İ': // the one letter whose lower case is two characters
		w.normal.addString("i\u0307", from)
	default:
		w.normal.add(lowerCase.ToLower(r), from)
	}
}

// Classes of the ASCII characters, which most texts consist of: a table look-up in place of a search in the ranges.
const (
	classWord = iota
	classRemoved
	classSpace
	classPunctuation
)

var asciiClass = func() (class [utf8.RuneSelf]byte) {
	for r := range rune(utf8.RuneSelf) {
		switch {
		case unicode.Is(removed, r):
			class[r] = classRemoved
		case unicode.IsSpace(r):
			class[r] = classSpace
		case unicode.Is(punctuation, r):
			class[r] = classPunctuation
		}
	}
	return class
}()

func isPunctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return asciiClass[r] == classPunctuation
	}
	return unicode.Is(punctuation, r)
}
