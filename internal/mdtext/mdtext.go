// Package mdtext holds what the loaders share when they lay text out as Markdown: where sections end, one-line
// titles, pipe tables and code fences. It knows plain types only.
//
//	ends := mdtext.Ends([]int{1, 2, 2, 1}, []int{0, 10, 20, 30}, 40) // 30, 20, 30, 40
package mdtext

import (
	"strings"
	"unicode"
)

// Ends returns where each section of an outline ends: the start of the next one of the same or an outer level, or
// total. Levels and starts are parallel, starts ascend. It takes time linear in the number of sections.
func Ends(levels, starts []int, total int) []int {
	ends := make([]int, len(levels))
	var open []int // indexes of the sections not yet closed, levels ascending
	for i, level := range levels {
		for len(open) > 0 && levels[open[len(open)-1]] >= level {
			ends[open[len(open)-1]] = starts[i]
			open = open[:len(open)-1]
		}
		open = append(open, i)
	}
	for _, i := range open {
		ends[i] = total
	}
	return ends
}

// Line returns s on one line: each run of white space is one blank, none at the ends, and characters that show
// nothing (zero-width spaces, soft hyphens, byte order marks) are gone.
func Line(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	gap := false
	for _, r := range s {
		switch {
		case Invisible(r):
		case unicode.IsSpace(r):
			gap = b.Len() > 0
		default:
			if gap {
				b.WriteByte(' ')
				gap = false
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Invisible reports whether a character takes no room and carries no meaning for reading: it only hides a word from
// a search.
func Invisible(r rune) bool {
	switch r {
	case '\u00ad', '\u200b', '\u2060', '\ufeff':
		return true
	}
	return false
}

// Clip returns the first n characters of s, with "…" behind them if that is not all.
func Clip(s string, n int) string {
	for at := range s {
		if n == 0 {
			return s[:at] + "…"
		}
		n--
	}
	return s
}

// Cut returns at most n bytes of s, ending at a character.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}
