package eval

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/config"
)

// Tuning looks for settings of the search under which more is found. It chooses on one part of the questions and judges
// what it chose on the other, which it has not looked at before.
type Tuning struct {
	Lab        *Lab
	Questions  []Question
	Collection string
	Base       rag.Config // in force: the baseline
	Metric     string     // that is made larger; "": "ndcg@10"
	Distinct   bool       // as in Experiment
	Chunks     []int      // sizes of passages in tokens to try besides the configured one; nil: none

	Loaded   config.Loaded                      // as in Options: the report shows no secrets
	Progress func(step string, done, total int) // nil: nobody is told
	Now      func() time.Time                   // clock; nil: time.Now
}

// Tuned is what came of a tuning.
type Tuned struct {
	Metric   string         `json:"metric"`
	Trained  int            `json:"trained_on"` // questions that settings were chosen on
	HeldOut  int            `json:"held_out"`   // questions that they were judged on
	Steps    []TuneStep     `json:"steps"`      // in order; each begins with what the one before chose
	Settings map[string]any `json:"settings"`   // that differ from the baseline, as in rag.yaml; empty: nothing better was found
	Report   *Report        `json:"report"`     // of the held-out questions: baseline, tuned, and each lane alone
	Adopt    bool           `json:"adopt"`      // the settings are worth it, see Reason
	Reason   string         `json:"reason"`
}

// TuneStep tries values of one kind of setting on the training questions.
type TuneStep struct {
	Step   string      `json:"step"`
	Tried  []TuneTrial `json:"tried"`
	Chosen string      `json:"chosen"`
}

// TuneTrial is one candidate.
type TuneTrial struct {
	Name    string   `json:"name"`
	Mean    float64  `json:"mean"`
	Low     float64  `json:"low"` // bounds of the 95 % interval of the mean
	High    float64  `json:"high"`
	Latency *Latency `json:"latency_ms,omitempty"` // of a search; nil for trials over stored lists, which cost the same
	config  rag.Config
	values  []rag.EvalValue
}

// leastQuestions is the smallest set that can be cut in two: with fewer, chance decides.
const leastQuestions = 20

// Names of the variants in the report of a tuning.
const (
	TuneBaseline = "baseline"
	TuneTuned    = "tuned"
)

// Run tunes: fuser and weights of the lanes and pools over stored lists, then depth and share of the reranker, if one is
// configured, and the size of passages, by searching. ErrInvalid: too few questions, an unknown metric.
func (t *Tuning) Run(ctx context.Context) (*Tuned, error) {
	x := t.experiment()
	measures, err := x.measures()
	if err != nil {
		return nil, err
	}
	target := measures[0] // the finest level
	var train, held []Question
	for _, q := range t.Questions {
		switch {
		case q.grades(target.level).Relevant() == 0:
		case inTraining(q.ID):
			train = append(train, q)
		default:
			held = append(held, q)
		}
	}
	if min(len(train), len(held)) < leastQuestions/2 {
		return nil, fmt.Errorf("tune: of the questions that say what should be found (%s) %d are to choose on and %d to judge on, at least %d of each are needed: %w", target.level, len(train), len(held), leastQuestions/2, rag.ErrInvalid)
	}
	out := &Tuned{Metric: target.name, Trained: len(train), HeldOut: len(held), Settings: map[string]any{}}
	s := &tuner{t, target, train, t.Base, out}
	for _, step := range []func(context.Context) error{s.fusion, s.rerank, s.chunks} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	if out.Settings, err = difference(t.Base, s.best); err != nil {
		return nil, err
	}
	return out, t.judge(ctx, out, s.best, held)
}

func (t *Tuning) experiment() *Experiment {
	return &Experiment{Lab: t.Lab, Questions: t.Questions, Collection: t.Collection, Metrics: []string{cmp.Or(t.Metric, "ndcg@10")}, Distinct: t.Distinct, Loaded: t.Loaded, Now: t.Now}
}

// inTraining cuts the questions in two by their IDs, so that the parts are the same each time and in any order.
func inTraining(id string) bool { return digest([]byte(id))[0]%2 == 0 }

// tuner is the state of a tuning.
type tuner struct {
	*Tuning
	target measure
	train  []Question
	best   rag.Config
	out    *Tuned
}

