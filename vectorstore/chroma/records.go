package chroma

import (
	"context"
	"net/http"
	"slices"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/vectorstore/internal/remote"
)

// How much goes into a request. A number of a vector has about 12 digits in JSON.
const (
	rowsOfIDs     = 10_000
	mostRows      = 1000    // records with vectors; Chroma takes up to 5,461 where it runs alone
	bytesOfVector = 4 << 20 // of all of them
	bytesOfNumber = 12
)

// rowsOf is how many records with vectors go into a request.
func rowsOf(dims int) int { return max(1, min(mostRows, bytesOfVector/(bytesOfNumber*dims))) }

// Keys of a record's metadata; see [remote.Fields].
const (
	keyHas   = "rag_has"
	keyFrom  = "rag_from"
	keyUntil = "rag_until"
)

// metadata is what a record has beside its vector.
type metadata struct {
	Payload string   `json:"rag_meta"`
	Has     []string `json:"rag_has,omitempty"`
	From    int64    `json:"rag_from"`
	Until   int64    `json:"rag_until"`
	DocID   string   `json:"rag_doc"` // for whoever looks at the data
}

type upsertRequest struct {
	IDs        []string    `json:"ids"`
	Embeddings [][]float32 `json:"embeddings"`
	Metadatas  []metadata  `json:"metadatas"`
}

// Upsert writes the records, a thousand or so in a request; each request is whole or not at all.
func (s *Store) Upsert(ctx context.Context, name string, recs []rag.VectorRecord) error {
	recs, dims, err := remote.Vectors(recs)
	if err != nil || len(recs) == 0 {
		return err
	}
	fields, err := s.service.AllFields(recs)
	if err != nil {
		return err
	}
	meta := make([]metadata, len(recs))
	for i, f := range fields {
		meta[i] = metadata{f.Payload, f.Has, f.From, f.Until, recs[i].DocID}
	}
	get := func() (collection, error) { return s.make(ctx, name, dims) }
	return s.with(name, get, func(c collection) error {
		if err := s.service.CheckLength(name, c.Metadata.Dims, dims); err != nil {
			return err
		}
		for at := 0; at < len(recs); at += rowsOf(dims) {
			end := min(at+rowsOf(dims), len(recs))
			request := upsertRequest{Metadatas: meta[at:end]}
			for _, r := range recs[at:end] {
				request.IDs = append(request.IDs, r.ID)
				request.Embeddings = append(request.Embeddings, r.Vector)
			}
			if err := s.service.Call(ctx, http.MethodPost, s.base+"/"+c.ID+"/upsert", request, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// Delete removes records.
func (s *Store) Delete(ctx context.Context, name string, ids []string) error {
	if err := ctx.Err(); err != nil || len(ids) == 0 {
		return err
	}
	return s.read(ctx, name, func(c collection) error {
		for some := range slices.Chunk(ids, mostRows) {
			if err := s.service.Call(ctx, http.MethodPost, s.base+"/"+c.ID+"/delete", map[string][]string{"ids": some}, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// getRequest asks for records by ID or by condition. Nil IDs and Where are everything.
type getRequest struct {
	IDs     []string `json:"ids,omitempty"`
	Where   any      `json:"where,omitempty"`
	Include []string `json:"include"`
	Limit   int      `json:"limit,omitempty"`
	Offset  int      `json:"offset,omitempty"`
}

// rows are records that the server gives; of a field that was not asked for, none.
type rows struct {
	IDs        []string    `json:"ids"`
	Embeddings [][]float32 `json:"embeddings"`
	Metadatas  []metadata  `json:"metadatas"`
}

// rows asks for records.
func (s *Store) rows(ctx context.Context, c collection, q getRequest) (rows, error) {
	return ask(ctx, s, c, "/get", q, func(r rows) bool {
		return (!slices.Contains(q.Include, "embeddings") || len(r.Embeddings) == len(r.IDs)) &&
			(!slices.Contains(q.Include, "metadatas") || len(r.Metadatas) == len(r.IDs)) &&
			!slices.ContainsFunc(r.Embeddings, func(v []float32) bool { return len(v) != c.Metadata.Dims })
	})
}

// pages asks for records, size at a time.
func (s *Store) pages(ctx context.Context, c collection, size int, q getRequest, take func(rows) error) error {
	for q.Limit = size; ; q.Offset += size {
		r, err := s.rows(ctx, c, q)
		if err != nil {
			return err
		}
		if err := take(r); err != nil || len(r.IDs) < size {
			return err
		}
	}
}

// Vectors returns vectors by ID.
func (s *Store) Vectors(ctx context.Context, name string, ids []string) ([][]float32, error) {
	by := make(map[string][]float32, len(ids))
	err := s.read(ctx, name, func(c collection) error {
		for some := range slices.Chunk(ids, rowsOf(c.Metadata.Dims)) {
			r, err := s.rows(ctx, c, getRequest{IDs: some, Include: []string{"embeddings"}})
			if err != nil {
				return err
			}
			for i, id := range r.IDs {
				by[id] = r.Embeddings[i]
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
