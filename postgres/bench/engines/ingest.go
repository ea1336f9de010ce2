package main

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-d8745b77/rag"
)

const (
	batch = 256  // records of a write: as many as an ingest writes at once
	block = 2560 // records that an engine writes before the next one's turn
)

// stopwatch sums up times.
type stopwatch struct{ total time.Duration }

func (s *stopwatch) measure(do func() error) error {
	start := time.Now()
	err := do()
	s.total += time.Since(start)
	return err
}

// ingest writes all chunks to all engines, which take turns.
func ingest(ctx context.Context, d *data, engines []*engine) error {
	for at := 0; at < len(d.chunks); at += block {
		part := d.chunks[at:min(at+block, len(d.chunks))]
		for i := range engines {
			e := engines[(i+at/block)%len(engines)]
			if err := e.write(ctx, part); err != nil {
				return fmt.Errorf("%s: %w", e.name, err)
			}
		}
		say("%d of %d chunks written", at+len(part), len(d.chunks))
	}
	return nil
}

// write writes a block, vectors first.
func (e *engine) write(ctx context.Context, chunks []chunk) error {
	for at := 0; at < len(chunks); at += batch {
		var vectors []rag.VectorRecord
		var words []rag.TextRecord
		for _, c := range chunks[at:min(at+batch, len(chunks))] {
			vectors = append(vectors, rag.VectorRecord{ID: c.ID, DocID: c.DocID, Vector: c.vector, Meta: c.Meta})
			words = append(words, c.TextRecord)
		}
		if err := e.vectorTime.measure(func() error { return e.vectors.Upsert(ctx, collection, vectors) }); err != nil {
			return err
		}
		if e.words == nil {
			continue
		}
		if err := e.wordTime.measure(func() error { return e.words.Upsert(ctx, collection, words) }); err != nil {
			return err
		}
	}
	return nil
}
