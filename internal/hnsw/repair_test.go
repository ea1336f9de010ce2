package hnsw_test

import (
	"math/rand/v2"
	"testing"

	"github.com/seed-d8745b77/rag/internal/hnsw"
	"github.com/seed-d8745b77/rag/internal/slab"
)

// A search may begin at a node that no link on the lowest layer leads to, and so find it; links must lead there all the
// same. Each seed's graph loses such a node in one of the rounds.
func TestRepairReachesEveryNode(t *testing.T) {
	const n, few = 1500, 37
	for _, seed := range []uint64{4, 8, 12, 32} {
		s := fill(t, slab.Float32, clustered(rand.New(rand.NewPCG(seed, 7)), n, 16))
		g := graph(t, s, hnsw.Config{M: 4, EfConstruction: 30, Seed: seed})
		add(t, g, upTo(0, n))
		for round := range 4 {
			var dead []uint32
			for i := range n / 3 {
				dead = append(dead, uint32((round*n/5+i)%n))
			}
			g.Delete(dead)
			freed, err := g.Consolidate(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i < len(freed); i += few {
				add(t, g, freed[i:min(i+few, len(freed))])
			}
			if err := g.Repair(t.Context()); err != nil {
				t.Fatal(err)
			}
			if r := g.Check(); !r.OK() {
				t.Errorf("seed %d, round %d: unreachable %v, broken %q", seed, round, r.Unreachable, r.Broken)
			}
		}
	}
}
