package loader_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/loader"
	"github.com/seed-d8745b77/rag/ragtest"
)

func newEPUB() rag.Loader { return must(loader.NewEPUB(loader.EPUBConfig{})) }

// epubOf makes a book of two chapters, of which the second has the given body; parts replace or add others.
func epubOf(t testing.TB, body string, parts map[string]string) []byte {
	t.Helper()
	all := map[string]string{
		"META-INF/container.xml": `<container xmlns="c"><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>`,
		"OEBPS/book.opf": `<package xmlns="o" xmlns:dc="dc"><metadata><dc:title>The Book</dc:title><dc:creator>Ada</dc:creator><dc:creator>Eve</dc:creator><dc:language>en</dc:language><dc:date>1999</dc:date></metadata>` +
			`<manifest><item id="b" href="text/two%20b.xhtml"/><item id="a" href="text/one.xhtml"/><item id="c" href="gone.xhtml"/></manifest><spine><itemref idref="a"/><itemref idref="b"/><itemref idref="c"/><itemref idref="zz"/></spine></package>`,
		"OEBPS/text/one.xhtml":   `<?xml version="1.0" encoding="utf-8"?><html><body><h1>One</h1><p>First.</p></body></html>`,
		"OEBPS/text/two b.xhtml": `<html><body>` + body + `</body></html>`,
		"OEBPS/images/p.png":     pngBytes,
	}
	maps.Copy(all, parts)
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateHeader(&zip.FileHeader{Name: "mimetype", Method: zip.Store})
	if err == nil {
		_, err = w.Write([]byte("application/epub+zip"))
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err != nil {
			t.Fatal(err)
		}
		if w, err = z.Create(name); err == nil {
			_, err = w.Write([]byte(all[name]))
		}
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestEPUBSuite(t *testing.T) {
	ragtest.TestLoader(t, func(*testing.T) rag.Loader { return newEPUB() },
		ragtest.Sample{Name: "a.epub", Data: epubOf(t, "<h1>Two</h1><p>Second.", nil), Want: "First. # Two Second."})
}

func TestEPUB(t *testing.T) {
	doc := mustLoad(t, newEPUB(), string(epubOf(t, `<h1>Two</h1><p>See <img src="../images/p.png" alt="a plan"/> and <img src="../images/p.png"/>.</p><img src="no.png"/>`, nil)))
	if diff := cmp.Diff("# One\n\nFirst.\n\n# Two\n\nSee a plan and .\n", doc.Text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"1 One @ # One", "1 Two @ # Two"}, outlineOf(doc)); diff != "" {
		t.Errorf("sections (-want +got):\n%s", diff)
	}
	if doc.Title != "The Book" || doc.Language != "en" {
		t.Errorf("title %q, language %q", doc.Title, doc.Language)
	}
	if diff := cmp.Diff(rag.Meta{"author": []string{"Ada", "Eve"}, "created": "1999"}, doc.Meta); diff != "" {
		t.Errorf("meta (-want +got):\n%s", diff)
	}
	if len(doc.Images) != 2 || doc.Images[0].ID != doc.Images[1].ID || !strings.HasPrefix(doc.Text[doc.Images[0].Offset:], " a plan") {
		t.Errorf("%d images", len(doc.Images))
	}
	if len(doc.Warnings) != 2 { // no.png, and the chapter that is gone
		t.Errorf("warnings %v", doc.Warnings)
	}
}

// Chapters are XML, in which any element may be empty.
func TestEPUBEmptyElements(t *testing.T) {
	chapter := `<html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="x.js" defer = 'a' /></head><body><h1><a id="p1"/>One</h1><p>It was<br/> night.</p><div/><textarea/><p>Morning.</p></body></html>`
	doc := mustLoad(t, newEPUB(), string(epubOf(t, "<p>Two.</p>", map[string]string{"OEBPS/text/one.xhtml": chapter})))
	if want := "# One\n\nIt was\nnight.\n\nMorning.\n\nTwo.\n"; doc.Text != want {
		t.Errorf("got %q, want %q", doc.Text, want)
	}
}

// The path of the package document is written as in an address; old programs write it as it is.
func TestEPUBPackagePath(t *testing.T) {
	opf := `<package xmlns="o"><manifest><item id="a" href="text/one.xhtml"/></manifest><spine><itemref idref="a"/></spine></package>`
	for _, path := range []string{"OEBPS/my%20book.opf", "OEBPS/my book.opf"} {
		doc := mustLoad(t, newEPUB(), string(epubOf(t, "", map[string]string{
			"META-INF/container.xml": `<container xmlns="c"><rootfiles><rootfile full-path="` + path + `"/></rootfiles></container>`,
			"OEBPS/my book.opf":      opf,
		})))
		if doc.Text != "# One\n\nFirst.\n" {
			t.Errorf("%s: got %q", path, doc.Text)
		}
	}
}

func TestEPUBBadInput(t *testing.T) {
	locked := `<encryption><EncryptedData><CipherReference URI="OEBPS/text/one.xhtml"/></EncryptedData></encryption>`
	for name, tt := range map[string]struct {
		data []byte
		want error
	}{
		"protected":   {epubOf(t, "", map[string]string{"META-INF/encryption.xml": locked}), rag.ErrInvalid},
		"no package":  {epubOf(t, "", map[string]string{"META-INF/container.xml": "<container/>"}), rag.ErrUnsupported},
		"a Word file": {docxOf(t, para("", "x"), nil), rag.ErrUnsupported},
		"cut short":   {epubOf(t, "", nil)[:300], rag.ErrInvalid},
	} {
		if _, err := load(t, newEPUB(), tt.data); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, err, tt.want)
		}
	}
}

func FuzzEPUB(f *testing.F) {
	f.Add([]byte(`<h1>x</h1><img src="../images/p.png"/><p>y`), []byte(`<package><metadata/><manifest><item id="a" href="text/one.xhtml"/></manifest><spine><itemref idref="a"/></spine></package>`))
	l := newEPUB()
	f.Fuzz(func(t *testing.T, body, opf []byte) {
		for _, data := range [][]byte{body, epubOf(t, string(body), nil), epubOf(t, "x", map[string]string{"OEBPS/book.opf": string(opf)})} {
			if _, err := load(t, l, data); err != nil && !errors.Is(err, rag.ErrInvalid) && !errors.Is(err, rag.ErrUnsupported) {
				t.Errorf("an error of no kind: %v", err)
			}
		}
	})
}
