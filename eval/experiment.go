package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/config"
)

// Experiment asks the same questions of several variants and compares them with a baseline.
type Experiment struct {
	Name       string // of the report
	Lab        *Lab
	Questions  []Question
	Collection string // "": the configured one
	Variants   []Variant
	Baseline   string   // name of a variant; "": the first
	Metrics    []string // "ndcg@10", "mrr", "key_sentence/hit@1"; nil: DefaultMetrics. One without a level is measured at each level that the questions have
	Distinct   bool     // as trec_eval measures a labelled set: a document counts as one hit, however many of its passages are found, and one that the collection does not have counts as not found

	Loaded   config.Loaded                                                // as in Options: the report shows no secrets
	Progress func(variant string, done, total int)                        // nil: nobody is told
	Ranked   func(variant string, question *Question, hits []Found) error // given each ranking; nil: nobody is
	Now      func() time.Time                                             // clock; nil: time.Now
}

// DefaultMetrics are those of an experiment that names none.
var DefaultMetrics = []string{"ndcg@10", "recall@100", "mrr@10", "map@100", "hit@1", "hit@10"}

// Report is what came of an experiment.
type Report struct {
	Set       string          `json:"set"`
	Documents int             `json:"documents"`
	Questions int             `json:"queries"`
	IDs       []string        `json:"ids"` // of the questions, in the order of all values
	Baseline  string          `json:"baseline"`
	Variants  []VariantReport `json:"variants"`
}

// VariantReport is what came of one variant.
type VariantReport struct {
	Variant string                     `json:"variant"`
	Metrics map[string]Score           `json:"metrics"`
	Latency Latency                    `json:"latency_ms"` // of a search
	Against map[string]Comparison      `json:"against_baseline,omitempty"`
	Failed  int                        `json:"failed"`          // searches that gave an error
	Notes   map[string]int             `json:"notes,omitempty"` // where searches did less than was asked, and how often
	Values  map[string][]rag.EvalValue `json:"values"`          // by metric, in the order of the questions
}

// Run measures every variant. Variants that need the same data follow each other in it, but the report keeps their order.
// Errors: ErrInvalid for no question, an unknown metric or baseline; those of opening and ingesting; a variant all of whose
// searches failed.
func (x *Experiment) Run(ctx context.Context) (*Report, error) {
	if len(x.Questions) == 0 {
		return nil, fmt.Errorf("there is no question: there is nothing to measure: %w", rag.ErrInvalid)
	}
	if err := unique(x.Variants); err != nil {
		return nil, err
	}
	measures, err := x.measures()
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(x.Variants, func(v Variant) bool { return v.Name == cmp.Or(x.Baseline, x.Variants[0].Name) })
	if at < 0 {
		return nil, fmt.Errorf("baseline %q is none of the variants: %w", x.Baseline, rag.ErrInvalid)
	}
	report := &Report{Set: x.Name, Questions: len(x.Questions), Baseline: x.Variants[at].Name, Variants: make([]VariantReport, len(x.Variants))}
	for _, q := range x.Questions {
		report.IDs = append(report.IDs, q.ID)
	}
	for i, v := range x.Variants {
		if err := x.variant(ctx, v, measures, report, i); err != nil {
			return nil, v.explain(err)
		}
	}
	base := &report.Variants[at]
	for i := range report.Variants {
		if i == at {
			continue
		}
		v := &report.Variants[i]
		v.Against = map[string]Comparison{}
		for name := range v.Metrics {
			v.Against[name] = Compare(x.pairs(base.Values[name], v.Values[name]))
		}
	}
	return report, nil
}

// pairs puts the values of two variants together.
func (x *Experiment) pairs(baseline, other []rag.EvalValue) []Pair {
	pairs := make([]Pair, len(x.Questions))
	for i, q := range x.Questions {
		pairs[i] = Pair{q.ID, q.Text, baseline[i], other[i]}
	}
	return pairs
}

// measure is a metric at a level.
type measure struct {
	name   string
	level  Level
	metric Metric
}

// measures reads the names of metrics.
func (x *Experiment) measures() ([]measure, error) {
	names := x.Metrics
	if names == nil {
		names = DefaultMetrics
	}
	present := x.levels()
	if len(present) == 0 {
		return nil, fmt.Errorf("no question says what should be found: there is nothing to measure: %w", rag.ErrInvalid)
	}
	var list []measure
	for _, name := range names {
		level, plain, given := strings.Cut(name, "/")
		if !given {
			plain = name
		}
		m, err := ParseMetric(plain)
		if err != nil {
			return nil, err
		}
		switch {
		case given && !slices.Contains(Levels, Level(level)):
			return nil, fmt.Errorf("metric %q: no level is called %q: %w", name, level, rag.ErrInvalid)
		case given:
			list = append(list, measure{name, Level(level), m})
		case len(present) == 1:
			list = append(list, measure{m.String(), present[0], m})
		default:
			for _, l := range present {
				list = append(list, measure{string(l) + "/" + m.String(), l, m})
			}
		}
	}
	return list, nil
}

