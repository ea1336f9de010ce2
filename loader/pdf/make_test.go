package pdf_test

import (
	"bytes"
	"fmt"
	"strings"
)

// sheet is one page of a made PDF: lines of Helvetica at places, in the order they are drawn.
type sheet []line

// extra is what else a page of a made PDF has.
type extra struct {
	draw     string   // instructions after the text; pictures are /P0, /P1 …
	pictures []string // picture objects: dictionary and stream
	page     string   // keys of the page's dictionary
}

type line struct {
	x, y float64
	size float64 // 0: 10
	bold bool
	up   bool // turned by 90 degrees: the text runs upward
	text string
}

// mark is one entry of a made outline.
type mark struct {
	title string
	page  int
}

// makePDF writes a minimal PDF 1.4 with the pages given. info goes into the information dictionary as it is.
func makePDF(pages []sheet, outline []mark, info string) []byte {
	return makePDFWith(pages, nil, outline, info)
}

// makePDFWith is makePDF with extras for the first pages.
func makePDFWith(pages []sheet, extras []extra, outline []mark, info string) []byte {
	var objects []string
	add := func(format string, args ...any) int {
		objects = append(objects, fmt.Sprintf(format, args...))
		return len(objects)
	}
	// Objects 1 to 5: catalog, page tree, two fonts, information; the first two are filled in at the end.
	for range 2 {
		add("")
	}
	add("<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>")
	add("<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold/Encoding/WinAnsiEncoding>>")
	add("<<%s>>", info)
	var kids []string
	var numbers []int
	for i, p := range pages {
		var x extra
		if i < len(extras) {
			x = extras[i]
		}
		names := ""
		for k, object := range x.pictures {
			names += fmt.Sprintf("/P%d %d 0 R", k, add("%s", object))
		}
		content := p.content() + x.draw
		stream := add("<</Length %d>>stream\n%s\nendstream", len(content), content)
		n := add("<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R/F2 4 0 R>>/XObject<<%s>>>>/Contents %d 0 R%s>>", names, stream, x.page)
		numbers = append(numbers, n)
		kids = append(kids, fmt.Sprintf("%d 0 R", n))
	}
	objects[1] = fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", strings.Join(kids, " "), len(kids))
	objects[0] = "<</Type/Catalog/Pages 2 0 R>>"
	if len(outline) > 0 {
		root := len(objects) + 1
		add("<</Type/Outlines/First %d 0 R/Last %d 0 R/Count %d>>", root+1, root+len(outline), len(outline))
		for i, m := range outline {
			next := ""
			if i+1 < len(outline) {
				next = fmt.Sprintf("/Next %d 0 R", root+i+2)
			}
			add("<</Title(%s)/Parent %d 0 R/Dest[%d 0 R/Fit]%s>>", m.title, root, numbers[m.page], next)
		}
		objects[0] = fmt.Sprintf("<</Type/Catalog/Pages 2 0 R/Outlines %d 0 R>>", root)
	}
	return serialise(objects)
}

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

// content is the page's drawing instructions.
func (s sheet) content() string {
	var b strings.Builder
	for _, l := range s {
		font, size := "F1", l.size
		if l.bold {
			font = "F2"
		}
		if size == 0 {
			size = 10
		}
		text := strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(l.text)
		matrix := "1 0 0 1"
		if l.up {
			matrix = "0 1 -1 0"
		}
		fmt.Fprintf(&b, "BT /%s %g Tf %s %g %g Tm (%s) Tj ET\n", font, size, matrix, l.x, l.y, text)
	}
	return b.String()
}

// column is lines one below the other.
func column(x, top float64, texts ...string) sheet {
	var s sheet
	for i, t := range texts {
		s = append(s, line{x: x, y: top - 12*float64(i), text: t})
	}
	return s
}

// rawPicture is a picture object in RGB without a filter: each pixel has the colour.
func rawPicture(w, h int, colour string) string {
	return fmt.Sprintf("<</Type/XObject/Subtype/Image/Width %d/Height %d/ColorSpace/DeviceRGB/BitsPerComponent 8/Length %d>>stream\n%s\nendstream", w, h, 3*w*h, strings.Repeat(colour, w*h))
}

// show draws a picture into a box.
func show(name string, x, y, w, h float64) string {
	return fmt.Sprintf("q %g 0 0 %g %g %g cm /%s Do Q\n", w, h, x, y, name)
}
