package sparse_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv"
)

// BenchmarkLargeCollection measures a collection of 100,000 passages of 100 words on disk: filling it in batches of
// 200, one more batch, opening it, and searching it.
func BenchmarkLargeCollection(b *testing.B) {
	const passages, batch = 100_000, 200
	dir := b.TempDir()
	x := openDir(b, dir)
	gen := newGenerator()
	var worst time.Duration
	start := time.Now()
	for i := 0; i < passages; i += batch {
		recs := gen.records(batch)
		began := time.Now()
		upsert(b, x, recs...)
		worst = max(worst, time.Since(began))
	}
	info, err := os.Stat(filepath.Join(dir, boltkv.FileName))
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("filled in %v, slowest batch of %d %v, file %d MB", time.Since(start).Round(time.Millisecond), batch, worst.Round(time.Millisecond), info.Size()>>20)

	b.Run("open", func(b *testing.B) {
		if err := x.Close(); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			x := openDir(b, dir)
			search(b, x, "w77")
			if err := x.Close(); err != nil {
				b.Fatal(err)
			}
		}
		x = openDir(b, dir)
	})
	for name, q := range map[string]rag.SparseQuery{
		"search":                {Text: "w3 w40 w500 w700 w9000", K: 50},
		"search frequent words": {Text: "w0 w1 w2 w5 w9", K: 50},
		"search with filter":    {Text: "w3 w40 w500 w700 w9000", K: 50, Filter: rag.Eq("tenant", "t7")},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := x.Search(b.Context(), "c", q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("upsert 200", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			recs := gen.records(batch)
			b.StartTimer()
			upsert(b, x, recs...)
		}
	})
	b.Run("delete 200", func(b *testing.B) {
		next := 0
		for b.Loop() {
			ids := make([]string, batch)
			for i := range ids {
				ids[i] = recordID(next)
				next = (next + 1) % passages
			}
			if err := x.Delete(b.Context(), "c", ids); err != nil {
				b.Fatal(err)
			}
		}
	})
	if err := x.Close(); err != nil {
		b.Fatal(err)
	}
}

// generator makes passages of words with the frequencies of a natural text.
type generator struct {
	rnd  *rand.Rand
	zipf *rand.Zipf
	next int
}

func newGenerator() *generator {
	rnd := rand.New(rand.NewPCG(4, 2))
	return &generator{rnd: rnd, zipf: rand.NewZipf(rnd, 1.1, 20, 200_000)}
}

func recordID(n int) string { return fmt.Sprintf("%024x", n) }

func (g *generator) records(n int) []rag.TextRecord {
	recs := make([]rag.TextRecord, n)
	for i := range recs {
		var text strings.Builder
		for range 100 {
			fmt.Fprintf(&text, "w%d ", g.zipf.Uint64())
		}
		recs[i] = rag.TextRecord{ID: recordID(g.next), DocID: "d", Text: text.String(), Language: "en", Meta: rag.Meta{
			"uri": fmt.Sprintf("file:///docs/%d.md", g.next/20), "doc_id": recordID(g.next / 20), "title": "A title of a document",
			"language": "en", "page": float64(g.next % 20), "tenant": fmt.Sprintf("t%d", g.next%100),
		}}
		g.next++
	}
	return recs
}
