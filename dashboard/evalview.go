package dashboard

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag/eval"
)

// scoreCell is a metric of a run beside the baseline's.
type scoreCell struct {
	Metric string     `json:"metric"` // "" if the run has none of this column
	Score  eval.Score `json:"score"`
	Diff   *float64   `json:"diff"`   // of the means; nil: no baseline, or not on the same questions
	Beyond bool       `json:"beyond"` // the baseline's mean lies outside this run's interval
}

// runRow is a line in the list of runs.
type runRow struct {
	eval.RunInfo
	SetName  string      `json:"set_name"` // of the test set's file
	Cells    []scoreCell `json:"cells"`    // one per column
	Baseline bool        `json:"is_baseline"`
}

// runColumns are the columns of the list of runs: the beginnings of the names of metrics.
var runColumns = []string{"hit", "mrr", "ndcg", "faithfulness", "correctness"}

// rows puts runs beside a baseline, which may be nil, and returns the columns that one of them has.
func rows(runs []eval.RunInfo, baseline *eval.RunInfo) (out []runRow, columns []string) {
	out, columns = make([]runRow, len(runs)), []string{}
	for i, r := range runs {
		out[i] = runRow{RunInfo: r, SetName: baseName(r.TestSet.Path), Baseline: baseline != nil && baseline.Label == r.Label, Cells: []scoreCell{}}
	}
	for _, column := range runColumns {
		cells, measured := make([]scoreCell, len(runs)), false
		for i, r := range runs {
			cells[i] = cell(r, baseline, column)
			measured = measured || cells[i].Metric != ""
		}
		if !measured {
			continue
		}
		columns = append(columns, column)
		for i := range out {
			out[i].Cells = append(out[i].Cells, cells[i])
		}
	}
	return out, columns
}

func cell(r eval.RunInfo, baseline *eval.RunInfo, column string) scoreCell {
	i := slices.IndexFunc(r.Headline, func(h eval.Headline) bool {
		return strings.HasPrefix(h.Metric[strings.LastIndex(h.Metric, "/")+1:], column)
	})
	if i < 0 {
		return scoreCell{}
	}
	c := scoreCell{Metric: r.Headline[i].Metric, Score: r.Headline[i].Score}
	if baseline == nil || baseline.Label == r.Label || baseline.TestSet.SHA256 != r.TestSet.SHA256 || baseline.Set != r.Set {
		return c
	}
	base, ok := headlineScore(baseline, c.Metric)
	if !ok {
		return c
	}
	c.Diff = new(*c.Score.Mean - *base.Mean)
	c.Beyond = c.Score.Low != nil && (*base.Mean < *c.Score.Low || *base.Mean > *c.Score.High)
	return c
}

// headlineScore returns a metric of a run's headline, which always has a mean.
func headlineScore(r *eval.RunInfo, metric string) (eval.Score, bool) {
	for _, h := range r.Headline {
		if h.Metric == metric && h.Mean != nil {
			return h.Score, true
		}
	}
	return eval.Score{}, false
}

