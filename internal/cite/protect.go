package cite

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// protected returns the length of what begins at a place of a line and holds no citations: a span of code, a formula,
// an address. 0: nothing of the kind.
func protected(line string, at int) int {
	switch rest := line[at:]; rest[0] {
	case '`':
		return codeSpan(rest)
	case '$':
		return formula(rest)
	case 'h', 'H', 'f', 'w':
		return address(line, at)
	}
	return 0
}

// codeSpan returns the length of a span of code; of backticks that open none, of them alone.
func codeSpan(rest string) int {
	marks := len(rest) - len(strings.TrimLeft(rest, "`"))
	for at := marks; at < len(rest); {
		next := strings.IndexByte(rest[at:], '`')
		if next < 0 {
			break
		}
		at += next
		run := len(rest[at:]) - len(strings.TrimLeft(rest[at:], "`"))
		at += run
		if run == marks {
			return at
		}
	}
	return 0
}

// formula returns the length of "$…$" or "$$…$$". As in Pandoc, "$" opens none before a blank or a digit (a price is no
// formula), and closes none behind a blank or before a digit. A formula has a letter.
func formula(rest string) int {
	marks := 1
	if strings.HasPrefix(rest, "$$") {
		marks = 2
	}
	if len(rest) <= marks || marks == 1 && (rest[1] == ' ' || rest[1] >= '0' && rest[1] <= '9') {
		return 0
	}
	end := strings.Index(rest[marks:], rest[:marks])
	if end < 1 || !strings.ContainsFunc(rest[marks:marks+end], unicode.IsLetter) {
		return 0
	}
	size := end + 2*marks
	if marks == 1 && (rest[end] == ' ' || size < len(rest) && rest[size] >= '0' && rest[size] <= '9') {
		return 0
	}
	return size
}

// address returns the length of an address. It ends at a blank, at a bracket that it did not open, and where text in a
// script without blanks goes on.
func address(line string, at int) int {
	if at > 0 && isWord(lastRune(line[:at])) {
		return 0
	}
	rest := line[at:]
	scheme := 0
	for _, s := range []string{"https://", "http://", "ftp://", "file://", "www."} {
		if len(rest) > len(s) && strings.EqualFold(rest[:len(s)], s) {
			scheme = len(s)
		}
	}
	if scheme == 0 {
		return 0
	}
	opened, end := 0, len(rest)
	for i, r := range rest[scheme:] {
		switch {
		case r == '[' || r == '(':
			opened++
		case (r == ']' || r == ')') && opened > 0:
			opened--
			continue
		}
		if unicode.IsSpace(r) || r >= unspaced || strings.ContainsRune("<>\"`|]){}", r) {
			end = scheme + i
			break
		}
	}
	return end
}

// index returns the length of the indices of an array, "[i][j]", at a place of a line; 0 if what stands before is no
// name of a variable.
func index(line string, at int) int {
	if line[at] != '[' || !indexable(line[:at]) {
		return 0
	}
	size := 0
	for strings.HasPrefix(line[at+size:], "[") {
		end := strings.IndexByte(line[at+size:min(len(line), at+size+maxMarker+1)], ']')
		if end < 0 {
			break
		}
		size += end + 1
	}
	return size
}

// indexable reports whether a text ends with what a bracket would index: a small letter alone, or a name with a
// underscore. Behind a word a bracket is a citation that somebody forgot the blank before.
func indexable(before string) bool {
	start := len(before)
	for start > 0 {
		r, size := utf8.DecodeLastRuneInString(before[:start])
		if !isWord(r) {
			break
		}
		start -= size
	}
	name := before[start:]
	if start > 0 && (before[start-1] == '\'' || strings.HasSuffix(before[:start], "’")) {
		return false // "the employee's[1]"
	}
	return len(name) == 1 && name[0] >= 'a' && name[0] <= 'z' || strings.Contains(name, "_")
}

// isFence reports whether a line opens or closes a block of code.
func isFence(line string) bool { return fenceMarks(line) != "" }

// fenceMarks returns the marks that a fence consists of: three or more of one kind, at most three blanks before them.
func fenceMarks(line string) string {
	line = strings.TrimRight(line, "\r\n")
	body := strings.TrimLeft(line, " ")
	if len(line)-len(body) > 3 || body == "" || body[0] != '`' && body[0] != '~' {
		return ""
	}
	n := len(body) - len(strings.TrimLeft(body, body[:1]))
	if n < 3 || body[0] == '`' && strings.Contains(body[n:], "`") {
		return ""
	}
	return body[:n]
}

// nextFence returns the fence that is open behind a line.
func nextFence(fence, line string) string {
	marks := fenceMarks(line)
	switch {
	case fence == "":
		return marks
	case marks != "" && marks[0] == fence[0] && len(marks) >= len(fence) && strings.TrimSpace(line) == marks:
		return ""
	}
	return fence
}
