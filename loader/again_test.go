package loader

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
)

// zipOf returns an archive of names and contents in turn.
func zipOf(t *testing.T, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		w, err := z.Create(parts[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(parts[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A part that is listed many times is read once, and the document says so.
func TestAPartListedAgainIsReadOnce(t *testing.T) {
	const n = 2000
	rels := func(target string) string {
		return `<Relationships><Relationship Id="r" Type="x/part" Target="` + target + `"/></Relationships>`
	}
	epub, _ := NewEPUB(EPUBConfig{})
	pptx, _ := NewPPTX(PPTXConfig{})
	xlsx, _ := NewXLSX(XLSXConfig{})
	book := zipOf(t, "META-INF/container.xml", `<c><rootfile full-path="b.opf"/></c>`,
		"b.opf", `<package><manifest><item id="a" href="a.xhtml"/></manifest><spine>`+strings.Repeat(`<itemref idref="a"/>`, n)+`</spine></package>`,
		"a.xhtml", `<html><body><p>marker</p></body></html>`)
	slides := zipOf(t, "ppt/presentation.xml", `<presentation xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sldIdLst>`+strings.Repeat(`<sldId r:id="r"/>`, n)+`</sldIdLst></presentation>`,
		"ppt/_rels/presentation.xml.rels", rels("s.xml"),
		"ppt/s.xml", `<sld><cSld><spTree><sp><txBody><p><r><t>marker</t></r></p></txBody></sp></spTree></cSld></sld>`)
	sheets := zipOf(t, "xl/workbook.xml", `<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>`+strings.Repeat(`<sheet name="s" r:id="r"/>`, n)+`</sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", rels("s.xml"),
		"xl/s.xml", `<worksheet><sheetData><row><c t="inlineStr"><is><t>marker</t></is></c></row></sheetData></worksheet>`)
	for name, load := range map[string]func() (rag.Document, error){
		"epub": func() (rag.Document, error) { return epub.parse(t.Context(), rag.Source{}, book) },
		"pptx": func() (rag.Document, error) { return pptx.parse(t.Context(), rag.Source{}, slides) },
		"xlsx": func() (rag.Document, error) { return xlsx.parse(t.Context(), rag.Source{}, sheets) },
	} {
		doc, err := load()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := strings.Count(doc.Text, "marker"); got != 1 {
			t.Errorf("%s: the text stands there %d times, want once", name, got)
		}
		if len(doc.Warnings) != 1 || !strings.Contains(doc.Warnings[0].Message, "listed again") {
			t.Errorf("%s: warnings %v, want one that says it", name, doc.Warnings)
		}
	}
}

// What is unpacked again counts again, whatever refers to it.
func TestEveryReadingOfAPartCounts(t *testing.T) {
	p, err := openArchive(t.Context(), zipOf(t, "a", strings.Repeat("x", 100)), 250)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		_, _, err = p.data("a")
		if want := i == 2; errors.Is(err, rag.ErrInvalid) != want {
			t.Fatalf("reading %d: %v", i+1, err)
		}
	}
}

// Sheets of which no part is found keep their headings, and slides behind one that is listed again their numbers.
func TestWhatIsListedAgainMovesNothingElse(t *testing.T) {
	const spaces = ` xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
	xlsx, _ := NewXLSX(XLSXConfig{})
	doc, err := xlsx.parse(t.Context(), rag.Source{}, zipOf(t,
		"xl/workbook.xml", `<workbook`+spaces+`><sheets><sheet name="a" r:id="r"/><sheet name="lost" r:id="x"/><sheet name="gone" r:id="y"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="r" Type="x/worksheet" Target="s.xml"/></Relationships>`,
		"xl/s.xml", `<worksheet><sheetData><row><c t="inlineStr"><is><t>marker</t></is></c></row></sheetData></worksheet>`))
	if err != nil || len(doc.Warnings) != 0 || !strings.Contains(doc.Text, "# lost") || !strings.Contains(doc.Text, "# gone") {
		t.Errorf("sheets without a part: %q, warnings %v, %v", doc.Text, doc.Warnings, err)
	}
	pptx, _ := NewPPTX(PPTXConfig{})
	slide := func(text string) string {
		return `<sld><cSld><spTree><sp><txBody><p><r><t>` + text + `</t></r></p></txBody></sp></spTree></cSld></sld>`
	}
	doc, err = pptx.parse(t.Context(), rag.Source{}, zipOf(t,
		"ppt/presentation.xml", `<presentation`+spaces+`><sldIdLst><sldId r:id="a"/><sldId r:id="a"/><sldId r:id="b"/></sldIdLst></presentation>`,
		"ppt/_rels/presentation.xml.rels", `<Relationships><Relationship Id="a" Type="x/slide" Target="a.xml"/><Relationship Id="b" Type="x/slide" Target="b.xml"/></Relationships>`,
		"ppt/a.xml", slide("first"), "ppt/b.xml", slide("third")))
	if err != nil || len(doc.Pages) != 3 || doc.Page(strings.Index(doc.Text, "third")) != 3 {
		t.Errorf("slides: pages %v of %q, %v", doc.Pages, doc.Text, err)
	}
}

// A few bytes of a file do not grow into a text beyond the bound: whatever stands there once and is written many times.
func TestTextThatRepeatsItselfIsBounded(t *testing.T) {
	const limit = 100_000
	const spaces = ` xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
	long := strings.Repeat("word ", 1000)
	rels := func(name string, lines ...string) (string, string) {
		return name, `<Relationships>` + strings.Join(lines, "") + `</Relationships>`
	}
	workbook := func(sheet string, more ...string) []byte {
		name, text := rels("xl/_rels/workbook.xml.rels", `<Relationship Id="r" Type="x/worksheet" Target="s.xml"/>`, `<Relationship Id="t" Type="x/sharedStrings" Target="t.xml"/>`)
		return zipOf(t, append([]string{"xl/workbook.xml", `<workbook` + spaces + `><sheets><sheet name="s" r:id="r"/></sheets></workbook>`,
			name, text, "xl/s.xml", `<worksheet>` + sheet + `</worksheet>`}, more...)...)
	}
	word := func(body string, more ...string) []byte {
		return zipOf(t, append([]string{"word/document.xml", `<document` + spaces + `><body>` + body + `</body></document>`}, more...)...)
	}
	row := func(cell string, n int) string { return `<row>` + strings.Repeat(cell, n) + `</row>` }
	cell := `<c t="inlineStr"><is><t>` + strings.Repeat("x", 190) + `</t></is></c>`
	wide := strings.Repeat(`<tc><p><r><t>x</t></r></p></tc>`, 200)
	relName, links := rels("word/_rels/document.xml.rels", `<Relationship Id="l" Type="x/hyperlink" Target="https://a.example/`+strings.Repeat("x", 5000)+`" TargetMode="External"/>`)
	xlsx, _ := NewXLSX(XLSXConfig{MaxUnzipped: limit})
	pptx, _ := NewPPTX(PPTXConfig{MaxUnzipped: limit})
	docx, _ := NewDOCX(DOCXConfig{MaxUnzipped: limit, Links: true})
	parse := map[string]func(context.Context, rag.Source, []byte) (rag.Document, error){"xlsx": xlsx.parse, "pptx": pptx.parse, "docx": docx.parse}
	for name, data := range map[string][]byte{
		"xlsx shared string": workbook(`<sheetData>`+row(`<c t="s"><v>0</v></c>`, 100)+`</sheetData>`, "xl/t.xml", `<sst><si><t>`+long+`</t></si></sst>`),
		"xlsx merged cell":   workbook(`<sheetData>` + row(cell, 1) + strings.Repeat(`<row><c r="B2" t="b"><v>1</v></c></row>`, 600) + `</sheetData><mergeCells><mergeCell ref="A1:A1000"/></mergeCells>`),
		"xlsx empty cells":   workbook(`<sheetData>` + row(`<c t="b"><v>1</v></c>`, 200) + strings.Repeat(row(`<c t="b"><v>1</v></c>`, 1), 500) + `</sheetData>`),
		"pptx merged cell": zipOf(t, "ppt/presentation.xml", `<presentation`+spaces+`><sldIdLst><sldId r:id="a"/></sldIdLst></presentation>`,
			"ppt/_rels/presentation.xml.rels", `<Relationships><Relationship Id="a" Type="x/slide" Target="a.xml"/></Relationships>`,
			"ppt/a.xml", `<sld><graphicFrame><tbl><tr><tc><txBody><p><r><t>`+long+`</t></r></p></txBody></tc></tr>`+strings.Repeat(`<tr><tc vMerge="1"/></tr>`, 100)+`</tbl></graphicFrame></sld>`),
		"docx merged cell": word(`<tbl><tr><tc><p><r><t>` + long + `</t></r></p></tc><tc/></tr>` + strings.Repeat(`<tr><tc><tcPr><vMerge/></tcPr></tc><tc/></tr>`, 100) + `</tbl>`),
		"docx empty cells": word(`<tbl><tr>` + wide + `</tr>` + strings.Repeat(`<tr><tc/></tr>`, 500) + `</tbl>`),
		"docx link":        word(strings.Repeat(`<p><hyperlink r:id="l"><r><t>x</t></r></hyperlink></p>`, 500), relName, links),
	} {
		doc, err := parse[name[:4]](t.Context(), rag.Source{}, data)
		if !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "ingest.max_unpacked_bytes") || !strings.Contains(err.Error(), "repeats itself") {
			t.Errorf("%s: %d bytes of text, %v", name, len(doc.Text), err)
		}
	}
}
