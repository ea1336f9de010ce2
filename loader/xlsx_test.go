package loader_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/loader"
	"github.com/seed-d8745b77/rag/ragtest"
)

func newXLSX() rag.Loader { return must(loader.NewXLSX(loader.XLSXConfig{})) }

// xlsxOf makes a workbook of one sheet's rows; parts replace or add others.
func xlsxOf(t testing.TB, rows string, parts map[string]string) []byte {
	t.Helper()
	rels := func(lines ...string) string { return "<Relationships>" + strings.Join(lines, "") + "</Relationships>" }
	rel := func(id, kind, target string) string {
		return `<Relationship Id="` + id + `" Type="http://x/` + kind + `" Target="` + target + `"/>`
	}
	all := map[string]string{
		"[Content_Types].xml":                 `<Types><Override ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>`,
		"_rels/.rels":                         rels(rel("m", "officeDocument", "xl/workbook.xml"), rel("c", "core-properties", "docProps/core.xml")),
		"docProps/core.xml":                   docxCore,
		"xl/workbook.xml":                     `<workbook xmlns:r="r"><sheets><sheet name="Data" r:id="s1"/><sheet name="Lists" state="hidden" r:id="s2"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels":          rels(rel("s1", "worksheet", "worksheets/sheet1.xml"), rel("s2", "worksheet", "worksheets/sheet2.xml"), rel("t", "sharedStrings", "sharedStrings.xml"), rel("f", "styles", "styles.xml")),
		"xl/sharedStrings.xml":                `<sst><si><t>Name</t></si><si><r><t>Ada</t></r><r><t> L_x000D_.</t></r><rPh><t>no</t></rPh></si></sst>`,
		"xl/styles.xml":                       `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[$€-407] #,##0.00_);[Red]0"/><numFmt numFmtId="165" formatCode="0.0 &quot;km&quot;"/><numFmt numFmtId="166" formatCode="dd/mm/yyyy hh:mm"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="10"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="166"/><xf numFmtId="46"/><xf numFmtId="20"/></cellXfs></styleSheet>`,
		"xl/worksheets/sheet1.xml":            `<worksheet xmlns:r="r"><sheetData>` + rows + `</sheetData><mergeCells><mergeCell ref="A5:A6"/><mergeCell ref="A20:C20"/></mergeCells><drawing r:id="d"/></worksheet>`,
		"xl/worksheets/_rels/sheet1.xml.rels": rels(rel("d", "drawing", "../drawings/drawing1.xml")),
		"xl/drawings/drawing1.xml":            `<wsDr xmlns:r="r"><pic><cNvPr descr="A plan"/><blip r:embed="p"/></pic></wsDr>`,
		"xl/drawings/_rels/drawing1.xml.rels": rels(rel("p", "image", "../media/p.png")),
		"xl/media/p.png":                      "\x89PNG\r\n\x1a\n...",
		"xl/worksheets/sheet2.xml":            `<worksheet><sheetData><row><c t="inlineStr"><is><t>secret</t></is></c></row></sheetData></worksheet>`,
	}
	maps.Copy(all, parts)
	return zipOf(t, all)
}

func sheetCell(ref, attrs, value string) string {
	return `<c r="` + ref + `" ` + attrs + `><v>` + value + `</v></c>`
}

func textCell(ref, text string) string {
	return `<c r="` + ref + `" t="inlineStr"><is><t>` + text + `</t></is></c>`
}

func TestXLSXSuite(t *testing.T) {
	ragtest.TestLoader(t, func(*testing.T) rag.Loader { return newXLSX() },
		ragtest.Sample{Name: "a.xlsx", Data: xlsxOf(t, `<row r="1">`+textCell("A1", "Some words")+`</row>`, nil), Want: "Data Some words"})
}

