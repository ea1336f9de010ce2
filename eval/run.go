package eval

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/config"
)

// Options say how a test set is run. Zero fields mean defaults.
type Options struct {
	Label      string
	Collection string
	Mode       rag.Mode // "": what the configuration enables
	K          []int    // places that the metrics look at; nil: 1, 3, 5
	Intent     string   // the routing label that is compared; "": "intent"

	// Answer answers a question; nil: only what is found is measured.
	Answer func(ctx context.Context, q rag.Query) (*rag.Answer, error)
	// Evaluator judges the answers that are given; nil: none is judged.
	Evaluator rag.Evaluator
	// Answers says in a run how Answer answers: "router".
	Answers string
	// Program says in a run which program makes it.
	Program string
	// Loaded is how the engine's configuration was read: it tells what came from environment variables, which neither the
	// configuration nor the errors that a run keeps may show. Zero: only what the names of its keys give away is hidden.
	Loaded config.Loaded
	// Progress is called before each question, and once behind the last.
	Progress func(done, total int)
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// leastDepth is how many hits a run keeps at least, so that it can be graded again with other places.
const leastDepth = 10

func (o *Options) fill() {
	if len(o.K) == 0 {
		o.K = []int{1, 3, 5}
	}
	o.K = slices.Compact(slices.Sorted(slices.Values(o.K)))
	o.Label = cmp.Or(o.Label, DefaultLabel)
	o.Intent = cmp.Or(o.Intent, intentField)
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}

func (o *Options) check(set *TestSet) error {
	if len(set.Questions) == 0 {
		return fmt.Errorf("the test set holds no question%s: there is nothing to measure: %w", of(set.Source.Path), rag.ErrInvalid)
	}
	if o.K[0] < 1 {
		return fmt.Errorf("k is %d: it must be at least 1: %w", o.K[0], rag.ErrInvalid)
	}
	return nil
}

func of(path string) string {
	if path == "" {
		return ""
	}
	return " (" + path + ")"
}

// Evaluate asks an engine the questions of a test set and measures what it finds, and what it answers if Options.Answer is
// set. A question that fails has nulls with its reason, and the others go on.
//
// Errors: ErrInvalid for a set without questions; ErrNotFound for an unknown collection, or if the collection has nothing of
// what any question expects; the context's; and the first question's, if all questions failed.
func Evaluate(ctx context.Context, eng *rag.Engine, set *TestSet, o Options) (*Run, error) {
	o.fill()
	if err := o.check(set); err != nil {
		return nil, err
	}
	run, err := newRun(ctx, eng, set, o)
	if err != nil {
		return nil, err
	}
	if run.Problems, err = Missing(ctx, eng, run.Collection.Name, set); err != nil {
		return nil, err
	}
	if err := noneLeft(set, run); err != nil {
		return nil, err
	}
	var first error
	failed := 0
	for i := range set.Questions {
		o.Progress(i, len(set.Questions))
		outcome, err := ask(ctx, eng, &set.Questions[i], o)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			first = cmp.Or(first, fmt.Errorf("question %s: %w", outcome.ID, err))
			failed++
		}
		run.Questions = append(run.Questions, outcome)
	}
	o.Progress(len(set.Questions), len(set.Questions))
	if failed == len(set.Questions) {
		return nil, first
	}
	return run, run.finish(ctx, set, o)
}

// finish grades a run and takes secrets out of what failed.
func (r *Run) finish(ctx context.Context, set *TestSet, o Options) error {
	if err := r.grade(ctx, set, o); err != nil {
		return err
	}
	hide := o.Loaded.Hider()
	r.Evaluator, r.Collection.Embedder = hide(r.Evaluator), hide(r.Collection.Embedder)
	for i := range r.Questions {
		r.Questions[i].hide(hide)
	}
	r.sumUp(set)
	return nil
}

// noneLeft reports a set of which the collection has nothing: all that each question expects is lost.
func noneLeft(set *TestSet, run *Run) error {
	lost := map[string]int{}
	for _, p := range run.Problems {
		lost[p.ID]++
	}
	measurable := false
	for i := range set.Questions {
		expected := set.Questions[i].expected()
		if lost[set.Questions[i].ID] < expected {
			return nil
		}
		measurable = measurable || expected > 0
	}
	if !measurable {
		return nil
	}
	return fmt.Errorf("nothing of what the test set expects is in collection %q: %s: %w", run.Collection.Name, run.Problems[0], rag.ErrNotFound)
}

