package eval_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
)

// verdicts is an evaluator that gives the samples these values, in order.
type verdicts []rag.EvalValue

func (verdicts) Metrics() []string { return []string{"correctness"} }

func (v verdicts) Evaluate(context.Context, []rag.EvalSample) (map[string][]rag.EvalValue, error) {
	return map[string][]rag.EvalValue{"correctness": v}, nil
}

func TestAgreementOfAJudgeWithPeople(t *testing.T) {
	judge := verdicts{rag.EvalNumber(1), rag.EvalNumber(1), rag.EvalNumber(0), rag.EvalNumber(0.2), rag.EvalNull("no verdict"), rag.EvalNumber(1)}
	human := []string{"1", "0", "0", "0.4", "1", ""}
	old := &eval.Run{Format: 1, Label: "x", K: []int{1}, Depth: 10}
	var lines []string
	for i, h := range human {
		id := fmt.Sprint("q", i)
		label := ""
		if h != "" {
			label = fmt.Sprintf(`,"human":{"correctness":%s,"faithfulness":1}`, h)
		}
		lines = append(lines, fmt.Sprintf(`{"id":%q,"question":"x","expected_sources":["a"]%s}`, id, label))
		old.Questions = append(old.Questions, eval.Outcome{ID: id, Question: "x", Answer: &eval.Answered{Text: "x"}})
	}
	run, err := eval.Regrade(t.Context(), old, parse(t, lines...), eval.Options{Evaluator: judge})
	if err != nil {
		t.Fatal(err)
	}
	// On the same side of 0.5: three of four. The judge says yes to two and people to one: by chance they agree on half.
	a := run.Agreement["correctness"]
	if a.N != 4 || a.Same != 0.75 || a.Kappa == nil || math.Abs(*a.Kappa-0.5) > 1e-12 || math.Abs(a.MeanGap-0.3) > 1e-12 || len(run.Agreement) != 1 {
		t.Errorf("%+v", run.Agreement)
	}
	// Who always says the same agrees by chance alone: kappa is not defined.
	always := verdicts{rag.EvalNumber(1), rag.EvalNumber(1)}
	old.Questions = old.Questions[:2]
	run, err = eval.Regrade(t.Context(), old, parse(t, `{"id":"q0","question":"x","gold":["a"],"human":{"correctness":1}}`, `{"id":"q1","question":"x","gold":["a"],"human":{"correctness":0.9}}`), eval.Options{Evaluator: always})
	if err != nil {
		t.Fatal(err)
	}
	if a := run.Agreement["correctness"]; a.N != 2 || a.Same != 1 || a.Kappa != nil {
		t.Errorf("%+v", a)
	}
}
