package loader

import (
	"archive/zip"
	"bytes"
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
