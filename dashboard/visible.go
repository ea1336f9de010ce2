package dashboard

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// visible returns a page in which every character that would act unseen is written out: control characters as their pictures
// (U+2400 and on), marks that turn the direction of writing around as ⟦U+202E⟧. No template has any, so they come from documents
// and questions, wherever on the page they stand. Line ends and tabs stay, and so do invisible joiners, since scripts need them.
func visible(page []byte) []byte {
	if utf8.Valid(page) && !bytes.ContainsFunc(page, acts) {
		return page
	}
	var b bytes.Buffer
	for len(page) > 0 {
		r, size := utf8.DecodeRune(page)
		switch {
		case r == utf8.RuneError && size == 1: // no UTF-8
			b.WriteRune(utf8.RuneError)
		case !acts(r):
			b.Write(page[:size])
		case r < 0x20:
			b.WriteRune(0x2400 + r)
		case r == 0x7F:
			b.WriteRune(0x2421)
		default:
			fmt.Fprintf(&b, "⟦U+%04X⟧", r)
		}
		page = page[size:]
	}
	return b.Bytes()
}

// acts reports whether a character does something without being seen.
func acts(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == 0x2028 || r == 0x2029 || r == 0xFEFF)
}
