package cite

import (
	"bytes"
	"cmp"
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

// write cleans the next part of the text. Where it is a part, it may be cut where [cleaner.ends] and [cleaner.settled] say.
func (c *cleaner) write(text string) string {
	var out strings.Builder
	for text != "" {
		size, _ := c.ends(text)
		line := text[:size]
		text = text[size:]
		if body, end := strings.CutSuffix(line, "\n"); strings.Contains(body, "\n") { // a citation across lines
			line = strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", " "), "\n", " ")
			if end {
				line += "\n"
			}
		}
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
		cleaned := string(p.out)
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
	out      []byte
	markers  []Marker
	rejected []Rejected
	groups   map[int]group // that were read, by place: a row of them is looked along from each one in it
}

func (c *cleaner) pass(raw string) *pass {
	p := &pass{cleaner: c, raw: raw, out: make([]byte, 0, len(raw))}
	for at := 0; at < len(raw); {
		if n := cmp.Or(protected(raw, at), index(raw, at)); n > 0 {
			p.out = append(p.out, raw[at:at+n]...)
			at += n
			continue
		}
		if g, ok := p.group(at); ok {
			at = p.take(g, at)
			continue
		}
		_, size := utf8.DecodeRuneInString(raw[at:])
		p.out = append(p.out, raw[at:at+size]...)
		at += size
	}
	return p
}

// read is readGroup at a place of the line.
func (p *pass) read(at int) (g group, ok bool) {
	if g, ok = p.groups[at]; ok {
		return g, true
	}
	if g, ok = readGroup(p.raw[at:]); ok {
		if p.groups == nil {
			p.groups = map[int]group{}
		}
		p.groups[at] = g
	}
	return g, ok
}

// group reads the citation at a place of the line.
func (p *pass) group(at int) (group, bool) {
	g, ok := p.read(at)
	if !ok {
		return g, false
	}
	if g.plain { // (1) may number a list, or repeat a number in words
		before := p.raw[:at]
		r := lastRune(before)
		if before == "" || isWord(r) && r < unspaced || !p.inLine && strings.TrimSpace(before) == "" || !p.clauseEnds(at+g.size) {
			return g, false
		}
	}
	return g, true
}

// clauseEnds reports whether nothing but citations stands between a place of the line and the next punctuation mark.
func (p *pass) clauseEnds(at int) bool {
	for range mostGroups {
		rest := strings.TrimLeft(p.raw[at:], " \t")
		at = len(p.raw) - len(rest)
		r, _ := utf8.DecodeRuneInString(rest)
		if rest == "" || r == '\n' || r == '\r' || strings.ContainsRune(punctuation, r) {
			return true
		}
		g, ok := p.read(at)
		if !ok {
			return false
		}
		at += g.size
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
		if len(seen) == 1 && indexable(p.lastWord()) {
			p.out = append(p.out, ' ') // or it would look like an element of an array
		}
		start := p.offset + len(p.out)
		p.out = append(p.out, "["+strconv.Itoa(n)+"]"...)
		p.markers = append(p.markers, Marker{n, start, p.offset + len(p.out)})
	}
	next := at + g.size
	if len(numbers) == 0 {
		return p.close(next)
	}
	return next
}

// lastWord returns the word that was written last, with the character before it.
func (p *pass) lastWord() string {
	start := bytes.LastIndexFunc(p.out, func(r rune) bool { return !isWord(r) })
	return string(p.out[max(0, start):])
}

// emphasis are the marks that may stand around a citation.
var emphasis = [][2]string{{"**", "**"}, {"__", "__"}, {"*", "*"}, {"_", "_"}, {"<sup>", "</sup>"}, {"^", "^"}}

// close mends the place that a citation was taken out of.
func (p *pass) close(next int) int {
	rest := p.raw[next:]
	for _, m := range emphasis { // **[7]** leaves none behind
		if inner, ok := strings.CutPrefix(rest, m[1]); ok && bytes.HasSuffix(p.out, []byte(m[0])) {
			p.out, rest = p.out[:len(p.out)-len(m[0])], inner
			next = len(p.raw) - len(rest)
			break
		}
	}
	after, _ := utf8.DecodeRuneInString(rest)
	ends := rest == "" || unicode.IsSpace(after) || strings.ContainsRune(punctuation+")）", after)
	switch trimmed := bytes.TrimRight(p.out, " \t"); {
	case len(trimmed) == 0 && !p.inLine: // the line begins here
		return next + len(rest) - len(strings.TrimLeft(rest, " \t"))
	case ends:
		p.out = trimmed
		if len(p.markers) > 0 {
			if sep := bytes.TrimRight(trimmed, ",;，；、"); p.offset+len(sep) == p.markers[len(p.markers)-1].End {
				p.out = sep // "[1], [7]": the comma goes with what it set apart
			}
		}
	case len(trimmed) == len(p.out) && after < unspaced && len(p.out) > 0:
		p.out = append(p.out, ' ')
	}
	return next
}

// punctuation ends a clause.
const punctuation = ".,;:!?…。，；：！？、|"

// unspaced is the first of the scripts written without blanks (CJK).
const unspaced = 0x2E80

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
