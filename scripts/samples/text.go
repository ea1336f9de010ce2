package main

import (
	"strings"

	"github.com/seed-d8745b77/rag/internal/pdffile"
)

// A page of A4 with margins, in points. Lines of Helvetica of 10 points with so many characters fit between them.
const (
	pageWidth, pageHeight = 595, 842
	left, top, bottom     = 60, 780, 70
	lineLength            = 88
)

// lines breaks a text whose paragraphs stand between empty lines; one that begins with "# " is a heading.
func lines(text string) (out []string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			out = append(out, "")
		}
		words := strings.Fields(paragraph)
		if words[0] == "#" {
			out = append(out, strings.Join(words, " "))
			continue
		}
		line := ""
		for _, w := range words {
			if line != "" && len(line)+1+len(w) > lineLength {
				out, line = append(out, line), ""
			}
			line = strings.TrimPrefix(line+" "+w, " ")
		}
		out = append(out, line)
	}
	return out
}

// write draws a text on as many pages as it needs.
func write(f *pdffile.File, text string) {
	var draw strings.Builder
	y := float64(top)
	for _, line := range lines(text) {
		if y < bottom {
			f.Page(pageWidth, pageHeight, draw.String(), "")
			draw.Reset()
			y = top
		}
		if title, ok := strings.CutPrefix(line, "# "); ok {
			y -= 6
			draw.WriteString(pdffile.Text(pdffile.Bold, 15, left, y, title))
		} else if line != "" {
			draw.WriteString(pdffile.Text(pdffile.Regular, 10, left, y, line))
		}
		y -= 14
	}
	f.Page(pageWidth, pageHeight, draw.String(), "")
}
