package cli

import (
	"fmt"
	"maps"
	"slices"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
)

// evalBar draws how far a measurement is, on one line of a terminal.
type evalBar struct{ *progress }

func (a *app) evalProgress() *evalBar { return &evalBar{a.progress()} }

// ingest takes the progress of an ingest.
func (b *evalBar) ingest(p rag.Progress) {
	b.draw(fmt.Sprintf("ingest · %s %d/%d", p.Stage, p.Done, p.Total))
}

// variant takes the progress of one variant.
func (b *evalBar) variant(name string, done, total int) {
	b.draw(fmt.Sprintf("%s · %d/%d questions", name, done, total))
}

// questions takes the progress of a run.
func (b *evalBar) questions(done, total int) { b.draw(fmt.Sprintf("%d/%d questions", done, total)) }

// printReport writes an experiment for a reader: the metrics of each variant, then how they differ from the baseline.
func (a *app) printReport(r *eval.Report) {
	p := a.paint(a.out)
	fmt.Fprintf(a.out, "%s: %s, %s\n", p.bold(visible(r.Set)), count(r.Documents, "document"), countQueries(r.Questions))
	names := reportMetrics(r)
	t := newTable(append(append([]string{"variant"}, names...), "p50 ms", "p95 ms")...)
	columns := make([]int, len(names)+2)
	for i := range columns {
		columns[i] = i + 1
	}
	t.numbers(columns...)
	for _, v := range r.Variants {
		cells := []string{visible(v.Variant)}
		for _, name := range names {
			cells = append(cells, shownScore(v.Metrics[name]))
		}
		t.add(append(cells, fmt.Sprintf("%.1f", v.Latency.P50), fmt.Sprintf("%.1f", v.Latency.P95))...)
	}
	t.print(a.out, p, "")
	a.printComparisons(r, names)
}

// printComparisons writes the comparison with the baseline.
func (a *app) printComparisons(r *eval.Report, names []string) {
	if len(r.Variants) < 2 {
		return
	}
	p := a.paint(a.out)
	fmt.Fprintf(a.out, "\nagainst %s: difference, its 95 %% interval, p of a paired randomisation test, questions won and lost\n", visible(r.Baseline))
	t := newTable("variant", "metric", "difference", "interval", "p", "won", "lost", "")
	t.numbers(2, 4, 5, 6)
	for _, v := range r.Variants {
		for _, name := range names {
			if c, ok := v.Against[name]; ok {
				t.add(comparisonCells(visible(v.Variant), name, c)...)
			}
		}
	}
	t.print(a.out, p, "")
}

// comparisonCells are a comparison in a line of a table.
func comparisonCells(what, metric string, c eval.Comparison) []string {
	verdict := "not significant"
	if c.Significant {
		verdict = "better"
		if c.Diff < 0 {
			verdict = "worse"
		}
	}
	return []string{what, metric, fmt.Sprintf("%+.4f", c.Diff), fmt.Sprintf("[%+.4f, %+.4f]", c.Low, c.High), fmt.Sprintf("%.4f", c.P),
		fmt.Sprint(c.Wins), fmt.Sprint(c.Losses), verdict}
}

// reportMetrics lists the metrics of a report, sorted.
func reportMetrics(r *eval.Report) []string {
	all := map[string]bool{}
	for _, v := range r.Variants {
		for name := range v.Metrics {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// shownScore shows a mean; a dash if there is none.
func shownScore(s eval.Score) string {
	if s.Mean == nil {
		return "–"
	}
	return fmt.Sprintf("%.4f", *s.Mean)
}

func countQueries(n int) string {
	if n == 1 {
		return "1 query"
	}
	return fmt.Sprintf("%d queries", n)
}

func sortedNotes(notes map[string]int) []string { return slices.Sorted(maps.Keys(notes)) }
