package splitter

import (
	"regexp"
	"strings"
)

// blockKind says what a block of Markdown-like text is.
type blockKind uint8

const (
	paragraph blockKind = iota
	item                // a list item with its continuation lines
	heading
	fence // a fenced code block with both fences
	table
)

// block is a run of whole lines that belong together; blank lines stand between blocks only, or inside a fence.
type block struct {
	kind       blockKind
	start, end int   // byte offsets; end is behind the last line, before its line end
	level      int   // of a heading; 0 for every other kind
	before     class // strength of the boundary before the block
}

var (
	itemLine     = regexp.MustCompile(`^\s*(?:[-*+•]|\d{1,9}[.)])\s`)
	delimiterRow = regexp.MustCompile(`^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$`)
	setextLine   = regexp.MustCompile(`^ {0,3}(?:=+|-+)\s*$`)
)

// reader walks over the lines of a text.
type reader struct {
	text     string
	headings map[int]int // offset of a heading's line → level
	pos      int         // offset of the current line
}

// blocks reads the text as blocks. headings maps offsets of lines that open a section to levels.
func blocks(text string, headings map[int]int) []block {
	r := reader{text: text, headings: headings}
	var all []block
	blank := false
	for r.pos < len(text) {
		if isBlank(r.line(r.pos)) {
			blank = true
			r.pos = r.next(r.pos)
			continue
		}
		b := r.block()
		b.before = byLine
		if blank {
			b.before = byParagraph
		}
		if len(all) > 0 {
			b.before = weaken(b.before, text, all[len(all)-1], b)
		}
		all = append(all, b)
		blank = false
	}
	return all
}

// weaken returns the strength of the boundary between two blocks: items of one list are closer than paragraphs, and
// what announces the next block (a heading, a signature, "as follows:") is not parted from it.
func weaken(c class, text string, a, b block) class {
	switch {
	case b.kind == heading:
		return c
	case a.kind == heading, announces(text, a, b):
		return byGlue
	case a.kind == item && b.kind == item:
		return byLine
	}
	return c
}

// line returns the line at pos without its line end.
func (r *reader) line(pos int) string {
	rest := r.text[pos:]
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		return rest[:i]
	}
	return rest
}

// next returns the offset of the line after that at pos, or the length of the text.
func (r *reader) next(pos int) int {
	return min(len(r.text), pos+len(r.line(pos))+1)
}

// block reads the block that begins at the current line, which is not blank.
func (r *reader) block() block {
	b := block{start: r.pos, kind: r.kind(r.pos), level: r.headings[r.pos]}
	end := r.next(r.pos)
	switch b.kind {
	case heading:
		if end < len(r.text) && r.headings[end] == 0 && setextLine.MatchString(r.line(end)) {
			end = r.next(end)
		}
	case fence:
		end = r.fenceEnd(r.pos)
	case table:
		for end < len(r.text) && r.headings[end] == 0 && isRow(r.line(end)) {
			end = r.next(end)
		}
	default:
		for end < len(r.text) && !isBlank(r.line(end)) && r.kind(end) == paragraph {
			end = r.next(end)
		}
	}
	r.pos = end
	b.end = end
	if end > b.start && r.text[end-1] == '\n' {
		b.end--
	}
	return b
}

// kind tells what begins at the line at pos.
func (r *reader) kind(pos int) blockKind {
	line := r.line(pos)
	switch {
	case r.headings[pos] > 0:
		return heading
	case fenceMark(line) != "":
		return fence
	case strings.HasPrefix(strings.TrimLeft(line, " \t"), "|"):
		return table
	case strings.Contains(line, "|"):
		if below := r.next(pos); below < len(r.text) && r.headings[below] == 0 && strings.Contains(r.line(below), "|") && delimiterRow.MatchString(r.line(below)) {
			return table
		}
	}
	if itemLine.MatchString(line) {
		return item
	}
	return paragraph
}

// fenceEnd returns the offset behind the line that closes the fence opened at pos. A fence that nothing closes ends
// before the next heading, or with the text.
func (r *reader) fenceEnd(pos int) int {
	mark := fenceMark(r.line(pos))
	for p := r.next(pos); p < len(r.text); p = r.next(p) {
		if r.headings[p] > 0 {
			return p
		}
		line := strings.TrimSpace(r.line(p))
		if len(line) >= len(mark) && strings.Trim(line, mark[:1]) == "" {
			return r.next(p)
		}
	}
	return len(r.text)
}

// fenceMark returns the run of three or more backticks or tildes that opens a fence on this line, or "".
func fenceMark(line string) string {
	line = strings.TrimLeft(line, " \t")
	if line == "" || line[0] != '`' && line[0] != '~' {
		return ""
	}
	rest := strings.TrimLeft(line, line[:1])
	mark := line[:len(line)-len(rest)]
	if len(mark) < 3 || mark[0] == '`' && strings.Contains(rest, "`") {
		return ""
	}
	return mark
}

// isRow reports whether the line continues a table.
func isRow(line string) bool {
	return strings.Contains(line, "|") && fenceMark(line) == ""
}

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }
