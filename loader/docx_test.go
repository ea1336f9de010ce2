package loader_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
	"github.com/seed-d8745b77/rag/internal/testdata"
	"github.com/seed-d8745b77/rag/loader"
	"github.com/seed-d8745b77/rag/ragtest"
)

func newDOCX() rag.Loader { return must(loader.NewDOCX(loader.DOCXConfig{})) }

// The parts that most made files share.
const (
	docxRels = `<Relationships><Relationship Id="r1" Type="http://x/officeDocument" Target="word/document.xml"/>` +
		`<Relationship Id="r2" Type="http://x/core-properties" Target="/docProps/core.xml"/></Relationships>`
	docxPartRels = `<Relationships><Relationship Id="s" Type="http://x/styles" Target="styles.xml"/>` +
		`<Relationship Id="n" Type="http://x/numbering" Target="numbering.xml"/>` +
		`<Relationship Id="f" Type="http://x/footnotes" Target="footnotes.xml"/>` +
		`<Relationship Id="p" Type="http://x/image" Target="media/p.png"/></Relationships>`
	docxStyles = `<w:styles xmlns:w="w"><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>` +
		`<w:style w:styleId="H2"><w:name w:val="Custom"/><w:basedOn w:val="berschrift1"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>` +
		`<w:style w:styleId="H2b"><w:name w:val="Also custom"/><w:basedOn w:val="H2"/></w:style>` +
		`<w:style w:styleId="T"><w:name w:val="Title"/></w:style>` +
		`<w:style w:styleId="Loop"><w:basedOn w:val="Loop"/></w:style>` +
		`<w:style w:styleId="Item"><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style></w:styles>`
	docxNumbers = `<w:numbering xmlns:w="w"><w:abstractNum w:abstractNumId="0">` +
		`<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>` +
		`<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerRoman"/><w:lvlText w:val="%1.%2)"/></w:lvl></w:abstractNum>` +
		`<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="o"/></w:lvl></w:abstractNum>` +
		`<w:abstractNum w:abstractNumId="2"><w:lvl w:ilvl="0"><w:numFmt w:val="none"/><w:lvlText w:val=""/></w:lvl></w:abstractNum>` +
		`<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>` +
		`<w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride></w:num>` +
		`<w:num w:numId="3"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="4"><w:abstractNumId w:val="2"/></w:num></w:numbering>`
	docxNotes = `<w:footnotes xmlns:w="w"><w:footnote w:type="separator" w:id="0"><w:p/></w:footnote>` +
		`<w:footnote w:id="2"><w:p><w:r><w:t>Said below.</w:t></w:r></w:p></w:footnote></w:footnotes>`
	docxCore = `<c:coreProperties xmlns:c="c" xmlns:dc="dc" xmlns:t="t"><dc:title></dc:title><dc:creator>Ada</dc:creator>` +
		`<t:created>2024-10-09T12:43:00Z</t:created><t:modified>soon</t:modified></c:coreProperties>`
)

// docxOf makes a Word file of a body; parts replace or add others.
func docxOf(t testing.TB, body string, parts map[string]string) []byte {
	t.Helper()
	all := map[string]string{
		"[Content_Types].xml": "<Types/>", "_rels/.rels": docxRels, "word/_rels/document.xml.rels": docxPartRels,
		"word/styles.xml": docxStyles, "word/numbering.xml": docxNumbers, "word/footnotes.xml": docxNotes,
		"docProps/core.xml": docxCore, "word/media/p.png": "\x89PNG...",
		"word/document.xml": `<?xml version="1.0"?><w:document xmlns:w="w" xmlns:mc="mc" xmlns:r="r" xmlns:a="a" xmlns:wp="wp" xmlns:v="v" xmlns:m="m"><w:body>` + body + `</w:body></w:document>`,
	}
	maps.Copy(all, parts)
	return zipOf(t, all)
}

// zipOf makes an archive of the parts that are not empty, in order of their names.
func zipOf(t testing.TB, parts map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		if parts[name] == "" {
			continue
		}
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(parts[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// para is a paragraph of one run; props go into its pPr.
func para(props, text string) string {
	return `<w:p><w:pPr>` + props + `</w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
}

func style(id string) string { return `<w:pStyle w:val="` + id + `"/>` }

func number(id, level string) string {
	return `<w:numPr><w:ilvl w:val="` + level + `"/><w:numId w:val="` + id + `"/></w:numPr>`
}

func cell(props, text string) string {
	return `<w:tc><w:tcPr>` + props + `</w:tcPr>` + para("", text) + `</w:tc>`
}

func TestDOCXSuite(t *testing.T) {
	ragtest.TestLoader(t, func(*testing.T) rag.Loader { return newDOCX() },
		ragtest.Sample{Name: "a.docx", Data: docxOf(t, para(style("berschrift1"), "Head")+para("", "Some words."), nil), Want: "Some words."})
}

func TestDOCXText(t *testing.T) {
	const box = `<w:txbxContent><w:p><w:r><w:t>In the box.</w:t></w:r></w:p></w:txbxContent>`
	tests := []struct {
		name string
		body string
		want string
	}{
		{"headings by the invariant name, by outline level and by what a style is based on",
			para(style("berschrift1"), "One") + para(style("H2"), "Two") + para(style("H2b"), "Three") + para(`<w:outlineLvl w:val="2"/>`, "Four") + para(style("Loop"), "Text"),
			"# One\n\n## Two\n\n## Three\n\n### Four\n\nText\n"},
		{"lists keep their numbers, also where instances share counters and where one starts anew",
			para(number("1", "0"), "a") + para(number("1", "1"), "b") + para(number("1", "1"), "c") + para(number("1", "0"), "d") + para("", "between") + para(number("1", "0"), "e") + para(number("2", "0"), "f") + para(style("Item"), "g"),
			"1. a\n  1.i) b\n  1.ii) c\n2. d\n\nbetween\n\n3. e\n7. f\n8. g\n"},
		{"bullets, lists without numbers and no list", para(number("3", "0"), "a") + para(number("4", "0"), "b") + para(number("0", "0"), "c"), "- a\nb\n\nc\n"},
		{"a numbered heading is a heading", para(style("berschrift1")+number("1", "0"), "Scope"), "# 1. Scope\n"},
		{"tracked changes: what is put in is in, what is taken out is out",
			`<w:p><w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:moveTo><w:r><w:t> here</w:t></w:r></w:moveTo><w:moveFrom><w:r><w:t> there</w:t></w:r></w:moveFrom></w:p>`,
			"new here\n"},
		{"fields: results without instructions, also nested ones",
			`<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>REF </w:instrText></w:r><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:t>hidden</w:t></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>hidden</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>shown</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>`,
			"shown\n"},
		{"a field that never ends does not swallow the rest", `<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r></w:p>` + para("", "rest"), "rest\n"},
		{"links, simple fields and content controls show their text",
			`<w:sdt><w:sdtPr><w:alias w:val="x"/></w:sdtPr><w:sdtContent><w:p><w:hyperlink r:id="z"><w:r><w:t>link</w:t></w:r></w:hyperlink><w:fldSimple w:instr="PAGE"><w:r><w:t> 4</w:t></w:r></w:fldSimple></w:p></w:sdtContent></w:sdt>`,
			"link 4\n"},
		{"a text box stands once, after its paragraph",
			`<w:p><w:r><w:t>Before</w:t></w:r><w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing>` + box + `</w:drawing></mc:Choice><mc:Fallback><w:pict>` + box + `</w:pict></mc:Fallback></mc:AlternateContent></w:r><w:r><w:t> and after.</w:t></w:r></w:p>`,
			"Before and after.\n\nIn the box.\n"},
		{"a choice that is not understood leaves the fallback",
			`<w:p><w:r><mc:AlternateContent><mc:Choice Requires="wps zz"><w:t>no</w:t></mc:Choice><mc:Fallback><w:t>yes</w:t></mc:Fallback></mc:AlternateContent></w:r></w:p>`, "yes\n"},
		{"tabs, breaks, hyphens, symbols",
			`<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t><w:softHyphen/><w:t>e</w:t><w:sym w:char="F0B7"/><w:sym w:char="2192"/></w:r></w:p>`, "a\tb\nc-de→\n"},
		{"hidden text is left out", `<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>shown</w:t></w:r></w:p>`, "shown\n"},
		{"notes stand at the end", `<w:p><w:r><w:t>Said</w:t><w:footnoteReference w:id="2"/><w:t> and</w:t><w:footnoteReference w:id="2"/><w:footnoteReference w:id="9"/></w:r></w:p>`, "Said[^1] and[^1]\n\n[^1]: Said below.\n"},
		{"formulas are their characters", `<w:p><m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath></w:p>`, "a/b\n"},
		{"merged cells keep their columns and stand in each row",
			`<w:tbl><w:tr>` + cell("", "Name") + cell(`<w:gridSpan w:val="2"/>`, "Both") + `</w:tr><w:tr>` + cell(`<w:vMerge w:val="restart"/>`, "Down") + cell("", "a") + cell("", "b|c") + `</w:tr><w:tr>` + cell(`<w:vMerge/>`, "") + cell("", "d") + cell("", "e") + `</w:tr><w:tr><w:trPr><w:del/></w:trPr>` + cell("", "gone") + `</w:tr></w:tbl>`,
			"| Name | Both |  |\n| --- | --- | --- |\n| Down | a | b\\|c |\n| Down | d | e |\n"},
		{"a table of one column frames text", `<w:tbl><w:tr><w:tc>` + para(style("berschrift1"), "Head") + para("", "Text") + `</w:tc></w:tr></w:tbl>`, "# Head\n\nText\n"},
		{"a table in a cell is text of the cell", `<w:tbl><w:tr>` + cell("", "x") + `<w:tc><w:tbl><w:tr>` + cell("", "y") + `</w:tr></w:tbl><w:p/></w:tc></w:tr></w:tbl>`, "| x | y |\n| --- | --- |\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc := mustLoad(t, newDOCX(), string(docxOf(t, tt.body, nil)))
			if diff := cmp.Diff(tt.want, doc.Text); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDOCXTitleMetaAndImages(t *testing.T) {
	picture := `<w:p><w:r><w:t>See </w:t><w:drawing><wp:docPr descr="A duck. Description automatically generated"/><a:blip r:embed="p"/></w:drawing></w:r></w:p>`
	doc := mustLoad(t, newDOCX(), string(docxOf(t, para("", "By Ada")+para(style("T"), "The Title")+picture, nil)))
	if doc.Title != "The Title" {
		t.Errorf("title %q", doc.Title)
	}
	if diff := cmp.Diff(rag.Meta{"author": "Ada", "created": "2024-10-09T12:43:00Z"}, doc.Meta); diff != "" {
		t.Errorf("meta (-want +got):\n%s", diff)
	}
	want := "By Ada\n\n# The Title\n\nSee A duck.\n"
	if diff := cmp.Diff(want, doc.Text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if len(doc.Images) != 1 {
		t.Fatalf("%d images, want 1", len(doc.Images))
	}
	img := doc.Images[0]
	if img.MediaType != "image/png" || img.Alt != "A duck." || string(img.Data) != "\x89PNG..." || img.Offset != strings.Index(want, "A duck") {
		t.Errorf("image %q %q %d bytes at %d", img.MediaType, img.Alt, len(img.Data), img.Offset)
	}
}

func TestDOCXOtherShapes(t *testing.T) {
	strict := strings.ReplaceAll(docxRels, "word/document.xml", "/WORD/main2.xml")
	utf16Part := string(utf16LE(`<?xml version="1.0" encoding="UTF-16"?><document><body><p><r><t>wide ü</t></r></p></body></document>`))
	tests := []struct {
		name  string
		parts map[string]string
		want  string
	}{
		{"the main part has another name", map[string]string{"_rels/.rels": strict, "word/document.xml": "", "Word/Main2.xml": `<document xmlns="strict"><body><p><r><t>found</t></r></p></body></document>`}, "found\n"},
		{"a part in UTF-16", map[string]string{"word/document.xml": utf16Part}, "wide ü\n"},
		{"only the main part", map[string]string{"_rels/.rels": "", "word/_rels/document.xml.rels": "", "word/styles.xml": "", "word/numbering.xml": "", "docProps/core.xml": ""}, "text\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc := mustLoad(t, newDOCX(), string(docxOf(t, para("", "text"), tt.parts)))
			if diff := cmp.Diff(tt.want, doc.Text); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
	plain := docxOf(t, para(style("Title"), "Plan")+para(style("Subtitle"), "of the year")+para(style("Heading1"), "One")+para(style("Heading3"), "Two")+para(style("Heading10"), "Text")+para(style("Loop"), "more"),
		map[string]string{"word/styles.xml": ""})
	if doc := mustLoad(t, newDOCX(), string(plain)); doc.Text != "# Plan\n\nof the year\n\n# One\n\n### Two\n\nText\n\nmore\n" || doc.Title != "Plan" || len(doc.Sections) != 3 {
		t.Errorf("no styles: text %q, title %q, %d sections: want those of the built-in style IDs", doc.Text, doc.Title, len(doc.Sections))
	}
	redefined := docxOf(t, para(style("Heading2"), "Two")+para(style("Heading1"), "Text"), map[string]string{
		"word/styles.xml": `<w:styles xmlns:w="w"><w:style w:styleId="Heading1"><w:name w:val="Quiet"/></w:style></w:styles>`,
	})
	if doc := mustLoad(t, newDOCX(), string(redefined)); doc.Text != "## Two\n\nText\n" {
		t.Errorf("a style that the file defines does not win over the built-in one: %q", doc.Text)
	}
	if doc := mustLoad(t, newDOCX(), string(docxOf(t, "", nil))); doc.State != rag.StateEmpty || len(doc.Warnings) == 0 {
		t.Errorf("no text: state %q, warnings %v", doc.State, doc.Warnings)
	}
}

func utf16LE(s string) []byte {
	out := []byte{0xFF, 0xFE}
	for _, r := range s {
		out = append(out, byte(r), byte(r>>8))
	}
	return out
}

func TestDOCXBadInput(t *testing.T) {
	good := docxOf(t, para("", "text"), nil)
	deep := strings.Repeat("<w:tbl><w:tr><w:tc>", 5000)
	tests := []struct {
		name string
		data []byte
		want error
		says string
	}{
		{"a compound file", append([]byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), make([]byte, 600)...), rag.ErrInvalid, "encrypted"},
		{"a spreadsheet", zipOf(t, map[string]string{"_rels/.rels": strings.ReplaceAll(docxRels, "word/document.xml", "xl/workbook.xml"), "xl/workbook.xml": "<workbook/>"}), rag.ErrUnsupported, "no Word document"},
		{"an archive of something else", zipOf(t, map[string]string{"readme.txt": "hello"}), rag.ErrUnsupported, "no Word document"},
		{"no archive", []byte("hello"), rag.ErrUnsupported, "zip"},
		{"cut short", good[:len(good)/2], rag.ErrInvalid, "cut short"},
		{"broken XML", docxOf(t, "<w:p><w:r>", nil), rag.ErrInvalid, "word/document.xml"},
		{"nested without end", docxOf(t, deep, nil), rag.ErrInvalid, "nested deeper"},
		{"a bomb", docxOf(t, para("", "text"), map[string]string{"word/media/p.png": strings.Repeat("\x00", 40<<20)}), rag.ErrInvalid, "exhaust memory"},
		{"a main part outside the archive", zipOf(t, map[string]string{"_rels/.rels": strings.ReplaceAll(docxRels, "word/document.xml", "../../x.xml"), "../../x.xml": "<document/>"}), rag.ErrUnsupported, "no Word document"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load(t, newDOCX(), tt.data)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want %v that says %q", err, tt.want, tt.says)
			}
		})
	}
}

func TestDOCXMatch(t *testing.T) {
	f := newDOCX().(rag.Formatter).Formats()[0]
	for name, tt := range map[string]struct {
		head []byte
		want bool
	}{
		"a Word file":   {docxOf(t, "", nil), true},
		"a spreadsheet": {zipOf(t, map[string]string{"[Content_Types].xml": "x", "xl/workbook.xml": "x"}), false},
		"slides":        {zipOf(t, map[string]string{"[Content_Types].xml": "x", "ppt/presentation.xml": "x"}), false},
		"another zip":   {zipOf(t, map[string]string{"a.txt": "x"}), false},
		"text":          {[]byte("word/document.xml"), false},
	} {
		if got := f.Match(tt.head[:min(len(tt.head), rag.SniffLen)]); got != tt.want {
			t.Errorf("%s: Match says %v", name, got)
		}
	}
}

func FuzzDOCX(f *testing.F) {
	f.Add([]byte(para(style("T"), "x") + `<w:tbl><w:tr>` + cell(`<w:gridSpan w:val="-3"/><w:vMerge/>`, "y") + `</w:tr></w:tbl>`))
	f.Add([]byte(`<w:p><w:pPr>` + number("1", "99") + `</w:pPr><w:r><w:fldChar w:fldCharType="end"/><w:t>x</w:t><w:footnoteReference w:id="2"/></w:r></w:p>`))
	f.Add([]byte(`<w:p><w:r><mc:AlternateContent><mc:Choice Requires=""><w:drawing><a:blip r:embed="p"/></w:drawing></mc:Choice></mc:AlternateContent></w:r></w:p>`))
	l := newDOCX()
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, data := range [][]byte{body, docxOf(t, string(body), nil)} {
			if _, err := load(t, l, data); err != nil && !errors.Is(err, rag.ErrInvalid) && !errors.Is(err, rag.ErrUnsupported) {
				t.Errorf("an error of no kind: %v", err)
			}
		}
	})
}

func FuzzDOCXArchive(f *testing.F) {
	f.Add(docxOf(f, para("", "text"), nil))
	l := newDOCX()
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := load(t, l, data); err != nil && !errors.Is(err, rag.ErrInvalid) && !errors.Is(err, rag.ErrUnsupported) {
			t.Errorf("an error of no kind: %v", err)
		}
	})
}

// docxExpectation is what expected.json of the shared documents says of a Word file.
type docxExpectation struct {
	Title         string
	ExpectError   string `json:"expect_error"`
	Sentences     []string
	Captions      []string
	Headings      [][2]any
	HeadingsFirst [][2]any `json:"headings_first"`
	HeadingsCount int      `json:"headings_count"`
	ListItems     int      `json:"list_items"`
	Images        int
	TableCells    []struct {
		Row    string
		Values []string
	} `json:"table_cells"`
}

func TestSharedDOCX(t *testing.T) {
	dir := testdata.Shared(t, "data", "docs")
	raw, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	for name, raw := range all {
		if !strings.HasPrefix(name, "docx/") {
			continue
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			var want docxExpectation
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			checkDOCX(t, want, data)
		})
	}
}

func checkDOCX(t *testing.T, want docxExpectation, data []byte) {
	if want.ExpectError != "" {
		if _, err := load(t, newDOCX(), data); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), want.ExpectError) {
			t.Errorf("got %v, want ErrInvalid that says %q", err, want.ExpectError)
		}
		return
	}
	doc := mustLoad(t, newDOCX(), string(data))
	text := mdtext.Line(doc.Text)
	for _, s := range append(want.Sentences, want.Captions...) {
		if n := strings.Count(text, mdtext.Line(s)); n != 1 {
			t.Errorf("%q stands %d times in the text, want once", s, n)
		}
	}
	if want.Title != "" && doc.Title != want.Title {
		t.Errorf("title %q, want %q", doc.Title, want.Title)
	}
	for _, h := range append(want.Headings, want.HeadingsFirst...) {
		if !slices.ContainsFunc(doc.Sections, func(s rag.Section) bool { return float64(s.Level) == h[0] && s.Title == h[1] }) {
			t.Errorf("no heading %v among %v", h, outlineOf(doc))
		}
	}
	// The title is counted by some and not by others.
	if n := len(doc.Sections); want.HeadingsCount > 0 && n != want.HeadingsCount && n != want.HeadingsCount+1 {
		t.Errorf("%d headings, want %d", n, want.HeadingsCount)
	}
	if want.Images > 0 && len(doc.Images) != want.Images {
		t.Errorf("%d images, want %d", len(doc.Images), want.Images)
	}
	for i, img := range doc.Images {
		if len(img.Data) == 0 || !strings.HasPrefix(img.MediaType, "image/") || len(img.ID) != 64 {
			t.Errorf("image %d is %d bytes of %s, %q", i, len(img.Data), img.MediaType, img.ID)
		}
	}
	if n := len(regexp.MustCompile(`(?m)^ *(?:\w+\.|-) `).FindAllString(doc.Text, -1)); want.ListItems > 0 && n != want.ListItems {
		t.Errorf("%d list items, want %d", n, want.ListItems)
	}
	for _, c := range want.TableCells {
		row := "| " + strings.Join(append([]string{c.Row}, c.Values...), " | ") + " |"
		if !strings.Contains(doc.Text, row) {
			t.Errorf("no row %s", row)
		}
	}
}
