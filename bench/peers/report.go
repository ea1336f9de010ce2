package main

import (
	"fmt"
	"io"

	"github.com/seed-d8745b77/rag/eval"
)

// result of a set.
type result struct {
	set   set
	sides map[string]*figures
}

// print writes a table: what each side took or reached, and in brackets how many times better than Python that is: above 1
// is better in every row.
func (r result) print(w io.Writer) {
	py := r.sides[rolePython]
	fmt.Fprintf(w, "\n## %s\n\n%d questions; passages: %d (rag), %d (Python).\n\n", r.set.name, len(r.set.asked), r.sides[roleBuiltin].passages, py.passages)
	fmt.Fprintf(w, "| | %s | %s | %s |\n|---|---|---|---|\n", roleBuiltin, roleFP32, rolePython)
	row := func(name, format string, less bool, of func(*figures) float64) {
		fmt.Fprintf(w, "| %s |", name)
		for _, role := range []string{roleBuiltin, roleFP32} {
			mine, theirs := of(r.sides[role]), of(py)
			ratio := mine / theirs
			if less {
				ratio = theirs / mine
			}
			fmt.Fprintf(w, " "+format+" (%.2f) |", mine, ratio)
		}
		fmt.Fprintf(w, " "+format+" |\n", of(py))
	}
	row("ingest, s", "%.1f", true, func(f *figures) float64 { return eval.Percentile(f.ingest, .5) })
	row("ingest, peak MB", "%.0f", true, func(f *figures) float64 { return eval.Percentile(f.ingestPeak, .5) })
	row("start to first answer, s", "%.2f", true, func(f *figures) float64 { return eval.Percentile(f.start, .5) })
	row("query p50, ms", "%.1f", true, func(f *figures) float64 { return 1000 * eval.Percentile(f.plain, .5) })
	row("query p95, ms", "%.1f", true, func(f *figures) float64 { return 1000 * eval.Percentile(f.plain, .95) })
	row("reranked query p50, ms", "%.0f", true, func(f *figures) float64 { return 1000 * eval.Percentile(f.reranked, .5) })
	row("reranked query p95, ms", "%.0f", true, func(f *figures) float64 { return 1000 * eval.Percentile(f.reranked, .95) })
	row("queries, peak MB", "%.0f", true, func(f *figures) float64 { return eval.Percentile(f.askPeak, .5) })
	row("nDCG@10", "%.4f", false, func(f *figures) float64 { return f.ndcg })
	row("hit@1", "%.4f", false, func(f *figures) float64 { return f.hit1 })
	row("hit@5", "%.4f", false, func(f *figures) float64 { return f.hit5 })
}