// baseName is the last part of a path of any system; "" stays.
func baseName(p string) string {
	if p == "" {
		return ""
	}
	return path.Base(strings.ReplaceAll(p, `\`, "/"))
}

// baselineOf chooses what runs are compared with: the one asked for, else the one that is called so, else the oldest.
func baselineOf(runs []eval.RunInfo, label string) *eval.RunInfo {
	for _, want := range []string{label, eval.DefaultBaseline} {
		if i := slices.IndexFunc(runs, func(r eval.RunInfo) bool { return r.Label == want && r.Error == "" }); i >= 0 {
			return &runs[i]
		}
	}
	for i := range slices.Backward(runs) {
		if runs[i].Error == "" {
			return &runs[i]
		}
	}
	return nil
}

// finestFirst lists metrics by level, finest first, then those with more places first.
func finestFirst(metrics map[string]eval.Score) []string {
	names := slices.Sorted(maps.Keys(metrics))
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(levelOf(a), levelOf(b)), cmp.Compare(placesOf(b), placesOf(a)))
	})
	return names
}

// levelOf is the place of a metric's level in eval.Levels; metrics of answers have none, and come last.
func levelOf(name string) int {
	level, _, ok := strings.Cut(name, "/")
	if at := slices.Index(eval.Levels, eval.Level(level)); ok && at >= 0 {
		return at
	}
	return len(eval.Levels)
}

// placesOf is the number behind the @ of a metric, 0 if there is none.
func placesOf(name string) int {
	_, k, _ := strings.Cut(name, "@")
	n, _ := strconv.Atoi(k)
	return n
}

// curve is a metric against the number of places that it looks at.
type curve struct {
	Name   string       `json:"name"` // "document/recall"
	Points []curvePoint `json:"points"`
}

type curvePoint struct {
	K     int        `json:"k"`
	Score eval.Score `json:"score"`
}

// curves are the metrics that a run has for several numbers of places, finest level first.
func curves(r *eval.Run) []curve {
	var out []curve
	for _, name := range finestFirst(r.Metrics) {
		k := placesOf(name)
		plain, _, _ := strings.Cut(name, "@")
		if k == 0 {
			continue
		}
		at := slices.IndexFunc(out, func(c curve) bool { return c.Name == plain })
		if at < 0 {
			out, at = append(out, curve{Name: plain}), len(out)
		}
		out[at].Points = append(out[at].Points, curvePoint{k, r.Metrics[name]})
	}
	out = slices.DeleteFunc(out, func(c curve) bool { return len(c.Points) < 2 })
	for _, c := range out {
		slices.SortFunc(c.Points, func(a, b curvePoint) int { return cmp.Compare(a.K, b.K) })
	}
	return out
}

// placeRow is a row of the table of curves.
type placeRow struct {
	K      int
	Scores []eval.Score // one per curve
}

// placeRows turns curves around: one row for each number of places.
func placeRows(all []curve) []placeRow {
	ks := map[int]bool{}
	for _, c := range all {
		for _, p := range c.Points {
			ks[p.K] = true
		}
	}
	var out []placeRow
	for _, k := range sortedKeys(ks) {
		row := placeRow{K: k}
		for _, c := range all {
			i := slices.IndexFunc(c.Points, func(p curvePoint) bool { return p.K == k })
			if i < 0 {
				row.Scores = append(row.Scores, eval.Score{})
				continue
			}
			row.Scores = append(row.Scores, c.Points[i].Score)
		}
		out = append(out, row)
	}
	return out
}

// trend is a metric of the headline over the runs of one test set, oldest first.
func trend(runs []eval.RunInfo, set, metric string) []trendPoint {
	var out []trendPoint
	for _, r := range slices.Backward(runs) {
		if s, ok := headlineScore(&r, metric); ok && baseName(r.TestSet.Path) == set {
			out = append(out, trendPoint{r.Label, r.Created, r.ConfigHash, s})
		}
	}
	return out
}

type trendPoint struct {
	Label   string     `json:"label"`
	Created time.Time  `json:"created"`
	Config  string     `json:"config"`
	Score   eval.Score `json:"score"`
}

// worstFirst orders the outcomes of a run: failed searches, then questions without a value of the metric, which are
// perhaps unmeasured for a reason worth knowing, behind those with one, worst first; equal ones as in the test set.
func worstFirst(r *eval.Run, metric string) []eval.Outcome {
	rank := func(o eval.Outcome) (int, float64) {
		v, has := o.Metrics[metric]
		switch {
		case o.Error != "":
			return 0, 0
		case !has || !v.OK():
			return 2, 0
		}
		return 1, v.Number
	}
	out := slices.Clone(r.Questions)
	slices.SortStableFunc(out, func(a, b eval.Outcome) int {
		groupA, valueA := rank(a)
		groupB, valueB := rank(b)
		return cmp.Or(cmp.Compare(groupA, groupB), cmp.Compare(valueA, valueB))
	})
	return out
}

// isJudged reports whether a chat model gave a value of the run. Only then is there something to say of its faithfulness
// as a reader would see it.
func isJudged(r *eval.Run) bool {
	return slices.ContainsFunc(eval.JudgedMetrics, func(name string) bool { _, ok := r.Metrics[name]; return ok })
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