// ask searches, has the question answered if that is wanted, and keeps the outcome. The error, that of the search, is in the
// outcome too.
func ask(ctx context.Context, eng *rag.Engine, q *Question, o Options) (Outcome, error) {
	out := Outcome{ID: q.ID, Question: q.Text}
	query := q.Query(o.Collection)
	query.Mode, query.TopK = o.Mode, max(leastDepth, o.K[len(o.K)-1])
	start := o.Now()
	res, err := eng.Search(ctx, query)
	out.SearchMS = milliseconds(o.Now().Sub(start))
	if err != nil {
		out.Error = err.Error()
		return out, err
	}
	out.Mode, out.Hits, out.Notes, out.TraceID = res.Mode, foundIn(res.Hits), res.Notes, res.TraceID
	if o.Answer == nil {
		return out, nil
	}
	out.answer(ctx, query, o)
	return out, nil
}

// answer has the question answered and keeps what came of it.
func (out *Outcome) answer(ctx context.Context, query rag.Query, o Options) {
	start := o.Now()
	answer, err := o.Answer(ctx, query)
	if err != nil {
		out.AnswerError = err.Error()
		return
	}
	out.Answer = &Answered{
		Text: answer.Text, Mode: answer.Mode, Intent: answer.Intent, Refused: answer.Refused, Reason: answer.Reason,
		Reliability: answer.Reliability, MS: milliseconds(o.Now().Sub(start)), Notes: answer.Notes, Usage: answer.Usage,
	}
	for _, s := range answer.Sources {
		out.Answer.Contexts = append(out.Answer.Contexts, s.Hit.Chunk.Text)
	}
}

func milliseconds(d time.Duration) float64 { return round3(float64(d) / float64(time.Millisecond)) }

// Regrade measures the outcomes that a run kept again, without a search: with another version of its test set, other
// places, or another judge. Options that are zero are those of the run; the label becomes its own with "-regraded". Questions
// that the run does not have are a problem of the result.
func Regrade(ctx context.Context, old *Run, set *TestSet, o Options) (*Run, error) {
	if len(o.K) == 0 {
		o.K = old.K
	}
	o.Intent, o.Label = cmp.Or(o.Intent, old.Intent), cmp.Or(o.Label, old.Label+"-regraded")
	o.fill()
	if err := o.check(set); err != nil {
		return nil, err
	}
	if deepest := o.K[len(o.K)-1]; deepest > old.Depth {
		return nil, fmt.Errorf("k is %d, and the run kept %d hits of each question: run it again: %w", deepest, old.Depth, rag.ErrInvalid)
	}
	run := *old
	run.TestSet, run.Set, run.Fields, run.K, run.Intent, run.RegradedFrom = set.Source, set.Part, set.Fields, o.K, o.Intent, old.Label
	run.Label, run.Created, run.Program = o.Label, o.Now().UTC(), o.Program
	run.Questions, run.Problems = nil, nil
	kept := map[string]Outcome{}
	for _, out := range old.Questions {
		kept[out.ID] = out
	}
	for i := range set.Questions {
		q := &set.Questions[i]
		out, ok := kept[q.ID]
		if !ok {
			run.Problems = append(run.Problems, Problem{Line: q.Line, ID: q.ID, Field: "", Message: "the run has no such question", Fatal: true})
			out = Outcome{ID: q.ID, Question: q.Text, Error: "the run has no such question"}
		}
		run.Questions = append(run.Questions, out)
	}
	if len(run.Problems) == len(set.Questions) {
		return nil, fmt.Errorf("the run %q has no question of the test set%s: %w", old.Label, of(set.Source.Path), rag.ErrInvalid)
	}
	return &run, run.finish(ctx, set, o)
}

// newRun fills in what does not depend on outcomes.
func newRun(ctx context.Context, eng *rag.Engine, set *TestSet, o Options) (*Run, error) {
	run := &Run{
		Format: runFormat, Label: o.Label, Created: o.Now().UTC(), Program: o.Program, TestSet: set.Source, Set: set.Part, Fields: set.Fields,
		K: o.K, Depth: max(leastDepth, o.K[len(o.K)-1]), Mode: o.Mode, Intent: o.Intent, Answers: o.Answers, Config: shown(eng.Config(), o.Loaded),
	}
	name := cmp.Or(o.Collection, eng.Config().Collection)
	all, err := eng.Collections(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(c rag.CollectionInfo) bool { return c.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("collection %q: %w", name, rag.ErrNotFound)
	}
	c := all[i]
	run.Collection = Collection{c.Name, c.Documents, c.Chunks, c.Header.Embedder, c.Header.Sparse, c.Updated.UTC()}
	return run, nil
}
