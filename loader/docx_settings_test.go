package loader_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/loader"
)

func TestDOCXPages(t *testing.T) {
	const brk = `<w:r><w:lastRenderedPageBreak/></w:r>`
	const picture = `<w:r><w:drawing><a:blip r:embed="p"/></w:drawing></w:r>`
	row := `<w:tr><w:tc><w:p>` + brk + `<w:r><w:t>c</w:t></w:r></w:p></w:tc><w:tc><w:p>` + brk + `<w:r><w:t>d</w:t></w:r></w:p></w:tc></w:tr>`
	body := para("", "One") + `<w:p><w:r><w:t>on </w:t></w:r>` + brk + `<w:r><w:t>two</w:t></w:r></w:p>` +
		`<w:tbl><w:tr>` + cell("", "a") + cell("", "b") + `</w:tr>` + row + `</w:tbl><w:p>` + picture + `</w:p>`
	app := strings.ReplaceAll(docxRels, "</Relationships>", `<Relationship Id="a" Type="http://x/extended-properties" Target="docProps/app.xml"/></Relationships>`)
	parts := map[string]string{"_rels/.rels": app, "docProps/app.xml": `<Properties><Pages>3</Pages></Properties>`}
	doc := mustLoad(t, newDOCX(), string(docxOf(t, body, parts)))
	want := []int{0, strings.Index(doc.Text, "two"), strings.Index(doc.Text, "| c | d |")}
	if diff := cmp.Diff(want, doc.Pages); diff != "" {
		t.Errorf("pages of %q (-want +got):\n%s", doc.Text, diff)
	}
	if len(doc.Warnings) != 0 || len(doc.Images) != 1 || doc.Images[0].Page != 3 {
		t.Errorf("warnings %v, images %d: want none, and a picture on page 3", doc.Warnings, len(doc.Images))
	}
	parts["docProps/app.xml"] = `<Properties><Pages>7</Pages></Properties>`
	if doc := mustLoad(t, newDOCX(), string(docxOf(t, body, parts))); len(doc.Warnings) != 1 || !strings.Contains(doc.Warnings[0].Message, "approximate") {
		t.Errorf("Word counted 7: warnings %v", doc.Warnings)
	}
}

