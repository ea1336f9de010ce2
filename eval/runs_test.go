package eval_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
	"github.com/seed-d8745b77/rag/ragtest"
)

func TestRuns(t *testing.T) {
	eng := openWith(t, &ragtest.HashEmbedder{})
	dir := filepath.Join(t.TempDir(), "results")
	if list, err := eval.Runs(dir); err != nil || len(list) != 0 {
		t.Errorf("no folder: %v, %v", list, err)
	}
	day := 0
	save := func(label string, o eval.Options) *eval.Run {
		t.Helper()
		day++
		o.Label, o.Now = label, func() time.Time { return time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC) }
		run, err := eval.Evaluate(t.Context(), eng, parse(t, askNotice, askMeals), o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Save(dir); err != nil {
			t.Fatal(err)
		}
		return run
	}
	overlap, err := eval.NewOverlap(nil)
	if err != nil {
		t.Fatal(err)
	}
	first := save("first", eval.Options{})
	save("again", eval.Options{K: []int{1, 10}, Answer: answers(eng), Evaluator: overlap})
	save("sparse", eval.Options{Mode: rag.Sparse})
	for name, text := range map[string]string{"broken.json": "{", "newer.json": `{"format": 9}`, "notes.txt": "x", ".hidden.json": "{}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	list, err := eval.Runs(dir)
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	byLabel := map[string]eval.RunInfo{}
	for _, r := range list {
		labels = append(labels, r.Label)
		byLabel[r.Label] = r
		if broken := r.Label == "broken" || r.Label == "newer"; broken != (r.Error != "") {
			t.Errorf("%s: error %q", r.Label, r.Error)
		}
	}
	if diff := cmp.Diff([]string{"sparse", "again", "first", "broken", "newer"}, labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(first.Info(filepath.Join(dir, "first.json")), byLabel["first"]); diff != "" {
		t.Errorf("read (-kept +read):\n%s", diff)
	}
	if byLabel["again"].ConfigHash != byLabel["first"].ConfigHash || byLabel["sparse"].ConfigHash == byLabel["first"].ConfigHash || len(byLabel["first"].ConfigHash) != 12 {
		t.Errorf("hashes %s, %s and %s of the same, the same, and another way to search", byLabel["first"].ConfigHash, byLabel["again"].ConfigHash, byLabel["sparse"].ConfigHash)
	}
	var headline []string
	for _, h := range byLabel["again"].Headline {
		headline = append(headline, h.Metric)
		if h.Mean == nil {
			t.Errorf("%s has no value", h.Metric)
		}
	}
	want := []string{"key_sentence/hit@10", "key_sentence/mrr", "key_sentence/ndcg@10", "faithfulness_overlap", "correctness_overlap"}
	if diff := cmp.Diff(want, headline); diff != "" {
		t.Errorf("headline (-want +got):\n%s", diff)
	}

	if run, err := eval.OpenRun(dir, "first"); err != nil || run.Label != "first" || !run.Complete() {
		t.Errorf("%+v, %v", run, err)
	}
	for label, want := range map[string]error{"../first": rag.ErrInvalid, "none": rag.ErrNotFound, "newer": rag.ErrInvalid} {
		if _, err := eval.OpenRun(dir, label); !errors.Is(err, want) {
			t.Errorf("%s: error %v, want %v", label, err, want)
		}
	}
}

func TestPairsAndComparisons(t *testing.T) {
	outcome := func(id string, v rag.EvalValue) eval.Outcome {
		return eval.Outcome{ID: id, Question: "Q " + id, Metrics: map[string]rag.EvalValue{"mrr": v}}
	}
	one, half, none := rag.EvalNumber(1), rag.EvalNumber(0.5), rag.EvalNull("lost")
	metrics := map[string]eval.Score{"mrr": {}}
	a := &eval.Run{Label: "a", Metrics: map[string]eval.Score{"mrr": {}, "map": {}}, Questions: []eval.Outcome{outcome("1", half), outcome("2", one), outcome("3", one), outcome("4", one), outcome("5", one)}}
	b := &eval.Run{Label: "b", Metrics: metrics, Questions: []eval.Outcome{outcome("6", one), outcome("4", none), outcome("3", half), outcome("2", one), outcome("1", one)}}
	b.Questions[2].Question = "worded anew"
	want := []eval.Pair{{"1", "Q 1", half, one}, {"2", "Q 2", one, one}, {"3", "Q 3", one, half}, {"4", "Q 4", one, none}}
	if diff := cmp.Diff(want, eval.Pairs(a, b, "mrr")); diff != "" {
		t.Errorf("pairs (-want +got):\n%s", diff)
	}
	a.Questions[1].Metrics["recall"] = one
	if pairs := eval.Pairs(a, b, "recall"); len(pairs) > 0 {
		t.Errorf("of a metric that one of the two has: %v", pairs)
	}
	if pairs := eval.Pairs(a, b, "map"); len(pairs) > 0 {
		t.Errorf("of a metric that no run has: %v", pairs)
	}
	c := eval.CompareRuns(a, b)
	if m := c.Metrics["mrr"]; m.N != 3 || m.Ties != 1 || cmp.Diff([][]string{{"1"}, {"3"}}, [][]string{m.Won, m.Lost}) != "" {
		t.Errorf("%+v", m)
	}
	if diff := cmp.Diff(&eval.RunComparison{
		A: "a", B: "b", Common: 4, OnlyA: []string{"5"}, OnlyB: []string{"6"}, Metrics: c.Metrics,
		Changed: map[string][]string{"mrr": {"1", "3", "4"}}, Notes: []string{"question 3 is worded differently"},
	}, c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, ok := c.Metrics["map"]; ok || len(c.Metrics) != 1 {
		t.Errorf("compared %v, of which b has mrr alone", c.Metrics)
	}
	b.TestSet.SHA256 = "another"
	if notes := eval.CompareRuns(a, b).Notes; len(notes) != 2 || notes[0] != "the test sets are not the same file" {
		t.Errorf("notes %q", notes)
	}
}

func TestParseRules(t *testing.T) {
	rules, err := eval.ParseRules([]string{"ndcg@10=0.7"}, []string{"mrr=0.02"})
	if diff := cmp.Diff([]eval.Rule{{Metric: "ndcg@10", Bound: 0.7}, {Metric: "mrr", Bound: 0.02, Drop: true}}, rules); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	for _, texts := range [][]string{nil, {"x"}} {
		if _, err := eval.ParseRules(nil, texts); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%q: error %v", texts, err)
		}
	}
}
