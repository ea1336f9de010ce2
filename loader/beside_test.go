package loader_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

// loadBeside loads a source that has the pictures of these names beside it, and returns what stands at each picture's
// place, and what was asked for.
func loadBeside(t *testing.T, l rag.Loader, text string, names ...string) (doc rag.Document, at, asked []string) {
	t.Helper()
	src := sourceOf([]byte(text))
	src.Beside = func(_ context.Context, name string) (io.ReadCloser, error) {
		asked = append(asked, name)
		for _, n := range names {
			if n == name {
				return io.NopCloser(strings.NewReader(pngBytes + name)), nil
			}
		}
		return nil, fs.ErrNotExist
	}
	for d, err := range l.Load(t.Context(), src) {
		if err != nil {
			t.Fatal(err)
		}
		doc = d
	}
	for _, img := range doc.Images {
		line, _, _ := strings.Cut(doc.Text[img.Offset:], "\n")
		at = append(at, fmt.Sprintf("%s|%s|%s", strings.TrimPrefix(string(img.Data), pngBytes), img.Alt, strings.TrimSpace(line)))
	}
	return doc, at, asked
}

func TestMarkdownPicturesBeside(t *testing.T) {
	text := "# Masts ![small](s.png)\n\n" +
		"One ![the mast](img/a%20b.png \"from the east\") and <img alt='two' src=\"b.png\">.\n\n" +
		"![angled](<c d.png>) ![brackets [1]](e_(1).png) ![by label][Tall  Mast] ![short]\n\n" +
		"![remote](https://example.org/x.png) ![host](//example.org/x.png) ![none](#place) ![file](file:///etc/x.png) ![mail](cid:x)\n\n" +
		"```\n![code](code.png)\n```\n\nSo: `![span](span.png)` and ``` ![long](long.png) ```\n\n" +
		"![query](q.png?raw=true#top) ![win](img\\w.png) ![percent](100%.png) ![again](s.png) [link](no.png)\n\n" +
		"[tall mast]: t.png 'title'\n[short]: <u.png>\n[TALL mast]: second.png\n"
	names := []string{"s.png", "img/a b.png", "b.png", "c d.png", "e_(1).png", "t.png", "u.png", "code.png", "span.png", "q.png", "img/w.png", "100%.png", "no.png", "x.png"}
	doc, at, asked := loadBeside(t, newMarkdown(), text, names...)
	if doc.Text != text {
		t.Errorf("the text was changed:\n%s", cmp.Diff(text, doc.Text))
	}
	for i := range at {
		at[i] = at[i][:min(len(at[i]), 40)]
	}
	want := []string{
		"s.png|small|![small](s.png)", "img/a b.png|the mast|![the mast](img/a%2", "b.png|two|<img alt='two' src=\"b.png\">.", "c d.png|angled|![angled](<c d.png>) ![b",
		"e_(1).png|brackets [1]|![brackets [1]](", "t.png|by label|![by label][Tall  Mast] ", "u.png|short|![short]",
		"q.png|query|![query](q.png?raw=true#top)", "img/w.png|win|![win](img\\w.png) ![percent", "100%.png|percent|![percent](100%.png) ![", "s.png|again|![again](s.png) [link](no.pn",
	}
	for i := range want {
		want[i] = want[i][:min(len(want[i]), 40)]
	}
	if len(at) != len(want) {
		t.Fatalf("pictures %q, want %q; asked for %q", at, want, asked)
	}
	for i := range want {
		if !strings.HasPrefix(at[i], want[i]) {
			t.Errorf("picture %d is %q, want %q", i, at[i], want[i])
		}
	}
	if len(doc.Warnings) != 0 {
		t.Errorf("warnings %v", doc.Warnings)
	}
}

func TestHTMLPicturesBeside(t *testing.T) {
	page := `%s<h1>Masts</h1><p>One <img src="img/a%%20b.png" alt="the mast"> here.</p><p>Two <img src=/top.png alt=top> there. <img src="https://example.org/x.png" alt="far"></p>`
	for base, want := range map[string][]string{
		"":                               {"img/a b.png", "/top.png"},
		"<base href='pages/'>":           {"pages/img/a b.png", "/top.png"},
		"<base href='/site/index.html'>": {"/site/img/a b.png", "/top.png"},
		"<base href='../'>":              {"../img/a b.png", "/top.png"},
		"<base href='https://example.org/pages'>": nil,
	} {
		doc, at, asked := loadBeside(t, newHTML(), fmt.Sprintf(page, base), want...)
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Errorf("%q asks (-want +got):\n%s", base, diff)
		}
		for i, line := range []string{"|the mast|the mast here.", "|top|top there. far"}[:len(want)] {
			if i >= len(at) || at[i] != want[i]+line {
				t.Errorf("%q: pictures %q, want the %d. to be %q", base, at, i+1, want[i]+line)
			}
		}
		if len(doc.Warnings) != 0 {
			t.Errorf("%q: warnings %v", base, doc.Warnings)
		}
	}
}

func TestManyLostPicturesAreAFewWarnings(t *testing.T) {
	var text strings.Builder
	for i := range 20 {
		fmt.Fprintf(&text, "![x](%d.png)\n\n", i%10)
	}
	doc, _, _ := loadBeside(t, newMarkdown(), text.String())
	if n := len(doc.Warnings); n != 6 || doc.Warnings[0].Message != "a picture could not be read: 0.png: file does not exist" || doc.Warnings[5].Message != "more pictures could not be read" {
		t.Errorf("%d warnings: %v", n, doc.Warnings)
	}
}

func FuzzMarkdownPicturesBeside(f *testing.F) {
	f.Add("![a](b.png) <img src=c.png> `![d](e.png)` ![f][g]\n\n[g]: h.png\n```\n![i](j.png)")
	f.Add("![[]](<\\>)![a](b(c)d) <IMG SRC='%zz'>")
	f.Fuzz(func(t *testing.T, text string) {
		src := sourceOf([]byte(text))
		src.Beside = func(context.Context, string) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(pngBytes)), nil
		}
		for doc, err := range newMarkdown().Load(t.Context(), src) {
			if err != nil {
				return
			}
			last := 0
			for _, img := range doc.Images {
				if img.Offset < last || img.Offset > len(doc.Text) {
					t.Fatalf("a picture at %d behind one at %d, of %d", img.Offset, last, len(doc.Text))
				}
				last = img.Offset
			}
		}
	})
}