func (s *tuner) progress(step string, done, total int) {
	if s.Progress != nil {
		s.Progress(step, done, total)
	}
}

// choose ends a step. Of trials that are equally good the fastest is taken, and of those that are also as fast the first: it
// is what is in force, or nearer to it.
func (s *tuner) choose(step string, trials []TuneTrial) {
	best := 0
	for i := range trials {
		if d := trials[i].Mean - trials[best].Mean; d > tie || d >= -tie && isFaster(trials[i].Latency, trials[best].Latency) {
			best = i
		}
		trials[i].Low, trials[i].High = Interval(numbers(trials[i].values))
	}
	s.best = trials[best].config
	s.out.Steps = append(s.out.Steps, TuneStep{step, trials, trials[best].Name})
}

func numbers(values []rag.EvalValue) []float64 {
	var list []float64
	for _, v := range values {
		if v.OK() {
			list = append(list, v.Number)
		}
	}
	return list
}

// judge compares baseline and tuned on the held-out questions, beside the lanes alone.
func (t *Tuning) judge(ctx context.Context, out *Tuned, best rag.Config, held []Question) error {
	x := t.experiment()
	x.Name, x.Questions, x.Baseline = "held out", held, TuneBaseline
	lanes, err := Named(t.Base, []string{"dense", "sparse"})
	if err != nil {
		return err
	}
	x.Variants = []Variant{{Name: TuneBaseline, Config: patient(t.Base)}, {Name: TuneTuned, Config: patient(best)}}
	if t.Base.Embedder.Provider != rag.None {
		x.Variants = append(x.Variants, lanes...)
	}
	x.Progress = func(variant string, done, total int) { s := tuner{Tuning: t}; s.progress(variant, done, total) }
	if out.Report, err = x.Run(ctx); err != nil {
		return err
	}
	out.Adopt, out.Reason = adopt(out)
	return nil
}

func patient(c rag.Config) rag.Config {
	c.Retrieval.RerankMS = max(c.Retrieval.RerankMS, patience)
	return c
}

// faster is the share of another median time below which a search counts as faster: less is noise.
const faster = 0.9

// isFaster reports whether searches took less time than others; nil is a time that was not measured.
func isFaster(a, b *Latency) bool { return a != nil && b != nil && a.P50 < faster*b.P50 }

// adopt decides: significantly better, or as good and faster.
func adopt(out *Tuned) (bool, string) {
	if len(out.Settings) == 0 {
		return false, "no setting did better than those in force"
	}
	base, tuned := out.Report.Variants[0], out.Report.Variants[1]
	c := tuned.Against[out.Metric]
	switch {
	case c.Significant && c.Diff > 0:
		return true, fmt.Sprintf("significantly better on the held-out questions: %+.4f, p %.4f", c.Diff, c.P)
	case c.Significant:
		return false, fmt.Sprintf("worse on the held-out questions: %+.4f, p %.4f", c.Diff, c.P)
	case c.Diff >= 0 && isFaster(&tuned.Latency, &base.Latency):
		return true, fmt.Sprintf("as good on the held-out questions (%+.4f) and faster: %.1f in place of %.1f ms", c.Diff, tuned.Latency.P50, base.Latency.P50)
	}
	return false, fmt.Sprintf("not significantly better on the held-out questions: %+.4f, p %.4f", c.Diff, c.P)
}

// tunable are the parts of a configuration that a tuning changes.
var tunable = []string{"fusion", "retrieval", "rerank", "splitter"}

// difference returns the tuned parts of a configuration that are not as in the baseline.
func difference(base, tuned rag.Config) (map[string]any, error) {
	was, errWas := object(base)
	is, errIs := object(tuned)
	if err := errors.Join(errWas, errIs); err != nil {
		return nil, err
	}
	diff := map[string]any{}
	for _, key := range tunable {
		have, _ := was[key].(map[string]any)
		want, _ := is[key].(map[string]any)
		part := map[string]any{}
		for name, v := range want {
			if fmt.Sprint(have[name]) != fmt.Sprint(v) {
				part[name] = v
			}
		}
		if len(part) > 0 {
			if provider, ok := want["provider"]; ok {
				part["provider"] = provider
			}
			diff[key] = part
		}
	}
	return diff, nil
}

func object(c rag.Config) (all map[string]any, err error) {
	data, err := json.Marshal(c)
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	return all, err
}
