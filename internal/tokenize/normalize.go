package tokenize

import (
	"iter"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalizer is BERT's for uncased models: control characters are dropped, white space becomes a space, ideographs
// are set apart by spaces, accents are stripped (canonical decomposition without its nonspacing marks), letters
// become lower case. It keeps buffers between texts.
type normalizer struct {
	cleaned, decomposed []byte
}

// runes yields the normalized text. It may be ranged over once before the next call.
func (n *normalizer) runes(text string) iter.Seq[rune] {
	ascii := n.clean(text)
	return func(yield func(rune) bool) {
		if ascii {
			for _, b := range n.cleaned {
				if !yield(lowerASCII(b)) {
					return
				}
			}
			return
		}
		n.decomposed = norm.NFD.Append(n.decomposed[:0], n.cleaned...)
		for rest := n.decomposed; len(rest) > 0; {
			r, size := utf8.DecodeRune(rest)
			rest = rest[size:]
			if r < utf8.RuneSelf {
				r = lowerASCII(byte(r))
			} else if unicode.Is(marks, r) {
				continue
			} else {
				r = lowerCase.ToLower(r)
			}
			if !yield(r) {
				return
			}
		}
	}
}

// clean fills n.cleaned and reports whether it is all ASCII.
func (n *normalizer) clean(text string) (ascii bool) {
	n.cleaned, ascii = n.cleaned[:0], true
	for _, r := range text {
		if r < utf8.RuneSelf {
			if c := asciiClass[r]; c == classSpace {
				n.cleaned = append(n.cleaned, ' ')
			} else if c != classRemoved {
				n.cleaned = append(n.cleaned, byte(r))
			}
			continue
		}
		switch {
		case unicode.Is(removed, r):
		case unicode.IsSpace(r):
			n.cleaned = append(n.cleaned, ' ')
		case unicode.Is(ideographs, r):
			ascii = false
			n.cleaned = append(n.cleaned, ' ')
			n.cleaned = utf8.AppendRune(n.cleaned, r)
			n.cleaned = append(n.cleaned, ' ')
		default:
			ascii = false
			n.cleaned = utf8.AppendRune(n.cleaned, r)
		}
	}
	return ascii
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

func lowerASCII(b byte) rune {
	if 'A' <= b && b <= 'Z' {
		b += 'a' - 'A'
	}
	return rune(b)
}
