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

func newPPTX() rag.Loader { return must(loader.NewPPTX(loader.PPTXConfig{})) }

const (
	chartPart = `<c:chartSpace xmlns:c="c" xmlns:a="a"><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart>` +
		`<c:ser><c:tx><c:strRef><c:f>B1</c:f><c:strCache><c:pt idx="0"><c:v>North</c:v></c:pt></c:strCache></c:strRef></c:tx>` +
		`<c:cat><c:numRef><c:numCache><c:formatCode>yyyy\-mm\-dd</c:formatCode><c:pt idx="0"><c:v>45413</c:v></c:pt><c:pt idx="1"><c:v>45414</c:v></c:pt></c:numCache></c:numRef></c:cat>` +
		`<c:val><c:numRef><c:numCache><c:formatCode>General</c:formatCode><c:pt idx="0"><c:v>1.5</c:v></c:pt><c:pt idx="1"><c:v>2</c:v></c:pt><c:pt idx="-1"><c:v>9</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser>` +
		`</c:barChart></c:plotArea></c:chart></c:chartSpace>`
	chartTable  = "Sales\n\n|  | North |\n| --- | --- |\n| 2024-05-01 | 1.5 |\n| 2024-05-02 | 2 |\n"
	diagramPart = `<dgm:dataModel xmlns:dgm="d" xmlns:a="a"><dgm:ptLst><dgm:pt><dgm:t><a:bodyPr/><a:p><a:r><a:t>Plan</a:t></a:r></a:p></dgm:t></dgm:pt><dgm:pt><dgm:t><a:p/></dgm:t></dgm:pt><dgm:pt><dgm:t><a:p><a:r><a:t>Do</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>`
)

// pptxOf makes a presentation of two slides, of which the second is made of the shapes; parts replace or add others.
func pptxOf(t testing.TB, shapes string, parts map[string]string) []byte {
	t.Helper()
	rel := func(id, kind, target string) string {
		return `<Relationship Id="` + id + `" Type="http://x/` + kind + `" Target="` + target + `"/>`
	}
	slide := func(shapes string) string {
		return `<p:sld xmlns:p="p" xmlns:a="a" xmlns:r="r" xmlns:mc="mc" xmlns:c="c" xmlns:dgm="d"><p:cSld><p:spTree>` + shapes + `</p:spTree></p:cSld><p:timing><a:t>no</a:t></p:timing></p:sld>`
	}
	all := map[string]string{
		"[Content_Types].xml":             `<Types><Override ContentType="application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"/></Types>`,
		"_rels/.rels":                     "<R>" + rel("m", "officeDocument", "ppt/presentation.xml") + rel("c", "core-properties", "docProps/core.xml") + "</R>",
		"docProps/core.xml":               docxCore,
		"ppt/presentation.xml":            `<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst><p:sldId id="256" r:id="s2"/><p:sldId id="257" r:id="s1"/></p:sldIdLst></p:presentation>`,
		"ppt/_rels/presentation.xml.rels": "<R>" + rel("s1", "slide", "slides/slide1.xml") + rel("s2", "slide", "slides/slide2.xml") + "</R>",
		"ppt/slides/slide2.xml":           slide(slideShape("ctrTitle", "The title") + slideShape("subTitle", "By Ada")),
		"ppt/slides/slide1.xml":           slide(shapes),
		"ppt/slides/_rels/slide1.xml.rels": "<R>" + rel("p", "image", "../media/p.png") + rel("n", "notesSlide", "../notesSlides/n.xml") +
			rel("g", "chart", "../charts/c.xml") + rel("d", "diagramData", "../diagrams/d.xml") + "</R>",
		"ppt/media/p.png":       "\x89PNG\r\n\x1a\n...",
		"ppt/charts/c.xml":      chartPart,
		"ppt/diagrams/d.xml":    diagramPart,
		"ppt/notesSlides/n.xml": `<p:notes xmlns:p="p" xmlns:a="a">` + slideShape("sldNum", "2") + slideShape("body", "Say hello.</a:t></a:r></a:p><a:p><a:r><a:t>Then go on.") + `</p:notes>`,
	}
	maps.Copy(all, parts)
	return zipOf(t, all)
}

func slideShape(ph, text string) string {
	if ph != "" {
		ph = `<p:nvPr><p:ph type="` + ph + `"/></p:nvPr>`
	}
	return `<p:sp>` + ph + `<p:txBody><a:bodyPr/><a:p><a:r><a:t>` + text + `</a:t></a:r></a:p></p:txBody></p:sp>`
}

func TestPPTXSuite(t *testing.T) {
	ragtest.TestLoader(t, func(*testing.T) rag.Loader { return newPPTX() },
		ragtest.Sample{Name: "a.pptx", Data: pptxOf(t, slideShape("", "Some words"), nil), Want: "Some words Notes: Say hello."})
}

