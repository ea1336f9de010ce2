package nguyendocx_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/testdata"
	"github.com/seed-d8745b77/rag/loader/nguyendocx"
	"github.com/seed-d8745b77/rag/ragtest"
)

// word makes a Word file of a body.
func word(t testing.TB, body string) []byte {
	t.Helper()
	return archive(t, "[Content_Types].xml", "<Types/>", "word/_rels/document.xml.rels", "<Relationships/>",
		"word/document.xml", `<?xml version="1.0"?><w:document xmlns:w="w" xmlns:mc="mc"><w:body>`+body+`</w:body></w:document>`)
}

// archive makes a ZIP of names and contents.
func archive(t testing.TB, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		w, err := z.Create(parts[i])
		if err == nil {
			_, err = io.WriteString(w, parts[i+1])
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

// p is a paragraph.
func p(properties, text string) string {
	return `<w:p><w:pPr>` + properties + `</w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
}

func loaderOf(t testing.TB, c nguyendocx.Config) *nguyendocx.Loader {
	t.Helper()
	l, err := nguyendocx.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func load(t testing.TB, l rag.Loader, data []byte) (doc rag.Document, err error) {
	t.Helper()
	for src := range rag.Bytes("mem:///a.docx", data).All {
		for doc, err = range l.Load(t.Context(), src) {
			return doc, err
		}
	}
	return doc, err
}

func TestContract(t *testing.T) {
	ragtest.TestLoader(t, func(t *testing.T) rag.Loader { return loaderOf(t, nguyendocx.Config{}) },
		ragtest.Sample{Name: "a.docx", Data: word(t, p(`<w:pStyle w:val="Heading1"/>`, "Head")+p("", "Some words.")), Want: "Some words."})
}

func TestText(t *testing.T) {
	cell := func(text string) string { return "<w:tc>" + p("", text) + "</w:tc>" }
	doc, err := load(t, loaderOf(t, nguyendocx.Config{}), word(t,
		p(`<w:pStyle w:val="Title"/>`, "The report")+
			p(`<w:pStyle w:val="berschrift1"/>`, "First &amp; foremost")+
			`<w:p><w:r><w:t>One </w:t></w:r><w:r><w:t>sentence.</w:t><w:tab/><w:t>After a tab</w:t><w:br/><w:t>next line</w:t></w:r>`+
			`<w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom>`+
			`<mc:AlternateContent><mc:Choice><w:r><w:t>!</w:t></w:r></mc:Choice><mc:Fallback><w:r><w:t>twice</w:t></w:r></mc:Fallback></mc:AlternateContent></w:p>`+
			`<w:p/>`+
			p(`<w:outlineLvl w:val="1"/>`, "Below")+
			`<w:tbl><w:tr>`+cell("a|b")+cell("c")+`</w:tr><w:tr>`+cell("1")+`<w:tc><w:tbl><w:tr>`+cell("x")+cell("y")+`</w:tr></w:tbl>`+p("", "2")+`</w:tc></w:tr></w:tbl>`+
			p(`<w:pStyle w:val="Heading1"/>`, "Last")+p(`<w:outlineLvl w:val="9"/>`, "The end.")))
	if err != nil {
		t.Fatal(err)
	}
	want := "The report\n\n# First & foremost\n\nOne sentence.\tAfter a tab\nnext line!\n\n## Below\n\n| a\\|b | c |\n| --- | --- |\n| 1 | x y 2 |\n\n# Last\n\nThe end.\n"
	if diff := cmp.Diff(want, doc.Text); diff != "" {
		t.Error(diff)
	}
	var outline []string
	for _, s := range doc.Sections {
		outline = append(outline, strings.Repeat("#", s.Level)+s.Title+": "+doc.Text[s.Start:s.Start+3]+doc.Text[s.End-3:s.End])
	}
	if diff := cmp.Diff([]string{"#First & foremost: # F|\n\n", "##Below: ## |\n\n", "#Last: # Ld.\n"}, outline); diff != "" || doc.Title != "The report" {
		t.Errorf("title %q, %s", doc.Title, diff)
	}
}

func TestBadFiles(t *testing.T) {
	big := word(t, p("", strings.Repeat("word ", 10_000)))
	for name, c := range map[string]struct {
		data   []byte
		config nguyendocx.Config
		kind   error
		says   string
	}{
		"no archive":          {[]byte("text"), nguyendocx.Config{}, rag.ErrUnsupported, "no archive"},
		"another archive":     {archive(t, "a.txt", "text"), nguyendocx.Config{}, rag.ErrUnsupported, "without word/document.xml"},
		"no links":            {archive(t, "word/document.xml", "<a/>"), nguyendocx.Config{}, rag.ErrInvalid, "rels file not found"},
		"cut short":           {big[:len(big)/2], nguyendocx.Config{}, rag.ErrInvalid, "corrupt"},
		"no XML":              {word(t, "<w:p></w:r>"), nguyendocx.Config{}, rag.ErrInvalid, "no XML"},
		"too large":           {big, nguyendocx.Config{MaxBytes: 100}, rag.ErrInvalid, "max_bytes"},
		"too large in itself": {big, nguyendocx.Config{MaxUnzipped: 10_000}, rag.ErrInvalid, "max_unzipped"},
	} {
		if _, err := load(t, loaderOf(t, c.config), c.data); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v that says %q", name, err, c.kind, c.says)
		}
	}
	if _, err := nguyendocx.New(nguyendocx.Config{MaxBytes: -1}); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("a negative limit: %v", err)
	}
}

func TestRegister(t *testing.T) {
	var p rag.Providers
	nguyendocx.Register(&p)
	if diff := cmp.Diff([]string{"nguyendocx"}, p.Loaders.Names()); diff != "" {
		t.Error(diff)
	}
	if _, err := p.Loaders.New("nguyendocx", rag.Env{}, []byte(`{"max_byte": 1}`)); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("an unknown setting: %v", err)
	}
}

// Files that word processors wrote. The library gives no styles: headings are known where their style is called Heading1 and
// so on, as in the first, and not where it has a name of another language or number, as in the second.
func TestRealFiles(t *testing.T) {
	for name, want := range map[string]struct {
		text     string
		sections int
	}{"unit_test_headers.docx": {"Paragraph 1.2.3.1", 7}, "markitdown-test.docx": {"AutoGen: Enabling Next-Gen LLM", 0}} {
		data, err := os.ReadFile(filepath.Join(testdata.Shared(t, "data", "docs", "docx"), name))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := load(t, loaderOf(t, nguyendocx.Config{}), data)
		if err == nil {
			err = ragtest.CheckDocument(doc)
		}
		if err != nil || !strings.Contains(doc.Text, want.text) || len(doc.Sections) != want.sections {
			t.Errorf("%s: %v, %d sections, %.200q", name, err, len(doc.Sections), doc.Text)
		}
	}
}

func FuzzBody(f *testing.F) {
	f.Add(p(`<w:pStyle w:val="Heading1"/>`, "a") + "<w:tbl><w:tr><w:tc>" + p("", "b") + "</w:tc></w:tr></w:tbl>")
	f.Add("")
	f.Add(p("", "a&#13;b"))
	f.Add("<w:tbl><w:tc></w:tc></w:tbl></w:tbl>")
	f.Fuzz(func(t *testing.T, body string) {
		doc, err := load(t, loaderOf(t, nguyendocx.Config{}), word(t, body))
		if err == nil {
			err = ragtest.CheckDocument(doc)
		} else if errors.Is(err, rag.ErrInvalid) {
			err = nil
		}
		if err != nil {
			t.Error(err)
		}
	})
}
