package agent

import (
	"strings"
	"unicode/utf8"
)

// maxReply is how many bytes of a reply are read: what is longer has no end.
const maxReply = 256 << 10

// observed is how many characters of an observation a step keeps, as in System C.
const observed = 200

// clip cuts a text to what a step keeps of it, in one line.
func clip(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= observed {
		return s
	}
	n := 0
	for i := range s {
		if n == observed {
			return s[:i] + "…"
		}
		n++
	}
	return s
}
