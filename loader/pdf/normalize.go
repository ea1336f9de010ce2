package pdf

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// cleanText drops what is not text (controls, zero-width characters, byte order marks), writes ligatures and Arabic
// presentation forms as letters, and composes accents.
func cleanText(s string) string {
	plain := true
	for _, r := range s {
		if r >= 0x80 || r < ' ' {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == 0x200B, r == 0xFEFF, r == 0x2060, unicode.IsControl(r):
		case isPresentationForm(r):
			b.WriteString(norm.NFKC.String(string(r)))
		default:
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

// isPresentationForm reports Latin ligatures (fi, ffl), Arabic presentation forms A and B.
func isPresentationForm(r rune) bool {
	return r >= 0xFB00 && r <= 0xFB06 || r >= 0xFB50 && r <= 0xFDFF || r >= 0xFE70 && r <= 0xFEFC
}

// oneLine is cleaned text with each run of blanks as one.
func oneLine(s string) string {
	fields := strings.Fields(s)
	for i, f := range fields {
		fields[i] = cleanText(f)
	}
	return strings.TrimSpace(strings.Join(fields, " "))
}

// isCJK reports characters that are written without blanks between words. Korean is not: it has blanks.
func isCJK(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) ||
		r >= 0x3000 && r <= 0x303F || r >= 0xFF00 && r <= 0xFF60 || r == 0x30FC
}

// isRTL reports whether the first letter is Hebrew, Arabic or a relative.
func isRTL(s string) bool {
	for _, r := range s {
		if unicode.IsLetter(r) {
			return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana)
		}
	}
	return false
}

// reversed is a word of a script that runs to the left, read from its other end. One with figures or letters that run to
// the right stays: its parts are in an order of their own.
func reversed(s string) string {
	rs := []rune(s)
	for _, r := range rs {
		if unicode.IsDigit(r) || unicode.IsLetter(r) && !isRTL(string(r)) {
			return s
		}
	}
	slices.Reverse(rs)
	return string(rs)
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}

func lastRune(s string) rune {
	rs := []rune(s)
	if len(rs) == 0 {
		return 0
	}
	return rs[len(rs)-1]
}
