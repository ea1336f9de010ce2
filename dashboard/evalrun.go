package dashboard

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
)

// runView is one run in detail.
type runView struct {
	Info      eval.RunInfo     `json:"run"`
	SetName   string           `json:"set_name"`
	Metrics   []metricRow      `json:"metrics"` // finest level first
	Curves    []curve          `json:"curves"`
	Places    []placeRow       `json:"-"`     // the curves as a table: a row for each number of places
	Judge     string           `json:"judge"` // one of the judge constants
	JudgedBy  string           `json:"judged_by,omitempty"`
	Metric    string           `json:"metric"`    // that the questions are ordered by
	Questions []questionRow    `json:"questions"` // of this page
	Pager     pager            `json:"pager"`
	Refusal   *eval.Refusal    `json:"refusal"`
	Router    *eval.Router     `json:"router"`
	Answers   *eval.AnswerTime `json:"answer_ms"`
	Usage     rag.ChatUsage    `json:"usage"`
	Problems  []eval.Problem   `json:"problems"`
	Failed    int              `json:"failed"`
	Gate      *gateView        `json:"gate,omitempty"` // nil: no rule was given
	Others    []string         `json:"-"`              // labels of other runs, to compare with
}

// metricRow is a metric of a run.
type metricRow struct {
	Name  string     `json:"name"`
	Score eval.Score `json:"score"`
	Why   []nullWhy  `json:"why"` // why questions have no value, most frequent first
	URL   string     `json:"-"`   // of the page with the questions in its order
}

type nullWhy struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

// What a run says about a judge of its answers.
const (
	judgeUsed      = "judged"
	judgeNone      = "no_judge"   // there are answers, and no chat model judged them
	judgeNoAnswers = "no_answers" // only what is found was measured
)

// questionRow is a question of a run.
type questionRow struct {
	ID       string        `json:"id"`
	Question string        `json:"question"`
	Value    rag.EvalValue `json:"value"` // of the metric that the list is ordered by
	Hits     int           `json:"hits"`
	SearchMS float64       `json:"search_ms"`
	Refused  bool          `json:"refused"`
	Answer   string        `json:"answer,omitempty"`
	TraceID  string        `json:"trace_id,omitempty"`
	Try      string        `json:"try"` // address at which the question can be tried
	Error    string        `json:"error,omitempty"`
}

// viewRun shows a run; metric orders its questions, "" means the first of its headline.
func viewRun(r *eval.Run, metric string) *runView {
	v := &runView{
		Info: r.Info(""), SetName: baseName(r.TestSet.Path), Curves: curves(r), Judge: judgeOf(r),
		Refusal: r.Refusal, Router: r.Router, Answers: r.AnswerMS, Usage: r.Usage, Problems: r.Problems, Failed: r.Failed,
	}
	v.Places, v.JudgedBy = placeRows(v.Curves), r.Evaluator
	for _, name := range finestFirst(r.Metrics) {
		v.Metrics = append(v.Metrics, metricRow{Name: name, Score: r.Metrics[name], Why: reasons(r.Metrics[name].Why)})
	}
	v.Metric = orderMetric(r, metric)
	for _, o := range worstFirst(r, v.Metric) {
		v.Questions = append(v.Questions, questionOf(r, &o, v.Metric))
	}
	return v
}

// orderMetric is the metric that is asked for if the run has it, else the first of its headline, else any; "" if it has
// none.
func orderMetric(r *eval.Run, metric string) string {
	if _, ok := r.Metrics[metric]; ok {
		return metric
	}
	for _, h := range r.Headline() {
		if strings.HasSuffix(h.Metric, eval.MRR) { // of all, it tells most about one question
			return h.Metric
		}
	}
	if names := finestFirst(r.Metrics); len(names) > 0 {
		return names[0]
	}
	return ""
}

func questionOf(r *eval.Run, o *eval.Outcome, metric string) questionRow {
	value, ok := o.Metrics[metric]
	if !ok {
		value = rag.EvalNull("the question says nothing of this kind")
	}
	try := tryForm{Question: o.Question, Collection: r.Collection.Name, Mode: string(r.Mode), Answer: o.Answer != nil}
	row := questionRow{
		ID: o.ID, Question: o.Question, Value: value, Hits: len(o.Hits), SearchMS: o.SearchMS, TraceID: o.TraceID,
		Try: withQuery(queryPath, try.values()) + "#try", Error: strings.TrimSpace(o.Error + " " + o.AnswerError),
	}
	if o.Answer != nil {
		row.Refused, row.Answer = o.Answer.Refused, o.Answer.Text
	}
	return row
}

func judgeOf(r *eval.Run) string {
	switch {
	case !slices.ContainsFunc(r.Questions, func(o eval.Outcome) bool { return o.Answer != nil }):
		return judgeNoAnswers
	case isJudged(r):
		return judgeUsed
	}
	return judgeNone
}

