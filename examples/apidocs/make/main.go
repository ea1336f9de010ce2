// Make writes docs/numerics.pdf, the guide that is a PDF among the pages of HTML: go run ./examples/apidocs/make
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"strings"
)

// path is where the guide is written, seen from the project's folder.
const path = "examples/apidocs/docs/numerics.pdf"

func main() {
	if err := os.WriteFile(path, pdf(layOut(guide)), 0o644); err != nil {
		log.Fatal(err)
	}
}

// Measures of a page of A4, in points.
const (
	width, height  = 595, 842
	margin, bottom = 72, 72
	lineWidth      = 88 // characters of 10 point Helvetica that fit for sure
)

// line is one line of text at its place.
type line struct {
	y    int
	size int
	bold bool
	text string
}

// layOut breaks the guide into pages of lines. "# " begins a page with its title, "## " a section; what is between is a
// paragraph a line.
func layOut(text string) (pages [][]line) {
	y := 0
	put := func(size int, bold bool, gap int, text string) {
		if y -= gap + size + 4; len(pages) == 0 || y < bottom {
			pages, y = append(pages, nil), height-margin
		}
		at := len(pages) - 1
		pages[at] = append(pages[at], line{y, size, bold, text})
	}
	for paragraph := range strings.Lines(text) {
		paragraph = strings.TrimSpace(paragraph)
		switch {
		case paragraph == "":
		case strings.HasPrefix(paragraph, "# "):
			put(18, true, 0, paragraph[2:])
		case strings.HasPrefix(paragraph, "## "):
			put(13, true, 14, paragraph[3:])
		default:
			for i, l := range wrap(paragraph) {
				put(10, false, max(0, 8-8*i), l)
			}
		}
	}
	return pages
}

// wrap breaks a paragraph at blanks.
func wrap(paragraph string) (lines []string) {
	current := ""
	for word := range strings.FieldsSeq(paragraph) {
		if current != "" && len(current)+1+len(word) > lineWidth {
			lines, current = append(lines, current), ""
		}
		if current != "" {
			current += " "
		}
		current += word
	}
	return append(lines, current)
}

// inString escapes what has a meaning in a string of a PDF.
var inString = strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`)

// pdf writes a minimal PDF 1.4: catalog, pages, two of the standard fonts, and for each page its instructions.
func pdf(pages [][]line) []byte {
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R>>", "",
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold/Encoding/WinAnsiEncoding>>",
		"<</Title(Numerics guide)/Author(The Tessera project)>>",
	}
	var kids strings.Builder
	for _, page := range pages {
		var content strings.Builder
		for _, l := range page {
			font := 1
			if l.bold {
				font = 2
			}
			fmt.Fprintf(&content, "BT /F%d %d Tf %d %d Td (%s) Tj ET\n", font, l.size, margin, l.y, inString.Replace(l.text))
		}
		objects = append(objects, fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", content.Len(), content.String()))
		objects = append(objects, fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 %d %d]/Resources<</Font<</F1 3 0 R/F2 4 0 R>>>>/Contents %d 0 R>>", width, height, len(objects)))
		fmt.Fprintf(&kids, "%d 0 R ", len(objects))
	}
	objects[1] = fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", strings.TrimSpace(kids.String()), len(pages))
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	table := "0000000000 65535 f \n"
	for i, o := range objects {
		table += fmt.Sprintf("%010d 00000 n \n", b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	at := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n%strailer\n<</Size %d/Root 1 0 R/Info 5 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, table, len(objects)+1, at)
	return b.Bytes()
}
