package rag_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
)

// TestVerdictsHold: where explain says that another top_k would have returned a passage, it does.
func TestVerdictsHold(t *testing.T) {
	rnd := rand.New(rand.NewPCG(0, 4))
	words := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("w%d", rnd.IntN(50))
		}
		return strings.Join(list, " ")
	}
	docs := make([]string, 60)
	for i := range docs {
		docs[i] = words(12)
	}
	eng := memoryEngine(t, func(c *rag.Config) {
		c.Retrieval.DenseTopK, c.Retrieval.SparseTopK, c.Retrieval.FusionTopK = 12, 12, 8
		c.Transforms = []rag.ProviderConfig{}
	}, docs)
	all, err := eng.Search(t.Context(), rag.Query{Text: "w1", Mode: rag.Dense, TopK: len(docs)})
	if err != nil {
		t.Fatal(err)
	}
	looked := map[string]int{} // verdicts by their beginning
	for range 5 {
		q := rag.Query{Text: words(3), TopK: 1 + rnd.IntN(6)}
		for _, h := range all.Hits {
			x, err := eng.Explain(t.Context(), q, h.Chunk.ID)
			if err != nil {
				t.Fatal(err)
			}
			deeper, k := q, 0
			if strings.Contains(x.Verdict, "top_k of that") {
				_, err = fmt.Sscanf(x.Verdict, "lost in fusion at rank %d", &k)
			} else if strings.HasPrefix(x.Verdict, "rank") {
				_, err = fmt.Sscanf(x.Verdict, "rank %d after fusion", &k)
			}
			if deeper.TopK = k; k == 0 || err != nil {
				continue
			}
			looked[x.Verdict[:4]]++
			if x, err := eng.Explain(t.Context(), deeper, h.Chunk.ID); err != nil || !x.Returned {
				t.Errorf("%q: with top_k %d it was not returned: %s (%v)", q.Text, k, x.Verdict, err)
			}
		}
	}
	if looked["lost"] == 0 || looked["rank"] == 0 {
		t.Errorf("verdicts %v, want some of both kinds", looked)
	}
}
