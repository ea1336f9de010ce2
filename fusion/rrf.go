package fusion

import (
	"fmt"

	"github.com/seed-d8745b77/rag"
)

// DefaultRRFK is the rank constant of Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet
// and individual rank learning methods", SIGIR 2009. The paper counts ranks from 1, and so does [RRF].
const DefaultRRFK = 60

// RRFConfig holds the settings of [RRF].
type RRFConfig struct {
	K float64 `json:"k,omitzero" range:"(0,1000000]"` // rank constant, > 0; 0: DefaultRRFK. Larger values flatten the difference between ranks
}

// RRF returns a fuser that scores a document with the sum over the lists of weight / (K + rank), ranks from 1.
// It looks at ranks only: lists whose scores have nothing in common can be joined. A negative or infinite K is
// ErrInvalid.
func RRF(c RRFConfig) (rag.Fuser, error) {
	if c.K == 0 {
		c.K = DefaultRRFK
	}
	if !isPositive(c.K) {
		return nil, fmt.Errorf("rrf: k is %v: give a number above 0: %w", c.K, rag.ErrInvalid)
	}
	return func(lists []rag.Ranking) []rag.Match {
		return fuse(lists, func(_ string, matches []rag.Match) []float64 {
			points := make([]float64, len(matches))
			for i := range points {
				points[i] = 1 / (c.K + float64(i+1))
			}
			return points
		})
	}, nil
}
