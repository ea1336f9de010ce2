// Package pdffile writes small PDF 1.4 files, for the samples of the examples and for tests. The same calls give the same bytes
// with every release of Go.
package pdffile

import (
	"bytes"
	"fmt"
	"strings"
)

// The fonts of a page.
const (
	Regular = "F1" // Helvetica
	Bold    = "F2" // Helvetica-Bold
)

// File is a file in the making: its objects in order, of which the first two are the catalog and the tree of the pages.
type File struct {
	objects []string
	pages   []int // numbers of the page objects
	info    int   // number of the information dictionary; 0: none
	catalog string
}

// New returns a file without a page.
func New() *File {
	return &File{objects: []string{"", "",
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold/Encoding/WinAnsiEncoding>>"}}
}

// Add adds an object and returns its number.
func (f *File) Add(format string, args ...any) int {
	f.objects = append(f.objects, fmt.Sprintf(format, args...))
	return len(f.objects)
}

// Next returns the number that the next object will have.
func (f *File) Next() int { return len(f.objects) + 1 }

// Stream adds a stream, with the keys of its dictionary besides its length.
func (f *File) Stream(keys, data string) int {
	return f.Add("<<%s/Length %d>>stream\n%s\nendstream", keys, len(data), data)
}

// Page adds a page of so many points, with its drawing instructions and further keys of its dictionary, and returns its number.
// The pictures given are named P0, P1 and so on in the instructions.
func (f *File) Page(width, height int, draw, keys string, pictures ...int) int {
	var names strings.Builder
	for i, n := range pictures {
		fmt.Fprintf(&names, "/P%d %d 0 R", i, n)
	}
	content := f.Stream("", draw)
	n := f.Add("<</Type/Page/Parent 2 0 R/MediaBox[0 0 %d %d]/Resources<</Font<</%s 3 0 R/%s 4 0 R>>/XObject<<%s>>>>/Contents %d 0 R%s>>",
		width, height, Regular, Bold, names.String(), content, keys)
	f.pages = append(f.pages, n)
	return n
}

// Gray adds a picture of one byte a pixel, row by row, and returns its number.
func (f *File) Gray(width, height int, pixels []byte) int {
	return f.Stream(fmt.Sprintf("/Type/XObject/Subtype/Image/Width %d/Height %d/ColorSpace/DeviceGray/BitsPerComponent 8/Filter/RunLengthDecode", width, height), string(packBits(pixels)))
}

// Info sets the keys of the information dictionary, such as "/Title(…)".
func (f *File) Info(keys string) { f.info = f.Add("<<%s>>", keys) }

// Catalog sets further keys of the catalog.
func (f *File) Catalog(keys string) { f.catalog = keys }

// Bytes returns the file.
func (f *File) Bytes() []byte {
	var kids []string
	for _, n := range f.pages {
		kids = append(kids, fmt.Sprintf("%d 0 R", n))
	}
	f.objects[0] = fmt.Sprintf("<</Type/Catalog/Pages 2 0 R%s>>", f.catalog)
	f.objects[1] = fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", strings.Join(kids, " "), len(kids))
	trailer := "/Root 1 0 R"
	if f.info > 0 {
		trailer += fmt.Sprintf("/Info %d 0 R", f.info)
	}
	return Serialise(trailer, f.objects)
}

// Serialise writes objects, numbered from 1 on, with the table of their places and the keys of the trailer.
func Serialise(trailer string, objects []string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var table strings.Builder
	for i, o := range objects {
		fmt.Fprintf(&table, "%010d 00000 n \n", b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d%s>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, table.String(), len(objects)+1, trailer, start)
	return b.Bytes()
}

// Escape makes a text the inside of a string in parentheses.
func Escape(text string) string {
	return strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(text)
}

// Text draws a line of text that begins at a point.
func Text(font string, size, x, y float64, text string) string {
	return textBy("1 0 0 1", font, size, x, y, text)
}

// TextUp draws a line of text that runs upward from a point.
func TextUp(font string, size, x, y float64, text string) string {
	return textBy("0 1 -1 0", font, size, x, y, text)
}

func textBy(turn, font string, size, x, y float64, text string) string {
	return fmt.Sprintf("BT /%s %g Tf %s %g %g Tm (%s) Tj ET\n", font, size, turn, x, y, Escape(text))
}

// Draw shows a picture of a page in a box.
func Draw(name string, x, y, width, height float64) string {
	return fmt.Sprintf("q %g 0 0 %g %g %g cm /%s Do Q\n", width, height, x, y, name)
}

// packBits compresses as PDF's RunLengthDecode expects (PDF 32000-1, 7.4.5). Unlike that of package compress its output never
// changes.
func packBits(data []byte) []byte {
	const longest, end = 128, 128
	var out []byte
	for i := 0; i < len(data); {
		same := 1
		for i+same < len(data) && same < longest && data[i+same] == data[i] {
			same++
		}
		if same > 1 {
			out = append(out, byte(257-same), data[i])
			i += same
			continue
		}
		n := 1
		for i+n < len(data) && n < longest && (i+n+1 >= len(data) || data[i+n] != data[i+n+1]) {
			n++
		}
		out = append(append(out, byte(n-1)), data[i:i+n]...)
		i += n
	}
	return append(out, end)
}
