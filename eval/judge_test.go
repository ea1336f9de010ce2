package eval_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
	"github.com/seed-d8745b77/rag/ragtest"
)

// judging is a script that gives each task a reply of its form.
func judging(req rag.ChatRequest) string {
	task := req.Messages[0].Text
	switch {
	case strings.Contains(task, `"useful"`):
		return `{"useful": [` + strings.Join(strings.Split(strings.Repeat("true ", strings.Count(req.Messages[1].Text, "\n\n")), " ")[:strings.Count(req.Messages[1].Text, "\n\n")], ",") + `]}`
	case strings.Contains(task, "true_positives"):
		return `{"true_positives": ["a"], "false_positives": ["b"], "false_negatives": []}`
	case strings.Contains(task, "noncommittal"):
		return `{"questions": ["How long is the notice period?", "notice period?", "x"], "noncommittal": false}`
	}
	return "Here it is:\n" + `{"claims": [{"claim": "three months", "supported": true, "reason": "it says so"}, {"claim": "always", "supported": false, "reason": "no"}]}`
}

func newJudge(t *testing.T, model rag.ChatModel, c eval.JudgeConfig) *eval.Judge {
	t.Helper()
	j, err := eval.NewJudge(model, c)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestEvaluators(t *testing.T) {
	overlap := func(t *testing.T) rag.Evaluator {
		o, err := eval.NewOverlap(nil)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	judge := func(t *testing.T) rag.Evaluator {
		return newJudge(t, &ragtest.Script{Reply: judging}, eval.JudgeConfig{Embedder: &ragtest.HashEmbedder{}})
	}
	verified := func(*testing.T) rag.Evaluator { return eval.NewVerified(yes{}) }
	for name, open := range map[string]func(*testing.T) rag.Evaluator{
		"overlap": overlap, "judge": judge, "verified": verified,
		"composite": func(t *testing.T) rag.Evaluator {
			c, err := eval.NewComposite(eval.Backend{Name: "words", Evaluator: overlap(t)}, eval.Backend{Name: "model", Evaluator: judge(t), Metrics: []string{eval.Faithfulness}})
			if err != nil {
				t.Fatal(err)
			}
			return c
		},
	} {
		t.Run(name, func(t *testing.T) { ragtest.TestEvaluator(t, open) })
	}
}

// yes finds every claim supported.
type yes struct{}

func (yes) Verify(ctx context.Context, claims []rag.Claim) ([]rag.Verdict, error) {
	verdicts := make([]rag.Verdict, len(claims))
	for i := range verdicts {
		verdicts[i].Supported = true
	}
	return verdicts, ctx.Err()
}

var sample = rag.EvalSample{
	Question: "How long is the notice period?", Answer: "Three months.", Contexts: []string{"It is three months.", "Leave is 30 days."}, Reference: "It is three months.",
}

// A verifier is asked about statements, not about the numbers of their sources: no passage has those.
// brokenVerifier fails, and counts how often it was asked.
type brokenVerifier struct{ asked int }

func (b *brokenVerifier) Verify(context.Context, []rag.Claim) ([]rag.Verdict, error) {
	b.asked++
	return nil, rag.ErrUnavailable
}

func TestVerifiedAsksNothingInVain(t *testing.T) {
	broken := &brokenVerifier{}
	refusal := sample
	refusal.Refused = true
	got, err := eval.NewVerified(broken).Evaluate(t.Context(), []rag.EvalSample{refusal})
	if err != nil || broken.asked > 0 || got[eval.FaithfulnessVerified][0].Null != "the answer is a refusal" {
		t.Errorf("a refusal: %+v, asked %d times, error %v", got, broken.asked, err)
	}
	if got, err := eval.NewVerified(broken).Evaluate(t.Context(), []rag.EvalSample{sample}); !errors.Is(err, rag.ErrUnavailable) || got != nil {
		t.Errorf("a verifier that fails: %+v, error %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := eval.NewVerified(broken).Evaluate(ctx, []rag.EvalSample{refusal}); !errors.Is(err, context.Canceled) {
		t.Errorf("a done context: error %v", err)
	}
}

func TestVerifiedStatementsHaveNoCitations(t *testing.T) {
	v := verifierFunc(func(claims []rag.Claim) (verdicts []rag.Verdict) {
		for _, c := range claims {
			verdicts = append(verdicts, rag.Verdict{Supported: slices.Contains([]string{"It is three months.", "Leave is 30 days."}, c.Text)})
		}
		return verdicts
	})
	cited := sample
	cited.Answer = "It is three months. [1] Leave is 30 days. [2][1] Nobody works."
	got, err := eval.NewVerified(v).Evaluate(t.Context(), []rag.EvalSample{cited})
	if err != nil {
		t.Fatal(err)
	}
	if v := got[eval.FaithfulnessVerified][0]; v.Null != "" || math.Abs(v.Number-2.0/3) > 1e-9 {
		t.Errorf("%+v, want two of three", v)
	}
}

type verifierFunc func([]rag.Claim) []rag.Verdict

func (f verifierFunc) Verify(ctx context.Context, claims []rag.Claim) ([]rag.Verdict, error) {
	return f(claims), ctx.Err()
}

func TestJudgedMetricsHaveTheirDefinitions(t *testing.T) {
	for _, c := range []struct {
		metric, reply string
		want          rag.EvalValue
	}{
		{eval.Faithfulness, `{"claims":[{"claim":"a","supported":true},{"claim":"b","supported":false},{"claim":"c","supported":false},{"claim":"d","supported":false}]}`, rag.EvalNumber(0.25)},
		{eval.Faithfulness, `{"claims":[]}`, rag.EvalNull("it makes no claim")},
		{eval.ContextRecall, `{"claims":[{"claim":"a","supported":true}]}`, rag.EvalNumber(1)},
		{eval.ContextPrecision, `{"useful":[true,false]}`, rag.EvalNumber(1)},
		{eval.ContextPrecision, `{"useful":[false,true]}`, rag.EvalNumber(0.5)},
		{eval.ContextPrecision, `{"useful":[false,false]}`, rag.EvalNumber(0)},
		{eval.Correctness, `{"true_positives":["a","b"],"false_positives":["c"],"false_negatives":["d"]}`, rag.EvalNumber(2.0 / 3)},
		{eval.Correctness, `{"true_positives":[],"false_positives":[],"false_negatives":[]}`, rag.EvalNull("neither answer nor reference makes a claim")},
		{eval.AnswerRelevancy, `{"questions":["How long is the notice period?","how long is the notice period","How long is the notice period?"],"noncommittal":false}`, rag.EvalNumber(1)},
		{eval.AnswerRelevancy, `{"questions":["a","b","c"],"noncommittal":true}`, rag.EvalNumber(0)},
	} {
		j := newJudge(t, &ragtest.Script{Replies: []string{c.reply}}, eval.JudgeConfig{Metrics: []string{c.metric}, Embedder: &ragtest.HashEmbedder{}})
		got, err := j.Evaluate(t.Context(), []rag.EvalSample{sample})
		if err != nil {
			t.Fatal(err)
		}
		if v := got[c.metric][0]; v.Null != c.want.Null || math.Abs(v.Number-c.want.Number) > 1e-6 {
			t.Errorf("%s of %s: got %+v, want %+v", c.metric, c.reply, v, c.want)
		}
	}
}

func TestJudgeThatTalksNonsense(t *testing.T) {
	const good = `{"claims":[{"claim":"a","supported":true}]}`
	for _, c := range []struct {
		name    string
		replies []string
		want    string // the null; "": the value is 1
	}{
		{"once", []string{"I think it is fine.", good}, ""},
		{"twice", []string{"fine", "fine"}, "the judge gave no verdict that can be read, 2 times: the reply holds no JSON object"},
		{"a verdict in words", []string{`{"claims":[{"claim":"a","supported":"yes"}]}`}, "the judge gave no verdict"},
		{"a claim without a verdict", []string{`{"claims":[{"claim":"a"}]}`}, "a claim has no text or no verdict"},
		{"another object", []string{`{"score": 1}`}, "it has no claims"},
		{"cut off", []string{`{"claims":[{"claim":"a","supported":true}`}, "the judge gave no verdict"},
	} {
		script := &ragtest.Script{Replies: c.replies}
		got, err := newJudge(t, script, eval.JudgeConfig{Metrics: []string{eval.Faithfulness}}).Evaluate(t.Context(), []rag.EvalSample{sample})
		if err != nil {
			t.Fatal(err)
		}
		v := got[eval.Faithfulness][0]
		if c.want == "" && (!v.OK() || v.Number != 1) || c.want != "" && !strings.Contains(v.Null, c.want) {
			t.Errorf("%s: got %+v, want %q", c.name, v, c.want)
		}
		if n := len(script.Requests()); n != 2 {
			t.Errorf("%s: asked %d times", c.name, n)
		}
	}
}

// named is a script with a fingerprint, so that its verdicts are kept.
type named struct{ *ragtest.Script }

func (named) Fingerprint() string { return "script/1" }

func TestVerdictsAreKeptAndRepeated(t *testing.T) {
	dir := t.TempDir()
	replies := []string{`{"claims":[{"claim":"a","supported":true}]}`, `{"claims":[{"claim":"a","supported":false}]}`}
	config := eval.JudgeConfig{Metrics: []string{eval.Faithfulness}, Repeat: 2, CacheDir: dir}
	first := named{&ragtest.Script{Replies: replies}}
	want, err := newJudge(t, first, config).Evaluate(t.Context(), []rag.EvalSample{sample})
	if err != nil || want[eval.Faithfulness][0] != rag.EvalNumber(0.5) {
		t.Fatalf("%+v, %v: want the mean of both verdicts", want, err)
	}
	if asked := first.Requests(); len(asked) != 2 || asked[0].Temperature != 0 || asked[1].Temperature == 0 {
		t.Errorf("asked %+v", asked)
	}
	again := named{&ragtest.Script{Err: rag.ErrUnavailable}}
	got, err := newJudge(t, again, config).Evaluate(t.Context(), []rag.EvalSample{sample})
	if diff := cmp.Diff(want, got); err != nil || diff != "" || len(again.Requests()) > 0 {
		t.Errorf("error %v, asked %d times (-want +got):\n%s", err, len(again.Requests()), diff)
	}
}

func TestCompositeOutlivesItsBackends(t *testing.T) {
	overlap, err := eval.NewOverlap([]string{eval.CorrectnessOverlap})
	if err != nil {
		t.Fatal(err)
	}
	for name, broken := range map[string]rag.Evaluator{
		"a model that is down": newJudge(t, &ragtest.Script{Err: rag.ErrUnavailable}, eval.JudgeConfig{Metrics: []string{eval.Faithfulness}}),
		"a panic":              faulty{func() { panic("boom") }},
		"no values":            faulty{func() {}},
	} {
		c, err := eval.NewComposite(eval.Backend{Name: "judge", Evaluator: broken}, eval.Backend{Name: "words", Evaluator: overlap})
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Evaluate(t.Context(), []rag.EvalSample{sample, sample})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if v := got[eval.Faithfulness]; len(v) != 2 || !strings.HasPrefix(v[1].Null, "the evaluator judge failed: ") {
			t.Errorf("%s: %+v", name, v)
		}
		if v := got[eval.CorrectnessOverlap]; len(v) != 2 || !v[0].OK() {
			t.Errorf("%s: the other backend gave %+v", name, v)
		}
	}
}

// faulty breaks the contract.
type faulty struct{ do func() }

func (faulty) Metrics() []string { return []string{eval.Faithfulness} }
func (f faulty) Evaluate(context.Context, []rag.EvalSample) (map[string][]rag.EvalValue, error) {
	f.do()
	return nil, nil
}

func TestEvaluatorsThatMakeNoSense(t *testing.T) {
	overlap, _ := eval.NewOverlap(nil)
	for name, open := range map[string]func() error{
		"no model": func() error { _, err := eval.NewJudge(nil, eval.JudgeConfig{}); return err },
		"unknown metric": func() error {
			_, err := eval.NewJudge(yesModel, eval.JudgeConfig{Metrics: []string{"faith"}})
			return err
		},
		"negative repeat": func() error { _, err := eval.NewJudge(yesModel, eval.JudgeConfig{Repeat: -1}); return err },
		"unknown overlap": func() error { _, err := eval.NewOverlap([]string{"x"}); return err },
		"no backend":      func() error { _, err := eval.NewComposite(); return err },
		"not of the backend": func() error {
			_, err := eval.NewComposite(eval.Backend{Name: "a", Evaluator: overlap, Metrics: []string{eval.Correctness}})
			return err
		},
		"of two backends": func() error {
			_, err := eval.NewComposite(eval.Backend{Name: "a", Evaluator: overlap}, eval.Backend{Name: "b", Evaluator: overlap})
			return err
		},
	} {
		if err := open(); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%s: error %v, want ErrInvalid", name, err)
		}
	}
}

var yesModel = &ragtest.Script{Replies: []string{"yes"}}

func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		metric string
		sample rag.EvalSample
		want   float64
	}{
		{eval.CorrectnessOverlap, rag.EvalSample{Answer: "three months notice", Reference: "Three months"}, 0.8},
		{eval.CorrectnessOverlap, rag.EvalSample{Answer: "三个月", Reference: "三个月。"}, 1},
		{eval.FaithfulnessOverlap, rag.EvalSample{Answer: "a b c d", Contexts: []string{"a", "B"}}, 0.5},
		{eval.AnswerRelevancyOverlap, rag.EvalSample{Question: "notice period?", Answer: "the notice is long"}, 0.5},
		{eval.ContextRecallOverlap, rag.EvalSample{Reference: "a b", Contexts: []string{"b"}}, 0.5},
		{eval.ContextPrecisionOverlap, rag.EvalSample{Reference: "a b", Contexts: []string{"x", "a b", "b"}}, (1.0/2 + 2.0/3) / 2},
		{eval.ContextPrecisionOverlap, rag.EvalSample{Reference: "a b", Contexts: []string{"a b", "x"}}, 1},
		{eval.ContextPrecisionOverlap, rag.EvalSample{Reference: "a b", Contexts: []string{"x"}}, 0},
		{eval.FaithfulnessOverlap, rag.EvalSample{Answer: "三月", Contexts: []string{"三个月"}}, 1},
		{eval.CorrectnessOverlap, rag.EvalSample{Answer: "三月", Reference: "三个月"}, 0.8},
	} {
		o, err := eval.NewOverlap([]string{c.metric})
		if err != nil {
			t.Fatal(err)
		}
		got, err := o.Evaluate(t.Context(), []rag.EvalSample{c.sample})
		if err != nil {
			t.Fatal(err)
		}
		if v := got[c.metric][0]; !v.OK() || math.Abs(v.Number-c.want) > 1e-9 {
			t.Errorf("%s of %+v: got %+v, want %v", c.metric, c.sample, v, c.want)
		}
	}
}

func TestOverlapOfTextsWithoutWords(t *testing.T) {
	o, err := eval.NewOverlap(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := o.Evaluate(t.Context(), []rag.EvalSample{{Question: "?", Answer: "!", Contexts: []string{"…"}, Reference: "–"}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		eval.FaithfulnessOverlap: "it has no word", eval.AnswerRelevancyOverlap: "it has no word", eval.ContextRecallOverlap: "it has no word",
		eval.ContextPrecisionOverlap: "it has no word", eval.CorrectnessOverlap: "neither has a word",
	}
	for metric, why := range want {
		if v := got[metric][0]; v.Null != why {
			t.Errorf("%s: got %+v, want null because %s", metric, v, why)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := o.Evaluate(ctx, []rag.EvalSample{{}}); !errors.Is(err, context.Canceled) {
		t.Errorf("of a done context: error %v", err)
	}
}
