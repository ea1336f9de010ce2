package strict

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

var (
	yamlLine   = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)
	yamlAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)

	// yamlGrammar begins the messages of the parser above the scanner, which counts lines from 0.
	yamlGrammar = regexp.MustCompile(`^(did not find expected|found duplicate %|found incompatible|found undefined tag)`)
)

// YAMLError says in which line of text, from 1, the YAML parser found an error of syntax, and what it is. The parser itself
// leaves out the first line, that of an unknown anchor and that of a character which may not be, and is one short in others.
func YAMLError(err error, text []byte) (line int, message string) {
	said := err.Error()
	m := yamlLine.FindStringSubmatch(said)
	if m == nil {
		return 1, said
	}
	line, _ = strconv.Atoi(m[1]) // digits, or "" for none
	message = said[len(m[0]):]
	at := -1
	switch anchor := yamlAnchor.FindStringSubmatch(message); {
	case anchor != nil:
		at, message = bytes.Index(text, []byte("*"+anchor[1])), "aliases are not supported: write the value out"
	case strings.Contains(message, "UTF-8"):
		at, message = notUTF8(text), "it is not UTF-8"
	case message == "control characters are not allowed":
		at = bytes.IndexFunc(text, func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\r\n", r) || r == 0x7f })
	case yamlGrammar.MatchString(message):
		line++
	}
	if at >= 0 {
		line = 1 + bytes.Count(text[:at], []byte("\n"))
	}
	last := 1 + bytes.Count(bytes.TrimRight(text, "\r\n"), []byte("\n")) // what is missing at the end is missed one behind
	return min(max(line, 1), last), message
}

// notUTF8 returns where text stops being UTF-8; -1 if it does not.
func notUTF8(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}
