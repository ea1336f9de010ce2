package transform_test

import (
	"image/color"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/catalog"
	_ "github.com/seed-d8745b77/rag/fusion"
	_ "github.com/seed-d8745b77/rag/loader"
	"github.com/seed-d8745b77/rag/ragtest"
	_ "github.com/seed-d8745b77/rag/sparse"
	_ "github.com/seed-d8745b77/rag/splitter"
	"github.com/seed-d8745b77/rag/transform"
)

// byRules makes each transformer that works without a model.
func byRules(t *testing.T) map[string]rag.Transformer {
	t.Helper()
	enrich, err := transform.NewEnrich(nil, transform.EnrichConfig{})
	if err != nil {
		t.Fatal(err)
	}
	refine, err := transform.NewRefine(nil, transform.RefineConfig{})
	if err != nil {
		t.Fatal(err)
	}
	caption, err := transform.NewCaption(nil, transform.CaptionConfig{})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]rag.Transformer{"enrich": enrich, "refine": refine, "caption": caption, "tables": transform.NewTables()}
}

func TestRuleContracts(t *testing.T) {
	for name := range byRules(t) {
		t.Run(name, func(t *testing.T) {
			ragtest.TestTransformer(t, func(t *testing.T) rag.Transformer { return byRules(t)[name] })
		})
	}
}

// chunksOf makes a document of texts, one chunk each.
func chunksOf(texts ...string) (rag.Document, []rag.Chunk) {
	var doc rag.Document
	var chunks []rag.Chunk
	for _, text := range texts {
		chunks = append(chunks, rag.Chunk{Text: text, Start: len(doc.Text), End: len(doc.Text) + len(text)})
		doc.Text += text
	}
	return doc, chunks
}

func run(t *testing.T, tr rag.Transformer, doc rag.Document, chunks []rag.Chunk) []rag.Chunk {
	t.Helper()
	got, err := tr.Transform(t.Context(), doc, chunks)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestRefineMendsWords(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing broken", "A well-known fact.\n- A list\n", ""},
		{"hyphen at a line end", "The trans-\nformation of the regula-\n  tion.", "transformation regulation"},
		{"umlauts", "Die Än-\nderung", "Änderung"},
		{"a compound of names", "Baden-\nWürttemberg", ""},
		{"a dash", "one -\ntwo", ""},
		{"twice", "re-\npeat and re-\npeat", "repeat"},
		{"soft hyphens", "trans\u00adfor\u00admation", "transformation"},
		{"no width", "word\u200bbreak", "wordbreak"},
		{"spaced letters", "A chapter: H e a d i n g of it", "Heading"},
		{"single letters", "a b c", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, chunks := chunksOf(tt.text)
			chunks[0].Context = "Title"
			want := strings.TrimSuffix("Title\n"+tt.want, "\n")
			if got := run(t, byRules(t)["refine"], doc, chunks); got[0].Context != want {
				t.Errorf("Context = %q, want %q", got[0].Context, want)
			}
		})
	}
}

func TestRefineLeavesBoilerplateOut(t *testing.T) {
	for text, drop := range map[string]bool{
		"Page 3 of 10\n":     true,
		"- 12 -":             true,
		"第 3 页 共 10 页":       true,
		"# Contents of it\n": false,
		"Introduction ........ 3\nMethods . . . . . . 12": true,
		"Introduction ........ 3\nMethods are described.": false,
		"© 2024 Example Ltd. All rights reserved.":        true,
		"Copyright law protects the author.":              false,
		"Skip to content\n\nBack to top\n":                true,
		"Log in with your name and password.":             false,
		"This page intentionally left blank.":             true,
		"The total is 12.":                                false,
		"2024":                                            true,
		"12345":                                           false,
	} {
		doc, chunks := chunksOf("Some text.\n", text)
		got := run(t, byRules(t)["refine"], doc, chunks)
		if (len(got) == 1) != drop {
			t.Errorf("%q: %d of 2 chunks are left", text, len(got))
		}
	}
	doc, chunks := chunksOf("Page 1", "Page 2")
	if got := run(t, byRules(t)["refine"], doc, chunks); len(got) != 2 {
		t.Errorf("nothing is left of the document")
	}
	keep, err := transform.NewRefine(nil, transform.RefineConfig{KeepBoilerplate: true})
	if err != nil {
		t.Fatal(err)
	}
	doc, chunks = chunksOf("Text.", "Page 2")
	if got := run(t, keep, doc, chunks); len(got) != 2 {
		t.Errorf("keep_boilerplate leaves %d chunks", len(got))
	}
}

func TestEnrichByRules(t *testing.T) {
	const text = "## Leave\n\nThe parental leave lasts twelve months. Parental leave is paid by the insurance fund! See also:\n- insurance fund\n"
	doc, chunks := chunksOf(text, "No heading here. It ends.", "节日期间的年假申请由人事部门批准。年假申请须提前两周提交。", "| a | b |\n", "...")
	doc.Title = "Handbook"
	chunks[0].Headings = []string{"Rules", "Leave"}
	got := run(t, byRules(t)["enrich"], doc, chunks)
	want := rag.Meta{
		transform.MetaTitle: "Leave", transform.MetaTags: []string{"insurance fund", "parental leave lasts", "twelve months", "paid"},
		transform.MetaSummary: "The parental leave lasts twelve months.",
	}
	if diff := cmp.Diff(want, got[0].Meta); diff != "" {
		t.Error(diff)
	}
	if got[0].Context != "Leave" || got[1].Context != "Handbook" {
		t.Errorf("Context = %q, %q", got[0].Context, got[1].Context)
	}
	chunks[0].Context = "Handbook > Leave"
	if again := run(t, byRules(t)["enrich"], doc, chunks); again[0].Context != "Handbook > Leave" {
		t.Errorf("Context = %q", again[0].Context)
	}
	if got[1].Meta[transform.MetaTitle] != "Handbook" || got[1].Meta[transform.MetaSummary] != "No heading here." {
		t.Errorf("no heading: %v", got[1].Meta)
	}
	if tags, _ := got[2].Meta[transform.MetaTags].([]string); len(tags) == 0 || tags[0] != "年假申请" {
		t.Errorf("Chinese: %v", got[2].Meta)
	}
}