func TestDOCXTrackedParagraphEnds(t *testing.T) {
	gone := `<w:rPr><w:del w:id="1"/></w:rPr>`
	doc := mustLoad(t, newDOCX(), string(docxOf(t, para(number("1", "0")+gone, "Joined ")+para(number("1", "0"), "text.")+para(gone, "Last"), nil)))
	if diff := cmp.Diff("1. Joined text.\n\nLast\n", doc.Text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

func TestDOCXDropCapsAndCode(t *testing.T) {
	styles := `<w:styles xmlns:w="w"><w:style w:styleId="C"><w:name w:val="Source Code"/></w:style><w:style w:styleId="D"><w:basedOn w:val="C"/></w:style></w:styles>`
	body := para(`<w:framePr w:dropCap="drop"/>`, "O") + para("", "nce") + para(style("C"), "if x {") + para(style("C"), "") + para(style("D"), "    y") + para("", "more") +
		`<w:tbl><w:tr>` + `<w:tc>` + para(style("C"), "z") + `</w:tc>` + cell("", "w") + `</w:tr></w:tbl>` + para(style("C"), "last")
	doc := mustLoad(t, newDOCX(), string(docxOf(t, body, map[string]string{"word/styles.xml": styles})))
	want := "Once\n\n```\nif x {\n\n    y\n```\n\nmore\n\n| z | w |\n| --- | --- |\n\n```\nlast\n```\n"
	if diff := cmp.Diff(want, doc.Text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

func TestDOCXLabels(t *testing.T) {
	level := func(i, props string) string {
		return `<w:lvl w:ilvl="` + i + `"><w:start w:val="1"/>` + props + `</w:lvl>`
	}
	numbers := `<w:numbering xmlns:w="w"><w:abstractNum w:abstractNumId="0">` +
		level("0", `<w:numFmt w:val="upperRoman"/><w:lvlText w:val="%1"/>`) +
		level("1", `<w:numFmt w:val="decimal"/><w:isLgl/><w:lvlText w:val="%1.%2"/>`) +
		level("2", `<w:numFmt w:val="decimalEnclosedCircle"/><w:lvlRestart w:val="0"/><w:lvlText w:val="%3"/>`) +
		`</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>`
	var body strings.Builder
	for _, l := range []string{"0", "1", "2", "0", "1", "2"} {
		body.WriteString(para(number("1", l), "x"))
	}
	doc := mustLoad(t, newDOCX(), string(docxOf(t, body.String(), map[string]string{"word/numbering.xml": numbers})))
	if diff := cmp.Diff("I x\n  1.1 x\n    ① x\nII x\n  2.1 x\n    ② x\n", doc.Text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

func TestDOCXHeadingsOfOtherWriters(t *testing.T) {
	styles := `<w:styles xmlns:w="w">`
	var body strings.Builder
	for _, name := range []string{"Überschrift 1", "Titre 2", "标题 3", "Heading 4", "Heading 40", "Kopfzeile 1"} {
		styles += `<w:style w:styleId="` + name + `"><w:name w:val="` + name + `"/></w:style>`
		body.WriteString(para(style(name), name))
	}
	doc := mustLoad(t, newDOCX(), string(docxOf(t, body.String(), map[string]string{"word/styles.xml": styles + `</w:styles>`})))
	var got []int
	for _, s := range doc.Sections {
		got = append(got, s.Level)
	}
	if diff := cmp.Diff([]int{1, 2, 3, 4}, got); diff != "" {
		t.Errorf("levels (-want +got):\n%s", diff)
	}
}

func TestDOCXNestedTables(t *testing.T) {
	inner := `<w:tbl><w:tr>` + cell("", "a") + cell("", "b") + `</w:tr><w:tr>` + cell("", "c") + cell("", "d") + `</w:tr></w:tbl>`
	doc := mustLoad(t, newDOCX(), string(docxOf(t, `<w:tbl><w:tr>`+cell("", "x")+`<w:tc>`+para("", "See:")+inner+`<w:p/></w:tc></w:tr></w:tbl>`, nil)))
	if diff := cmp.Diff("| x | See: a, b; c, d |\n| --- | --- |\n", doc.Text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

func TestDOCXSettings(t *testing.T) {
	rels := strings.ReplaceAll(docxPartRels, "</Relationships>", `<Relationship Id="c" Type="http://x/comments" Target="comments.xml"/>`+
		`<Relationship Id="l" Type="http://x/hyperlink" TargetMode="External" Target="https://example.org/a(b)"/></Relationships>`)
	field := func(kind string) string { return `<w:r><w:fldChar w:fldCharType="` + kind + `"/></w:r>` }
	body := `<w:p><w:r><w:t>Read </w:t></w:r><w:hyperlink r:id="l"><w:r><w:t>this</w:t></w:r></w:hyperlink><w:r><w:t> or </w:t></w:r>` +
		field("begin") + `<w:r><w:instrText> HYPERLINK "https://example.org/c" </w:instrText></w:r>` + field("separate") + `<w:r><w:t>that</w:t></w:r>` + field("end") +
		`<w:hyperlink w:anchor="top"><w:r><w:t> above</w:t></w:r></w:hyperlink><w:r><w:commentReference w:id="5"/></w:r></w:p>`
	data := docxOf(t, body, map[string]string{"word/_rels/document.xml.rels": rels,
		"word/comments.xml": `<w:comments xmlns:w="w"><w:comment w:id="5" w:author="Eve">` + para("", "Is it?") + `</w:comment></w:comments>`})
	for _, tt := range []struct {
		cfg  loader.DOCXConfig
		want string
	}{
		{loader.DOCXConfig{}, "Read this or that above\n"},
		{loader.DOCXConfig{Links: true}, "Read [this](https://example.org/a%28b%29) or [that](https://example.org/c) above\n"},
		{loader.DOCXConfig{Comments: true}, "Read this or that above[^c1]\n\n[^c1]: Eve: Is it?\n"},
	} {
		doc := mustLoad(t, must(loader.NewDOCX(tt.cfg)), string(data))
		if diff := cmp.Diff(tt.want, doc.Text); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", tt.cfg, diff)
		}
	}
}

func TestDOCXLosesAPictureLoudly(t *testing.T) {
	doc := mustLoad(t, newDOCX(), string(docxOf(t, para("", "text")+`<w:p><w:r><w:drawing><a:blip r:embed="p"/></w:drawing></w:r></w:p>`, map[string]string{"word/media/p.png": ""})))
	if !slices.ContainsFunc(doc.Warnings, func(w rag.Warning) bool { return strings.Contains(w.Message, "p.png") }) {
		t.Errorf("warnings %v do not name the picture that is missing", doc.Warnings)
	}
}
