package ir

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
