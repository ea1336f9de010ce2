package pdf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/pdffile"
	"github.com/seed-d8745b77/rag/loader/pdf"
	"github.com/seed-d8745b77/rag/ragtest"
)

// source is bytes as a source named x.pdf.
func source(data []byte) rag.Source {
	return rag.Source{URI: "mem:///x.pdf", Size: int64(len(data)), Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}
}

// load reads the one document of a file.
func load(t testing.TB, cfg pdf.Config, data []byte) (rag.Document, error) {
	t.Helper()
	l, err := pdf.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for doc, err := range l.Load(t.Context(), source(data)) {
		return doc, err
	}
	t.Fatal("no document and no error")
	return rag.Document{}, nil
}

// mustLoad reads a file that has to be readable.
func mustLoad(t testing.TB, data []byte) rag.Document {
	t.Helper()
	doc, err := load(t, pdf.Config{}, data)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestContract(t *testing.T) {
	ragtest.TestLoader(t, func(t *testing.T) rag.Loader {
		l, err := pdf.New(pdf.Config{})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}, ragtest.Sample{Name: "text.pdf", Data: makePDF([]sheet{column(72, 700, "Some words."), nil}, nil, "/Title(A title)"), Want: "Some words."})
}

func TestText(t *testing.T) {
	left := column(72, 700, "Alpha walks along the river and", "counts the boats that pass under", "the old bridge every morning at", "seven before the town wakes up.")
	right := column(310, 700, "Omega stays at home and writes", "long letters to people who moved", "away many years ago and seldom", "answer what they are asked now.")
	var interleaved sheet
	for i := range left {
		interleaved = append(interleaved, left[i], right[i])
	}
	twoColumns := "Alpha walks along the river and counts the boats that pass under the old bridge every morning at seven before the town wakes up.\n\n" +
		"Omega stays at home and writes long letters to people who moved away many years ago and seldom answer what they are asked now.\n"
	var table sheet
	for i, cells := range [][]string{{"Country", "Capital", "Area"}, {"Austria", "Vienna", "83,879"}, {"Finland", "Helsinki", "338,424"}} {
		for j, c := range cells {
			table = append(table, line{x: 72 + 120*float64(j), y: 600 - 14*float64(i), text: c})
		}
	}
	var codes sheet // a table whose cells are short sentences, drawn row by row
	for i, cells := range [][]string{{"Code", "Meaning", "Usual cause"}, {"TW-5031", "gateway does not answer", "certificate of the sensor expired"}, {"TW-5044", "reading out of range", "ice on the probe"}, {"TW-5102", "clock drift above 4 seconds", "time server not reachable"}} {
		for j, c := range cells {
			codes = append(codes, line{x: 72 + 140*float64(j), y: 600 - 18*float64(i), text: c})
		}
	}
	wrapped := sheet{
		{x: 72, y: 600, text: "Level"}, {x: 150, y: 600, text: "Description"}, {x: 320, y: 600, text: "Answer"},
		{x: 72, y: 580, text: "SEV1"}, {x: 150, y: 580, text: "customers see wrong data,"}, {x: 150, y: 568, text: "or data is exposed"}, {x: 320, y: 580, text: "15 minutes"},
		{x: 72, y: 548, text: "SEV2"}, {x: 150, y: 548, text: "one region is down"}, {x: 320, y: 548, text: "30 minutes"},
	}
	narrow := func(first, rest string) sheet { // a cell of a narrow column goes on in a second line
		return sheet{
			{x: 72, y: 650, text: "The severity tells online teams on what line to write; the rest is in the table."},
			{x: 72, y: 600, text: "Level"}, {x: 120, y: 600, text: "Description"}, {x: 320, y: 600, text: "Answer"},
			{x: 72, y: 580, text: first}, {x: 72, y: 568, text: rest}, {x: 120, y: 580, text: "data is exposed"}, {x: 320, y: 580, text: "15 minutes"},
			{x: 72, y: 548, text: "SEV2"}, {x: 120, y: 548, text: "one region is down"}, {x: 320, y: 548, text: "30 minutes"},
		}
	}
	narrowWant := func(head string) string {
		return "The severity tells online teams on what line to write; the rest is in the table.\n\n" +
			"| Level | Description | Answer |\n| --- | --- | --- |\n| " + head + " | data is exposed | 15 minutes |\n| SEV2 | one region is down | 30 minutes |\n"
	}
	tests := []struct {
		name string
		page sheet
		want string
	}{
		{"a word that a narrow cell breaks is one word", narrow("Severit", "y"), narrowWant("Severity")},
		{"a word that the text does not have elsewhere is not made up", narrow("Standar", "d"), narrowWant("Standar d")},
		{"a word with room for more is not broken", narrow("on", "line"), narrowWant("on line")},
		{"a blank parts words in a narrow cell", narrow("Severit ", "y"), narrowWant("Severit y")},
		{"cells with sentences are no columns", codes, "| Code | Meaning | Usual cause |\n| --- | --- | --- |\n| TW-5031 | gateway does not answer | certificate of the sensor expired |\n| TW-5044 | reading out of range | ice on the probe |\n| TW-5102 | clock drift above 4 seconds | time server not reachable |\n"},
		{"a cell of two lines stays one cell", wrapped, "| Level | Description | Answer |\n| --- | --- | --- |\n| SEV1 | customers see wrong data, or data is exposed | 15 minutes |\n| SEV2 | one region is down | 30 minutes |\n"},
		{"lines of a paragraph are joined", column(72, 700, "The quick brown fox jumps over", "the lazy dog."), "The quick brown fox jumps over the lazy dog.\n"},
		{"a word parted at the line's end is one word", column(72, 700, "The engine is very effi-", "cient in what it does to", "the text."), "The engine is very efficient in what it does to the text.\n"},
		{"a hyphen that the text has elsewhere stays", column(72, 700, "A well-known fact is that a well-", "known fact is seldom checked."), "A well-known fact is that a well-known fact is seldom checked.\n"},
		{"columns drawn one after the other", append(append(sheet{}, left...), right...), twoColumns},
		{"columns drawn line by line across", interleaved, twoColumns},
		{"rows of a table are lines of cells", table, "| Country | Capital | Area |\n| --- | --- | --- |\n| Austria | Vienna | 83,879 |\n| Finland | Helsinki | 338,424 |\n"},
		{"list items are lines of their own", column(72, 700, "1. Open the box.", "2. Close the box again.", "3. Go home."), "1. Open the box.\n2. Close the box again.\n3. Go home.\n"},
		{"bold words at a line's start part no paragraph", append(sheet{{x: 72, y: 712, bold: true, text: "Bold"}, {x: 98, y: 712, text: "words begin this line of text,"}}, column(72, 700, "which goes on here for a while.")...), "Bold words begin this line of text, which goes on here for a while.\n"},
		{"lines of a table of contents stay apart", column(72, 700, "1.1 First things . . . . . . . . . . . . 1", "1.2 Second things . . . . . . . . . . . 23"), "1.1 First things ... 1\n1.2 Second things ... 23\n"},
		{"text in the margin comes after the page's", append(sheet{{x: 30, y: 300, up: true, text: "turned in the margin"}}, column(72, 700, "A line of text that is longer", "than what the margin says.")...), "A line of text that is longer than what the margin says.\n\nturned in the margin\n"},
		{"text drawn twice counts once", sheet{{x: 72, y: 700, text: "Shadow"}, {x: 72.5, y: 699.5, text: "Shadow"}}, "Shadow\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc := mustLoad(t, makePDF([]sheet{tt.page}, nil, ""))
			if diff := cmp.Diff(tt.want, doc.Text); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

// A font may map its characters to any of Unicode, beyond the 16-bit plane too, and to ligatures.
func TestMappedCharacters(t *testing.T) {
	const cmap = "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <FF> endcodespacerange " +
		"3 beginbfchar <41> <D835DC34> <42> <FB01> <43> <4E2D> endbfchar endcmap end"
	const content = "BT /F1 10 Tf 72 700 Td (AAA Bx AA z) Tj ET"
	doc := mustLoad(t, pdffile.Serialise("/Root 1 0 R", []string{
		"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[4 0 R]/Count 1>>",
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 7 0 R>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents 6 0 R>>", "<<>>",
		fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(content), content),
		fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(cmap), cmap),
	}))
	if want := "\U0001D434\U0001D434\U0001D434 fix \U0001D434\U0001D434 z\n"; doc.Text != want {
		t.Errorf("got %q, want %q", doc.Text, want)
	}
}

func TestPagesAndFurniture(t *testing.T) {
	var pages []sheet
	for i := range 5 {
		p := sheet{{x: 72, y: 760, text: "The Annual Report of the Company"}, {x: 300, y: 30, text: fmt.Sprint(i + 7)}}
		pages = append(pages, append(p, column(72, 700, fmt.Sprintf("Page text %c tells something.", 'A'+i))...))
	}
	pages[3] = nil
	doc := mustLoad(t, makePDF(pages, nil, "/Title(A \\(fine\\) title)/Author(Ada)/CreationDate(D:20240131120000+01'00')"))
	want := "Page text A tells something.\n\nPage text B tells something.\n\nPage text C tells something.\n\nPage text E tells something.\n"
	if diff := cmp.Diff(want, doc.Text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{0, 30, 60, 88, 90}, doc.Pages); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	if got := doc.Page(strings.Index(doc.Text, "Page text E")); got != 5 {
		t.Errorf("text of page 5 is said to be on page %d", got)
	}
	if doc.State != rag.StatePartial || len(doc.Warnings) != 1 || doc.Warnings[0].Page != 4 {
		t.Errorf("state %q, warnings %v: want partial because of page 4", doc.State, doc.Warnings)
	}
	if doc.Title != "A (fine) title" {
		t.Errorf("title %q", doc.Title)
	}
	wantMeta := rag.Meta{"pages": 5.0, "author": "Ada", "created": "2024-01-31T12:00:00+01:00", "page_furniture": []string{"The Annual Report of the Company"}}
	if diff := cmp.Diff(wantMeta, doc.Meta); diff != "" {
		t.Errorf("meta (-want +got):\n%s", diff)
	}
}

func TestHeadings(t *testing.T) {
	body := column(72, 660, "Some words that stand under the title and", "go on for a while so that they are the body.")
	first := append(sheet{{x: 72, y: 700, size: 20, text: "The Title"}, {x: 72, y: 680, size: 14, text: "A part"}}, body...)
	second := append(sheet{{x: 72, y: 680, text: "Named by the outline"}}, body...)
	doc := mustLoad(t, makePDF([]sheet{first, second}, nil, ""))
	if diff := cmp.Diff([]string{"1 The Title", "2 A part"}, outlineOf(doc)); diff != "" {
		t.Errorf("by size (-want +got):\n%s", diff)
	}
	second[0].y = 700
	doc = mustLoad(t, makePDF([]sheet{first, second}, []mark{{"A part", 0}, {"Named by the outline", 1}}, ""))
	if diff := cmp.Diff([]string{"1 The Title", "1 A part", "1 Named by the outline"}, outlineOf(doc)); diff != "" {
		t.Errorf("by outline (-want +got):\n%s", diff)
	}
	if doc.Title != "The Title" {
		t.Errorf("title %q", doc.Title)
	}
	for _, s := range doc.Sections {
		if want := strings.Repeat("#", s.Level) + " " + s.Title; !strings.HasPrefix(doc.Text[s.Start:], want) {
			t.Errorf("section %q does not start at its line", s.Title)
		}
	}
}

func outlineOf(doc rag.Document) []string {
	var out []string
	for _, s := range doc.Sections {
		out = append(out, fmt.Sprint(s.Level, " ", s.Title))
	}
	return out
}

func TestBadInput(t *testing.T) {
	good := makePDF([]sheet{column(72, 700, "Text.")}, nil, "")
	tests := []struct {
		name string
		data []byte
		want error
	}{
		{"an empty file", nil, rag.ErrUnsupported},
		{"bytes of another format", []byte("PK\x03\x04 and so on"), rag.ErrUnsupported},
		{"garbage after the header", append([]byte("%PDF-1.7\n"), bytes.Repeat([]byte{0xde, 0xad}, 5000)...), rag.ErrInvalid},
		{"a file cut short", good[:len(good)/4], rag.ErrInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := load(t, pdf.Config{}, tt.data); !errors.Is(err, tt.want) {
				t.Errorf("got error %v, want %v", err, tt.want)
			}
		})
	}
}

// A page tree that is its own child ends, as an error or as a page without text.
func TestCyclicPageTree(t *testing.T) {
	good := makePDF([]sheet{column(72, 700, "Text.")}, nil, "")
	cyclic := bytes.Replace(good, []byte("/Kids[7 0 R]"), []byte("/Kids[2 0 R]"), 1)
	if bytes.Equal(good, cyclic) {
		t.Fatal("the made file has another layout than the test thinks")
	}
	if doc, err := load(t, pdf.Config{}, cyclic); err == nil && doc.State != rag.StateEmpty {
		t.Errorf("state %q, text %q", doc.State, doc.Text)
	}
}

func TestNoPageHasText(t *testing.T) {
	doc := mustLoad(t, makePDF([]sheet{nil, nil}, nil, ""))
	if doc.State != rag.StateEmpty || doc.Text != "" || len(doc.Warnings) != 2 || len(doc.Pages) != 2 {
		t.Errorf("state %q, text %q, warnings %v, pages %v", doc.State, doc.Text, doc.Warnings, doc.Pages)
	}
}

func TestMaxPages(t *testing.T) {
	data := makePDF([]sheet{column(72, 700, "One."), column(72, 700, "Two."), column(72, 700, "Three.")}, nil, "")
	doc, err := load(t, pdf.Config{MaxPages: 2}, data)
	if err != nil {
		t.Fatal(err)
	}
	if doc.Text != "One.\n\nTwo.\n" || doc.State != rag.StatePartial || len(doc.Warnings) != 1 {
		t.Errorf("text %q, state %q, warnings %v", doc.Text, doc.State, doc.Warnings)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l, err := pdf.New(pdf.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range l.Load(ctx, source(makePDF([]sheet{column(72, 700, "Text.")}, nil, ""))) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	}
}

// A time limit stops the engine in the middle of its work, and the next file is read as if nothing had been.
func TestTimeLimit(t *testing.T) {
	var long []sheet
	for range 300 {
		long = append(long, column(72, 700, strings.Fields(strings.Repeat("word ", 60))...))
	}
	data := makePDF(long, nil, "")
	if _, err := load(t, pdf.Config{TimeoutMS: 1}, data); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "timeout_ms") {
		t.Errorf("got %v, want ErrInvalid that names the setting", err)
	}
	if doc := mustLoad(t, makePDF([]sheet{column(72, 700, "Still here.")}, nil, "")); doc.Text != "Still here.\n" {
		t.Errorf("text after a time limit: %q", doc.Text)
	}
}

func TestConcurrent(t *testing.T) {
	l, err := pdf.New(pdf.Config{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	const files = 8
	for i := range files {
		go func() {
			want := fmt.Sprintf("File number %d.\n", i)
			var got error
			for doc, err := range l.Load(t.Context(), source(makePDF([]sheet{column(72, 700, want[:len(want)-1])}, nil, ""))) {
				if got = err; err == nil && doc.Text != want {
					got = fmt.Errorf("got %q, want %q", doc.Text, want)
				}
			}
			done <- got
		}()
	}
	for range files {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestSettings(t *testing.T) {
	if _, err := pdf.New(pdf.Config{TimeoutMS: -1}); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("got %v, want ErrInvalid", err)
	}
	if _, err := rag.Default.Loaders.New("pdf", rag.Env{}, []byte(`{"password":"x"}`)); err != nil {
		t.Error(err)
	}
	if _, err := rag.Default.Loaders.New("pdf", rag.Env{}, []byte(`{"pasword":"x"}`)); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("a misspelt setting: got %v, want ErrInvalid", err)
	}
}

func FuzzPDF(f *testing.F) {
	f.Add(makePDF([]sheet{column(72, 700, "Text of", "two lines."), nil}, []mark{{"Text of", 0}}, "/Title(x)/ModDate(D:2024)"))
	f.Add([]byte("%PDF-1.7\ntrailer<</Root 1 0 R>>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := load(t, pdf.Config{TimeoutMS: 10_000}, data)
		if err != nil && !errors.Is(err, rag.ErrInvalid) && !errors.Is(err, rag.ErrUnsupported) {
			t.Errorf("an error of no kind: %v", err)
		}
		if err == nil {
			if err := ragtest.CheckDocument(doc); err != nil {
				t.Error(err)
			}
		}
	})
}
