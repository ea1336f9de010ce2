package rag_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

// bookLoader yields three pages of three paragraphs with four pictures, or waits for the end of its context.
type bookLoader struct{ wait bool }

func (bookLoader) Formats() []rag.Format {
	return []rag.Format{{Name: "book", Extensions: []string{".book"}}}
}

func (l bookLoader) Load(ctx context.Context, _ rag.Source) iter.Seq2[rag.Document, error] {
	return func(yield func(rag.Document, error) bool) {
		if l.wait {
			<-ctx.Done()
			yield(rag.Document{}, ctx.Err())
			return
		}
		doc := rag.Document{Title: "Book"}
		for _, page := range []string{"one", "two", "three"} {
			doc.Pages = append(doc.Pages, len(doc.Text))
			doc.Sections = append(doc.Sections, rag.Section{Level: 1, Title: page, Start: len(doc.Text)})
			doc.Images = append(doc.Images, rag.Image{MediaType: "image/png", Data: []byte(page), Offset: len(doc.Text)})
			doc.Text += "# " + page + "\n\n" + strings.Repeat(page+" is a page with many words. ", 40) + "\n\n"
		}
		doc.Images = append(doc.Images, rag.Image{MediaType: "image/png", Data: []byte("last"), Offset: doc.Pages[1]})
		for i := range doc.Sections {
			doc.Sections[i].End = len(doc.Text)
		}
		yield(doc, nil)
	}
}

func TestLimitsOfADocument(t *testing.T) {
	for _, tt := range []struct {
		name    string
		limit   func(*rag.IngestConfig)
		warning string // "" if nothing is lost
		check   func(d rag.Document, e rag.Entry) bool
	}{
		{"none reached", func(c *rag.IngestConfig) { c.MaxPages, c.MaxImages, c.MaxChunks = 3, 4, 100 }, "", func(d rag.Document, e rag.Entry) bool {
			return len(d.Pages) == 3 && len(d.Images) == 4
		}},
		{"pages", func(c *rag.IngestConfig) { c.MaxPages = 2 }, "pages 3 to 3 were left out: the most is 2 (ingest.max_pages)", func(d rag.Document, e rag.Entry) bool {
			return len(d.Pages) == 2 && len(d.Images) == 3 && len(d.Sections) == 2 && d.Sections[1].End == len(d.Text) && !strings.Contains(d.Text, "three")
		}},
		{"pictures", func(c *rag.IngestConfig) { c.MaxImages = 1 }, "3 of 4 pictures were left out: the most is 1 (ingest.max_images)", func(d rag.Document, e rag.Entry) bool {
			return len(d.Images) == 1 && len(d.Pages) == 3
		}},
		{"passages", func(c *rag.IngestConfig) { c.MaxChunks = 2 }, "passages were left out: the most is 2 (ingest.max_chunks)", func(d rag.Document, e rag.Entry) bool {
			return len(e.Chunks) == 2 && strings.Contains(d.Text, "three")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := rag.DefaultConfig()
			tt.limit(&c.Ingest)
			f := newFixture(t, rag.WithConfig(c), rag.WithLoader("book", bookLoader{}))
			f.write("a.book", "x")
			rep := f.ingest(nil)
			var uri string
			var entry rag.Entry
			for e, err := range f.Documents(t.Context(), "") {
				if err != nil {
					t.Fatal(err)
				}
				uri, entry = e.URI, e
			}
			doc, err := f.Document(t.Context(), "", uri)
			if err != nil {
				t.Fatal(err)
			}
			if !tt.check(doc, entry) {
				t.Errorf("%d bytes, %d pages, %d pictures, %d chunks", len(doc.Text), len(doc.Pages), len(doc.Images), len(entry.Chunks))
			}
			switch {
			case tt.warning == "" && (entry.State != rag.StateOK || len(rep.Warnings) > 0):
				t.Errorf("state %s, warnings %v", entry.State, rep.Warnings)
			case tt.warning != "" && (entry.State != rag.StatePartial || rep.Partial != 1 || len(rep.Warnings) != 1 || !strings.Contains(rep.Warnings[0].Message, tt.warning)):
				t.Errorf("state %s, warnings %v", entry.State, rep.Warnings)
			}
			f.sound()
		})
	}
}