// reasons lists why values are missing, most frequent first.
func reasons(why map[string]int) []nullWhy {
	out := []nullWhy{}
	for reason, n := range why {
		out = append(out, nullWhy{reason, n})
	}
	slices.SortFunc(out, func(a, b nullWhy) int {
		if a.Count != b.Count {
			return b.Count - a.Count
		}
		return strings.Compare(a.Reason, b.Reason)
	})
	return out
}

// gateView is a run held against rules, as `rag eval gate` does it.
type gateView struct {
	Least    string         `json:"min"` // rules as they were typed, one per line
	Drops    string         `json:"max_drop"`
	Baseline string         `json:"baseline"`
	Verdicts []eval.Verdict `json:"rules"`
	OK       bool           `json:"ok"`
	Exit     int            `json:"exit_code"` // that of the program
	Error    string         `json:"error,omitempty"`
}

// hold holds a run against the rules of a form; nil if there are none. What cannot be read is in the view: the form shows
// it beside what was typed.
func (f *evalFolder) hold(run *eval.Run, form url.Values) *gateView {
	g := &gateView{Least: form.Get("min"), Drops: form.Get("max_drop"), Baseline: form.Get("baseline")}
	least, drops := ruleLines(g.Least), ruleLines(g.Drops)
	if len(least)+len(drops) == 0 {
		return nil
	}
	rules, err := eval.ParseRules(least, drops)
	if err == nil && len(drops) > 0 && g.Baseline == "" {
		err = fmt.Errorf("a rule about a drop needs a baseline: choose a run: %w", rag.ErrInvalid)
	}
	if err != nil {
		g.Error, g.Exit = err.Error(), exitUsage
		return g
	}
	var baseline *eval.Run
	if g.Baseline != "" {
		if baseline, err = f.run(g.Baseline); err != nil {
			g.Error, g.Exit = err.Error(), exitBroken
			return g
		}
	}
	if g.Verdicts, g.OK = eval.Gate(run, baseline, rules); !g.OK {
		g.Exit = exitBroken
	}
	return g
}

// Exit codes of `rag eval gate`.
const (
	exitBroken = 1 // a rule is broken, or the baseline cannot be read
	exitUsage  = 2 // the rules cannot be read
)

// ruleLines are the rules of a text field: one a line, or apart by commas.
func ruleLines(text string) []string {
	return slices.DeleteFunc(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' || r == ',' }), func(s string) bool {
		return strings.TrimSpace(s) == ""
	})
}

// runComparison is [eval.RunComparison] with the questions that changed.
type runComparison struct {
	*eval.RunComparison
	Metric string           `json:"metric"`            // whose changed questions are listed
	Rows   []comparedMetric `json:"rows"`              // the metrics, finest level first
	Pairs  []changedPair    `json:"changed_questions"` // lost ones first, then those that one run has no value of, then won ones
	Runs   []string         `json:"runs"`              // labels to choose from
}

// comparedMetric is a metric of two runs.
type comparedMetric struct {
	Name string `json:"metric"`
	eval.Comparison
}

// Better is the kind of the badge of a difference that counts.
func (m comparedMetric) Better() string {
	if m.Diff > 0 {
		return "ok"
	}
	return "bad"
}

// WonShare and LostShare are the questions won and lost, in percent.
func (m comparedMetric) WonShare() float64  { return percentOf(m.Wins, m.N) }
func (m comparedMetric) LostShare() float64 { return percentOf(m.Losses, m.N) }

// LostFrom is where the share of those lost begins: they stand at the end.
func (m comparedMetric) LostFrom() float64 { return 100 - m.LostShare() }

func percentOf(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

// changedPair is a question whose value differs between two runs.
type changedPair struct {
	eval.Pair
	Outcome string `json:"outcome"` // one of the constants of eval.Pair
}

// Kind is that of the badge of the outcome.
func (p changedPair) Kind() string {
	return map[string]string{eval.Won: "ok", eval.Lost: "bad", eval.Unmeasured: "warn"}[p.Outcome]
}

// compareRuns compares b with a; metric "" is the one that orders b's questions.
func compareRuns(a, b *eval.Run, metric string) *runComparison {
	c := &runComparison{RunComparison: eval.CompareRuns(a, b), Metric: orderMetric(b, metric)}
	for _, name := range finestFirst(b.Metrics) {
		if m, ok := c.Metrics[name]; ok {
			c.Rows = append(c.Rows, comparedMetric{name, m})
		}
	}
	order := []string{eval.Lost, eval.Unmeasured, eval.Won}
	for _, pair := range eval.Pairs(a, b, c.Metric) {
		if pair.A != pair.B && pair.Outcome() != eval.Tied {
			c.Pairs = append(c.Pairs, changedPair{pair, pair.Outcome()})
		}
	}
	slices.SortStableFunc(c.Pairs, func(x, y changedPair) int {
		return cmp.Compare(slices.Index(order, x.Outcome), slices.Index(order, y.Outcome))
	})
	return c
}