// levels are those for which a question has a ground truth.
func (x *Experiment) levels() []Level {
	var present []Level
	for _, l := range Levels {
		if slices.ContainsFunc(x.Questions, func(q Question) bool { return q.grades(l).Relevant() > 0 }) {
			present = append(present, l)
		}
	}
	return present
}

// depth is how many hits the metrics look at.
func depth(measures []measure) int {
	const whole = 100 // places that a metric without a number of its own looks at
	deepest := 1
	for _, m := range measures {
		deepest = max(deepest, cmp.Or(m.metric.K, whole))
	}
	return deepest
}

// variant measures one variant into its place of the report.
func (x *Experiment) variant(ctx context.Context, v Variant, measures []measure, report *Report, at int) (err error) {
	eng, err := x.Lab.Open(ctx, v.Config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, eng.Close()) }()
	if v.Config.Rerank.Provider != rag.None {
		if err := eng.Ready(); err != nil {
			return err
		}
	}
	if report.Documents, err = documents(ctx, eng, x.Collection); err != nil {
		return err
	}
	lost := map[item]string{}
	if !x.Distinct {
		problems, err := Missing(ctx, eng, x.Collection, &TestSet{Questions: x.Questions})
		if err != nil {
			return err
		}
		lost = lostItems(problems)
	}
	out := VariantReport{Variant: v.Name, Metrics: map[string]Score{}, Values: map[string][]rag.EvalValue{}}
	var took []float64
	var first error
	for i := range x.Questions {
		q := &x.Questions[i]
		if x.Progress != nil {
			x.Progress(v.Name, i, len(x.Questions))
		}
		hits, ms, err := x.search(ctx, eng, q, v.Mode, depth(measures), &out)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			first = cmp.Or(first, fmt.Errorf("question %s: %w", q.ID, err))
			out.Failed++
		} else {
			took = append(took, ms)
		}
		places := map[Level][][]string{} // measures of one level look at the same places
		for _, m := range measures {
			if places[m.level] == nil {
				places[m.level] = q.places(m.level, hits)
			}
			out.Values[m.name] = append(out.Values[m.name], m.value(q, places[m.level], err, lost[q.item(m.level)]))
		}
		if x.Ranked != nil && err == nil {
			if err := x.Ranked(v.Name, q, hits); err != nil {
				return err
			}
		}
	}
	if out.Failed == len(x.Questions) {
		return first
	}
	out.hide(x.Loaded.Hider())
	for name, values := range out.Values {
		out.Metrics[name] = Summarise(values)
	}
	out.Latency = Latencies(took)
	report.Variants[at] = out
	return nil
}

// hide takes secrets out of what services said when they failed.
func (v *VariantReport) hide(secrets func(string) string) {
	notes := v.Notes
	v.Notes = nil
	for reason, n := range notes {
		if v.Notes == nil {
			v.Notes = map[string]int{}
		}
		v.Notes[secrets(reason)] += n
	}
	for _, values := range v.Values {
		for i := range values {
			values[i].Null = secrets(values[i].Null)
		}
	}
}

func documents(ctx context.Context, eng *rag.Engine, collection string) (int, error) {
	all, err := eng.Collections(ctx)
	for _, c := range all {
		if c.Name == cmp.Or(collection, eng.Config().Collection) {
			return c.Documents, err
		}
	}
	return 0, err
}

// search asks one question and notes what was less than asked.
func (x *Experiment) search(ctx context.Context, eng *rag.Engine, q *Question, mode rag.Mode, depth int, out *VariantReport) (hits []Found, ms float64, err error) {
	now := x.Now
	if now == nil {
		now = time.Now
	}
	query := q.Query(x.Collection)
	query.Mode, query.TopK = mode, depth
	start := now()
	res, err := eng.Search(ctx, query)
	ms = milliseconds(now().Sub(start))
	if err != nil {
		return nil, ms, err
	}
	for _, n := range res.Notes {
		if out.Notes == nil {
			out.Notes = map[string]int{}
		}
		out.Notes[n.Stage+": "+n.Reason]++
	}
	if hits = foundIn(res.Hits); x.Distinct {
		hits = distinct(hits)
	}
	return hits, ms, nil
}

// distinct keeps the first hit of each document.
func distinct(hits []Found) []Found {
	seen := map[string]bool{}
	return slices.DeleteFunc(hits, func(f Found) bool {
		again := seen[f.URI]
		seen[f.URI] = true
		return again
	})
}

// value measures what one question found.
func (m measure) value(q *Question, places [][]string, err error, lost string) rag.EvalValue {
	grades := q.grades(m.level)
	switch {
	case grades.Relevant() == 0:
		return rag.EvalNull("the question says nothing of this kind")
	case err != nil:
		return rag.EvalNull("the search failed: " + err.Error())
	case lost != "":
		return rag.EvalNull(lost)
	}
	v, _ := m.metric.OfPlaces(places, grades)
	return rag.EvalNumber(v)
}
