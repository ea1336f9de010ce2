package loader_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/loader"
	"github.com/seed-d8745b77/rag/ragtest"
)

func must[T rag.Loader](l T, err error) rag.Loader {
	if err != nil {
		panic(err)
	}
	return l
}

func newText() rag.Loader     { return must(loader.NewText(loader.TextConfig{})) }
func newMarkdown() rag.Loader { return must(loader.NewMarkdown(loader.MarkdownConfig{})) }
func newHTML() rag.Loader     { return must(loader.NewHTML(loader.HTMLConfig{})) }

func sourceOf(data []byte) rag.Source {
	return rag.Source{URI: "test:/source", Size: int64(len(data)), Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}
}

// load returns the one document that data gives.
func load(t testing.TB, l rag.Loader, data []byte) (rag.Document, error) {
	t.Helper()
	for doc, err := range l.Load(t.Context(), sourceOf(data)) {
		if err == nil {
			if err := ragtest.CheckDocument(doc); err != nil {
				t.Errorf("document: %v", err)
			}
		}
		return doc, err
	}
	t.Fatal("neither a document nor an error")
	return rag.Document{}, nil
}

// mustLoad is load for data that can be read.
func mustLoad(t testing.TB, l rag.Loader, data string) rag.Document {
	t.Helper()
	doc, err := load(t, l, []byte(data))
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	return doc
}

