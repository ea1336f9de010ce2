package main

import (
	"fmt"
	"image"
	"strings"

	"github.com/seed-d8745b77/rag/internal/pdffile"
)

// block is a part of a page: a heading, a paragraph or a picture.
type block struct {
	heading string
	text    string
	picture *image.Gray
}

// Sizes of a page, in points.
const (
	pageWidth, pageHeight = 595, 842
	margin                = 64
	textSize, headingSize = 10.5, 15.0
	charsInLine           = 88
	pictureScale          = 0.6 // points of a pixel
)

// pdf writes a page for each list of blocks.
func pdf(title string, pages [][]block) []byte {
	f := pdffile.New()
	f.Info(fmt.Sprintf("/Title(%s)", pdffile.Escape(title)))
	for _, blocks := range pages {
		var content strings.Builder
		var pictures []int
		y := float64(pageHeight - margin)
		for _, b := range blocks {
			switch {
			case b.heading != "":
				y -= 2 * headingSize
				content.WriteString(pdffile.Text(pdffile.Bold, headingSize, margin, y, b.heading))
				y -= headingSize / 2
			case b.picture != nil:
				w, h := float64(b.picture.Rect.Dx())*pictureScale, float64(b.picture.Rect.Dy())*pictureScale
				y -= h + textSize
				content.WriteString(pdffile.Draw(fmt.Sprintf("P%d", len(pictures)), margin, y, w, h))
				pictures = append(pictures, f.Gray(b.picture.Rect.Dx(), b.picture.Rect.Dy(), b.picture.Pix))
			default:
				y -= textSize
				for _, l := range wrap(b.text) {
					y -= 1.3 * textSize
					content.WriteString(pdffile.Text(pdffile.Regular, textSize, margin, y, l))
				}
			}
		}
		f.Page(pageWidth, pageHeight, content.String(), "", pictures...)
	}
	return f.Bytes()
}

// wrap breaks a paragraph into lines.
func wrap(text string) []string {
	var lines []string
	current := ""
	for _, word := range strings.Fields(text) {
		if current != "" && len(current)+1+len(word) > charsInLine {
			lines, current = append(lines, current), ""
		}
		current = strings.TrimSpace(current + " " + word)
	}
	return append(lines, current)
}
