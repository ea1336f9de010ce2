package dashboard

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/catalog"
	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/trace"
)

// countingCatalog counts what is read of a catalog.
type countingCatalog struct {
	*catalog.Memory
	lines, chunks, documents atomic.Int64
}

func (c *countingCatalog) Entries(ctx context.Context, collection, prefix, after string) iter.Seq2[rag.Entry, error] {
	return counted(c.Memory.Entries(ctx, collection, prefix, after), &c.lines)
}

func (c *countingCatalog) Scan(ctx context.Context, collection string, f rag.Filter) iter.Seq2[rag.Chunk, error] {
	return counted(c.Memory.Scan(ctx, collection, f), &c.chunks)
}

func (c *countingCatalog) Chunks(ctx context.Context, collection string, ids []string) ([]rag.Chunk, error) {
	c.chunks.Add(int64(len(ids)))
	return c.Memory.Chunks(ctx, collection, ids)
}

func (c *countingCatalog) Entry(ctx context.Context, collection, uri string) (rag.Entry, error) {
	c.lines.Add(1)
	return c.Memory.Entry(ctx, collection, uri)
}

func (c *countingCatalog) Document(ctx context.Context, collection, uri string) (rag.Document, error) {
	c.documents.Add(1)
	return c.Memory.Document(ctx, collection, uri)
}

func counted[T any](seq iter.Seq2[T, error], n *atomic.Int64) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for x, err := range seq {
			n.Add(1)
			if !yield(x, err) {
				return
			}
		}
	}
}

// read returns what was read since the last call.
func (c *countingCatalog) read() (lines, chunks, documents int64) {
	return c.lines.Swap(0), c.chunks.Swap(0), c.documents.Swap(0)
}

// fill puts documents of so many chunks each into the default collection, past the indexes.
func (c *countingCatalog) fill(t testing.TB, eng *rag.Engine, documents, chunks int) {
	t.Helper()
	header := rag.Header{Embedder: eng.Embedder().Model().Fingerprint(), Dims: eng.Embedder().Model().Dims}
	if err := c.Commit(context.Background(), "default", []rag.Change{{Header: &header}}); err != nil {
		t.Fatal(err)
	}
	for d := range documents {
		uri := fmt.Sprintf("file:///docs/%05d.md", d)
		doc := rag.Document{ID: rag.DocumentID("default", uri), URI: uri, Title: fmt.Sprint("Paper ", d)}
		rec := rag.Record{Entry: rag.Entry{URI: uri, DocID: doc.ID, Title: doc.Title, Meta: rag.Meta{"number": float64(d)}}}
		var text strings.Builder
		for i := range chunks {
			start := text.Len()
			fmt.Fprintf(&text, "Paragraph %d of paper %d.\n", i, d)
			chunk := rag.Chunk{DocID: doc.ID, URI: uri, Title: doc.Title, Ordinal: i, Text: text.String()[start:], Start: start, End: text.Len()}
			chunk.ID = rag.ChunkID(doc.ID, chunk.Text, 0)
			rec.Chunks = append(rec.Chunks, chunk)
			rec.Entry.Chunks = append(rec.Entry.Chunks, rag.ChunkRef{ID: chunk.ID})
		}
		doc.Text = text.String()
		rec.Document = doc
		if err := c.Commit(context.Background(), "default", []rag.Change{{Put: &rec}}); err != nil {
			t.Fatal(err)
		}
	}
	c.read()
}

// large is an engine over documents of so many chunks each.
func large(t *testing.T, documents, chunks int) *rag.Engine {
	t.Helper()
	cat := &countingCatalog{Memory: catalog.NewMemory()}
	eng := engine(t, rag.WithCatalog(cat))
	cat.fill(t, eng, documents, chunks)
	return eng
}

