package rag_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

// Searches run beside ingests and deletes. Each must see whole documents only: every passage of a document carries
// the same version mark.
func TestSearchesBesideIngestsSeeWholeDocuments(t *testing.T) {
	f := newFixture(t)
	const files, rounds = 12, 6
	writeAll := func(version int) {
		for i := range files {
			var b strings.Builder
			for p := range 4 {
				fmt.Fprintf(&b, "# Part %d\n\ndoc%d version%d common words about glaciers.\n\n", p, i, version)
			}
			f.write(fmt.Sprintf("d%02d.md", i), b.String())
		}
	}
	writeAll(0)
	f.ingest(nil)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				res, err := f.Search(t.Context(), rag.Query{Text: fmt.Sprintf("doc%d glaciers", n%files), TopK: 20})
				if err != nil {
					t.Error(err)
					return
				}
				oneVersionEach(t, res)
			}
		})
	}
	for round := range rounds {
		writeAll(round + 1)
		if rep := f.ingest(nil); rep.Updated != files {
			t.Errorf("round %d: %+v", round, rep)
		}
	}
	close(stop)
	wg.Wait()
	f.sound()
}

// oneVersionEach asserts that the hits of one document are of one version.
func oneVersionEach(t *testing.T, res *rag.Result) {
	t.Helper()
	version := map[string]string{}
	for _, h := range res.Hits {
		mark := h.Chunk.Text[strings.Index(h.Chunk.Text, "version"):]
		mark, _, _ = strings.Cut(mark, " ")
		if have, ok := version[h.Chunk.DocID]; ok && have != mark {
			t.Errorf("%s answers with %s and %s", h.Chunk.URI, have, mark)
		}
		version[h.Chunk.DocID] = mark
	}
}

func TestIngestsOfOneCollectionTakeTurns(t *testing.T) {
	f := newFixture(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			set := rag.Bytes(fmt.Sprintf("mem:///%d.txt", i%4), []byte(prose(fmt.Sprintf("metal%d", i%4), 3)))
			if _, err := f.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{set}}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	f.sound()
}

// A cancelled ingest returns soon, and the next one finishes the work.
func TestACancelledIngestIsFinishedByTheNext(t *testing.T) {
	f := newFixture(t)
	for i := range 30 {
		f.write(fmt.Sprintf("d%02d.md", i), prose(fmt.Sprintf("river%d", i), 30))
	}
	ctx, cancel := context.WithCancel(t.Context())
	f.embedder.Before = func(context.Context, rag.EmbedRole, []string) error {
		if f.embedder.Calls() >= 3 {
			cancel()
		}
		return nil
	}
	if _, err := f.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{rag.Dir(f.docs)}}); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	f.embedder.Before = nil
	if rep := f.ingest(nil); rep.Added+rep.Unchanged != 30 || rep.Added == 0 {
		t.Errorf("report: %+v", rep)
	}
	f.sound()
}

// A source that cannot be embedded fails alone.
func TestOnlyTheSourceThatCannotBeEmbeddedFails(t *testing.T) {
	f := newFixture(t)
	f.embedder.Before = func(_ context.Context, _ rag.EmbedRole, texts []string) error {
		for _, s := range texts {
			if strings.Contains(s, "poison") {
				return errors.New("the model chokes")
			}
		}
		return nil
	}
	for i := range 6 {
		f.write(fmt.Sprintf("d%d.txt", i), prose(fmt.Sprintf("lake%d", i), 2))
	}
	f.write("bad.txt", "A text with poison in it.")
	rep, err := f.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(f.docs)}})
	if !errors.Is(err, rag.ErrPartial) || rep.Added != 6 || len(rep.Failed) != 1 || rep.Failed[0].Stage != rag.StageEmbed {
		t.Errorf("%+v, %v", rep, err)
	}
	f.sound()
}