func TestLimitsOfASource(t *testing.T) {
	for _, tt := range []struct {
		name  string
		limit func(*rag.IngestConfig)
		wait  bool
		want  string
	}{
		{"bytes", func(c *rag.IngestConfig) { c.MaxSourceBytes = 3 }, false, "larger than 3 bytes: raise ingest.max_source_bytes"},
		{"time", func(c *rag.IngestConfig) { c.DocumentTimeoutMS = 1 }, true, "it took longer than 1ms: raise ingest.document_timeout_ms"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := rag.DefaultConfig()
			tt.limit(&c.Ingest)
			f := newFixture(t, rag.WithConfig(c), rag.WithLoader("book", bookLoader{tt.wait}))
			f.write("a.book", "four")
			rep := f.ingest(nil)
			if len(rep.Failed) != 1 || rep.Failed[0].Stage != rag.StageLoad || !errors.Is(rep.Failed[0].Err, rag.ErrInvalid) || !strings.Contains(rep.Failed[0].Error, tt.want) {
				t.Errorf("%+v", rep.Failed)
			}
		})
	}
}

// lateReader comes to its end when its time is up.
type lateReader struct{ done <-chan struct{} }

func (r lateReader) Read([]byte) (int, error) { <-r.done; return 0, io.EOF }

// A source whose bytes come in too late fails alone, also if its reader does not mind the time.
func TestSlowSourceDoesNotEndTheIngest(t *testing.T) {
	c := rag.DefaultConfig()
	c.Ingest.DocumentTimeoutMS = 1
	f := newFixture(t, rag.WithConfig(c))
	slow := rag.Source{URI: "mem:slow.txt", Open: func(ctx context.Context) (io.ReadCloser, error) {
		return io.NopCloser(lateReader{ctx.Done()}), nil
	}}
	rep, err := f.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{{All: func(yield func(rag.Source, error) bool) { yield(slow, nil) }}}})
	if !errors.Is(err, rag.ErrPartial) || len(rep.Failed) != 1 || !strings.Contains(rep.Failed[0].Error, "it took longer than 1ms") {
		t.Errorf("%+v, %v", rep.Failed, err)
	}
}

// What just fits is taken whole; one more is too much.
func TestLimitsAtTheirBoundary(t *testing.T) {
	const text = "some text"
	for name, tt := range map[string]struct {
		fits func(*rag.IngestConfig, int)
		size func(*testing.T) int // what just fits
		file string
		lost func(*rag.IngestReport) bool
	}{
		"bytes": {func(c *rag.IngestConfig, n int) { c.MaxSourceBytes = int64(n) }, func(*testing.T) int { return len(text) }, "a.txt",
			func(r *rag.IngestReport) bool { return len(r.Failed) == 1 }},
		"passages": {func(c *rag.IngestConfig, n int) { c.MaxChunks = n }, func(t *testing.T) int {
			f := newFixture(t, rag.WithLoader("book", bookLoader{}))
			f.write("a.book", text)
			f.ingest(nil)
			return len(f.chunkIDs())
		}, "a.book", func(r *rag.IngestReport) bool {
			return r.Partial == 1 && strings.HasPrefix(r.Warnings[0].Message, "the last 1 of")
		}},
		"unpacked bytes": {func(c *rag.IngestConfig, n int) { c.MaxUnpackedBytes = int64(n) }, func(t *testing.T) int { return len(packed(t, text)[1]) }, "a.docx",
			func(r *rag.IngestReport) bool { return len(r.Failed) == 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			size := tt.size(t)
			for _, less := range []int{0, 1} {
				c := rag.DefaultConfig()
				tt.fits(&c.Ingest, size-less)
				f := newFixture(t, rag.WithConfig(c), rag.WithLoader("book", bookLoader{}))
				content := text
				if strings.HasSuffix(tt.file, ".docx") {
					content = packed(t, text)[0]
				}
				f.write(tt.file, content)
				if rep := f.ingest(nil); tt.lost(rep) != (less == 1) || less == 0 && (rep.Added != 1 || rep.Partial != 0) {
					t.Errorf("a limit of %d, %d less than fits: %+v", size-less, less, rep)
				}
			}
		})
	}
}

