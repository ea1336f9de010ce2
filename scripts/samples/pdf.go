package main

import (
	"bytes"
	"fmt"
	"strings"
)

// file is a PDF 1.4 in the making: its objects in order. The first three are catalog, page tree and fonts.
type file struct {
	objects []string
	pages   []int // numbers of the page objects
}

const reserved = 4 // catalog, page tree, Helvetica, Helvetica-Bold

func newFile() *file {
	return &file{objects: []string{"", "",
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold/Encoding/WinAnsiEncoding>>"}[:reserved]}
}

func (f *file) add(format string, args ...any) int {
	f.objects = append(f.objects, fmt.Sprintf(format, args...))
	return len(f.objects)
}

// page adds a page of so many points, with its drawing instructions and, unless it is 0, a picture named P.
func (f *file) page(width, height int, draw string, picture int) {
	resources := "/Font<</F1 3 0 R/F2 4 0 R>>"
	if picture > 0 {
		resources += fmt.Sprintf("/XObject<</P %d 0 R>>", picture)
	}
	content := f.add("<</Length %d>>stream\n%s\nendstream", len(draw), draw)
	f.pages = append(f.pages, f.add("<</Type/Page/Parent 2 0 R/MediaBox[0 0 %d %d]/Resources<<%s>>/Contents %d 0 R>>", width, height, resources, content))
}

// grey adds a picture of one byte a pixel.
func (f *file) grey(width, height int, pixels []byte) int {
	packed := packBits(pixels)
	return f.add("<</Type/XObject/Subtype/Image/Width %d/Height %d/ColorSpace/DeviceGray/BitsPerComponent 8/Filter/RunLengthDecode/Length %d>>stream\n%s\nendstream",
		width, height, len(packed), packed)
}

// packBits compresses as PDF's RunLengthDecode expects. Unlike that of package compress its output never changes.
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

// bytes writes the file.
func (f *file) bytes(title string) []byte {
	var kids []string
	for _, n := range f.pages {
		kids = append(kids, fmt.Sprintf("%d 0 R", n))
	}
	f.objects[0] = "<</Type/Catalog/Pages 2 0 R>>"
	f.objects[1] = fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", strings.Join(kids, " "), len(kids))
	info := f.add("<</Title(%s)>>", escape(title))
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var table strings.Builder
	for i, o := range f.objects {
		fmt.Fprintf(&table, "%010d 00000 n \n", b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R/Info %d 0 R>>\nstartxref\n%d\n%%%%EOF\n",
		len(f.objects)+1, table.String(), len(f.objects)+1, info, start)
	return b.Bytes()
}

func escape(text string) string {
	return strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(text)
}

// say draws text that begins at a point; font is F1 or F2.
func say(font string, size, x, y float64, text string) string {
	return fmt.Sprintf("BT /%s %g Tf 1 0 0 1 %g %g Tm (%s) Tj ET\n", font, size, x, y, escape(text))
}
