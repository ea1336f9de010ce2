package ir

import (
	"math"
	"slices"
)

// NDCG returns the normalised discounted cumulative gain of the first k of the ranked documents, with the grade as
// gain and log2(rank+1) as discount: trec_eval's ndcg_cut. It is 0 if nothing is relevant. A document that is ranked
// twice counts at its first place and still fills the second.
func NDCG(ranked []string, grades map[string]int, k int) float64 {
	ideal := make([]int, 0, len(grades))
	for _, g := range grades {
		if g > 0 {
			ideal = append(ideal, g)
		}
	}
	slices.SortFunc(ideal, func(a, b int) int { return b - a })
	best := 0.0
	for i, g := range ideal[:min(k, len(ideal))] {
		best += discounted(g, i)
	}
	if best == 0 {
		return 0
	}
	got := 0.0
	seen := map[string]bool{}
	for i, id := range ranked[:min(k, len(ranked))] {
		if g := grades[id]; g > 0 && !seen[id] {
			got += discounted(g, i)
		}
		seen[id] = true
	}
	return got / best
}

// discounted is the gain of a grade at a 0-based place.
func discounted(grade, place int) float64 { return float64(grade) / math.Log2(float64(place)+2) }

// Recall returns the share of the relevant documents that is among the first k: trec_eval's recall. It is 0 if
// nothing is relevant.
func Recall(ranked []string, grades map[string]int, k int) float64 {
	total := relevant(grades)
	if total == 0 {
		return 0
	}
	found := map[string]bool{}
	for _, id := range ranked[:min(k, len(ranked))] {
		if grades[id] > 0 {
			found[id] = true
		}
	}
	return float64(len(found)) / float64(total)
}

func relevant(grades map[string]int) int {
	n := 0
	for _, g := range grades {
		if g > 0 {
			n++
		}
	}
	return n
}

// Mean sums up values. The zero Mean is empty.
type Mean struct {
	sum float64
	n   int
}

// Add adds a value.
func (m *Mean) Add(v float64) { m.sum, m.n = m.sum+v, m.n+1 }

// Value returns the mean, 0 of nothing.
func (m *Mean) Value() float64 {
	if m.n == 0 {
		return 0
	}
	return m.sum / float64(m.n)
}

// Score is what a ranking method reached on a set.
type Score struct {
	NDCG10    float64 // mean over the queries
	Recall100 float64 // mean over the queries
	Queries   int
}

// ScoreDepth is how many documents a method must rank at least for [Evaluate].
const ScoreDepth = 100

// Evaluate asks rank for the IDs of at least the ScoreDepth best documents of each query, best first.
func Evaluate(s *Set, rank func(query string) ([]string, error)) (Score, error) {
	var ndcg, recall Mean
	for _, q := range s.Queries {
		ids, err := rank(q.Text)
		if err != nil {
			return Score{}, err
		}
		ndcg.Add(NDCG(ids, s.Judged[q.ID], 10))
		recall.Add(Recall(ids, s.Judged[q.ID], ScoreDepth))
	}
	return Score{NDCG10: ndcg.Value(), Recall100: recall.Value(), Queries: len(s.Queries)}, nil
}
