package docscheck

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Part is a heading of a table of contents with the pages below it.
type Part struct {
	Title string
	Pages []Page
}

// Page is a line of a table of contents: `- [Title](file.md): what it tells.`
type Page struct {
	Title string
	File  string // as linked
	About string
}

var (
	partLine = regexp.MustCompile(`^## (.+)$`)
	pageLine = regexp.MustCompile(`^- \[([^\]]+)\]\(([^)]+)\): (.+)$`)
)

// Contents returns the parts of a table of contents that name pages.
func Contents(text string) []Part {
	var parts []Part
	for _, line := range strings.Split(text, "\n") {
		if m := partLine.FindStringSubmatch(line); m != nil {
			parts = append(parts, Part{Title: m[1]})
		}
		if m := pageLine.FindStringSubmatch(line); m != nil && len(parts) > 0 {
			last := &parts[len(parts)-1]
			last.Pages = append(last.Pages, Page{m[1], m[2], m[3]})
		}
	}
	kept := parts[:0]
	for _, p := range parts {
		if len(p.Pages) > 0 {
			kept = append(kept, p)
		}
	}
	return kept
}

// LLMs returns llms.txt, the list of pages that language models are given (llmstxt.org): name and first line of the README,
// then the parts of the book. dir is the folder of the book below root, to which its links are relative.
func LLMs(readme, book, dir string) string {
	paragraphs := strings.SplitN(readme, "\n\n", 3)
	var b strings.Builder
	summary, _, _ := strings.Cut(paragraphs[1], "\n")
	fmt.Fprintf(&b, "%s\n\n> %s\n", paragraphs[0], plainLinks(summary))
	for _, part := range Contents(book) {
		fmt.Fprintf(&b, "\n## %s\n\n", part.Title)
		for _, p := range part.Pages {
			fmt.Fprintf(&b, "- [%s](%s): %s\n", p.Title, path.Join(dir, p.File), plainLinks(p.About))
		}
	}
	return b.String()
}

var anyLink = regexp.MustCompile(`\[([^\]]+)\]\([^)]*\)`)

// plainLinks puts the words of links in their place.
func plainLinks(text string) string { return anyLink.ReplaceAllString(text, "$1") }
