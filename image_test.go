package rag_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/transform"
)

// captioned adds the transformer that captions pictures with a chat model, or marks them where there is none.
func captioned(t *testing.T, model rag.ChatModel) rag.Option {
	t.Helper()
	caption, err := transform.NewCaption(model, transform.CaptionConfig{})
	if err != nil {
		t.Fatal(err)
	}
	return rag.WithTransformers(caption)
}

// seer is a vision model that knows two pictures by their bytes.
func seer(fern, oak []byte) *ragtest.Script {
	return &ragtest.Script{Reply: func(req rag.ChatRequest) string {
		switch data := req.Messages[1].Images[0].Data; {
		case bytes.Equal(data, fern):
			return `{"caption": "A drawing of sporangia below a frond."}`
		case bytes.Equal(data, oak):
			return `{"caption": "A photograph of acorns."}`
		}
		return "?"
	}}
}

func TestHitsNameTheirPictures(t *testing.T) {
	fern, oak := picture(1), picture(2)
	f := newFixture(t, captioned(t, seer(fern, oak)))
	f.write("ferns.html", withPictures("How ferns reproduce.", fern))
	f.write("oaks.html", withPictures("How oaks reproduce.", oak, oak))
	f.write("plain.txt", "Mosses have no pictures.")
	f.ingest(nil)
	for question, want := range map[string]string{"sporangia": "ferns.html", "acorns": "oaks.html"} { // words of the captions alone
		res := f.search(rag.Query{Text: question, Mode: rag.Sparse, Explain: true})
		if got := names(res); len(got) != 1 || got[0] != want {
			t.Errorf("%s: found %v, want %s", question, got, want)
			continue
		}
		c := &res.Hits[0].Chunk
		for i, m := range c.Images {
			if m.Data != nil || m.MediaType != "image/png" || m.Alt != fmt.Sprintf("chart %d", i) || !strings.HasPrefix(strings.TrimSpace(c.Text[m.Offset-c.Start:]), m.Alt) {
				t.Errorf("%s: picture %d: %+v in %q", question, i, m, c.Text)
			}
			if !strings.Contains(c.Caption(m.ID), question) {
				t.Errorf("%s: caption %q", question, c.Caption(m.ID))
			}
			data, err := f.Image(t.Context(), "", m.ID)
			if err != nil || !bytes.Equal(data, map[string][]byte{"sporangia": fern, "acorns": oak}[question]) {
				t.Errorf("%s: %d bytes, %v", question, len(data), err)
			}
		}
		if n := len(c.Images); n == 0 || res.Trace.TopK[0].Images != n {
			t.Errorf("%s: %d pictures, the trace says %d", question, n, res.Trace.TopK[0].Images)
		}
	}
	if hits := f.search(rag.Query{Text: "mosses", Mode: rag.Sparse}).Hits; len(hits[0].Chunk.Images) != 0 {
		t.Errorf("pictures of another document: %+v", hits[0].Chunk.Images)
	}
	if _, err := f.Image(t.Context(), "", "0000"); !errors.Is(err, rag.ErrNotFound) {
		t.Errorf("unknown picture: %v, want ErrNotFound", err)
	}
}

func TestPicturesOfAHitInJSON(t *testing.T) {
	fern := picture(1)
	f := newFixture(t, captioned(t, seer(fern, nil)))
	f.write("ferns.html", withPictures("How ferns reproduce.", fern, picture(3)))
	f.ingest(nil)
	b, err := json.Marshal(f.search(rag.Query{Text: "sporangia"}))
	if err != nil {
		t.Fatal(err)
	}
	var res struct {
		Hits []struct {
			Start  int
			Text   string
			Images []struct {
				ID         string
				MediaType  string `json:"media_type"`
				Offset     int
				TextOffset int `json:"text_offset"`
				Alt        string
				Caption    *string
				Page       *int
				Box        [4]float64
			}
		}
	}
	if err := json.Unmarshal(b, &res); err != nil {
		t.Fatal(err)
	}
	h := res.Hits[0]
	if len(h.Images) != 2 {
		t.Fatalf("%d pictures in %s", len(h.Images), b)
	}
	for i, m := range h.Images {
		if m.TextOffset != m.Offset-h.Start || !strings.HasPrefix(strings.TrimSpace(h.Text[m.TextOffset:]), m.Alt) || m.Page != nil || m.MediaType != "image/png" {
			t.Errorf("picture %d: %+v", i, m)
		}
	}
	if c := h.Images[0].Caption; c == nil || !strings.Contains(*c, "sporangia") || h.Images[1].Caption != nil {
		t.Errorf("captions in %s, want one of the first picture and null", b)
	}
}

