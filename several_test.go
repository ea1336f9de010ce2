package rag_test

import (
	"context"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/catalog"
	_ "github.com/seed-d8745b77/rag/fusion"
	_ "github.com/seed-d8745b77/rag/loader"
	_ "github.com/seed-d8745b77/rag/sparse"
	_ "github.com/seed-d8745b77/rag/splitter"
	_ "github.com/seed-d8745b77/rag/trace"
	_ "github.com/seed-d8745b77/rag/transform"
	_ "github.com/seed-d8745b77/rag/vectorstore"
)

// several is a loader whose sources hold a document for each line.
type several struct{}

func (several) Formats() []rag.Format {
	return []rag.Format{{Name: "lines", Extensions: []string{".lines"}}}
}

func (several) Load(ctx context.Context, src rag.Source) iter.Seq2[rag.Document, error] {
	return func(yield func(rag.Document, error) bool) {
		r, err := src.Open(ctx)
		if err != nil {
			yield(rag.Document{}, err)
			return
		}
		defer r.Close()
		text, err := io.ReadAll(r)
		if err != nil {
			yield(rag.Document{}, err)
			return
		}
		for line := range strings.Lines(string(text)) {
			if !yield(rag.Document{Text: line}, nil) {
				return
			}
		}
	}
}

func TestASourceOfSeveralDocuments(t *testing.T) {
	f := newFixture(t, rag.WithLoader("lines", several{}))
	uris := func() (out []string) {
		for entry, err := range f.Documents(t.Context(), "") {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, filepath.Base(entry.URI))
		}
		return out
	}
	f.write("a.lines", "About tin.\nAbout lead.\nAbout zinc.\n")
	f.ingest(nil)
	if diff := cmp.Diff([]string{"a.lines", "a.lines#2", "a.lines#3"}, uris()); diff != "" {
		t.Error(diff)
	}
	f.write("a.lines", "About tin.\nAbout lead.\n")
	f.ingest(nil)
	if diff := cmp.Diff([]string{"a.lines", "a.lines#2"}, uris()); diff != "" {
		t.Errorf("shorter: %s", diff)
	}
	if err := os.Rename(filepath.Join(f.docs, "a.lines"), filepath.Join(f.docs, "b.lines")); err != nil {
		t.Fatal(err)
	}
	if rep := f.ingest(nil); rep.Moved != 1 || rep.Embedded != 0 {
		t.Errorf("%+v", rep)
	}
	if diff := cmp.Diff([]string{"b.lines", "b.lines#2"}, uris()); diff != "" {
		t.Errorf("moved: %s", diff)
	}
	f.sound()
	if err := os.Remove(filepath.Join(f.docs, "b.lines")); err != nil {
		t.Fatal(err)
	}
	f.ingest(func(r *rag.IngestRequest) { r.Prune = true })
	if left := uris(); len(left) != 0 {
		t.Errorf("pruned: %v", left)
	}
	f.sound()
}

// A document that was deleted by its own name leaves a gap among those of its source: those behind it still go when the
// source gets shorter, when it is moved, and when it is deleted.
func TestDocumentsBehindAGap(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(f *fixture)
		want []string
	}{
		{"shorter", func(f *fixture) { f.write("a.lines", "About tin.\n"); f.ingest(nil) }, []string{"a.lines", "a.lines#part"}},
		{"the gap is filled", func(f *fixture) {
			f.write("a.lines", "About tin.\nAbout lead.\nAbout gold.\n")
			f.ingest(nil)
		}, []string{"a.lines", "a.lines#2", "a.lines#3", "a.lines#part"}},
		{"moved", func(f *fixture) {
			if err := os.Rename(filepath.Join(f.docs, "a.lines"), filepath.Join(f.docs, "b.lines")); err != nil {
				f.t.Fatal(err)
			}
			f.ingest(nil)
		}, []string{"a.lines#part", "b.lines", "b.lines#10", "b.lines#11", "b.lines#12", "b.lines#2", "b.lines#3", "b.lines#4", "b.lines#5", "b.lines#6", "b.lines#7", "b.lines#8", "b.lines#9"}},
		{"deleted", func(f *fixture) {
			if _, err := f.Delete(f.t.Context(), rag.DeleteRequest{URIs: []string{f.uri("a.lines")}}); err != nil {
				f.t.Fatal(err)
			}
		}, []string{"a.lines#part"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, rag.WithLoader("lines", several{}))
			f.write("a.lines", strings.Repeat("About tin.\n", 12))
			f.ingest(nil)
			if _, err := f.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Bytes(f.uri("a.lines")+"#part", []byte("About a part."))}}); err != nil {
				t.Fatal(err)
			}
			for _, n := range []string{"#2", "#4", "#5"} {
				if _, err := f.Delete(t.Context(), rag.DeleteRequest{URIs: []string{f.uri("a.lines") + n}}); err != nil {
					t.Fatal(err)
				}
			}
			test.do(f)
			var left []string
			for _, entry := range f.stored() {
				left = append(left, filepath.Base(entry.URI))
			}
			if diff := cmp.Diff(test.want, left); diff != "" {
				t.Error(diff)
			}
			f.sound()
		})
	}
}
