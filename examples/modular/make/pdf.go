package main

import (
	"bytes"
	"fmt"
	"image"
	"strings"
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
	maxRun                = 128 // of RunLengthDecode (PDF 32000-1, 7.4.5)
)

// pdf writes a PDF 1.4 with a page for each list of blocks.
func pdf(title string, pages [][]block) []byte {
	objects := []string{"", "", // catalog and page tree, when the pages are known
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold/Encoding/WinAnsiEncoding>>",
		fmt.Sprintf("<</Title(%s)>>", title)}
	add := func(object string) int { objects = append(objects, object); return len(objects) }
	var kids []string
	for _, blocks := range pages {
		var content, names strings.Builder
		y := float64(pageHeight - margin)
		for _, b := range blocks {
			switch {
			case b.heading != "":
				y -= 2 * headingSize
				line(&content, "F2", headingSize, y, b.heading)
				y -= headingSize / 2
			case b.picture != nil:
				w, h := float64(b.picture.Rect.Dx())*pictureScale, float64(b.picture.Rect.Dy())*pictureScale
				y -= h + textSize
				n := add(pixels(b.picture))
				fmt.Fprintf(&names, "/P%d %d 0 R", n, n)
				fmt.Fprintf(&content, "q %g 0 0 %g %d %g cm /P%d Do Q\n", w, h, margin, y, n)
			default:
				y -= textSize
				for _, l := range wrap(b.text) {
					y -= 1.3 * textSize
					line(&content, "F1", textSize, y, l)
				}
			}
		}
		stream := add(fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", content.Len(), content.String()))
		page := add(fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 %d %d]/Resources<</Font<</F1 3 0 R/F2 4 0 R>>/XObject<<%s>>>>/Contents %d 0 R>>", pageWidth, pageHeight, names.String(), stream))
		kids = append(kids, fmt.Sprintf("%d 0 R", page))
	}
	objects[0] = "<</Type/Catalog/Pages 2 0 R>>"
	objects[1] = fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", strings.Join(kids, " "), len(kids))
	return serialise(objects)
}

// line writes one line of text.
func line(b *strings.Builder, font string, size, y float64, text string) {
	text = strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(text)
	fmt.Fprintf(b, "BT /%s %g Tf 1 0 0 1 %d %g Tm (%s) Tj ET\n", font, size, margin, y, text)
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

// pixels makes a picture an object. Its runs are short enough without a packer, whose output changes between releases of Go.
func pixels(img *image.Gray) string {
	var packed bytes.Buffer
	for rest := img.Pix; len(rest) > 0; {
		n := 1
		for n < len(rest) && n < maxRun && rest[n] == rest[0] {
			n++
		}
		if n == 1 {
			packed.Write([]byte{0, rest[0]})
		} else {
			packed.Write([]byte{byte(257 - n), rest[0]})
		}
		rest = rest[n:]
	}
	packed.WriteByte(128) // the end
	return fmt.Sprintf("<</Type/XObject/Subtype/Image/Width %d/Height %d/ColorSpace/DeviceGray/BitsPerComponent 8/Filter/RunLengthDecode/Length %d>>stream\n%s\nendstream",
		img.Rect.Dx(), img.Rect.Dy(), packed.Len(), packed.String())
}

// serialise writes objects with the table of their places.
func serialise(objects []string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	offsets := make([]int, len(objects))
	for i, o := range objects {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer<</Size %d/Root 1 0 R/Info 5 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return b.Bytes()
}
