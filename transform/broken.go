package transform

import (
	"regexp"
	"strings"
	"unicode"
)

var (
	// A hyphen at a line end between lower case letters: transfor-\nmation. What begins with a capital behind it is a
	// compound of names.
	hyphenated = regexp.MustCompile(`(\pL+)[-\x{2010}\x{2011}][ \t]*\n[ \t]*(\p{Ll}+)`)
	// Soft hyphens and characters without width, which are shown nowhere: trans\u00ADformation.
	invisible = regexp.MustCompile(`\pL+(?:[\x{00AD}\x{200B}\x{2060}\x{FEFF}]+\pL+)+`)
	// Letters spaced for emphasis, at least four: H e a d i n g.
	spaced = regexp.MustCompile(`(?:^|[^\pL\pN])((?:\pL ){3,}\pL)(?:[^\pL\pN]|$)`)
)

// brokenWords returns the words of a text that layout took apart, whole, in the order of the rules.
func brokenWords(text string) []string {
	var words []string
	for _, m := range hyphenated.FindAllStringSubmatch(text, -1) {
		words = append(words, m[1]+m[2])
	}
	for _, w := range invisible.FindAllString(text, -1) {
		words = append(words, strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) {
				return r
			}
			return -1
		}, w))
	}
	for _, m := range spaced.FindAllStringSubmatch(text, -1) {
		words = append(words, strings.ReplaceAll(m[1], " ", ""))
	}
	return words
}

// boilerplate are lines that say nothing about their document.
var boilerplate = []*regexp.Regexp{
	regexp.MustCompile(`^(?i:page|seite|pagina|página|p\.)? ?\d{1,4}( ?(/|of|von|de|sur|di) ?\d{1,4})?$`),                                                  // a page number
	regexp.MustCompile(`^[-–—•*·. ]*\d{1,4}[-–—•*·. ]*$`),                                                                                                  // one between dashes
	regexp.MustCompile(`^第 ?\d{1,4} ?页([,， ]*共 ?\d{1,4} ?页)?$`),                                                                                            // one in Chinese
	regexp.MustCompile(`^.{1,120}?[ .·…]*(\.{4,}|( \.){4,}|…{2,}|·{4,})[ .·…]*[\divxlc]{1,6}$`),                                                            // a line of a table of contents
	regexp.MustCompile(`^((?i:copyright ?)?(©|\((?i:c)\))|(?i:copyright) \d{4}).{0,80}$`),                                                                  // whose it is
	regexp.MustCompile(`^.{0,80}(?i:all rights reserved|alle rechte vorbehalten|tous droits réservés|todos los derechos reservados|版权所有).{0,20}$`),         // and who may use it
	regexp.MustCompile(`^(?i:skip to (main )?content|back to top|cookie settings|accept (all )?cookies|share this|log ?in|sign (in|up)|print this page)$`), // links around a page
	regexp.MustCompile(`^(?i:this page (is )?intentionally left blank\.?)$`),
}

// isBoilerplate reports whether every line of a text says nothing. Marks of headings and lists do not count.
func isBoilerplate(text string) bool {
	lines := 0
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(strings.TrimLeft(line, "#>* \t")), " ")
		if line == "" {
			continue
		}
		lines++
		says := true
		for _, re := range boilerplate {
			if re.MatchString(line) {
				says = false
				break
			}
		}
		if says {
			return false
		}
	}
	return lines > 0
}
