package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed-d8745b77/rag"
)

// The synthetic set is like embeddings of texts: many topics of very different sizes, and a spread within a topic that
// falls off from one dimension to the next.
const (
	topics    = 1000
	zipf      = 1.0 // the n-th topic has 1/n^zipf times the first's vectors
	spread    = 0.6 // of the vectors of a topic, in parts of that of the topics
	decay     = 0.5 // the n-th dimension varies 1/n^decay times as much as the first
	perRecord = 10  // records of a document
)

// source makes vectors; equal seeds make equal ones, whatever is asked between.
type source struct {
	rnd     *rand.Rand
	centres [][]float32
	upTo    []float64 // by topic: share of the vectors in this topic and those before
	scale   []float64 // by dimension
}

func newSource(dims int, seed uint64) *source {
	s := &source{scale: make([]float64, dims)}
	for i := range s.scale {
		s.scale[i] = 1 / math.Pow(float64(i+1), decay)
	}
	s.rnd = rand.New(rand.NewPCG(1, 1)) // the topics are the same for stored vectors and questions
	sum := 0.0
	for i := range topics {
		s.centres = append(s.centres, s.around(nil, 1))
		sum += 1 / math.Pow(float64(i+1), zipf)
		s.upTo = append(s.upTo, sum)
	}
	s.rnd = rand.New(rand.NewPCG(2, seed))
	return s
}

// around is a random vector about a centre.
func (s *source) around(centre []float32, spread float64) []float32 {
	v := make([]float32, len(s.scale))
	for i, scale := range s.scale {
		v[i] = float32(s.rnd.NormFloat64() * scale * spread)
		if centre != nil {
			v[i] += centre[i]
		}
	}
	return v
}

// vector is the next one, of unit length.
func (s *source) vector() []float32 {
	at := s.rnd.Float64() * s.upTo[topics-1]
	topic, _ := slices.BinarySearch(s.upTo, at)
	v := s.around(s.centres[min(topic, topics-1)], spread)
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

// records are the next n from a number on. They have the fields of passages of documents.
func (s *source) records(from, n int) []rag.VectorRecord {
	recs := make([]rag.VectorRecord, n)
	for i := range recs {
		no := from + i
		doc := fmt.Sprintf("%024x", no/perRecord)
		recs[i] = rag.VectorRecord{ID: fmt.Sprintf("%024x", no), DocID: doc, Vector: s.vector(), Meta: rag.Meta{
			rag.FieldDocID: doc, rag.FieldURI: fmt.Sprintf("library/%d/document%d.md", no/perRecord%100, no/perRecord),
			rag.FieldLanguage: "en", share: float64(no % shares),
		}}
	}
	return recs
}

// share is a field whose values are evenly spread, so that a range of it selects any part of the records.
const (
	share  = "share"
	shares = 10_000
)
