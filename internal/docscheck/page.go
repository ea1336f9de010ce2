package docscheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Settings reads a yaml block; kind is "" for rag.yaml, or the word of its mark.
type Settings func(kind string, data []byte) error

// Untested returns a sentence for each code block of a page that no check looks at: a block without a language, or of one
// that is not known here; a yaml block that read refuses, a json block that is no JSON, and an indented command. What go
// and sh blocks hold is the affair of [RefreshCode] and [Commands]. Blocks of text and pictures (mermaid) are not code.
func Untested(page string, read Settings) []string {
	var bad []string
	for _, b := range Blocks(page) {
		if err := checkBlock(b, read); err != nil {
			bad = append(bad, fmt.Sprintf("line %d: %v", b.Line, err))
		}
	}
	text := prose(page)
	for _, at := range indented.FindAllStringIndex(text, -1) {
		bad = append(bad, fmt.Sprintf("line %d: a command that is indented: put it between fences", strings.Count(text[:at[1]], "\n")+1))
	}
	return bad
}

// indented is a command in a block that is told by its indentation alone, and so has no language.
var indented = regexp.MustCompile(`\n[ \t]*\n(?: {4}|\t)(?:rag|go|make|curl) `)

func checkBlock(b Block, read Settings) error {
	switch b.Lang {
	case "go", "sh", "text", "mermaid":
		return nil
	case "yaml":
		return read(b.Mark, []byte(b.Body))
	case "json":
		for d := json.NewDecoder(strings.NewReader(b.Body)); ; {
			var v any
			if err := d.Decode(&v); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
		}
	case "":
		return errors.New("a block without a language; if it is no code, call it text")
	}
	return fmt.Errorf("nothing checks a block of %s", b.Lang)
}
