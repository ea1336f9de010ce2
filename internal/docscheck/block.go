// Package docscheck keeps the documentation true: code blocks are copies of code that is compiled, command lines
// are run, paths exist, and lists of modules match what is linked. Its tests apply it to the project's own files;
// with -update they rewrite what is generated.
package docscheck

import (
	"regexp"
	"strings"
)

// Block is a fenced code block of a Markdown file.
type Block struct {
	Lang string // first word after the fence: "go", "sh"
	Mark string // text of an HTML comment on the line above the fence, "from: path" for copied code; "" if none
	Tail string // the same of the line below the closing fence: "prints: text" for commands that another test runs
	Body string // the lines between the fences, each with its line end
	Line int    // 1-based line of the opening fence

	start, end int // byte offsets of Body in the text
}

var (
	fenceLine = regexp.MustCompile("^(```+|~~~+)\\s*([^\\s`]*)[^`]*$")
	markLine  = regexp.MustCompile(`^<!--\s*(.*?)\s*-->$`)
)

// Blocks returns the fenced blocks of a Markdown text in order. A block that is not closed ends with the text.
// Fences inside lists or quotations are not looked for.
func Blocks(text string) []Block {
	var (
		blocks []Block
		open   *Block
		fence  string
		closed bool // by the line above
		above  string
		pos    int
	)
	line := 0
	for l := range strings.Lines(text) {
		line++
		bare := strings.TrimRight(l, " \t\r\n")
		if mark := markLine.FindStringSubmatch(bare); mark != nil && closed {
			blocks[len(blocks)-1].Tail = mark[1]
		}
		closed = false
		switch {
		case open != nil:
			if strings.HasPrefix(bare, fence) && strings.Trim(bare, fence[:1]) == "" {
				open.end = pos
				blocks = append(blocks, *open)
				open = nil
				closed = true
			}
		case fenceLine.MatchString(bare):
			m := fenceLine.FindStringSubmatch(bare)
			fence = m[1]
			open = &Block{Lang: m[2], Line: line, start: pos + len(l)}
			if mark := markLine.FindStringSubmatch(above); mark != nil {
				open.Mark = mark[1]
			}
		}
		above = bare
		pos += len(l)
	}
	if open != nil {
		open.end = pos
		blocks = append(blocks, *open)
	}
	for i := range blocks {
		blocks[i].Body = text[blocks[i].start:blocks[i].end]
	}
	return blocks
}

// prose returns the text with the inside of its fenced blocks blanked out, line ends kept.
func prose(text string) string {
	b := []byte(text)
	for _, block := range Blocks(text) {
		for i := block.start; i < block.end; i++ {
			if b[i] != '\n' {
				b[i] = ' '
			}
		}
	}
	return string(b)
}
