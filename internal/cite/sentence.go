package cite

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentences returns the sentences of a text, in order. The lines of a table, of a list and headings are sentences of
// their own; a line end inside of a paragraph ends none. Citations behind the full stop belong to the sentence before
// them.
func Sentences(text string) []Span {
	var spans []Span
	start := 0
	add := func(end int) {
		s := Span{start, end}
		for s.Start < s.End && isSpace(text, s.Start) > 0 {
			s.Start += isSpace(text, s.Start)
		}
		s.End = s.Start + len(strings.TrimRightFunc(text[s.Start:s.End], unicode.IsSpace))
		if s.Start < s.End {
			spans = append(spans, s)
		}
		start = end
	}
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		next := at + size
		switch {
		case r == '\n' && endsBlock(text, start, at):
			add(at)
		case strings.ContainsRune("。！？；", r):
			next = tail(text, next)
			add(next)
		case strings.ContainsRune(".!?…", r) && endsSentence(text, at, next):
			next = tail(text, next)
			add(next)
		}
		at = next
	}
	add(len(text))
	return spans
}

// isSpace returns the length of a blank at a place, or 0.
func isSpace(text string, at int) int {
	if r, size := utf8.DecodeRuneInString(text[at:]); unicode.IsSpace(r) {
		return size
	}
	return 0
}

// endsBlock reports whether the line end at a place ends what began at start.
func endsBlock(text string, start, at int) bool {
	this := strings.TrimSpace(text[strings.LastIndexByte(text[:at], '\n')+1 : at])
	next, _, _ := strings.Cut(text[at+1:], "\n")
	next = strings.TrimSpace(next)
	return next == "" || isBlock(this, true) || isBlock(next, false) || at-start > longSentence
}

// longSentence is the number of bytes after which a line end is taken for the end of a sentence: text without full stops
// is a list or a table whatever it looks like.
const longSentence = 400

// isBlock reports whether a line is a heading or a row of a table or, unless it is looked at from behind, an item.
func isBlock(line string, behind bool) bool {
	if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "```") {
		return true
	}
	if behind || line == "" {
		return false
	}
	rest := strings.TrimLeft(line, "-*•·–◦▪+")
	if rest != line {
		return strings.HasPrefix(rest, " ")
	}
	digits := strings.TrimLeft(line, "0123456789")
	return len(digits) < len(line) && len(line)-len(digits) <= 3 && (strings.HasPrefix(digits, ". ") || strings.HasPrefix(digits, ") ") || strings.HasPrefix(digits, "、"))
}

// tail returns the end of what belongs to a sentence behind its full stop: more stops, closing quotes and brackets, and
// citations.
func tail(text string, at int) int {
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if strings.ContainsRune(".!?…。！？\"'”’»）)】」』*_", r) {
			at += size
			continue
		}
		gap := len(text[at:]) - len(strings.TrimLeft(text[at:], " \u00a0"))
		if strings.HasPrefix(text[at+gap:], "»") { // French puts a blank before it
			at += gap + len("»")
			continue
		}
		if g, ok := readGroup(text[at+gap:]); ok && !g.plain {
			at += gap + g.size
			continue
		}
		break
	}
	return at
}

// endsSentence reports whether the full stop in text[at:next] ends a sentence: what follows begins like one, and what
// stands before is no abbreviation.
func endsSentence(text string, at, next int) bool {
	end := tail(text, next)
	rest := text[end:]
	after, _ := utf8.DecodeRuneInString(rest)
	if rest != "" && !unicode.IsSpace(after) && after < unspaced {
		return false // 3.5, example.com
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(rest, unicode.IsSpace))
	if unicode.IsLower(first) {
		return false
	}
	if text[at] != '.' || strings.HasPrefix(text[next:], ".") {
		return true
	}
	word := text[strings.LastIndexFunc(text[:at], func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("([«\"“'’", r) })+1 : at]
	lower := strings.ToLower(strings.TrimLeft(word, "([«\"“'’\u00a0"))
	if utf8.RuneCountInString(lower) == 1 && unicode.IsUpper(lastRune(word)) && strings.TrimSpace(rest) != "" {
		return false // an initial
	}
	if digits := strings.Trim(lower, "0123456789"); digits == "" && lower != "" {
		// "2." at the beginning of a line numbers it.
		before := strings.TrimRightFunc(text[:at-len(word)], func(r rune) bool { return r != '\n' && unicode.IsSpace(r) })
		return before != "" && !strings.HasSuffix(before, "\n")
	}
	return !abbreviations[lower]
}

// abbreviations end in a full stop that mostly ends no sentence, English and French.
var abbreviations = func() map[string]bool {
	m := map[string]bool{}
	for _, a := range strings.Fields(`mr mrs ms dr prof st sr jr vs e.g i.e cf ca approx no nos art sec ch chap fig figs eq eqs eqn p pp vol ed eds
		al dept est inc ltd resp incl excl max min tel ext u.s u.k m mm mme mlle mlles n° p.ex ex env etc.) av apr janv févr
		jan feb mar jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun z.b bzw def thm prop`) {
		m[a] = true
	}
	return m
}()

// Claims returns, for each of the citations of a cleaned text in their order, the sentence that it stands by, without
// citations.
func Claims(text string, markers []Marker) []string {
	sentences, at, said := Sentences(text), -1, ""
	claims := make([]string, len(markers))
	for i, m := range markers {
		for at < 0 || at < len(sentences) && m.Start >= sentences[at].End {
			if at++; at < len(sentences) {
				said = Strip(text[sentences[at].Start:sentences[at].End])
			} else {
				said = ""
			}
		}
		claims[i] = said
	}
	return claims
}

// Strip returns a cleaned text without its citations.
func Strip(text string) string {
	c := cleaner{}
	return strings.TrimSpace(c.write(text))
}
