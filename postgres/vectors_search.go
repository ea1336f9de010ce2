package postgres

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/seed-d8745b77/rag"
)

// tieSlack is how many more than asked for are taken from the graph, so that the order among equals at the end can be told.
const tieSlack = 16

// Search returns the K nearest by cosine, ties by ID. It asks the graph, whose scan goes on until enough of what it finds match
// the filter. Where that gives fewer than K, or where more equals may come behind the last, every vector that matches is
// compared: the number of matches is exact, the nearest are found nearly always.
func (v *Vectors) Search(ctx context.Context, collection string, q rag.VectorQuery) (matches []rag.Match, err error) {
	if err := q.Filter.Validate(); err != nil {
		return nil, err
	}
	err = v.inTable(ctx, collection, func(ctx context.Context, t vectorTable) error {
		if len(q.Vector) != t.dims {
			return fmt.Errorf("collection %q holds vectors of length %d, not %d: %w", collection, t.dims, len(q.Vector), rag.ErrDimension)
		}
		if err := checkVector(q.Vector, t.dims); err != nil {
			return fmt.Errorf("query: %w", err)
		}
		matches = nil
		if q.K <= 0 {
			return nil
		}
		enough, err := v.searchGraph(ctx, t, q, &matches)
		if err != nil || enough {
			return err
		}
		matches, err = v.searchAll(ctx, t, q)
		return err
	})
	return matches, err
}

// searchGraph asks the graph. enough is false if there may be more or others.
func (v *Vectors) searchGraph(ctx context.Context, t vectorTable, q rag.VectorQuery, matches *[]rag.Match) (enough bool, err error) {
	if !t.indexed() || q.K > mostEF {
		return false, nil
	}
	many := q.K + tieSlack
	a := args{q.Vector, many}
	// The graph's order is that of what it compares, and nearly sorted; the exact one comes after.
	query := `
		with near as materialized (
			select id, embedding from ` + t.name() + ` where ` + a.where(q.Filter) + `
			order by ` + t.compared("embedding") + ` <=> ` + t.compared("$1::real[]::vector") + ` limit $2)
		select id, embedding <=> $1::real[]::vector as distance from near order by distance, id`
	var b pgx.Batch
	ef := min(max(v.config.EFSearch, 2*many), mostEF)
	b.Queue(`select set_config('hnsw.ef_search', $1, true), set_config('hnsw.max_scan_tuples', $2, true), set_config('hnsw.iterative_scan', 'relaxed_order', true)`,
		strconv.Itoa(ef), strconv.Itoa(v.config.MaxScan))
	var found []rag.Match
	b.Queue(query, a...).Query(func(rows pgx.Rows) (err error) {
		found, err = scanMatches(rows, nil)
		return err
	})
	if err := v.pool.SendBatch(ctx, &b).Close(); err != nil {
		return false, err
	}
	if len(found) < q.K || len(found) == many && found[many-1].Score == found[q.K-1].Score {
		return false, nil
	}
	*matches = found[:q.K]
	return true, nil
}

// searchAll compares every vector that matches. The order by a sum is one that no index has.
func (v *Vectors) searchAll(ctx context.Context, t vectorTable, q rag.VectorQuery) ([]rag.Match, error) {
	a := args{q.Vector, q.K}
	return scanMatches(v.pool.Query(ctx, `
		select id, (embedding <=> $1::real[]::vector) + 0 as distance from `+t.name()+` where `+a.where(q.Filter)+`
		order by distance, id limit $2`, a...))
}

// scanMatches reads IDs with their distances.
func scanMatches(rows pgx.Rows, err error) (matches []rag.Match, _ error) {
	if err != nil {
		return nil, err
	}
	var m rag.Match
	var distance float64
	_, err = pgx.ForEachRow(rows, []any{&m.ID, &distance}, func() error {
		m.Score = 1 - distance
		matches = append(matches, m)
		return nil
	})
	return matches, err
}
