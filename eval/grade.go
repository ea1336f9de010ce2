package eval

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/cite"
)

// grade measures the outcomes of a run one by one: what was found, and what was answered.
func (r *Run) grade(ctx context.Context, set *TestSet, o Options) error {
	lost := lostItems(r.Problems)
	for i := range r.Questions {
		out, q := &r.Questions[i], &set.Questions[i]
		out.Metrics = map[string]rag.EvalValue{}
		for _, level := range Levels {
			out.gradeLevel(q, level, r.K, lost[q.item(level)])
		}
	}
	return r.judge(ctx, set, o)
}

// levelField is the field of a test set that a level's ground truth stands in.
var levelField = map[Level]string{
	LevelChunk: "expected_chunk_ids", LevelDocument: "expected_sources", LevelSection: "expected_sections", LevelSentence: "key_sentence",
}

// item is a kind of ground truth of a question.
type item struct{ id, field string }

// item names the question's ground truth of a level.
func (q *Question) item(l Level) item { return item{q.ID, levelField[l]} }

// lostItems says which ground truth is not in the collection, and why.
func lostItems(problems []Problem) map[item]string {
	lost := map[item]string{}
	for _, p := range problems {
		lost[item{p.ID, p.Field}] = p.Message
	}
	return lost
}

// levelMetrics are those of each level. nDCG and MRR at ten places, by which sets are compared in the literature, are always
// among them: a run keeps as many hits.
func levelMetrics(ks []int) []Metric {
	var list []Metric
	for _, k := range ks {
		list = append(list, Metric{Hit, k}, Metric{Recall, k}, Metric{Precision, k}, Metric{NDCG, k})
	}
	list = append(list, Metric{MRR, 0}, Metric{MRR, leastDepth}, Metric{MAP, 0})
	if !slices.Contains(ks, leastDepth) {
		list = append(list, Metric{NDCG, leastDepth})
	}
	return list
}

// gradeLevel measures the hits against one kind of ground truth, if the question has it. lost says why it is not in the
// collection, "" if it is.
func (out *Outcome) gradeLevel(q *Question, level Level, ks []int, lost string) {
	grades := q.grades(level)
	if grades.Relevant() == 0 {
		return
	}
	places := q.places(level, out.Hits)
	for _, m := range levelMetrics(ks) {
		v, _ := m.OfPlaces(places, grades)
		value := rag.EvalNumber(v)
		switch {
		case out.Error != "":
			value = rag.EvalNull("the search failed: " + out.Error)
		case lost != "":
			value = rag.EvalNull(lost)
		}
		out.Metrics[string(level)+"/"+m.String()] = value
	}
}

// judge asks the evaluator about the answers that were given.
func (r *Run) judge(ctx context.Context, set *TestSet, o Options) error {
	if o.Evaluator == nil {
		return nil
	}
	var samples []rag.EvalSample
	var of []int
	for i, out := range r.Questions {
		if out.Answer == nil || out.Answer.Refused {
			continue
		}
		samples = append(samples, rag.EvalSample{
			Question: out.Question, Answer: cite.Strip(out.Answer.Text), Contexts: out.Answer.Contexts, Reference: set.Questions[i].Reference,
		})
		of = append(of, i)
	}
	r.Evaluator = ""
	if f, ok := o.Evaluator.(rag.Fingerprinter); ok {
		r.Evaluator = f.Fingerprint()
	}
	names := o.Evaluator.Metrics()
	for i := range r.Questions {
		for _, name := range names {
			r.Questions[i].Metrics[name] = rag.EvalNull(r.Questions[i].noAnswer())
		}
	}
	if len(samples) == 0 {
		return nil
	}
	values, err := o.Evaluator.Evaluate(ctx, samples)
	if err != nil {
		return fmt.Errorf("evaluate: %w", err)
	}
	for _, name := range names {
		if len(values[name]) != len(samples) {
			return fmt.Errorf("evaluate: %d values of %s for %d answers: %w", len(values[name]), name, len(samples), rag.ErrInvalid)
		}
		for at, v := range values[name] {
			if v.OK() {
				v = rag.EvalNumber(v.Number)
			}
			r.Questions[of[at]].Metrics[name] = v
		}
	}
	return nil
}

// noAnswer says why there is no answer to judge.
func (out *Outcome) noAnswer() string {
	switch {
	case out.Error != "":
		return "the search failed: " + out.Error
	case out.AnswerError != "":
		return "the answer failed: " + out.AnswerError
	case out.Answer != nil && out.Answer.Refused:
		return "the answer is a refusal"
	}
	return "there is no answer"
}

// sumUp fills in what concerns all questions.
func (r *Run) sumUp(set *TestSet) {
	r.Metrics, r.Kinds = r.scores(func(int) bool { return true }), nil
	kinds := map[string]int{}
	for _, q := range set.Questions {
		if q.Kind != "" {
			kinds[q.Kind]++
		}
	}
	for kind, n := range kinds {
		if r.Kinds == nil {
			r.Kinds = map[string]Kind{}
		}
		r.Kinds[kind] = Kind{n, r.scores(func(i int) bool { return set.Questions[i].Kind == kind })}
	}
	r.Asked, r.Unjudged = len(r.Questions), r.unjudged()
	r.Failed, r.Outdated, r.Usage = 0, 0, rag.ChatUsage{}
	var search []float64
	for i, out := range r.Questions {
		if out.Error != "" {
			r.Failed++
			continue
		}
		search = append(search, out.SearchMS)
		if out.Answer != nil {
			r.Usage.Add(out.Answer.Usage)
		}
		if len(out.Hits) > 0 && slices.ContainsFunc(set.Questions[i].Excluded, func(name string) bool { return SameDocument(out.Hits[0].URI, name) }) {
			r.Outdated++
		}
	}
	r.SearchMS = Latencies(search)
	r.Refusal, r.Router, r.AnswerMS = refusals(r, set), routing(r, set), answerTimes(r)
	r.Agreement = agreements(r, set)
}

// Kind is the score of the questions of one kind.
type Kind struct {
	Questions int              `json:"questions"`
	Metrics   map[string]Score `json:"metrics"`
}

// scores sums every metric up over some of the questions.
func (r *Run) scores(among func(i int) bool) map[string]Score {
	values := map[string][]rag.EvalValue{}
	for i, out := range r.Questions {
		if !among(i) {
			continue
		}
		for name, v := range out.Metrics {
			values[name] = append(values[name], v)
		}
	}
	scores := map[string]Score{}
	for name, list := range values {
		scores[name] = Summarise(list)
	}
	return scores
}
