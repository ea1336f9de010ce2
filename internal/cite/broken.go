package cite

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ends returns the length of the line that a text begins with, line end included. A citation in which the line ends goes
// on in the next one, and so does the line: "[1,\n7]". known is false if the text ends before that can be told.
func (c *cleaner) ends(text string) (size int, known bool) {
	for {
		end := strings.IndexByte(text[size:], '\n')
		if end < 0 {
			return len(text), false
		}
		size += end + 1
		if c.fence != "" || !c.inLine && isFence(text[:size]) {
			return size, true
		}
		if !dangles(text[:size]) {
			return size, true
		}
		if goesOn, known := closes(text[size:]); !goesOn {
			return size, known
		}
	}
}

// dangles reports whether a line leaves a bracket open that has nothing in it but what a citation has.
func dangles(line string) bool {
	line = outside(line)
	at := strings.LastIndexAny(line, openers)
	return at >= 0 && len(line)-at <= maxMarker && ofCitation(line[at:])
}

// closes reports whether a text closes a bracket with nothing before but what a citation has. known is false if it ends
// before that can be told.
func closes(text string) (closed, known bool) {
	open := 0
	for at, r := range text {
		switch {
		case strings.ContainsRune(openers, r):
			open++
		case strings.ContainsRune(closers, r) && open > 0:
			open--
		case strings.ContainsRune(closers, r):
			return ofCitation(outside(text[:at])), true
		case at > maxMarker || open == 0 && notCited(r) && !unicode.IsLetter(r):
			return false, true
		}
	}
	return false, false
}

// outside leaves out what stands in brackets that close, with them: it may be taken out.
func outside(text string) string {
	var kept []byte
	var open []int // places of the brackets
	for _, r := range text {
		switch {
		case strings.ContainsRune(openers, r):
			open = append(open, len(kept))
			kept = utf8.AppendRune(kept, r)
		case strings.ContainsRune(closers, r) && len(open) > 0:
			kept = kept[:open[len(open)-1]]
			open = open[:len(open)-1]
		default:
			kept = utf8.AppendRune(kept, r)
		}
	}
	return string(kept)
}

func ofCitation(text string) bool {
	return !strings.ContainsFunc(labels.ReplaceAllString(text, ""), notCited)
}

// labels are the words before a number.
var labels = regexp.MustCompile(`(?i)` + label + `|` + noteLabel)

// notCited reports whether a character is none of those of a citation without words.
func notCited(r rune) bool {
	r = plain(r) // a blank for brackets
	return r >= 0 && !strings.ContainsRune("0123456789,;:、^#&*_\"'?!.…–- \t\r\n", r)
}
