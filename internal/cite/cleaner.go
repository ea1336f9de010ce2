package cite

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cleaner rewrites a text piece by piece; see [cleaner.settled] for where it may be cut.
type cleaner struct {
	sources  int
	fence    string // marks that close the code block at hand; "" outside of one
	inLine   bool   // the line at hand has a beginning already
	line     string // cleaned beginning of the line at hand
	offset   int    // bytes given so far
	markers  []Marker
	rejected []Rejected
}

// write cleans the next part of the text.
func (c *cleaner) write(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		cleaned := c.piece(line)
		out.WriteString(cleaned)
		c.offset += len(cleaned)
		if begin := strings.TrimLeft(c.line, " "); begin == "" || begin[0] == '`' || begin[0] == '~' {
			c.line += cleaned // it may be a fence
		}
		c.inLine = !strings.HasSuffix(line, "\n")
		if !c.inLine {
			c.fence = nextFence(c.fence, c.line)
			c.line = ""
		}
	}
	return out.String()
}

// piece cleans a line, or a part of one, until cleaning it again changes nothing: what is left around a citation that
// was taken out may look like another one.
func (c *cleaner) piece(raw string) string {
	if c.fence != "" || !c.inLine && isFence(raw) {
		return raw
	}
	rounds := 0
	for {
		p := c.pass(raw)
		c.rejected = append(c.rejected, p.rejected...)
		cleaned := p.out.String()
		if cleaned == raw {
			c.markers = append(c.markers, p.markers...)
			return raw
		}
		raw = cleaned
		if rounds++; rounds > maxRounds {
			raw = strings.Map(func(r rune) rune {
				if strings.ContainsRune(openers+closers, r) {
					return -1
				}
				return r
			}, raw)
		}
	}
}

// maxRounds is how often a line is cleaned before its brackets are given up. Each round takes something out; no honest
// text needs three.
const maxRounds = 8

// pass is one walk over a piece of a line.
type pass struct {
	*cleaner
	raw      string
	out      strings.Builder
	markers  []Marker
	rejected []Rejected
}

func (c *cleaner) pass(raw string) *pass {
	p := &pass{cleaner: c, raw: raw}
	for at := 0; at < len(raw); {
		if n := protected(raw, at); n > 0 {
			p.out.WriteString(raw[at : at+n])
			at += n
			continue
		}
		if n := index(raw, at); n > 0 {
			p.out.WriteString(raw[at : at+n])
			at += n
			continue
		}
		if g, ok := p.group(at); ok {
			at = p.take(g, at)
			continue
		}
		_, size := utf8.DecodeRuneInString(raw[at:])
		p.out.WriteString(raw[at : at+size])
		at += size
	}
	return p
}

// group reads the citation at a place of the line.
func (p *pass) group(at int) (group, bool) {
	g, ok := readGroup(p.raw[at:])
	if !ok {
		return g, false
	}
	if g.plain { // (1) may number a list, or repeat a number in words
		before := p.raw[:at]
		r := lastRune(before)
		if before == "" || isWord(r) && r < unspaced || !p.inLine && strings.TrimSpace(before) == "" || !clauseEnds(p.raw[at+g.size:]) {
			return g, false
		}
	}
	return g, true
}

// clauseEnds reports whether nothing but citations stands before the next punctuation mark.
func clauseEnds(rest string) bool {
	for range mostGroups {
		rest = strings.TrimLeft(rest, " \t")
		r, _ := utf8.DecodeRuneInString(rest)
		if rest == "" || r == '\n' || r == '\r' || strings.ContainsRune(punctuation, r) {
			return true
		}
		g, ok := readGroup(rest)
		if !ok {
			return false
		}
		rest = rest[g.size:]
	}
	return false
}

// mostGroups is how many citations stand behind one another in a text that somebody is to read.
const mostGroups = 16

// take writes the sources that a group names and returns where the text goes on.
func (p *pass) take(g group, at int) int {
	written := p.raw[at : at+g.size]
	var numbers []int
	for _, item := range g.items {
		valid, why := item.within(p.sources)
		if why != "" {
			p.rejected = append(p.rejected, Rejected{written, why})
		}
		numbers = append(numbers, valid...)
	}
	if g.reason != "" {
		p.rejected = append(p.rejected, Rejected{written, g.reason})
	}
	seen := map[int]bool{}
	for _, n := range numbers {
		if seen[n] {
			continue
		}
		seen[n] = true
		if len(seen) == 1 && indexable(p.out.String()) {
			p.out.WriteString(" ") // or it would look like an element of an array
		}
		start := p.offset + p.out.Len()
		p.out.WriteString("[" + strconv.Itoa(n) + "]")
		p.markers = append(p.markers, Marker{n, start, p.offset + p.out.Len()})
	}
	next := at + g.size
	if len(numbers) == 0 {
		return p.close(next)
	}
	return next
}

// close mends the place that a citation was taken out of.
func (p *pass) close(next int) int {
	rest := p.raw[next:]
	after, _ := utf8.DecodeRuneInString(rest)
	ends := rest == "" || unicode.IsSpace(after) || strings.ContainsRune(punctuation+")）", after)
	out := p.out.String()
	switch trimmed := strings.TrimRight(out, " \t"); {
	case trimmed == "" && !p.inLine: // the line begins here
		return next + len(rest) - len(strings.TrimLeft(rest, " \t"))
	case ends:
		if sep := strings.TrimRight(trimmed, ",;，；、"); strings.HasSuffix(sep, "]") && len(trimmed)-len(sep) > 0 && len(p.markers) > 0 && p.offset+len(sep) == p.markers[len(p.markers)-1].End {
			trimmed = sep // "[1], [7]": the comma goes with what it set apart
		}
		p.out.Reset()
		p.out.WriteString(trimmed)
	case trimmed == out && after < unspaced && out != "":
		p.out.WriteString(" ")
	}
	return next
}

// punctuation ends a clause.
const punctuation = ".,;:!?…。，；：！？、|"

// unspaced is the first of the scripts written without blanks (CJK).
const unspaced = 0x2E80

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
