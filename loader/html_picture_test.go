package loader_test

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/loader"
)

// pngBytes looks like a picture that is large enough to be one.
var pngBytes = "\x89PNG\r\n\x1a\n" + strings.Repeat("pixels", 40)

func TestHTMLPictures(t *testing.T) {
	png := "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte(pngBytes))
	svg := "<svg xmlns='http://www.w3.org/2000/svg'>" + strings.Repeat("<path d='M0 0'/>", 10) + "</svg>"
	doc := mustLoad(t, newHTML(), `<h1>A <img src="`+png+`" alt="logo"></h1><p>Before <img src="`+png+`" alt="Figure 1"> after.</p>`+
		`<img src="data:image/svg+xml,`+url.PathEscape(svg)+`"><img src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="><img src="far.png" alt="far away"><img src="data:image/png;base64,!" alt="broken">`)
	if want := "# A logo\n\nBefore Figure 1 after.\n\nfar away broken\n"; doc.Text != want {
		t.Errorf("text %q, want %q", doc.Text, want)
	}
	type picture struct {
		Media, Alt string
		Bytes      int
		Line       string // the line in which the picture stands
	}
	var got []picture
	for _, img := range doc.Images {
		line := doc.Text[strings.LastIndexByte(doc.Text[:img.Offset], '\n')+1:]
		line, _, _ = strings.Cut(line, "\n")
		got = append(got, picture{img.MediaType, img.Alt, len(img.Data), line})
	}
	want := []picture{{"image/png", "logo", len(pngBytes), "# A logo"}, {"image/png", "Figure 1", len(pngBytes), "Before Figure 1 after."}, {"image/svg+xml", "", len(svg), "far away broken"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pictures (-want +got):\n%s", diff)
	}
	if len(doc.Warnings) != 1 || !strings.Contains(doc.Warnings[0].Message, "picture") {
		t.Errorf("warnings %v, want one about the broken picture", doc.Warnings)
	}
}

func TestHTMLLinks(t *testing.T) {
	page := `<base href="/docs/"><p>See <a href="a.html">the <b>guide</b></a>, <a href="#x">below</a>, <a href="https://example.org/"><img alt="home"></a>, <a>nowhere</a>.<table><tr><th>a<th>b<tr><td><a href="b">c</a><td>d</table>`
	l := must(loader.NewHTML(loader.HTMLConfig{Links: true}))
	src := sourceOf([]byte(page))
	src.URI = "https://example.com/x/y.html"
	for doc, err := range l.Load(t.Context(), src) {
		if err != nil {
			t.Fatal(err)
		}
		want := "See [the guide](https://example.com/docs/a.html), below, [home](https://example.org/), nowhere.\n\n| a | b |\n| --- | --- |\n| c | d |\n"
		if diff := cmp.Diff(want, doc.Text); diff != "" {
			t.Errorf("text (-want +got):\n%s", diff)
		}
	}
	if doc := mustLoad(t, newHTML(), page); !strings.HasPrefix(doc.Text, "See the guide, below, home, nowhere.") {
		t.Errorf("without links: %q", doc.Text)
	}
}

func TestHTMLCharsetOfTheHeaderGoesBeforeThatOfThePage(t *testing.T) {
	src := sourceOf([]byte("<meta charset=utf-8><p>\xcf\xf0\xe8\xe2\xe5\xf2"))
	src.MediaType = "text/html; charset=windows-1251"
	for doc, err := range newHTML().Load(t.Context(), src) {
		if err != nil || doc.Text != "Привет\n" {
			t.Errorf("got %q, %v", doc.Text, err)
		}
	}
}

func TestHTMLHead(t *testing.T) {
	doc := mustLoad(t, newHTML(), `<html lang=de_AT><head><meta property="og:title" content="Shared"><meta name=Author content="Ada"><meta name="DC.creator" content="Eve">
<meta property="article:published_time" content="2024-05-01"><meta name=keywords content="a, b"><meta name=robots content=none><link rel=canonical href="https://example.org/p"></head><body><p>Text`)
	if doc.Title != "Shared" || doc.Language != "de-AT" {
		t.Errorf("title %q, language %q", doc.Title, doc.Language)
	}
	want := rag.Meta{"author": "Ada", "created": "2024-05-01", "keywords": "a, b", "canonical": "https://example.org/p"}
	if diff := cmp.Diff(want, doc.Meta); diff != "" {
		t.Errorf("meta (-want +got):\n%s", diff)
	}
}

func TestHTMLDetails(t *testing.T) {
	doc := mustLoad(t, newHTML(), `<details><summary>More</summary>Within.<p>Also.</details><p hidden>gone<p>After`)
	if want := "More\n\nWithin.\n\nAlso.\n\nAfter\n"; doc.Text != want {
		t.Errorf("got %q, want %q", doc.Text, want)
	}
}
