package pdf_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/pdffile"
	"github.com/seed-d8745b77/rag/loader/pdf"
)

// placed tells of each picture where it stands: page, box, and the text behind it.
func placedPictures(doc *rag.Document) []string {
	var out []string
	for _, img := range doc.Images {
		rest, _, _ := strings.Cut(doc.Text[img.Offset:], "\n")
		out = append(out, fmt.Sprintf("page %d [%.0f] before %q", img.Page, img.Box, rest))
	}
	return out
}

func TestPictures(t *testing.T) {
	red, blue := rawPicture(40, 30, "\xff\x00\x00"), rawPicture(20, 20, "\x00\x00\xff")
	first := append(column(72, 700, "The first paragraph stands above."), line{x: 72, y: 500, text: "Figure 1. A red square."})
	first = append(first, column(72, 440, "The last paragraph goes on.")...)
	second := column(72, 700, "Only text above the picture.")
	rule := rawPicture(300, 2, "\x00\x00\x00")
	doc := mustLoad(t, makePDFWith([]sheet{first, second}, []extra{
		{pictures: []string{red, blue, rule}, draw: pdffile.Draw("P0", 100, 520, 200, 100) + pdffile.Draw("P2", 72, 480, 300, 2) + pdffile.Draw("P1", 72, 460, 5, 5)},
		{pictures: []string{blue, red}, draw: pdffile.Draw("P0", 72, 300, 50, 50) + pdffile.Draw("P1", 72, 100, 80, 60)},
	}, nil, ""))
	want := []string{
		`page 1 [[100 520 300 620]] before "Figure 1. A red square."`,
		`page 2 [[72 300 122 350]] before ""`,
		`page 2 [[72 100 152 160]] before ""`,
	}
	if diff := cmp.Diff(want, placedPictures(&doc)); diff != "" {
		t.Fatalf("pictures (-want +got):\n%s", diff)
	}
	if doc.Images[0].ID != doc.Images[2].ID || &doc.Images[0].Data[0] != &doc.Images[2].Data[0] {
		t.Error("a picture shown twice is not stored once")
	}
	img, _, err := image.Decode(bytes.NewReader(doc.Images[0].Data))
	if err != nil || img.Bounds().Dx() != 40 || img.Bounds().Dy() != 30 || color.NRGBAModel.Convert(img.At(20, 15)) != (color.NRGBA{255, 0, 0, 255}) {
		t.Errorf("the picture is %v with the error %v, want 40 by 30 in red", img, err)
	}
	if doc.State != rag.StateOK {
		t.Errorf("state %q, warnings %v", doc.State, doc.Warnings)
	}
}

// A picture in a form stands where the form puts it, and one that is mirrored in the file is upright.
func TestPictureInForm(t *testing.T) {
	half := strings.Repeat("\x00\x00\xff", 20*10) // blue below
	pixels := strings.Repeat("\xff\x00\x00", 20*10) + half
	inner := fmt.Sprintf("<</Type/XObject/Subtype/Image/Width 20/Height 20/ColorSpace/DeviceRGB/BitsPerComponent 8/Length %d>>stream\n%s\nendstream", len(pixels), pixels)
	const draw = "q 10 0 0 -10 0 10 cm /P0 Do Q"
	form := fmt.Sprintf("<</Type/XObject/Subtype/Form/BBox[0 0 10 10]/Resources<</XObject<</P0 7 0 R>>>>/Length %d>>stream\n%s\nendstream", len(draw), draw)
	content := "q 20 0 0 20 100 200 cm /F0 Do Q"
	doc := mustLoad(t, pdffile.Serialise("/Root 1 0 R", []string{
		"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</XObject<</F0 4 0 R>>>>/Contents 6 0 R>>",
		form, "<<>>", fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(content), content), inner,
	}))
	if len(doc.Images) != 1 || doc.Images[0].Box != [4]float64{100, 200, 300, 400} {
		t.Fatalf("pictures: %v", placedPictures(&doc))
	}
	img, _, err := image.Decode(bytes.NewReader(doc.Images[0].Data))
	if err != nil {
		t.Fatal(err)
	}
	if top := color.NRGBAModel.Convert(img.At(10, 2)); top != (color.NRGBA{0, 0, 255, 255}) {
		t.Errorf("the upper half is %v, want blue: the page shows the picture upside down", top)
	}
}

