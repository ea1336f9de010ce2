package ragtest_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

// lineLoader reads UTF-8 text whose first line is a title: the least a loader can do.
type lineLoader struct{}

func (lineLoader) Load(ctx context.Context, src rag.Source) iter.Seq2[rag.Document, error] {
	return func(yield func(rag.Document, error) bool) {
		doc, err := readLines(ctx, src)
		yield(doc, err)
	}
}

func readLines(ctx context.Context, src rag.Source) (rag.Document, error) {
	if err := ctx.Err(); err != nil {
		return rag.Document{}, err
	}
	r, err := src.Open(ctx)
	if err != nil {
		return rag.Document{}, err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		return rag.Document{}, err
	}
	text := string(data)
	if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
		return rag.Document{}, fmt.Errorf("no text: %w", rag.ErrUnsupported)
	}
	doc := rag.Document{Text: text}
	if strings.TrimSpace(text) == "" {
		doc.State = rag.StateEmpty
		return doc, nil
	}
	title, _, _ := strings.Cut(text, "\n")
	doc.Title = title
	if title != "" {
		doc.Sections = []rag.Section{{Level: 1, Title: title, Start: 0, End: len(text)}}
	}
	return doc, nil
}

func TestLoaderSuitePassesARightLoader(t *testing.T) {
	ragtest.TestLoader(t, func(*testing.T) rag.Loader { return lineLoader{} },
		ragtest.Sample{Name: "note.txt", Data: []byte("Title\n\nSome words here.\n"), Want: "Some  words"})
}

func TestCheckDocumentNamesWhatIsWrong(t *testing.T) {
	section := func(level, start, end int) rag.Section {
		return rag.Section{Level: level, Title: "t", Start: start, End: end}
	}
	for _, c := range []struct {
		name string
		doc  rag.Document
		want string // part of the error; "": right
	}{
		{"right", rag.Document{Text: "abcdef", Sections: []rag.Section{section(1, 0, 4), section(2, 2, 4), section(1, 4, 6)}, Pages: []int{0, 3}}, ""},
		{"bad UTF-8", rag.Document{Text: "a\xff"}, "UTF-8"},
		{"CR", rag.Document{Text: "a\r\n"}, "CR"},
		{"mark", rag.Document{Text: "\ufeffa"}, "byte order mark"},
		{"empty without state", rag.Document{Text: " \n"}, "no text"},
		{"text with empty state", rag.Document{Text: "a", State: rag.StateEmpty}, "there is text"},
		{"unknown state", rag.Document{Text: "a", State: "fine"}, "unknown state"},
		{"title", rag.Document{Text: "a", Title: "a\nb"}, "title"},
		{"meta", rag.Document{Text: "a", Meta: rag.Meta{"x": struct{}{}}}, "metadata"},
		{"level", rag.Document{Text: "abc", Sections: []rag.Section{section(0, 0, 3)}}, "level"},
		{"beyond the text", rag.Document{Text: "abc", Sections: []rag.Section{section(1, 0, 4)}}, "bytes 0 to 4"},
		{"not in order", rag.Document{Text: "abc", Sections: []rag.Section{section(1, 1, 3), section(1, 1, 3)}}, "not behind"},
		{"overlap", rag.Document{Text: "abcdef", Sections: []rag.Section{section(1, 0, 6), section(1, 4, 6)}}, "want 4"},
		{"parent too short", rag.Document{Text: "abcdef", Sections: []rag.Section{section(1, 0, 4), section(2, 4, 6)}}, "want 6"},
		{"within a character", rag.Document{Text: "é.", Sections: []rag.Section{section(1, 1, 3)}}, "within a character"},
		{"pages", rag.Document{Text: "abc", Pages: []int{0, 2, 1}}, "page 3"},
		{"image", rag.Document{Text: "abc", Images: []rag.Image{{Offset: 4}}}, "image 0"},
		{"right image", rag.Document{Text: "é", Images: []rag.Image{{Offset: 2, MediaType: "image/png", Data: []byte("x")}}}, ""},
		{"image within a character", rag.Document{Text: "é", Images: []rag.Image{{Offset: 1, MediaType: "image/png", Data: []byte("x")}}}, "within a character"},
		{"image without bytes", rag.Document{Text: "a", Images: []rag.Image{{MediaType: "image/png"}}}, "0 bytes"},
		{"image without type", rag.Document{Text: "a", Images: []rag.Image{{Data: []byte("x")}}}, "type"},
		{"image ID", rag.Document{Text: "a", Images: []rag.Image{{ID: "7", MediaType: "image/png", Data: []byte("x")}}}, "SHA-256"},
		{"image alt", rag.Document{Text: "a", Images: []rag.Image{{Alt: "a\nb", MediaType: "image/png", Data: []byte("x")}}}, "alternative text"},
		{"title not UTF-8", rag.Document{Text: "a", Title: "\xff"}, "title"},
		{"meta not UTF-8", rag.Document{Text: "a", Meta: rag.Meta{"x": "\xff"}}, "metadata"},
		{"warning", rag.Document{Text: "abc", Warnings: []rag.Warning{{Page: 1, Message: "lost"}}}, "warning"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := ragtest.CheckDocument(c.doc)
			switch {
			case c.want == "" && err != nil:
				t.Errorf("got %v, want no error", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}
