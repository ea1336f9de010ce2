package weaviate

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/vectorstore/internal/remote"
)

// Vectors is a vector store in Weaviate. It is safe for concurrent use, also by several processes.
type Vectors struct{ *classes }

var (
	_ rag.VectorStore  = (*Vectors)(nil)
	_ rag.IDLister     = (*Vectors)(nil)
	_ rag.Dropper      = (*Vectors)(nil)
	_ rag.VectorReader = (*Vectors)(nil)
)

// NewVectors returns a vector store; it asks the server nothing yet. Settings out of range are ErrInvalid.
func NewVectors(c Config) (*Vectors, error) {
	s, err := open(c, vectors)
	if err != nil {
		return nil, err
	}
	return &Vectors{s}, nil
}

// Upsert writes the records, two hundred or so in a request.
func (v *Vectors) Upsert(ctx context.Context, collection string, recs []rag.VectorRecord) error {
	recs, dims, err := remote.Vectors(recs)
	if err != nil || len(recs) == 0 {
		return err
	}
	fields, err := v.service.AllFields(recs)
	if err != nil {
		return err
	}
	out := make([]record, len(recs))
	for i, r := range recs {
		out[i] = record{ID: uuid(r.ID), Vector: r.Vector, Properties: propertiesOf(r.ID, r.DocID, fields[i])}
	}
	return v.write(ctx, collection, dims, func(c class) error {
		if err := v.service.CheckLength(c.Collection, c.Dims, dims); err != nil {
			return err
		}
		return v.upsert(ctx, c, out)
	})
}

// Search asks Weaviate for what it can tell of the filter (all but ranges) and judges the rest itself.
func (v *Vectors) Search(ctx context.Context, collection string, q rag.VectorQuery) (matches []rag.Match, err error) {
	if err := errors.Join(ctx.Err(), q.Filter.Validate()); err != nil {
		return nil, err
	}
	condition := remote.Narrow(q.Filter)
	if q.K <= 0 || condition.Op == remote.None {
		return nil, nil
	}
	err = v.read(ctx, collection, func(c class) error {
		if err := v.service.CheckLength(c.Collection, c.Dims, len(q.Vector)); err != nil {
			return err
		}
		var err error
		matches, err = remote.Search(ctx, q.K, q.Filter, q.Vector, remote.Asked{
			Most: v.config.MaxResults,
			Nearest: func(ctx context.Context, n int) ([]remote.Row, error) {
				return v.nearest(ctx, c, q, n, condition)
			},
			Scan: func(ctx context.Context) iter.Seq2[remote.Row, error] { return v.scan(ctx, c, condition) },
		})
		return err
	})
	return matches, err
}

// nearest asks for the n nearest.
func (v *Vectors) nearest(ctx context.Context, c class, q rag.VectorQuery, n int, condition remote.Condition) ([]remote.Row, error) {
	arguments := filtered([]string{"nearVector:{vector:" + quote(q.Vector) + "}", "limit:" + strconv.Itoa(n)}, condition)
	hits, err := v.get(ctx, c, arguments, judged(q.Filter)+" _additional{distance}")
	rows := make([]remote.Row, len(hits))
	for i, h := range hits {
		rows[i] = remote.Row{ID: h.Chunk, Score: 1 - h.Additional.Distance, Payload: h.Meta}
	}
	return rows, err
}

// scan reads all records that fulfil a condition: by pages of them, or of everything where they are more than a query may
// give.
func (v *Vectors) scan(ctx context.Context, c class, condition remote.Condition) iter.Seq2[remote.Row, error] {
	if condition.Op == remote.Any {
		return v.walk(ctx, c, true)
	}
	return func(yield func(remote.Row, error) bool) {
		count, err := v.fulfilling(ctx, c, condition)
		if err != nil {
			yield(remote.Row{}, err)
			return
		}
		if count >= v.config.MaxResults {
			v.walk(ctx, c, true)(yield)
			return
		}
		for at, size := 0, rowsOf(c.Dims); at < count; at += size {
			arguments := filtered([]string{"limit:" + strconv.Itoa(min(size, count-at)), "offset:" + strconv.Itoa(at)}, condition)
			hits, err := v.get(ctx, c, arguments, "chunk meta _additional{vector}")
			if err != nil {
				yield(remote.Row{}, err)
				return
			}
			for _, h := range hits {
				if !yield(remote.Row{ID: h.Chunk, Vector: h.Additional.Vector, Payload: h.Meta}, nil) {
					return
				}
			}
		}
	}
}

// fulfilling returns how many records fulfil a condition, or MaxResults if there are as many.
func (v *Vectors) fulfilling(ctx context.Context, c class, condition remote.Condition) (int, error) {
	hits, err := v.get(ctx, c, filtered([]string{"limit:" + strconv.Itoa(v.config.MaxResults)}, condition), "_additional{id}")
	return len(hits), err
}

// Vectors returns vectors by ID.
func (v *Vectors) Vectors(ctx context.Context, collection string, ids []string) ([][]float32, error) {
	by := make(map[string][]float32, len(ids))
	err := v.read(ctx, collection, func(c class) error {
		for some := range slices.Chunk(ids, rowsOf(c.Dims)) {
			arguments := []string{among(some), "limit:" + strconv.Itoa(len(some))}
			hits, err := v.get(ctx, c, arguments, "chunk _additional{vector}")
			if err != nil {
				return err
			}
			for _, h := range hits {
				by[h.Chunk] = h.Additional.Vector
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([][]float32, len(ids))
	for i, id := range ids {
		out[i] = slices.Clone(by[id]) // an ID may be asked for twice
	}
	return out, nil
}