func TestSkipPictures(t *testing.T) {
	data := makePDFWith([]sheet{column(72, 700, "Text.")}, []extra{{pictures: []string{rawPicture(40, 30, "\xff\x00\x00")}, draw: pdffile.Draw("P0", 72, 300, 200, 100)}}, nil, "")
	doc, err := load(t, pdf.Config{SkipPictures: true}, data)
	if err != nil || len(doc.Images) != 0 || doc.Text != "Text.\n" {
		t.Errorf("got %d pictures, text %q, error %v", len(doc.Images), doc.Text, err)
	}
}

// A picture that claims more pixels than anybody can hold is left out, and the text is not.
func TestHugePicture(t *testing.T) {
	huge := strings.Replace(rawPicture(40, 30, "\xff\x00\x00"), "/Width 40/Height 30", "/Width 60000/Height 60000", 1)
	doc := mustLoad(t, makePDFWith([]sheet{column(72, 700, "Text.")}, []extra{{pictures: []string{huge}, draw: pdffile.Draw("P0", 72, 300, 200, 100)}}, nil, ""))
	if len(doc.Images) != 0 || doc.Text != "Text.\n" || doc.State != rag.StatePartial || len(doc.Warnings) != 1 || doc.Warnings[0].Page != 1 {
		t.Errorf("%d pictures, text %q, state %q, warnings %v", len(doc.Images), doc.Text, doc.State, doc.Warnings)
	}
}

// rules draws lines: each is x0, y0, x1, y1.
func rules(lines ...[4]float64) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%g %g m %g %g l S\n", l[0], l[1], l[2], l[3])
	}
	return b.String()
}

// ruledGrid draws all edges of cells.
func ruledGrid(xs, ys []float64) string {
	var lines [][4]float64
	for _, x := range xs {
		lines = append(lines, [4]float64{x, ys[len(ys)-1], x, ys[0]})
	}
	for _, y := range ys {
		lines = append(lines, [4]float64{xs[0], y, xs[len(xs)-1], y})
	}
	return rules(lines...)
}