func TestPPTX(t *testing.T) {
	line := func(props, text string) string {
		return `<a:p><a:pPr ` + props + `</a:pPr><a:r><a:t>` + text + `</a:t></a:r></a:p>`
	}
	body := `<p:sp><p:nvPr><p:ph idx="1"/></p:nvPr><p:txBody>` + line(`>`, "one") + line(`lvl="1">`, "under one") + line(`><a:buNone/>`, "plain") +
		line(`><a:buAutoNum/>`, "first") + line(`><a:buAutoNum/>`, "second") + `<a:p/></p:txBody></p:sp>`
	td := func(attrs, text string) string {
		return `<a:tc ` + attrs + `><a:txBody><a:p><a:r><a:t>` + text + `</a:t></a:r></a:p></a:txBody></a:tc>`
	}
	table := `<p:graphicFrame><a:graphic><a:tbl><a:tr>` + td("", "h1") + td(`gridSpan="2"`, "h2") + td(`hMerge="1"`, "") + `</a:tr><a:tr>` + td(`rowSpan="2"`, "down") + td("", "x") + td("", "y") +
		`</a:tr><a:tr>` + td(`vMerge="1"`, "") + td("", "z") + td("", "|") + `</a:tr></a:tbl></a:graphic></p:graphicFrame>`
	picture := `<p:grpSp><p:pic><p:cNvPr descr="A duck"/><a:blip r:embed="p"/></p:pic></p:grpSp>`
	graphics := `<p:graphicFrame><c:chart r:id="g"/></p:graphicFrame><mc:AlternateContent><mc:Choice Requires="zz"><p:pic/></mc:Choice><mc:Fallback><p:graphicFrame><dgm:relIds r:dm="d"/></p:graphicFrame></mc:Fallback></mc:AlternateContent>`
	data := pptxOf(t, body+slideShape("title", "Head</a:t></a:r><a:br/><a:r><a:t>line")+slideShape("ftr", "gone")+table+picture+graphics, nil)
	doc := mustLoad(t, newPPTX(), string(data))
	want := `# The title

By Ada

# Head line

- one
  - under one

plain

1. first
2. second

| h1 | h2 |  |
| --- | --- | --- |
| down | x | y |
| down | z | \| |

A duck

` + chartTable + `
- Plan
- Do

Notes: Say hello.

Then go on.
`
	if diff := cmp.Diff(want, doc.Text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{0, strings.Index(want, "# Head")}, doc.Pages); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	if doc.Title != "The title" || len(doc.Sections) != 2 || doc.Meta["author"] != "Ada" {
		t.Errorf("title %q, sections %v, meta %v", doc.Title, doc.Sections, doc.Meta)
	}
	if len(doc.Images) != 1 || doc.Images[0].Page != 2 || doc.Images[0].Alt != "A duck" || doc.Images[0].Offset != strings.Index(want, "A duck") {
		t.Errorf("images %+v", doc.Images)
	}
	quiet := mustLoad(t, must(loader.NewPPTX(loader.PPTXConfig{NoNotes: true})), string(data))
	if strings.Contains(quiet.Text, "Say hello") {
		t.Error("the notes are read though they were to be left out")
	}
}

func TestPPTXBadInput(t *testing.T) {
	for name, tt := range map[string]struct {
		data []byte
		want error
	}{
		"a compound file": {append([]byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), make([]byte, 600)...), rag.ErrInvalid},
		"a Word file":     {docxOf(t, para("", "x"), nil), rag.ErrUnsupported},
		"broken XML":      {pptxOf(t, "<p:sp>", nil), rag.ErrInvalid},
	} {
		if _, err := load(t, newPPTX(), tt.data); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, err, tt.want)
		}
	}
	doc := mustLoad(t, newPPTX(), string(pptxOf(t, slideShape("", "text")+`<p:graphicFrame><c:chart r:id="g"/></p:graphicFrame><p:pic><a:blip r:embed="p"/></p:pic>`,
		map[string]string{"ppt/charts/c.xml": "<c", "ppt/media/p.png": ""})))
	if len(doc.Warnings) != 2 || !strings.Contains(doc.Text, "text") {
		t.Errorf("a broken chart and a missing picture: warnings %v", doc.Warnings)
	}
}

func TestDOCXChartsAndDiagrams(t *testing.T) {
	rels := strings.ReplaceAll(docxPartRels, "</Relationships>", `<Relationship Id="g" Type="http://x/chart" Target="charts/c.xml"/><Relationship Id="d" Type="http://x/diagramData" Target="d.xml"/></Relationships>`)
	body := `<w:p><w:r><w:t>See:</w:t><w:drawing><c:chart xmlns:c="c" r:id="g"/></w:drawing><w:drawing><x:relIds xmlns:x="x" r:dm="d"/></w:drawing></w:r></w:p>`
	doc := mustLoad(t, newDOCX(), string(docxOf(t, body, map[string]string{"word/_rels/document.xml.rels": rels, "word/charts/c.xml": chartPart, "word/d.xml": diagramPart})))
	if diff := cmp.Diff("See:\n\n"+chartTable+"\n- Plan\n- Do\n", doc.Text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

func FuzzPPTX(f *testing.F) {
	f.Add([]byte(slideShape("title", "x") + `<p:graphicFrame><a:tbl><a:tr><a:tc vMerge="1"/></a:tr><a:tr/></a:tbl></p:graphicFrame><p:pic><a:blip r:embed="p"/></p:pic>`))
	f.Add([]byte(`<p:sp><p:txBody><a:p><a:pPr lvl="-3"><a:buAutoNum/></a:pPr><a:fld type="slidenum"/><a:br/></a:p></p:txBody></p:sp>`))
	l := newPPTX()
	f.Fuzz(func(t *testing.T, shapes []byte) {
		for _, data := range [][]byte{shapes, pptxOf(t, string(shapes), nil), pptxOf(t, `<c:chart r:id="g"/>`, map[string]string{"ppt/charts/c.xml": string(shapes)})} {
			if _, err := load(t, l, data); err != nil && !errors.Is(err, rag.ErrInvalid) && !errors.Is(err, rag.ErrUnsupported) {
				t.Errorf("an error of no kind: %v", err)
			}
		}
	})
}
