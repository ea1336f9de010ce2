package eval_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
	"github.com/seed-d8745b77/rag/ragtest"
)

func TestSettings(t *testing.T) {
	all := eval.Models{Chat: &ragtest.Script{}, Verifier: yes{}, Embedder: &ragtest.HashEmbedder{}}
	overlap, err := eval.NewOverlap(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text   string
		models eval.Models
		want   []string // metrics; nil: no evaluator
	}{
		{"", eval.Models{}, overlap.Metrics()},
		{"{}", all, append(append(append([]string{}, overlap.Metrics()...), eval.FaithfulnessVerified), eval.JudgedMetrics...)},
		{`{"enabled": true, "provider": "composite", "backends": ["custom", "ragas"], "metrics": ["hit_rate", "mrr", "faithfulness", "context_precision"]}`, all, []string{eval.Faithfulness, eval.ContextPrecision}},
		{`{"backends": ["verify"]}`, all, []string{eval.FaithfulnessVerified}},
		{`{"provider": "verify"}`, all, []string{eval.FaithfulnessVerified}},
		{`{"enabled": false}`, all, nil},
		{`{"metrics": ["hit@3"]}`, all, nil},
	} {
		s, err := eval.ParseSettings([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		e, err := s.Evaluator(c.models)
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		var got []string
		if e != nil {
			got = e.Metrics()
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.text, diff)
		}
	}
}

func TestSettingsThatMakeNoSense(t *testing.T) {
	for text, want := range map[string]string{
		`{"backend": []}`: "unknown key", `{"backends": ["judges"]}`: `did you mean "judge"`, `{"provider": "x"}`: "known: overlap", `[]`: "evaluation",
	} {
		if _, err := eval.ParseSettings([]byte(text)); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		`{"backends": ["judge"]}`: "needs a chat model", `{"backends": ["verify"]}`: "needs a verifier", `{"metrics": ["faithfulness"]}`: "no backend of overlap has the metric",
	} {
		s, err := eval.ParseSettings([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Evaluator(eval.Models{}); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
}
