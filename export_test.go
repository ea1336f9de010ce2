package rag_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

// picture is a PNG large enough to be no decoration; each shade is another.
func picture(shade uint8) []byte {
	img := image.NewGray(image.Rect(0, 0, 200, 200))
	for i := range img.Pix {
		img.Pix[i] = shade + uint8(i%7)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// withPictures is a page of HTML that holds pictures.
func withPictures(text string, pictures ...[]byte) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<html><head><title>Page</title></head><body><h1>Page</h1><p>%s</p>", text)
	for i, p := range pictures {
		fmt.Fprintf(&b, `<p>Figure %d shows <img alt="chart %d" src="data:image/png;base64,%s"> it.</p>`, i, i, base64.StdEncoding.EncodeToString(p))
	}
	return b.String() + "</body></html>"
}

func (f *fixture) export() (file string, rep *rag.ExportReport) {
	f.t.Helper()
	file = filepath.Join(f.t.TempDir(), "export.jsonl")
	var b bytes.Buffer
	rep, err := f.Export(f.t.Context(), "", &b)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		f.t.Fatal(err)
	}
	return file, rep
}

// stored lists the documents of the default collection.
func (f *fixture) stored() (docs []rag.Document) {
	f.t.Helper()
	for entry, err := range f.Documents(f.t.Context(), "") {
		if err != nil {
			f.t.Fatal(err)
		}
		doc, err := f.Document(f.t.Context(), "", entry.URI)
		if err != nil {
			f.t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	return docs
}

func TestExportAndImportIntoAnotherModel(t *testing.T) {
	f := newFixture(t)
	f.write("ferns.md", "---\nkind: plant\nvalid_until: 2026-03-01\ntags: [a, b]\n---\n# Ferns\n\nFerns <reproduce> by spores.\n")
	f.write("page.html", withPictures("Charts of growth.", picture(1)))
	f.write("empty.md", "")
	f.ingest(nil)
	file, rep := f.export()
	if want := (rag.ExportReport{Collection: "default", Documents: 3, Images: 1}); *rep != want {
		t.Errorf("report %+v, want %+v", *rep, want)
	}

	g := &fixture{t: t, dir: t.TempDir(), docs: f.docs, embedder: &ragtest.HashEmbedder{Dims: 64, Revision: "2"}}
	g.open()
	load := func() *rag.IngestReport {
		t.Helper()
		set, err := rag.Exported(file)
		if err != nil {
			t.Fatal(err)
		}
		return g.ingest(func(r *rag.IngestRequest) { r.Sources = []rag.Sources{set} })
	}
	if rep := load(); rep.Added != 3 || rep.Embedded == 0 {
		t.Errorf("import: %+v", rep)
	}
	if diff := cmp.Diff(f.stored(), g.stored()); diff != "" {
		t.Errorf("documents differ:\n%s", diff)
	}
	g.sound()
	if got := names(g.search(rag.Query{Text: "ferns spores", TopK: 1})); len(got) != 1 || got[0] != "ferns.md" {
		t.Errorf("got %v", got)
	}
	if rep := load(); rep.Unchanged != 3 {
		t.Errorf("import again: %+v", rep)
	}
	if rep := g.ingest(nil); rep.Unchanged != 3 {
		t.Errorf("ingest of the sources after the import: %+v", rep)
	}
	again, _ := g.export()
	if a, b := read(t, file), read(t, again); a != b {
		t.Errorf("an export of the import differs:\n%s", cmp.Diff(a, b))
	}
}

// Pictures are a third larger in an export than they were; what could be ingested can be imported.
func TestImportOfWhatJustFitted(t *testing.T) {
	page := withPictures("Charts of growth.", picture(1), picture(2))
	c := rag.DefaultConfig()
	c.Ingest.MaxSourceBytes = int64(len(page))
	f := newFixture(t, rag.WithConfig(c))
	f.write("page.html", page)
	f.ingest(nil)
	file, _ := f.export()
	set, err := rag.Exported(file)
	if err != nil {
		t.Fatal(err)
	}
	g := newFixture(t, rag.WithConfig(c))
	if rep := g.ingest(func(r *rag.IngestRequest) { r.Sources = []rag.Sources{set} }); rep.Added != 1 {
		t.Errorf("%+v", rep)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestExportedReportsEveryMistake(t *testing.T) {
	f := newFixture(t)
	f.write("ferns.md", "# Ferns\n\nFerns reproduce by spores.\n")
	f.write("oaks.html", withPictures("Acorns feed squirrels.", picture(1)))
	f.ingest(func(r *rag.IngestRequest) {
		r.Sources[0] = describedBy(r.Sources[0], "Trees", rag.Meta{"tags": []string{"x"}})
	})
	file, _ := f.export()
	good := read(t, file)
	lines := strings.SplitAfter(good, "\n")
	edit := func(old, now string) string {
		bad := strings.Replace(good, old, now, 1)
		if bad == good {
			t.Fatalf("%q is not in the export", old)
		}
		return bad
	}
	for name, c := range map[string]struct {
		file string
		says []string
	}{
		"empty":           {"", []string{"cut short"}},
		"cut short":       {lines[0] + lines[1], []string{"cut short"}},
		"cut in a line":   {good[:len(lines[0])+len(lines[1])/2], []string{"line 2", "it ends too early"}},
		"a line is gone":  {lines[0] + lines[1] + lines[3], []string{"line 3: the export had 2 documents, there are 1"}},
		"twice":           {lines[0] + lines[1] + lines[1] + lines[3], []string{"line 3", "stands in line 2 already"}},
		"no first line":   {lines[1] + lines[2] + lines[3], []string{"line 1: the first line"}},
		"behind the end":  {good + lines[1], []string{"line 5: there is something behind the end"}},
		"newer version":   {edit(`"version":2`, `"version":3`), []string{"line 1: version 3"}},
		"unknown field":   {edit(`"state"`, `"mood"`), []string{"line 2", "mood"}},
		"bad state":       {edit(`"state":"ok"`, `"state":"fine"`), []string{"line 2: state is \"fine\""}},
		"bad digest":      {edit(`"digest":"`, `"digest":"x`), []string{"line 2: source.digest"}},
		"section outside": {edit(`"start":0`, `"start":900`), []string{"line 2: a section"}},
		"given too deep":  {edit(`"given":{"title":"Trees","meta":{"tags":["x"]`, `"given":{"title":"Trees","meta":{"tags":[["x"]]`), []string{`line 2: source.given: metadata "tags": the list holds a list`}},
		"given a number":  {edit(`"given":{"title":"Trees","meta":{"tags":["x"]`, `"given":{"title":"Trees","meta":{"tags":["x",1]`), []string{`line 2: source.given: metadata "tags": the list holds a number`}},
		"given an object": {edit(`"given":{"title":"Trees","meta":{"tags":["x"]`, `"given":{"title":"Trees","meta":{"tags":{}`), []string{`line 2: source.given: metadata "tags": an object cannot be kept`}},
		"meta an object":  {edit(`"meta":{"tags":["x"]`, `"meta":{"tags":{}`), []string{`line 2: metadata "tags": an object cannot be kept`}},
		"another picture": {edit(`"data":"`, `"data":"AAAA`), []string{"line 3: images.0.id is not the SHA-256 of the picture"}},
		"another id":      {edit(`"id":"`, `"id":"x`), []string{"line 3: images.0.id"}},
		"a date":          {edit(`"validity":{`, `"validity":{"until":"2026-03-01",`), []string{"line 2: document.validity.until: want a day with a time such as 2026-12-31T12:00:00Z, got another text"}},
		"a number":        {edit(`"validity":{`, `"validity":{"until":2026,`), []string{"line 2: document.validity.until: want a day with a time such as 2026-12-31T12:00:00Z, got a number"}},
		"two mistakes":    {strings.ReplaceAll(good, `"state":"ok"`, `"state":""`), []string{"line 2: state", "line 3: state"}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(file, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := rag.Exported(file)
			if !errors.Is(err, rag.ErrInvalid) {
				t.Fatalf("got %v, want ErrInvalid", err)
			}
			for _, text := range c.says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%q does not say %q", err, text)
				}
			}
		})
	}
	if _, err := rag.Exported(filepath.Join(t.TempDir(), "none")); !errors.Is(err, rag.ErrNotFound) {
		t.Errorf("no file: %v, want ErrNotFound", err)
	}
}

// describedBy is a set whose sources come with a title and metadata, as a manifest gives them.
func describedBy(set rag.Sources, title string, m rag.Meta) rag.Sources {
	all := set.All
	set.All = func(yield func(rag.Source, error) bool) {
		for src, err := range all {
			src.Title, src.Meta = title, m
			if !yield(src, err) {
				return
			}
		}
	}
	return set
}

// What was given with a source comes back as it was: the kinds of its values, and that nothing was given or that it was empty.
func TestImportOfWhatWasGiven(t *testing.T) {
	for name, m := range map[string]rag.Meta{
		"all kinds": {"tags": []string{"x", "y"}, "one": []string{"x"}, "none": []string{}, "year": 2026, "exact": 0.1, "open": true, "word": "<w>"},
		"empty":     {},
		"nothing":   nil,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.write("a.md", "# A\n\nalpha beta\n")
			f.ingest(func(r *rag.IngestRequest) { r.Sources[0] = describedBy(r.Sources[0], "", m) })
			file, _ := f.export()
			g := newFixture(t)
			set, err := rag.Exported(file)
			if err != nil {
				t.Fatal(err)
			}
			if rep := g.ingest(func(r *rag.IngestRequest) { r.Sources = []rag.Sources{set} }); rep.Added != 1 {
				t.Errorf("%+v", rep)
			}
			if diff := cmp.Diff(given(f), given(g)); diff != "" {
				t.Errorf("given differs:\n%s", diff)
			}
			if diff := cmp.Diff(f.stored(), g.stored()); diff != "" {
				t.Errorf("documents differ:\n%s", diff)
			}
			again, _ := g.export()
			if a, b := read(t, file), read(t, again); a != b {
				t.Errorf("an export of the import differs:\n%s", cmp.Diff(a, b))
			}
		})
	}
}

// given is what the ledger keeps of what was given with each document.
func given(f *fixture) (list []*rag.Given) {
	f.t.Helper()
	for entry, err := range f.Documents(f.t.Context(), "") {
		if err != nil {
			f.t.Fatal(err)
		}
		list = append(list, entry.Given)
	}
	return list
}

// An export need not say the IDs of pictures; what it says is compared.
func TestImportComputesIDsOfPictures(t *testing.T) {
	f := newFixture(t)
	f.write("page.html", withPictures("Charts of growth.", picture(1)))
	f.ingest(nil)
	file, _ := f.export()
	id := f.stored()[0].Images[0].ID
	without := strings.Replace(read(t, file), `"id":"`+id+`",`, "", 1)
	if err := os.WriteFile(file, []byte(without), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := rag.Exported(file)
	if err != nil {
		t.Fatal(err)
	}
	g := newFixture(t)
	g.ingest(func(r *rag.IngestRequest) { r.Sources = []rag.Sources{set} })
	if diff := cmp.Diff(f.stored(), g.stored()); diff != "" {
		t.Errorf("documents differ:\n%s", diff)
	}
}