// Pictures stand in the passages of their place; behind the last one, in it.
func TestPicturesStandInTheirPassages(t *testing.T) {
	f := newFixture(t)
	var b strings.Builder
	b.WriteString("<html><body>")
	for i := range 12 {
		fmt.Fprintf(&b, "<h1>Part %d</h1><p>%s</p>", i, prose(fmt.Sprintf("lake%d", i), 4))
		if i%3 == 0 {
			page := withPictures("", picture(uint8(10*i)))
			b.WriteString(page[strings.Index(page, "<p>Figure"):strings.Index(page, "</body>")])
		}
	}
	f.write("lakes.html", b.String())
	f.ingest(nil)
	doc := f.stored()[0]
	seen := map[string]bool{}
	var last rag.Chunk
	for c, err := range f.Chunks(t.Context(), "", rag.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range c.Images {
			seen[m.ID] = true
			if m.Offset < c.Start || m.Offset >= c.End {
				t.Errorf("a picture at %d is in the passage from %d to %d", m.Offset, c.Start, c.End)
			}
		}
		last = c
	}
	if len(doc.Images) != 4 || len(seen) != 4 || last.Ordinal < 10 {
		t.Errorf("%d pictures, %d in passages, %d passages", len(doc.Images), len(seen), last.Ordinal+1)
	}
}

// What has no caption is marked as long as it has none, and no longer.
func TestUnprocessedPicturesAreMarkedUntilTheModelAnswers(t *testing.T) {
	fern := picture(1)
	marked := rag.Exists(transform.MetaUnprocessed)
	count := func(f *fixture) (n int) {
		for _, err := range f.Chunks(t.Context(), "", marked) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		return n
	}
	for name, missing := range map[string]bool{"down": false, "missing": true} {
		t.Run(name, func(t *testing.T) {
			script := seer(fern, nil)
			script.Err = rag.ErrUnavailable
			first := captioned(t, script)
			if missing {
				first = captioned(t, nil)
			}
			f := newFixture(t, first)
			f.write("ferns.html", withPictures("How ferns reproduce.", fern))
			f.write("plain.txt", "Mosses have no pictures.")
			if rep := f.ingest(nil); rep.Added != 2 || len(rep.Steps) != 1 || rep.Steps[0].Fallbacks+rep.Steps[0].Skipped != 1 {
				t.Errorf("report %+v", rep)
			}
			if n := count(f); n != 1 {
				t.Errorf("%d passages are marked, want 1", n)
			}
			if hits := f.search(rag.Query{Text: "ferns", Filter: marked}).Hits; len(hits) != 1 || len(hits[0].Chunk.Images) != 1 {
				t.Errorf("the mark finds %d passages", len(hits))
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			script.Err = nil
			f.open(captioned(t, script))
			rep := f.ingest(nil)
			if wantUnchanged := map[bool]int{false: 1, true: 0}[missing]; rep.Unchanged != wantUnchanged {
				t.Errorf("the model is back: %+v", rep)
			}
			if n := count(f); n != 0 {
				t.Errorf("%d passages are still marked", n)
			}
			if got := names(f.search(rag.Query{Text: "sporangia", Mode: rag.Sparse})); len(got) != 1 {
				t.Errorf("the caption finds %v", got)
			}
			if rep := f.ingest(nil); rep.Unchanged != 2 {
				t.Errorf("a third ingest: %+v", rep)
			}
			f.sound()
		})
	}
}

func TestAPassageWithAPictureIsNoBoilerplate(t *testing.T) {
	refine, err := transform.NewRefine(nil, transform.RefineConfig{})
	if err != nil {
		t.Fatal(err)
	}
	page := func(picture rag.Image) []rag.Chunk {
		return []rag.Chunk{{ID: "1", Text: "Ferns like shade."}, {ID: "2", Text: "Page 3 of 10", Start: 20, End: 32, Images: []rag.Image{picture}}}
	}
	got, err := refine.Transform(t.Context(), rag.Document{}, page(rag.Image{ID: "a"}))
	if err != nil || len(got) != 2 {
		t.Errorf("with a picture %d passages are kept, %v; want 2", len(got), err)
	}
	bare := page(rag.Image{})
	bare[1].Images = nil
	if got, err = refine.Transform(t.Context(), rag.Document{}, bare); err != nil || len(got) != 1 {
		t.Errorf("without one %d, %v; want 1", len(got), err)
	}
}
