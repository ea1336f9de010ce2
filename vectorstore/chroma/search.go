package chroma

import (
	"context"
	"errors"
	"iter"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/vectorstore/internal/remote"
)

// mostNearest is how many records a query is asked for at most: behind that, reading all takes no longer.
const mostNearest = 4000

type queryRequest struct {
	Embeddings [][]float32 `json:"query_embeddings"`
	N          int         `json:"n_results"`
	Where      any         `json:"where,omitempty"`
	Include    []string    `json:"include"`
}

// found is the reply to queries, a list for each.
type found struct {
	IDs       [][]string   `json:"ids"`
	Distances [][]float64  `json:"distances"` // 1 less the inner product
	Metadatas [][]metadata `json:"metadatas"`
}

// Search asks Chroma for what it can tell of the filter (equality, membership, presence, validity, and their
// combinations) and judges ranges and prefixes itself, over more of the nearest or over all that have the field.
func (s *Store) Search(ctx context.Context, name string, q rag.VectorQuery) (matches []rag.Match, err error) {
	if err := errors.Join(ctx.Err(), q.Filter.Validate()); err != nil {
		return nil, err
	}
	condition := remote.Narrow(q.Filter)
	if q.K <= 0 || condition.Op == remote.None {
		return nil, nil
	}
	which := where(condition)
	err = s.read(ctx, name, func(c collection) error {
		if err := s.service.CheckLength(name, c.Metadata.Dims, len(q.Vector)); err != nil {
			return err
		}
		var err error
		matches, err = remote.Search(ctx, q.K, q.Filter, q.Vector, remote.Asked{
			Most: mostNearest,
			Nearest: func(ctx context.Context, n int) ([]remote.Row, error) {
				return s.nearest(ctx, c, q.Vector, n, which)
			},
			Scan: func(ctx context.Context) iter.Seq2[remote.Row, error] { return s.scan(ctx, c, which) },
		})
		return err
	})
	return matches, err
}

// nearest asks for the n nearest.
func (s *Store) nearest(ctx context.Context, c collection, vector []float32, n int, where any) ([]remote.Row, error) {
	q := queryRequest{Embeddings: [][]float32{vector}, N: n, Where: where, Include: []string{"distances", "metadatas"}}
	r, err := ask(ctx, s, c, "/query", q, func(r found) bool {
		return len(r.IDs) == 1 && len(r.Distances) == 1 && len(r.Metadatas) == 1 &&
			len(r.Distances[0]) == len(r.IDs[0]) && len(r.Metadatas[0]) == len(r.IDs[0])
	})
	if err != nil {
		return nil, err
	}
	out := make([]remote.Row, len(r.IDs[0]))
	for i, id := range r.IDs[0] {
		out[i] = remote.Row{ID: id, Score: 1 - r.Distances[0][i], Payload: r.Metadatas[0][i].Payload}
	}
	return out, nil
}

// scan reads all records that fulfil a condition.
func (s *Store) scan(ctx context.Context, c collection, where any) iter.Seq2[remote.Row, error] {
	return func(yield func(remote.Row, error) bool) {
		q := getRequest{Where: where, Include: []string{"embeddings", "metadatas"}}
		err := s.pages(ctx, c, rowsOf(c.Metadata.Dims), q, func(r rows) error {
			for i, id := range r.IDs {
				if !yield(remote.Row{ID: id, Vector: r.Embeddings[i], Payload: r.Metadatas[i].Payload}, nil) {
					return errStop
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(remote.Row{}, err)
		}
	}
}

// where is a condition as Chroma takes it; nil is everything. Chroma cannot look for beginnings, so that all that have
// the field are asked for.
func where(c remote.Condition) any {
	is := func(key, operator string, value any) map[string]any {
		return map[string]any{key: map[string]any{operator: value}}
	}
	switch c.Op {
	case remote.Has:
		return is(keyHas, "$contains", c.Token)
	case remote.HasNot:
		return is(keyHas, "$not_contains", c.Token)
	case remote.Begins:
		return is(keyHas, "$contains", c.Field)
	case remote.InForce:
		return map[string]any{"$and": []any{is(keyFrom, "$lte", c.At), is(keyUntil, "$gte", c.At)}}
	case remote.NotForce:
		return map[string]any{"$or": []any{is(keyFrom, "$gte", c.At), is(keyUntil, "$lte", c.At)}}
	case remote.All, remote.OneOf:
		args := make([]any, len(c.Args))
		for i, a := range c.Args {
			args[i] = where(a)
		}
		return map[string]any{map[remote.Op]string{remote.All: "$and", remote.OneOf: "$or"}[c.Op]: args}
	}
	return nil
}