func utf16(t testing.TB, s string, order unicode.Endianness, bom unicode.BOMPolicy) []byte {
	t.Helper()
	b, err := unicode.UTF16(order, bom).NewEncoder().Bytes([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func gb18030(t testing.TB, s string) []byte {
	t.Helper()
	b, err := simplifiedchinese.GB18030.NewEncoder().Bytes([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func windows1252(t testing.TB, s string) []byte {
	t.Helper()
	b, err := charmap.Windows1252.NewEncoder().Bytes([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const (
	chinese = "合同自双方签字之日起生效，有效期为三年。期满前三十日内，任何一方均可书面提出终止。\r\n违约方应当赔偿对方因此遭受的损失。"
	french  = "Le délai de résiliation est de trois mois après la fin de l’année.\r\nÀ défaut, le contrat est prolongé d’un an."
)

func TestTextSuite(t *testing.T) {
	ragtest.TestLoader(t, func(*testing.T) rag.Loader { return newText() },
		ragtest.Sample{Name: "plain.txt", Data: []byte("The first line.\nThe second line.\n"), Want: "first line. The second"},
		ragtest.Sample{Name: "mark.txt", Data: []byte("\xef\xbb\xbfWith a mark.\r\nAnd more."), Want: "With a mark. And more."},
		ragtest.Sample{Name: "le.log", Data: utf16(t, chinese, unicode.LittleEndian, unicode.UseBOM), Want: "有效期为三年"},
		ragtest.Sample{Name: "be.txt", Data: utf16(t, french, unicode.BigEndian, unicode.UseBOM), Want: "délai de résiliation"},
		ragtest.Sample{Name: "gb.txt", Data: gb18030(t, chinese), Want: "违约方应当赔偿"},
		ragtest.Sample{Name: "western.txt", Data: windows1252(t, french), Want: "À défaut, le contrat"},
		ragtest.Sample{Name: "pages.txt", Data: []byte("page one\f\npage two\n"), Want: "page two"},
	)
}

func TestMarkdownSuite(t *testing.T) {
	ragtest.TestLoader(t, func(*testing.T) rag.Loader { return newMarkdown() },
		ragtest.Sample{Name: "readme.md", Data: []byte(markdownPage), Want: "Text under the second heading."},
		ragtest.Sample{Name: "toml.md", Data: []byte("+++\ntitle = \"T\"\n+++\n# Head\n\nBody.\n"), Want: "# Head Body."},
		ragtest.Sample{Name: "gb.markdown", Data: gb18030(t, "# 合同\r\n\r\n"+chinese), Want: "有效期为三年"},
	)
}

func TestHTMLSuite(t *testing.T) {
	ragtest.TestLoader(t, func(*testing.T) rag.Loader { return newHTML() },
		ragtest.Sample{Name: "page.html", Data: []byte(sphinxPage), Want: "Sends a GET request."},
		ragtest.Sample{Name: "wide.htm", Data: utf16(t, "<html><body><h1>Stahl</h1><p>"+french, unicode.LittleEndian, unicode.UseBOM), Want: "délai de résiliation"},
		ragtest.Sample{Name: "gb.html", Data: gb18030(t, `<!doctype html><meta charset="gb2312"><p>`+chinese), Want: "有效期为三年"},
	)
}

func TestTooLargeIsInvalidAndSaysSo(t *testing.T) {
	for name, l := range map[string]rag.Loader{
		"text":     must(loader.NewText(loader.TextConfig{MaxBytes: 10})),
		"markdown": must(loader.NewMarkdown(loader.MarkdownConfig{MaxBytes: 10})),
		"html":     must(loader.NewHTML(loader.HTMLConfig{MaxBytes: 10})),
	} {
		if _, err := load(t, l, []byte("0123456789")); err != nil {
			t.Errorf("%s: ten bytes: %v", name, err)
		}
		_, err := load(t, l, []byte("0123456789+"))
		if !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "max_bytes") {
			t.Errorf("%s: eleven bytes: %v", name, err)
		}
	}
}

func TestAnEndlessSourceIsReadUpToTheLimitOnly(t *testing.T) {
	src := rag.Source{URI: "test:/endless", Size: -1, Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(endless{}), nil
	}}
	for _, err := range must(loader.NewText(loader.TextConfig{MaxBytes: 1 << 20})).Load(t.Context(), src) {
		if !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("got %v, want ErrInvalid", err)
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

func TestUnknownEncodingIsRefusedAtConstruction(t *testing.T) {
	if _, err := loader.NewText(loader.TextConfig{Encoding: "klingon"}); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "klingon") {
		t.Errorf("text: %v", err)
	}
	if _, err := loader.NewMarkdown(loader.MarkdownConfig{Encoding: "klingon"}); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("markdown: %v", err)
	}
	if _, err := loader.NewHTML(loader.HTMLConfig{Encoding: "klingon"}); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("html: %v", err)
	}
}

func TestRegisteredNamesMakeLoaders(t *testing.T) {
	var p rag.Providers
	loader.Register(&p)
	fingerprints := map[string]string{}
	for _, name := range p.Loaders.Names() {
		l, err := p.Loaders.New(name, rag.Env{}, []byte(`{"max_bytes": 100}`))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, ok := l.(rag.Formatter); !ok {
			t.Errorf("%s has no Formats", name)
		}
		f, ok := l.(rag.Fingerprinter)
		if !ok || !strings.HasPrefix(f.Fingerprint(), name+"/") {
			t.Errorf("%s has no fingerprint of its own", name)
			continue
		}
		fingerprints[name] = f.Fingerprint()
		if _, err := p.Loaders.New(name, rag.Env{}, []byte(`{"encodings": "utf-8"}`)); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%s: unknown setting: %v", name, err)
		}
	}
	for name, setting := range map[string]string{
		"docx": `{"comments": true}`, "html": `{"links": true}`, "pptx": `{"no_notes": true}`, "xlsx": `{"hidden": true}`, "epub": `{"links": true}`,
		"eml": `{"no_attachments": true}`, "csv": `{"no_header": true}`, "json": `{"text": "x"}`, "notebook": `{"no_outputs": true}`,
		"code": `{"encoding": "gbk"}`, "text": `{"encoding": "gbk"}`, "markdown": `{"encoding": "gbk"}`,
	} {
		l, err := p.Loaders.New(name, rag.Env{}, []byte(setting))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if l.(rag.Fingerprinter).Fingerprint() == fingerprints[name] {
			t.Errorf("%s: the setting %s changes the text but not the fingerprint", name, setting)
		}
	}
}
