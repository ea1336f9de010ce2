package ragtest_test

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/splitter"
	"github.com/seed-d8745b77/rag/transform"
)

func init() { maps.Copy(broken, brokenText) }

// brokenText are broken splitters, transformers, trace sinks and rerankers.
var brokenText = map[string]brokenCase{
	"splitter that loses a chunk": {"chunks are true to the document with an outline", splitterThat(func(chunks []rag.Chunk) []rag.Chunk {
		if len(chunks) > 4 {
			chunks = slices.Delete(chunks, 2, 4)
		}
		return chunks
	})},
	"splitter that trims text but not its place": {"chunks are true to the document with an outline", splitterThat(func(chunks []rag.Chunk) []rag.Chunk {
		chunks[0].Text = chunks[0].Text[1:]
		return chunks
	})},
	"splitter that forgets pages": {"chunks are true to the document with pages", splitterThat(func(chunks []rag.Chunk) []rag.Chunk {
		for i := range chunks {
			chunks[i].Page = 0
		}
		return chunks
	})},
	"splitter that cuts characters": {"chunks are true to the document of joined characters", splitterThat(func(chunks []rag.Chunk) []rag.Chunk {
		first := &chunks[0]
		first.Text, first.End = first.Text[:4], first.Start+4
		return chunks
	})},
	"transformer that rewrites": {"the text and the place of a chunk stay as they are", transformerThat(func(chunks []rag.Chunk) {
		chunks[0].Text += "!"
	})},
	"transformer that renames": {"the text and the place of a chunk stay as they are", transformerThat(func(chunks []rag.Chunk) {
		chunks[0].ID = "other"
	})},
	"sink that keeps the pointer": {"Record does not hold on to the trace", func(t *testing.T) {
		ragtest.TestTraceSink(t, func(*testing.T) (rag.TraceSink, func() iter.Seq2[rag.Trace, error]) {
			s := &pointerSink{}
			return s, s.all
		})
	}},
	"reranker that sorts its scores": {"scores are in the order of the texts", func(t *testing.T) {
		ragtest.TestReranker(t, func(*testing.T) rag.Reranker { return sortedReranker{} })
	}},
}

// changedSplitter is a good splitter whose chunks are changed.
type changedSplitter struct {
	rag.Splitter
	change func([]rag.Chunk) []rag.Chunk
}

func splitterThat(change func([]rag.Chunk) []rag.Chunk) func(t *testing.T) {
	return func(t *testing.T) {
		ragtest.TestSplitter(t, func(t *testing.T) rag.Splitter {
			s, err := splitter.NewRecursive(splitter.Config{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			return changedSplitter{s, change}
		})
	}
}

func (s changedSplitter) Split(ctx context.Context, doc rag.Document) ([]rag.Chunk, error) {
	chunks, err := s.Splitter.Split(ctx, doc)
	if len(chunks) == 0 {
		return chunks, err
	}
	return s.change(chunks), err
}

// changedTransformer is a good transformer whose chunks are changed.
type changedTransformer struct {
	rag.Transformer
	change func([]rag.Chunk)
}

func transformerThat(change func([]rag.Chunk)) func(t *testing.T) {
	return func(t *testing.T) {
		ragtest.TestTransformer(t, func(*testing.T) rag.Transformer {
			return changedTransformer{transform.NewContext(), change}
		})
	}
}

func (c changedTransformer) Transform(ctx context.Context, doc rag.Document, chunks []rag.Chunk) ([]rag.Chunk, error) {
	out, err := c.Transformer.Transform(ctx, doc, chunks)
	if len(out) > 0 {
		c.change(out)
	}
	return out, err
}

// pointerSink keeps what it is given instead of a copy.
type pointerSink struct {
	mu     sync.Mutex
	traces []*rag.Trace
}

func (s *pointerSink) Record(_ context.Context, t *rag.Trace) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.traces = append(s.traces, t)
	return nil
}

func (s *pointerSink) all() iter.Seq2[rag.Trace, error] {
	return func(yield func(rag.Trace, error) bool) {
		for _, t := range s.traces {
			if !yield(*t, nil) {
				return
			}
		}
	}
}

// sortedReranker returns the right scores in the wrong order.
type sortedReranker struct{}

func (sortedReranker) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	scores, err := new(ragtest.OverlapReranker).Rerank(ctx, query, texts)
	slices.Sort(scores)
	return scores, err
}