// packed returns a Word file of one part, and the part.
func packed(t *testing.T, text string) [2]string {
	t.Helper()
	part := `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>` + text + `</w:t></w:r></w:p></w:body></w:document>`
	var file bytes.Buffer
	z := zip.NewWriter(&file)
	w, err := z.Create("word/document.xml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(part)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return [2]string{file.String(), part}
}

func TestLimitOfAPackedSource(t *testing.T) {
	c := rag.DefaultConfig()
	c.Ingest.MaxUnpackedBytes = 100
	f := newFixture(t, rag.WithConfig(c))
	src := []rag.Sources{rag.Files("examples/handbook/code-of-conduct.docx")}
	rep, err := f.Ingest(t.Context(), rag.IngestRequest{Sources: src})
	if !errors.Is(err, rag.ErrPartial) || len(rep.Failed) != 1 || !strings.Contains(rep.Failed[0].Error, "too many (ingest.max_unpacked_bytes") {
		t.Errorf("%+v, %v", rep.Failed, err)
	}
	c.Loaders = map[string]json.RawMessage{"docx": []byte(`{"max_unzipped": 1000000}`)} // a loader's own setting goes first
	f.open(rag.WithConfig(c))
	if rep, err := f.Ingest(t.Context(), rag.IngestRequest{Sources: src}); err != nil || rep.Added != 1 {
		t.Errorf("%+v, %v", rep, err)
	}
}

// slowTransformer waits for the end of its context.
type slowTransformer struct{}

func (slowTransformer) Transform(ctx context.Context, _ rag.Document, _ []rag.Chunk) ([]rag.Chunk, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestTimeOfATransform(t *testing.T) {
	c := rag.DefaultConfig()
	c.Ingest.DocumentTimeoutMS = 1
	f := newFixture(t, rag.WithConfig(c), rag.WithTransformers(slowTransformer{}))
	f.write("a.txt", "some text")
	rep := f.ingest(nil)
	if len(rep.Failed) != 1 || !strings.Contains(rep.Failed[0].Error, "document_timeout_ms") {
		t.Errorf("%+v", rep.Failed)
	}
	// The caller's own deadline is no limit of a document: it ends the run.
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	c.Ingest.DocumentTimeoutMS = 0
	f.open(rag.WithConfig(c), rag.WithTransformers(slowTransformer{}))
	if _, err := f.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{rag.Dir(f.docs)}}); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, rag.ErrPartial) {
		t.Errorf("error %v", err)
	}
}

func TestLoadersAreGivenTheLimits(t *testing.T) {
	var got rag.IngestConfig
	p := &rag.Providers{}
	p.Loaders.Register("book", rag.Typed(func(env rag.Env, _ struct{}) (rag.Loader, error) {
		got = env.Ingest
		return bookLoader{}, nil
	}))
	c := rag.DefaultConfig()
	c.Ingest = rag.IngestConfig{MaxUnpackedBytes: 5}
	if _, err := rag.NewLoaders(c, rag.WithProviders(p)); err != nil {
		t.Fatal(err)
	}
	want := rag.DefaultConfig().Ingest
	want.MaxUnpackedBytes, want.Workers = 5, got.Workers
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLimitsMustBePositive(t *testing.T) {
	for key, limit := range map[string]func(*rag.IngestConfig){
		"max_source_bytes": func(c *rag.IngestConfig) { c.MaxSourceBytes = -1 }, "max_unpacked_bytes": func(c *rag.IngestConfig) { c.MaxUnpackedBytes = -1 },
		"max_pages": func(c *rag.IngestConfig) { c.MaxPages = -1 }, "max_images": func(c *rag.IngestConfig) { c.MaxImages = -1 },
		"max_chunks": func(c *rag.IngestConfig) { c.MaxChunks = -1 }, "document_timeout_ms": func(c *rag.IngestConfig) { c.DocumentTimeoutMS = -1 },
	} {
		c := rag.DefaultConfig()
		limit(&c.Ingest)
		if _, err := rag.Open("", rag.WithConfig(c)); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "ingest."+key) {
			t.Errorf("%s: error %v", key, err)
		}
	}
}