func TestXLSX(t *testing.T) {
	rows := `<row r="1">` + textCell("B1", "Caption") + `</row>` +
		`<row r="2">` + sheetCell("A2", `t="s"`, "0") + textCell("B2", "a|b") + `</row>` +
		`<row r="3">` + sheetCell("A3", `t="s"`, "1") + sheetCell("D3", "", "0.30000000000000004") + `</row>` +
		`<row r="5">` + textCell("A5", "Both") + textCell("B5", "x") + `</row>` +
		`<row r="6">` + textCell("B6", "y") + sheetCell("C6", `t="b"`, "1") + sheetCell("D6", `t="e"`, "#N/A") + sheetCell("E6", `t="str"`, "sum") + `</row>` +
		`<row r="9">` + textCell("C9", "alone") + `</row>` +
		`<row r="11">` + sheetCell("A11", `s="1"`, "45413") + sheetCell("B11", `s="2"`, "0.125") + sheetCell("C11", `s="3"`, "1234.5") + sheetCell("D11", `s="4"`, "7.5") +
		sheetCell("E11", `s="5"`, "45413.75") + sheetCell("F11", `s="6"`, "1.5") + sheetCell("G11", `s="7"`, "0.5") + sheetCell("H11", `s="1"`, "59") + `</row>` +
		`<row r="12">` + textCell("A12", "z") + textCell("B12", "z") + `</row>` +
		`<row r="20">` + textCell("A20", "Title over three") + `</row><row r="21">` + textCell("A21", "1") + textCell("B21", "2") + textCell("C21", "3") + `</row>`
	doc := mustLoad(t, newXLSX(), string(xlsxOf(t, rows, nil)))
	want := `# Data

Caption

| Name | a\|b |  |
| --- | --- | --- |
| Ada L . |  | 0.3 |

| Both | x |  |  |  |
| --- | --- | --- | --- | --- |
| Both | y | TRUE | #N/A | sum |

alone

| 2024-05-01 | 12.50% | € 1234.5 | 7.5 km | 2024-05-01 18:00 | 36:00:00 | 12:00 | 1900-02-28 |
| --- | --- | --- | --- | --- | --- | --- | --- |
| z | z |  |  |  |  |  |  |

Title over three

| 1 | 2 | 3 |
| --- | --- | --- |

A plan
`
	if diff := cmp.Diff(want, doc.Text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if len(doc.Sections) != 1 || doc.Meta["author"] != "Ada" || len(doc.Images) != 1 || doc.Images[0].Alt != "A plan" || len(doc.Warnings) != 1 {
		t.Errorf("sections %v, meta %v, %d images, warnings %v", doc.Sections, doc.Meta, len(doc.Images), doc.Warnings)
	}
	all := mustLoad(t, must(loader.NewXLSX(loader.XLSXConfig{Hidden: true})), string(xlsxOf(t, rows, nil)))
	if !strings.Contains(all.Text, "# Lists\n\nsecret\n") {
		t.Error("the hidden sheet is not read though it was asked for")
	}
	old := mustLoad(t, newXLSX(), string(xlsxOf(t, rows, map[string]string{"xl/workbook.xml": `<workbook xmlns:r="r"><workbookPr date1904="1"/><sheets><sheet name="Data" r:id="s1"/></sheets></workbook>`})))
	if !strings.Contains(old.Text, "2028-05-02") {
		t.Errorf("day 45413 from 1904 on: %q", old.Text)
	}
}

// A formula whose result no program has stored yet cannot be shown, which is said once.
func TestXLSXFormulas(t *testing.T) {
	formula := func(ref, result string) string { return `<c r="` + ref + `"><f>SUM(A1:A2)</f>` + result + `</c>` }
	for result, warnings := range map[string]int{"<v>3</v>": 0, "<v></v>": 1, "": 1} {
		rows := `<row r="1">` + textCell("A1", "Total") + formula("B1", result) + formula("C1", result) + `</row>`
		if doc := mustLoad(t, newXLSX(), string(xlsxOf(t, rows, map[string]string{"xl/drawings/drawing1.xml": "<x/>"}))); len(doc.Warnings) != warnings+1 { // one is of the hidden sheet
			t.Errorf("result %q: text %q, warnings %v", result, doc.Text, doc.Warnings)
		}
	}
}

func TestXLSXBadInput(t *testing.T) {
	wide := `<row r="1">` + textCell("A1", "a") + textCell("XFD1", "b") + `</row><row r="1048576">` + textCell("A1048576", "c") + `</row><row r="9999999999">` + textCell("ZZZZ1", "d") + `</row>`
	if doc := mustLoad(t, newXLSX(), string(xlsxOf(t, wide, nil))); len(doc.Text) > 1000 {
		t.Errorf("three cells give %d bytes", len(doc.Text))
	}
	if doc := mustLoad(t, newXLSX(), string(xlsxOf(t, "", map[string]string{"xl/drawings/drawing1.xml": ""}))); doc.State != rag.StateEmpty {
		t.Errorf("an empty sheet: state %q, text %q", doc.State, doc.Text)
	}
	for name, tt := range map[string]struct {
		data []byte
		want error
	}{
		"a compound file": {append([]byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), make([]byte, 600)...), rag.ErrInvalid},
		"a Word file":     {docxOf(t, para("", "x"), nil), rag.ErrUnsupported},
		"broken XML":      {xlsxOf(t, "<row><c>", nil), rag.ErrInvalid},
	} {
		if _, err := load(t, newXLSX(), tt.data); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, err, tt.want)
		}
	}
}

func FuzzXLSX(f *testing.F) {
	f.Add([]byte(`<row r="1">` + sheetCell("A1", `s="6"`, "-1e300") + sheetCell("B1", `s="1" t="n"`, "NaN") + `</row>`))
	f.Add([]byte(`<row r="5"><c r="A5" t="s"><v>9</v></c><c t="inlineStr"><is><r><t>_xD800_</t></r></is></c></row><row/>`))
	l := newXLSX()
	f.Fuzz(func(t *testing.T, rows []byte) {
		for _, data := range [][]byte{rows, xlsxOf(t, string(rows), nil)} {
			if _, err := load(t, l, data); err != nil && !errors.Is(err, rag.ErrInvalid) && !errors.Is(err, rag.ErrUnsupported) {
				t.Errorf("an error of no kind: %v", err)
			}
		}
	})
}
