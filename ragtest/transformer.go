package ragtest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/seed-d8745b77/rag"
)

// TestTransformer checks that a transformer keeps the promises of [rag.Transformer]. open makes a fresh one each time.
func TestTransformer(t *testing.T, open func(t *testing.T) rag.Transformer) {
	doc, chunks := transformerInput()

	t.Run("the text and the place of a chunk stay as they are", func(t *testing.T) {
		got, err := open(t).Transform(t.Context(), doc, cloneChunks(chunks))
		if err != nil {
			t.Fatal(err)
		}
		next := 0
		for _, c := range got {
			i := slices.IndexFunc(chunks[next:], func(want rag.Chunk) bool { return want.Start == c.Start && want.End == c.End })
			if i < 0 {
				t.Fatalf("a chunk at [%d, %d) came out that did not go in, or out of order", c.Start, c.End)
			}
			want := chunks[next+i]
			if c.ID != want.ID || c.DocID != want.DocID || !sameChunk(c, want) {
				t.Errorf("chunk %s came out changed: %+v", want.ID, c)
			}
			next += i + 1
		}
	})
	t.Run("the same input gives the same output, also in many goroutines", func(t *testing.T) {
		tr := open(t)
		want, err := tr.Transform(t.Context(), doc, cloneChunks(chunks))
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				got, err := tr.Transform(t.Context(), doc, cloneChunks(chunks))
				same := slices.EqualFunc(got, want, func(a, b rag.Chunk) bool { return a.IndexText() == b.IndexText() && sameChunk(a, b) })
				if err != nil || !same {
					t.Errorf("Transform gave other chunks than before, error %v", err)
				}
			})
		}
		wg.Wait()
	})
	t.Run("no chunks in, no chunks out", func(t *testing.T) {
		if got, err := open(t).Transform(t.Context(), doc, nil); err != nil || len(got) != 0 {
			t.Errorf("Transform of nothing = %d chunks, %v; want none, nil", len(got), err)
		}
	})
	t.Run("metadata keeps its four kinds of values", func(t *testing.T) {
		got, err := open(t).Transform(t.Context(), doc, cloneChunks(chunks))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range got {
			if _, err := c.Meta.Clean(); err != nil {
				t.Errorf("chunk %s: %v", c.ID, err)
			}
		}
	})
	t.Run("a cancelled context ends the work with its error", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := open(t).Transform(ctx, doc, cloneChunks(chunks)); !errors.Is(err, context.Canceled) {
			t.Errorf("Transform gave error %v, want context.Canceled", err)
		}
	})
}

func transformerInput() (rag.Document, []rag.Chunk) {
	doc := longDocument()
	doc.ID, doc.Meta = "doc", rag.Meta{"team": "docs"}
	var chunks []rag.Chunk
	for i := range doc.Sections[:20] {
		start, end := doc.Sections[i].Start, doc.Sections[i+1].Start
		text := doc.Text[start:end]
		chunks = append(chunks, rag.Chunk{
			ID: rag.ChunkID(doc.ID, text, i), DocID: doc.ID, Ordinal: i, Text: text, Start: start, End: end,
			Headings: doc.HeadingsAt(start), Meta: rag.Meta{"team": "docs"},
		})
	}
	return doc, chunks
}

// cloneChunks copies what a transformer may write to.
func cloneChunks(chunks []rag.Chunk) []rag.Chunk {
	out := slices.Clone(chunks)
	for i := range out {
		out[i].Meta, _ = out[i].Meta.Clean()
		out[i].Headings = slices.Clone(out[i].Headings)
	}
	return out
}
