// Package quote finds what stands in quotation marks.
package quote

import (
	"strings"
	"unicode/utf8"
)

// Section is a stretch of a text, in or out of quotation marks, which are in neither.
type Section struct {
	Text   string
	Quoted bool
}

// marks are those that open a quotation, each with those that close it.
var marks = map[rune]string{'"': `"`, '“': "”", '„': "“”", '«': "»", '»': "«", '「': "」", '『': "』", '＂': "＂"}

// Sections cuts a text at its quotations. A mark that is not closed, as in 24" screen, is a sign like others.
func Sections(text string) (list []Section) {
	open := map[rune]bool{} // marks that nothing closes from here on
	begin := 0              // of what is not quoted
	for at := 0; at < len(text); {
		mark, size := utf8.DecodeRuneInString(text[at:])
		at += size
		if marks[mark] == "" || open[mark] {
			continue
		}
		end := strings.IndexAny(text[at:], marks[mark])
		if end < 0 {
			open[mark] = true
			continue
		}
		list = append(list, Section{text[begin : at-size], false}, Section{text[at : at+end], true})
		_, size = utf8.DecodeRuneInString(text[at+end:])
		at += end + size
		begin = at
	}
	return append(list, Section{text[begin:], false})
}