func TestPagesReadAPage(t *testing.T) {
	documents, chunks := 1000, 100 // 100,000 chunks
	if testing.Short() {
		documents, chunks = 200, 50
	}
	cat := &countingCatalog{Memory: catalog.NewMemory()}
	eng := engine(t, rag.WithCatalog(cat))
	cat.fill(t, eng, documents, chunks)
	s := server(t, eng, Options{Traces: trace.NewRing(trace.RingConfig{})})
	doc := "/browse/default/doc?uri=file:///docs/00007.md"
	chosen := rag.ChunkID(rag.DocumentID("default", "file:///docs/00007.md"), "Paragraph 45 of paper 7.\n", 0)
	for _, test := range []struct {
		page                     string
		lines, chunks, documents int64 // at most
	}{
		{"/", 0, 0, 0},
		{"/browse", pageSize + 1, 0, 0},
		{"/browse?after=file:///docs/00100.md", pageSize + 1, 0, 0},
		{"/browse?prefix=/docs/0001", pageSize + 1, 0, 0},
		{"/browse?filter=number+%3C+40", lookLimit + 1, 0, 0},
		{doc, 2, chunksOnPage, 1},
		{doc + "&from=40", 2, chunksOnPage, 1},
		{doc + "&chunk=" + chosen, 2, chunksOnPage, 1},
		{doc + "&tab=chunks&chunk=" + chosen, 2, chunksOnPage, 0},
		{doc + "&tab=metadata", 1, 0, 0},
		{doc + "&tab=pictures", 1, 0, 1},
	} {
		code, _, body := get(t, s, test.page)
		lines, chunks, documents := cat.read()
		if code != 200 || strings.Contains(body, `data-testid="empty"`) && strings.HasPrefix(test.page, "/browse?") {
			t.Errorf("%s: status %d, or nothing found", test.page, code)
		}
		if lines > test.lines || chunks > test.chunks || documents > test.documents {
			t.Errorf("%s reads %d ledger lines, %d chunks and %d documents; want at most %d, %d and %d", test.page, lines, chunks, documents, test.lines, test.chunks, test.documents)
		}
	}
}

// TestMemoryStays loads pages a thousand times: what is kept between requests must not grow with them.
func TestMemoryStays(t *testing.T) {
	racetest.Skip(t)
	s := server(t, large(t, 60, 3), Options{Traces: trace.NewRing(trace.RingConfig{})})
	load := func(times int) uint64 {
		for range times {
			for _, page := range []string{"/", "/browse", "/browse/default/doc?uri=file:///docs/00007.md", "/browse/default/doc?uri=file:///docs/00008.md&tab=chunks", "/nowhere"} {
				get(t, s, page)
			}
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const slack = 2 << 20 // of what the runtime keeps for itself
	if before, after := load(20), load(200); after > before+slack {
		t.Errorf("a thousand pages leave %d bytes behind; want at most %d", after-before, slack)
	}
}

func BenchmarkPages(b *testing.B) {
	cat := &countingCatalog{Memory: catalog.NewMemory()}
	eng, err := rag.Open("", rag.WithCatalog(cat), rag.WithEmbedder(hash()))
	if err != nil {
		b.Fatal(err)
	}
	defer eng.Close()
	cat.fill(b, eng, 1000, 100)
	ring := trace.NewRing(trace.RingConfig{Size: 10_000})
	for i := range 10_000 {
		t := rag.Trace{ID: fmt.Sprint("t", i), Type: rag.TraceQuery, Timestamp: time.Now().Add(-time.Duration(10_000-i) * time.Second), Collection: "default",
			UserQuery: fmt.Sprint("question ", i), TotalMS: float64(i % 977), Stages: []rag.Span{{Stage: rag.StageDense, ElapsedMS: 1}, {Stage: rag.StageSparse, ElapsedMS: 2}}}
		if err := ring.Record(b.Context(), &t); err != nil {
			b.Fatal(err)
		}
	}
	s, err := New(eng, Options{Traces: ring})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for _, page := range []string{"/", "/browse", "/browse?filter=number+%3E+990", "/browse/default/doc?uri=file:///docs/00007.md", "/browse/default/doc?uri=file:///docs/00007.md&tab=chunks"} {
		b.Run(page, func(b *testing.B) {
			for b.Loop() {
				if code, _, _ := get(b, s, page); code != 200 {
					b.Fatal(code)
				}
			}
		})
	}
}

// heldReader is a reader of traces whose lists wait for a sign.
type heldReader struct {
	trace.Reader
	sign chan struct{}
	read *atomic.Bool
}

func (h heldReader) List(ctx context.Context, q trace.Query) (trace.Page, error) {
	<-h.sign
	h.read.Store(true)
	return h.Reader.List(ctx, q)
}

func TestWarmWaitsForTheTraces(t *testing.T) {
	held := heldReader{trace.NewRing(trace.RingConfig{}), make(chan struct{}), &atomic.Bool{}}
	s, err := New(engine(t), Options{Traces: held})
	if err != nil {
		t.Fatal(err)
	}
	over, stop := context.WithCancel(t.Context())
	stop()
	s.Warm(over) // does not wait for ever
	go func() {
		runtime.Gosched()
		close(held.sign)
	}()
	if s.Warm(t.Context()); !held.read.Load() {
		t.Error("it is warm before the traces were read")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	none, err := New(engine(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	none.Warm(t.Context()) // there is nothing to wait for
	if err := none.Close(); err != nil {
		t.Error(err)
	}
}
