package rag_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/catalog"
	_ "github.com/seed-d8745b77/rag/fusion"
	_ "github.com/seed-d8745b77/rag/loader"
	"github.com/seed-d8745b77/rag/ragtest"
	_ "github.com/seed-d8745b77/rag/sparse"
	_ "github.com/seed-d8745b77/rag/splitter"
	_ "github.com/seed-d8745b77/rag/trace"
	_ "github.com/seed-d8745b77/rag/transform"
	_ "github.com/seed-d8745b77/rag/vectorstore"
)

// fixture is an engine over real stores and a model-free embedder, with a folder of sources.
type fixture struct {
	*rag.Engine
	t        *testing.T
	dir      string // data
	docs     string // sources
	embedder *ragtest.HashEmbedder
}

func newFixture(t *testing.T, opts ...rag.Option) *fixture {
	t.Helper()
	f := &fixture{t: t, dir: t.TempDir(), docs: t.TempDir(), embedder: &ragtest.HashEmbedder{}}
	f.open(opts...)
	return f
}

func (f *fixture) open(opts ...rag.Option) {
	f.t.Helper()
	eng, err := rag.Open(f.dir, append([]rag.Option{rag.WithEmbedder(f.embedder)}, opts...)...)
	if err != nil {
		f.t.Fatal(err)
	}
	f.Engine = eng
	f.t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			f.t.Error(err)
		}
	})
}

func (f *fixture) write(name, text string) {
	f.t.Helper()
	p := filepath.Join(f.docs, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) ingest(change func(*rag.IngestRequest)) *rag.IngestReport {
	f.t.Helper()
	req := rag.IngestRequest{Sources: []rag.Sources{rag.Dir(f.docs)}}
	if change != nil {
		change(&req)
	}
	rep, err := f.Ingest(f.t.Context(), req)
	if err != nil && !errors.Is(err, rag.ErrPartial) {
		f.t.Fatal(err)
	}
	return rep
}

func (f *fixture) search(q rag.Query) *rag.Result {
	f.t.Helper()
	res, err := f.Search(f.t.Context(), q)
	if err != nil {
		f.t.Fatal(err)
	}
	return res
}

// names lists the files of the hits.
func names(res *rag.Result) []string {
	var out []string
	for _, h := range res.Hits {
		out = append(out, filepath.Base(h.Chunk.URI))
	}
	return out
}

// chunkIDs lists the live chunks of the default collection by document and place.
func (f *fixture) chunkIDs() []string {
	f.t.Helper()
	var ids []string
	for entry, err := range f.Documents(f.t.Context(), "") {
		if err != nil {
			f.t.Fatal(err)
		}
		for _, ref := range entry.Chunks {
			ids = append(ids, filepath.Base(entry.URI)+"/"+ref.ID)
		}
	}
	return ids
}

// sound asserts that verify finds nothing.
func (f *fixture) sound() {
	f.t.Helper()
	rep, err := f.Verify(f.t.Context(), "")
	if err != nil {
		f.t.Fatal(err)
	}
	if !rep.OK || rep.Vectors != rep.Chunks || rep.Postings != rep.Chunks {
		f.t.Errorf("verify: %+v", rep)
	}
}

func prose(topic string, paragraphs int) string {
	var b strings.Builder
	for i := range paragraphs {
		fmt.Fprintf(&b, "Paragraph %d is about %s and its %s. ", i, topic, numbered(i))
		for j := range 6 {
			fmt.Fprintf(&b, "It states fact %s%d%d, which nobody else mentions. ", topic, i, j)
		}
		b.WriteString("\n\n")
	}
	return b.String()
}

func numbered(i int) string { return []string{"origin", "growth", "decline", "legacy"}[i%4] }

func TestIngestAndSearch(t *testing.T) {
	f := newFixture(t)
	f.write("ferns.md", "---\nkind: plant\n---\n# Ferns\n\nFerns reproduce by spores, not by seeds.\n\n## Habitat\n\nThey like shade.\n")
	f.write("oaks.txt", "Acorns of the oak feed squirrels in autumn.")
	rep := f.ingest(nil)
	if rep.Added != 2 || rep.Embedded != rep.Chunks.New || rep.Chunks.New < 2 || len(rep.Failed) != 0 {
		t.Fatalf("report: %+v", rep)
	}
	f.sound()
	res := f.search(rag.Query{Text: "how do ferns reproduce, by spores?", Explain: true})
	top := res.Hits[0]
	if got := filepath.Base(top.Chunk.URI); got != "ferns.md" || top.Chunk.Title != "Ferns" {
		t.Errorf("top hit is %s, title %q", got, top.Chunk.Title)
	}
	if res.Mode != rag.Hybrid {
		t.Errorf("mode %s", res.Mode)
	}
	for _, stage := range []string{rag.StageDense, rag.StageSparse, rag.StageFusion} {
		if r, ok := top.RankAt(stage); !ok || r.Position != 1 {
			t.Errorf("rank at %s: %+v, %v", stage, r, ok)
		}
	}
	doc, err := f.Document(t.Context(), "", top.Chunk.URI)
	if err != nil {
		t.Fatal(err)
	}
	if doc.Text[top.Chunk.Start:top.Chunk.End] != top.Chunk.Text {
		t.Error("the chunk is not the document's text at its offsets")
	}
	if got := names(f.search(rag.Query{Text: "reproduce spores acorns", Filter: rag.Eq("kind", "plant")})); slices.Contains(got, "oaks.txt") {
		t.Errorf("filter let %v through", got)
	}
}

func TestAnotherEmbedderIsRefused(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", "Some text.")
	f.ingest(nil)
	other, err := rag.Open(f.dir, rag.WithEmbedder(&ragtest.HashEmbedder{Revision: "2"}))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	_, err = other.Search(t.Context(), rag.Query{Text: "text"})
	if !errors.Is(err, rag.ErrFingerprint) || !strings.Contains(err.Error(), "hash/1") || !strings.Contains(err.Error(), "hash/2") {
		t.Errorf("search: %v", err)
	}
	if _, err := other.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(f.docs)}}); !errors.Is(err, rag.ErrFingerprint) {
		t.Errorf("ingest: %v", err)
	}
	if _, err := other.Search(t.Context(), rag.Query{Text: "text", Mode: rag.Sparse}); err != nil {
		t.Errorf("sparse search needs no embedder: %v", err)
	}
}