func TestRuledTables(t *testing.T) {
	three := []float64{70, 170, 270, 370}
	tests := []struct {
		name string
		page sheet
		draw string
		want string
	}{
		{
			"lines of one cell are joined, whatever their distance",
			sheet{
				{x: 75, y: 690, text: "Name"}, {x: 175, y: 690, text: "What it"}, {x: 175, y: 678, text: "means"}, {x: 275, y: 690, text: "Since"},
				{x: 75, y: 660, text: "alpha"}, {x: 175, y: 660, text: "the first"}, {x: 175, y: 648, text: "of all"}, {x: 275, y: 660, text: "2001"},
				{x: 75, y: 630, text: "beta"}, {x: 275, y: 630, text: "2002"},
			},
			ruledGrid(three, []float64{705, 672, 642, 615}),
			"| Name | What it means | Since |\n| --- | --- | --- |\n| alpha | the first of all | 2001 |\n| beta |  | 2002 |\n",
		},
		{
			"a header above several columns is part of each one's name",
			sheet{
				{x: 75, y: 680, text: "City"}, {x: 235, y: 690, text: "People in"},
				{x: 175, y: 670, text: "2010"}, {x: 275, y: 670, text: "2020"},
				{x: 75, y: 640, text: "Graz"}, {x: 175, y: 640, text: "261"}, {x: 275, y: 640, text: "291"},
			},
			rules([4]float64{70, 705, 370, 705}, [4]float64{170, 685, 370, 685}, [4]float64{70, 660, 370, 660}, [4]float64{70, 630, 370, 630},
				[4]float64{70, 705, 70, 630}, [4]float64{170, 705, 170, 630}, [4]float64{270, 685, 270, 630}, [4]float64{370, 705, 370, 630}),
			"| City | People in 2010 | People in 2020 |\n| --- | --- | --- |\n| Graz | 261 | 291 |\n",
		},
		{
			"rows without rules between are parted by their figures",
			sheet{
				{x: 75, y: 690, text: "Part"}, {x: 175, y: 690, text: "Work"}, {x: 275, y: 690, text: "Price"},
				{x: 75, y: 660, text: "Pump"}, {x: 175, y: 660, text: "2 hours"}, {x: 275, y: 660, text: "85"},
				{x: 75, y: 648, text: "Valve of"}, {x: 175, y: 648, text: "1 hour"}, {x: 275, y: 648, text: "40"},
				{x: 75, y: 636, text: "brass"},
			},
			ruledGrid(three, []float64{705, 675, 625}),
			"| Part | Work | Price |\n| --- | --- | --- |\n| Pump | 2 hours | 85 |\n| Valve of brass | 1 hour | 40 |\n",
		},
		{
			"a row of one cell at the top is a line before the table",
			sheet{
				{x: 75, y: 690, text: "All the parts"},
				{x: 75, y: 660, text: "Pump"}, {x: 175, y: 660, text: "red"}, {x: 275, y: 660, text: "85"},
				{x: 75, y: 640, text: "Valve"}, {x: 175, y: 640, text: "blue"}, {x: 275, y: 640, text: "40"},
			},
			rules([4]float64{70, 705, 370, 705}, [4]float64{70, 705, 70, 632}, [4]float64{370, 705, 370, 632}) + ruledGrid(three, []float64{675, 652, 632}),
			"All the parts\n\n| Pump | red | 85 |\n| --- | --- | --- |\n| Valve | blue | 40 |\n",
		},
		{
			"a frame around text is no table",
			append(sheet{}, column(75, 690, "Text in a frame that", "has no columns.")...),
			ruledGrid([]float64{70, 370}, []float64{705, 660}),
			"Text in a frame that has no columns.\n",
		},
		{
			"text stands before and after",
			append(append(column(72, 760, "Before the table there is text."), sheet{
				{x: 75, y: 690, text: "A"}, {x: 175, y: 690, text: "B"}, {x: 75, y: 670, text: "1"}, {x: 175, y: 670, text: "2"},
			}...), column(72, 600, "After it there is more.")...),
			ruledGrid([]float64{70, 170, 270}, []float64{705, 685, 660}),
			"Before the table there is text.\n\n| A | B |\n| --- | --- |\n| 1 | 2 |\n\nAfter it there is more.\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc := mustLoad(t, makePDFWith([]sheet{tt.page}, []extra{{draw: tt.draw}}, nil, ""))
			if diff := cmp.Diff(tt.want, doc.Text); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

// annotation is a link of a page's dictionary.
func annotation(x0, y0, x1, y1 float64, uri string) string {
	return fmt.Sprintf("<</Type/Annot/Subtype/Link/Rect[%g %g %g %g]/A<</S/URI/URI(%s)>>>>", x0, y0, x1, y1, uri)
}

func TestLinks(t *testing.T) {
	page := sheet{
		{x: 72, y: 700, text: "Read the"}, {x: 116, y: 700, text: "whole story"}, {x: 170, y: 700, text: "at home, or"},
		{x: 72, y: 688, text: "see https://example.org/a/"}, {x: 72, y: 676, text: "b.html for it; scripts stay out."},
	}
	data := makePDFWith([]sheet{page}, []extra{{page: "/Annots[" +
		annotation(115, 697, 168, 710, "https://example.org/story") +
		annotation(90, 685, 240, 697, "https://example.org/a/b.html") + annotation(72, 673, 101, 684, "https://example.org/a/b.html") +
		annotation(130, 673, 200, 684, "javascript:alert") + "]"}}, nil, "")
	for links, story := range map[bool]string{true: "[whole story](https://example.org/story)", false: "whole story"} {
		doc, err := load(t, pdf.Config{Links: links}, data)
		if err != nil {
			t.Fatal(err)
		}
		if want := "Read the " + story + " at home, or see https://example.org/a/b.html for it; scripts stay out.\n"; doc.Text != want {
			t.Errorf("links %t: got %q, want %q", links, doc.Text, want)
		}
	}
}

func TestLists(t *testing.T) {
	page := append(column(72, 700, "What to bring:"), line{x: 72, y: 680, text: "\x95 a map of the"}, line{x: 82, y: 668, text: "whole country"}, line{x: 72, y: 656, text: "\x95 water"})
	page = append(page, column(72, 620, "o one thing", "o another thing", "o a third thing")...)
	doc := mustLoad(t, makePDF([]sheet{page}, nil, ""))
	if want := "What to bring:\n\n- a map of the whole country\n- water\n\n- one thing\n- another thing\n- a third thing\n"; doc.Text != want {
		t.Errorf("got %q, want %q", doc.Text, want)
	}
}

// A note's number is drawn small before its text and is a word of its own.
func TestNoteNumber(t *testing.T) {
	page := append(column(72, 700, "Text with a note."), line{x: 72, y: 603, size: 6, text: "1"}, line{x: 75.4, y: 600, text: "Preliminary figures."})
	doc := mustLoad(t, makePDF([]sheet{page}, nil, ""))
	if want := "Text with a note.\n\n1 Preliminary figures.\n"; doc.Text != want {
		t.Errorf("got %q, want %q", doc.Text, want)
	}
}

// Short words of lines that run upward stay in their place: each is wider on the page than it is high.
func TestTurnedShortWords(t *testing.T) {
	page := sheet{
		{x: 100, y: 72, up: true, text: "A report by it says a lot of I"}, {x: 112, y: 72, up: true, text: "and ill is a word of it as a"}, {x: 124, y: 72, up: true, text: "last line."},
	}
	doc := mustLoad(t, makePDF([]sheet{page}, nil, ""))
	if want := "A report by it says a lot of I and ill is a word of it as a last line.\n"; doc.Text != want {
		t.Errorf("got %q, want %q", doc.Text, want)
	}
}

// A line that ends within a word goes on, however short it is.
func TestShortLineWithHyphen(t *testing.T) {
	doc := mustLoad(t, makePDF([]sheet{column(72, 700, "This is the sys-", "tem which all of us have come to know and use at work,", "and it is still good.")}, nil, ""))
	if want := "This is the system which all of us have come to know and use at work, and it is still good.\n"; doc.Text != want {
		t.Errorf("got %q, want %q", doc.Text, want)
	}
}

// Text of a page that is turned as a whole, and of one whose page dictionary turns it, is read like other text.
func TestTurnedPages(t *testing.T) {
	up := sheet{{x: 100, y: 72, up: true, text: "The text of this page runs"}, {x: 112, y: 72, up: true, text: "upward in two lines."}}
	doc := mustLoad(t, makePDFWith([]sheet{up, column(72, 700, "A page that is shown", "on its side.")}, []extra{{}, {page: "/Rotate 90"}}, nil, ""))
	if want := "The text of this page runs upward in two lines.\n\nA page that is shown on its side.\n"; doc.Text != want {
		t.Errorf("got %q, want %q", doc.Text, want)
	}
}

// Hebrew is drawn from left to right in files, or letter by letter from the right, and is in reading order in the text,
// with Latin words and figures as they are.
func TestRightToLeft(t *testing.T) {
	const cmap = "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <FF> endcodespacerange " +
		"2 beginbfrange <41> <5A> <05D0> <61> <7A> <0061> endbfrange 1 beginbfrange <30> <39> <0030> endbfrange 1 beginbfchar <23> <05D005D1> endbfchar endcmap end"
	letter := func(x float64, s string) string { return fmt.Sprintf("1 0 0 1 %g 700 Tm (%s) Tj ", x, s) }
	for name, tt := range map[string]struct{ draw, want string }{
		"as it stands":               {"1 0 0 1 72 700 Tm (DC BA) Tj", "אב גד\n"}, // A… are alef…
		"letters from the right":     {letter(90, "A") + letter(83, "B") + letter(76, "C"), "אבג\n"},
		"two letters in one glyph":   {"1 0 0 1 72 700 Tm (C#) Tj", "אבג\n"},
		"with Latin words":           {"1 0 0 1 72 700 Tm (FE DC two words BA) Tj", "אב two words גד הו\n"},
		"a number at the end":        {"1 0 0 1 72 700 Tm (.123 DC BA) Tj", "אב גד 123.\n"},
		"a number in parentheses":    {"1 0 0 1 72 700 Tm (DC \\(2024\\) BA) Tj", "אב (2024) גד\n"},
		"Hebrew words in a sentence": {"1 0 0 1 72 700 Tm (we say DC BA at home each day) Tj", "we say אב גד at home each day\n"},
	} {
		t.Run(name, func(t *testing.T) {
			content := "BT /F1 10 Tf " + tt.draw + " ET"
			doc := mustLoad(t, pdffile.Serialise("/Root 1 0 R", []string{
				"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[4 0 R]/Count 1>>",
				"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 7 0 R>>",
				"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents 6 0 R>>", "<<>>",
				fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(content), content),
				fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(cmap), cmap),
			}))
			if doc.Text != tt.want {
				t.Errorf("got %q, want %q", doc.Text, tt.want)
			}
		})
	}
}
