package main

import (
	"strings"
	"unicode"
)

// words are the words of a text, in small letters.
func words(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		set[word] = true
	}
	return set
}