func TestAnEmptyFileIsAnEmptyDocument(t *testing.T) {
	f := newFixture(t)
	f.write("empty.md", "")
	f.write("blank.txt", " \n")
	rep := f.ingest(nil)
	if rep.Added != 2 || rep.Empty != 2 || len(rep.Warnings) != 2 || rep.Warnings[1].Stage != rag.StageLoad || rep.Warnings[1].Message != "the file is empty" {
		t.Errorf("%+v", rep)
	}
}

func TestAPassageWithoutAWordIsNotIndexed(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", "---\n\n***\n")
	if rep := f.ingest(nil); rep.Added != 1 || rep.Chunks.New != 0 {
		t.Errorf("%+v", rep)
	}
}

func TestAnEngineInMemory(t *testing.T) {
	eng, err := rag.Open("", rag.WithEmbedder(&ragtest.HashEmbedder{}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Bytes("mem:///a.txt", []byte("About marble."))}}); err != nil {
		t.Fatal(err)
	}
	res, err := eng.Search(t.Context(), rag.Query{Text: "marble"})
	if err != nil || len(res.Hits) != 1 {
		t.Errorf("%+v, %v", res, err)
	}
	if err := eng.Close(); err != nil {
		t.Error(err)
	}
	if _, err := eng.Search(t.Context(), rag.Query{Text: "marble"}); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "the engine is closed") {
		t.Errorf("after Close: %v", err)
	}
}

func TestALoaderThatCannotBeChosenIsRefused(t *testing.T) {
	_, err := rag.Open(t.TempDir(), rag.WithEmbedder(&ragtest.HashEmbedder{}), rag.WithLoader("csv", dotless{}))
	if !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "dot") {
		t.Errorf("%v", err)
	}
}

func TestALoaderCanBeLeftOut(t *testing.T) {
	var p rag.Providers
	for _, name := range []string{"first", "second"} {
		p.Loaders.Register(name, rag.Typed(func(rag.Env, struct{}) (rag.Loader, error) { return panicky{}, nil }))
	}
	for settings, want := range map[string][]string{"": {"first", "second"}, `{"first": "none"}`: {"second"}, `{"first": "none", "second": "none"}`: {}} {
		var c rag.Config
		if settings != "" {
			if err := json.Unmarshal([]byte(settings), &c.Loaders); err != nil {
				t.Fatal(err)
			}
		}
		loaders, err := rag.NewLoaders(c, rag.WithProviders(&p))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, loaders.Names()); diff != "" {
			t.Errorf("%s: %s", settings, diff)
		}
	}
	if _, err := rag.NewLoaders(rag.Config{Loaders: map[string]json.RawMessage{"third": json.RawMessage(`"none"`)}}, rag.WithProviders(&p)); !errors.Is(err, rag.ErrUnknownProvider) {
		t.Errorf("one that is not linked: %v", err)
	}
}

// dotless declares an extension without its dot.
type dotless struct{ panicky }

func (dotless) Formats() []rag.Format {
	return []rag.Format{{Name: "csv", Extensions: []string{"csv"}}}
}
