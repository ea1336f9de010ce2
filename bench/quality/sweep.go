package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/bench/ir"
)

// shareSteps is how finely a sweep divides the weight between the dense lane and the sparse one.
const shareSteps = 20

// curve is what a fuser reaches on one set, by the dense lane's share of the weight.
type curve struct {
	set           string
	dense, sparse float64                 // nDCG@10 of each lane alone, over the queries in which it takes part
	hybrid        [shareSteps + 1]float64 // nDCG@10 at share i/shareSteps
}

// margin is how far the fused list is above the better lane.
func (c *curve) margin(i int) float64 { return c.hybrid[i] - max(c.dense, c.sparse) }

// sweep tries fusers and weights on stored rankings, and reports what weights chosen on all other sets reach on each.
func sweep(w io.Writer, files []string) error {
	var sets []laneSet
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var more []laneSet
		if err := json.Unmarshal(data, &more); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		sets = append(sets, more...)
	}
	if len(sets) < 2 {
		return errors.New("weights are chosen on the other sets: give two sets at least")
	}
	var summary strings.Builder
	for _, name := range rag.Default.Fusers.Names() {
		fuse, err := rag.Default.Fusers.New(name, rag.Env{}, nil)
		if err != nil {
			return err
		}
		curves := make([]curve, len(sets))
		for i := range sets {
			curves[i] = sets[i].curve(fuse)
		}
		report(w, name, curves)
		summarise(&summary, name, curves)
	}
	fmt.Fprint(w, "\nEach fuser with the dense share chosen on the other sets\n\n| fuser |")
	for i := range sets {
		fmt.Fprintf(w, " %s |", sets[i].Name)
	}
	fmt.Fprintf(w, " mean over the better lane | chosen on all sets |\n|---|%s---|---|\n%s", strings.Repeat("---|", len(sets)), summary.String())
	return nil
}

// summarise writes a fuser's line of the last table.
func summarise(w io.Writer, fuser string, curves []curve) {
	var mean ir.Mean
	fmt.Fprintf(w, "| %s |", fuser)
	for at := range curves {
		i := choose(curves, at)
		fmt.Fprintf(w, " %.4f |", curves[at].hybrid[i])
		mean.Add(curves[at].margin(i))
	}
	fmt.Fprintf(w, " %+.4f | %.2f |\n", mean.Value(), float64(choose(curves, -1))/shareSteps)
}

// curve measures one fuser at every share. A query whose dense lane a hybrid search leaves out has its sparse list.
func (s *laneSet) curve(fuse rag.Fuser) curve {
	c := curve{set: s.Name}
	var dense, sparse ir.Mean
	var hybrid [shareSteps + 1]ir.Mean
	for _, q := range s.Queries {
		grades := s.Judged[q.ID]
		words := ir.NDCG(ids(q.Sparse), grades, 10)
		sparse.Add(words)
		if q.Hybrid {
			dense.Add(ir.NDCG(ids(q.Dense), grades, 10))
		} else {
			dense.Add(0) // the lane gives nothing for this question
		}
		for i := range hybrid {
			if !q.Hybrid {
				hybrid[i].Add(words)
				continue
			}
			share := float64(i) / shareSteps
			fused := fuse([]rag.Ranking{
				{Stage: rag.StageDense, Weight: share, Matches: q.Dense},
				{Stage: rag.StageSparse, Weight: 1 - share, Matches: q.Sparse},
			})
			hybrid[i].Add(ir.NDCG(ids(fused), grades, 10))
		}
	}
	c.dense, c.sparse = dense.Value(), sparse.Value()
	for i := range hybrid {
		c.hybrid[i] = hybrid[i].Value()
	}
	return c
}

func ids(list []rag.Match) []string {
	out := make([]string, len(list))
	for i, m := range list {
		out[i] = m.ID
	}
	return out
}

// choose returns the share with the largest mean margin among those that are on no set below the better lane; if all
// are, the one that is least below. The set at index without is left out; -1 leaves none out.
func choose(curves []curve, without int) int {
	best, bestWorst, bestMean := 0, math.Inf(-1), 0.0
	for i := range shareSteps + 1 {
		worst, mean := 0.0, ir.Mean{}
		for at := range curves {
			if at != without {
				worst = min(worst, curves[at].margin(i))
				mean.Add(curves[at].margin(i))
			}
		}
		if worst > bestWorst || worst == bestWorst && mean.Value() > bestMean {
			best, bestWorst, bestMean = i, worst, mean.Value()
		}
	}
	return best
}

func report(w io.Writer, fuser string, curves []curve) {
	fmt.Fprintf(w, "\n%s: dense share of the weight chosen on the other sets\n\n", fuser)
	fmt.Fprintln(w, "| set | dense | sparse | hybrid 1:1 | chosen share | hybrid | over the better lane |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|")
	for at := range curves {
		c := &curves[at]
		i := choose(curves, at)
		fmt.Fprintf(w, "| %s | %.4f | %.4f | %.4f | %.2f | %.4f | %+.4f |\n",
			c.set, c.dense, c.sparse, c.hybrid[shareSteps/2], float64(i)/shareSteps, c.hybrid[i], c.margin(i))
	}
	all := choose(curves, -1)
	fmt.Fprintf(w, "\nchosen on all sets: %.2f\n\n| share |", float64(all)/shareSteps)
	for at := range curves {
		fmt.Fprintf(w, " %s |", curves[at].set)
	}
	fmt.Fprint(w, "\n|---|")
	for range curves {
		fmt.Fprint(w, "---|")
	}
	fmt.Fprintln(w)
	for i := range shareSteps + 1 {
		fmt.Fprintf(w, "| %.2f |", float64(i)/shareSteps)
		for at := range curves {
			fmt.Fprintf(w, " %.4f |", curves[at].hybrid[i])
		}
		fmt.Fprintln(w)
	}
}