// What an index lost, and what it has too much, is found and put right.
func TestRepair(t *testing.T) {
	f := newFixture(t)
	f.write("a.md", "# A\n\nAbout basalt.\n\n# B\n\nAbout granite.\n")
	f.ingest(nil)
	ids := f.chunkIDs()
	lost := strings.TrimPrefix(ids[0], "a.md/")
	f.Close()
	damage(t, f.dir, lost)
	f.open()
	rep, err := f.Verify(t.Context(), "")
	if err != nil || rep.OK || len(rep.Missing) != 2 || len(rep.Orphans) != 1 {
		t.Fatalf("verify: %+v, %v", rep, err)
	}
	if rep, err = f.Repair(t.Context(), ""); err != nil || !rep.Repaired {
		t.Fatalf("repair: %+v, %v", rep, err)
	}
	f.sound()
	if got := len(f.search(rag.Query{Text: "basalt granite"}).Hits); got != 2 {
		t.Errorf("%d hits", got)
	}
}

// A run that dies between replacing an index record under the same ID and the catalog's commit leaves the index newer
// than the catalog. The next run must put that back, also if the source is by then what the catalog has.
func TestARecordThatWasReplacedTooEarlyIsPutBack(t *testing.T) {
	f := newFixture(t)
	src := func(country string) rag.IngestRequest {
		return rag.IngestRequest{Sources: []rag.Sources{{All: func(yield func(rag.Source, error) bool) {
			for s, err := range rag.Bytes("mem:///amber.txt", []byte("A text about amber.")).All {
				s.Meta = rag.Meta{"country": country}
				yield(s, err)
			}
		}}}}
	}
	if _, err := f.Ingest(t.Context(), src("UK")); err != nil {
		t.Fatal(err)
	}
	f.Close()
	died := errors.New("the process died here")
	words, err := rag.Default.SparseIndexes.New("bm25", rag.Env{Dir: f.dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.open(rag.WithSparseIndex(dying{words, died}))
	if _, err := f.Ingest(t.Context(), src("FR")); !errors.Is(err, died) {
		t.Fatalf("error %v", err)
	}
	f.Close()
	if err := words.(interface{ Close() error }).Close(); err != nil {
		t.Fatal(err)
	}
	f.open()
	if _, err := f.Ingest(t.Context(), src("UK")); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []rag.Mode{rag.Dense, rag.Sparse} {
		if n := len(f.search(rag.Query{Text: "amber", Mode: mode, Filter: rag.Eq("country", "UK")}).Hits); n != 1 {
			t.Errorf("%s: %d hits", mode, n)
		}
	}
	f.sound()
}

// dying is an index whose writes take effect and then fail.
type dying struct {
	rag.SparseIndex
	err error
}

func (d dying) Upsert(ctx context.Context, collection string, recs []rag.TextRecord) error {
	return errors.Join(d.SparseIndex.Upsert(ctx, collection, recs), d.err)
}

func (d dying) Fingerprint() string { return d.SparseIndex.(rag.Fingerprinter).Fingerprint() }

// damage deletes a chunk from both indexes and puts one into the vector store that the catalog does not know.
func damage(t *testing.T, dir, id string) {
	t.Helper()
	env := rag.Env{Dir: dir}
	vectors, err := rag.Default.VectorStores.New("flat", env, nil)
	if err != nil {
		t.Fatal(err)
	}
	words, err := rag.Default.SparseIndexes.New("bm25", env, nil)
	if err != nil {
		t.Fatal(err)
	}
	vecs, err := (&ragtest.HashEmbedder{}).Embed(t.Context(), rag.AsPassage, []string{"stray"})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		vectors.Delete(t.Context(), "default", []string{id}),
		words.Delete(t.Context(), "default", []string{id}),
		vectors.Upsert(t.Context(), "default", []rag.VectorRecord{{ID: "stray", DocID: "stray", Vector: vecs[0]}}),
		vectors.(interface{ Close() error }).Close(),
		words.(interface{ Close() error }).Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}
