package bm25

import (
	"fmt"
	"math"
)

// Params are the two free parameters of BM25.
type Params struct {
	K1 float64 // how fast further occurrences of a term stop counting; >= 0
	B  float64 // how much the length of a document counts; 0 to 1
}

// Usual parameters.
const (
	DefaultK1 = 1.2
	DefaultB  = 0.75
)

// Chosen returns the parameters with the usual ones in place of 0, or says which is out of range.
func (p Params) Chosen() (Params, error) {
	if p.K1 == 0 {
		p.K1 = DefaultK1
	}
	if p.B == 0 {
		p.B = DefaultB
	}
	if !(p.K1 > 0) || math.IsInf(p.K1, 1) {
		return p, fmt.Errorf("k1 is %v: give a number above 0", p.K1)
	}
	if !(p.B > 0 && p.B <= 1) {
		return p, fmt.Errorf("b is %v: give a number from 0 to 1", p.B)
	}
	return p, nil
}

// Scores are summed as integers of this unit, so that a sum does not depend on its order: pruning, segments and merges
// leave no trace in the last digit, and ties are ties.
const unit = 1 << 40

// maxSum bounds what the terms of a query can sum up to.
const maxSum = 1 << 62

// norms holds 1 / (K1 * (1 - B + B * length / average length)) by length, as far as lengths are common.
type norms struct {
	params      Params
	flat, slope float64
	inverse     []float64
}

// maxNorms is the number of lengths in the table; longer documents are computed each time.
const maxNorms = 1 << 12

// normsFor returns the norms under the parameters, which are mostly the same for all searches of an index.
func (x *Index) normsFor(p Params) *norms {
	if n := x.norms.Load(); n != nil && n.params == p {
		return n
	}
	n := &norms{params: p, flat: p.K1 * (1 - p.B), slope: p.K1 * p.B * float64(x.live) / float64(max(x.length, 1))}
	n.inverse = make([]float64, min(x.longest+1, maxNorms))
	for length := range n.inverse {
		n.inverse[length] = n.compute(uint32(length))
	}
	x.norms.Store(n)
	return n
}

func (n *norms) compute(length uint32) float64 { return 1 / (n.flat + n.slope*float64(length)) }

// of returns the norm of a document's length.
func (n *norms) of(length uint32) float64 {
	if int(length) < len(n.inverse) {
		return n.inverse[length]
	}
	return n.compute(length)
}

// share is what a term of this weight adds to a document's score:
//
//	weight * tf / (tf + K1 * (1 - B + B * length / average length))
//
// in a form (Lucene's) in which rounding keeps the order: a greater tf or norm never gives less, so that the shares of
// a block's impacts bound those of its documents.
func share(weight float64, tf uint32, norm float64) int64 {
	return int64(weight - weight/(1+float64(tf)*norm))
}

// Rarity is the weight of a term that df of n documents have.
func Rarity(n, df int) float64 { return math.Log(1 + (float64(n-df)+0.5)/(float64(df)+0.5)) }

// Rarity returns the weight of each clause by how many of the documents that live have one of its terms; of one that none
// has, the greatest there is.
func (x *Index) Rarity(clauses []Clause) []float64 {
	weights := make([]float64, len(clauses))
	if x == nil {
		x = &Index{}
	}
	var b block
	for c, clause := range clauses {
		df := 0
		for _, p := range x.parts {
			df += p.liveCount(p.seg.union(clause.Terms, &b), &b)
		}
		weights[c] = Rarity(x.live, df)
	}
	return weights
}
