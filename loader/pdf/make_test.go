package pdf_test

import (
	"fmt"
	"strings"

	"github.com/seed-d8745b77/rag/internal/pdffile"
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
	f := pdffile.New()
	f.Info(info)
	var numbers []int
	for i, p := range pages {
		var x extra
		if i < len(extras) {
			x = extras[i]
		}
		var pictures []int
		for _, object := range x.pictures {
			pictures = append(pictures, f.Add("%s", object))
		}
		numbers = append(numbers, f.Page(612, 792, p.content()+x.draw, x.page, pictures...))
	}
	if len(outline) > 0 {
		root := f.Next()
		f.Add("<</Type/Outlines/First %d 0 R/Last %d 0 R/Count %d>>", root+1, root+len(outline), len(outline))
		for i, m := range outline {
			next := ""
			if i+1 < len(outline) {
				next = fmt.Sprintf("/Next %d 0 R", root+i+2)
			}
			f.Add("<</Title(%s)/Parent %d 0 R/Dest[%d 0 R/Fit]%s>>", m.title, root, numbers[m.page], next)
		}
		f.Catalog(fmt.Sprintf("/Outlines %d 0 R", root))
	}
	return f.Bytes()
}

// content is the page's drawing instructions.
func (s sheet) content() string {
	var b strings.Builder
	for _, l := range s {
		font, size := pdffile.Regular, l.size
		if l.bold {
			font = pdffile.Bold
		}
		if size == 0 {
			size = 10
		}
		draw := pdffile.Text
		if l.up {
			draw = pdffile.TextUp
		}
		b.WriteString(draw(font, size, l.x, l.y, l.text))
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