func TestEnrichKeepsWhatIsThere(t *testing.T) {
	doc, chunks := chunksOf("Some text about ovens.")
	chunks[0].Meta = rag.Meta{"title": "Mine", "tags": []string{"mine"}, transform.MetaTags: []string{"kept"}}
	got := run(t, byRules(t)["enrich"], doc, chunks)
	if m := got[0].Meta; m["title"] != "Mine" || !cmp.Equal(m["tags"], []string{"mine"}) || !cmp.Equal(m[transform.MetaTags], []string{"kept"}) {
		t.Errorf("got %v", m)
	}
}

func TestTables(t *testing.T) {
	doc, chunks := chunksOf(
		"Prices:\n\n| Name | Price |\n| --- | ---: |\n| Apples | 3 |\n| Pe\\|ars | 4 |\n",
		"| Plums | 5 |\n",
		"\nNo table | here.\n\n| x | y |\n",
		"Text.",
	)
	chunks[0].Context = "Shop"
	got := run(t, transform.NewTables(), doc, chunks)
	for i, want := range []string{
		"Shop\nTable of 2 rows with the columns Name, Price. Rows: Apples, Pe|ars",
		"Table of 1 row with the columns Name, Price. Rows: Plums",
		"Table of 1 row. Rows: x",
		"",
	} {
		if got[i].Context != want {
			t.Errorf("chunk %d: %q, want %q", i, got[i].Context, want)
		}
	}
	wide := "|" + strings.Repeat(" column |", 20) + "\n|" + strings.Repeat(" --- |", 20) + "\n" + strings.Repeat("| row | x |\n", 20)
	doc, chunks = chunksOf(wide)
	if got := run(t, transform.NewTables(), doc, chunks)[0].Context; len(got) > 300 || !strings.Contains(got, "…") || !strings.HasPrefix(got, "Table of 20 rows") {
		t.Errorf("a large table: %q", got)
	}
}

func TestCaptionWithoutModel(t *testing.T) {
	doc, _ := sample(t)
	doc.Images = append(doc.Images, square(t, 8, color.Black)) // decoration
	rep, got := ingested(t, doc, byRules(t)["caption"])
	if got[0].Meta[transform.MetaUnprocessed] != true || got[0].Captions != nil {
		t.Errorf("got %v %v", got[0].Meta, got[0].Captions)
	}
	want := []rag.StepCount{{Step: "caption", Skipped: 1, Reason: "the engine has no chat model that sees pictures"}}
	if diff := cmp.Diff(want, rep.Steps); diff != "" {
		t.Error(diff)
	}
}

func TestCaptionShowsPicturesAsModelsTakeThem(t *testing.T) {
	script := answers()
	tr, err := transform.NewCaption(script, transform.CaptionConfig{MaxSide: 50})
	if err != nil {
		t.Fatal(err)
	}
	doc, chunks := sample(t)
	doc.Images[0].Alt = "Our square"
	doc.Images = append(doc.Images, square(t, 8, color.Black), rag.Image{ID: "svg", MediaType: "image/svg+xml", Data: []byte("<svg/>"), Offset: 40},
		rag.Image{ID: "none", Offset: 3}, rag.Image{ID: "web", MediaType: "image/webp", Data: []byte("RIFF....WEBP"), Offset: 1000})
	for i, at := range []int{1, 1, 1, 0, 1} {
		chunks[at].Images = append(chunks[at].Images, rag.Image{ID: doc.Images[i].ID})
	}
	got := run(t, tr, doc, chunks)
	asked := script.Requests()
	if len(asked) != 2 {
		t.Fatalf("%d questions, want one for the square and one for WebP", len(asked))
	}
	for _, req := range asked {
		shown := req.Messages[1].Images[0]
		switch {
		case shown.MediaType == "image/webp":
		case shown.MediaType != "image/png" || len(shown.Data) >= len(doc.Images[0].Data) && len(shown.Data) > 400 || !strings.Contains(req.Messages[1].Text, "Our square"):
			t.Errorf("shown %s, %d bytes: %s", shown.MediaType, len(shown.Data), req.Messages[1].Text)
		}
	}
	if len(got[1].Captions) != 2 || got[1].Meta[transform.MetaUnprocessed] != true || got[0].Meta[transform.MetaUnprocessed] != true {
		t.Errorf("got %v, %v and %v", got[1].Captions, got[1].Meta, got[0].Meta)
	}
}

func FuzzRules(f *testing.F) {
	f.Add("A trans-\nformation | x |\n| --- |\n| a |")
	f.Add("| a |\n|---|\n\n#Heading. 年假 © 2024\u00ad \xff")
	f.Add("....... 3\n'a-'-b'")
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || text == "" {
			return
		}
		doc, chunks := chunksOf(text[:len(text)/2], text[len(text)/2:])
		for name, tr := range byRules(t) {
			for _, c := range run(t, tr, doc, chunks) {
				if len(c.Context) > 1<<16 {
					t.Errorf("%s: a context of %d bytes", name, len(c.Context))
				}
				if utf8.ValidString(c.Text) && !utf8.ValidString(c.Context) {
					t.Errorf("%s: the context %q is not UTF-8", name, c.Context)
				}
				if _, err := c.Meta.Clean(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	})
}
