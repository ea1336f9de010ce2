package eval_test

import (
	"errors"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
)

// FuzzRules reads the names of metrics and the rules of a gate.
func FuzzRules(f *testing.F) {
	for _, text := range []string{"ndcg@10=0.7", "document/hit@3=0", "mrr=1e400", "recall@-1", "hit@99999999999999999999=nan", "=", "a=b=c"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if m, err := eval.ParseMetric(text); err != nil && !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("error %v, want ErrInvalid", err)
		} else if again, err2 := eval.ParseMetric(m.String()); err == nil && (err2 != nil || again != m) {
			t.Errorf("%q is %v, and that is %v, %v", text, m, again, err2)
		}
		r, err := eval.ParseRule(text, false)
		if err != nil && !errors.Is(err, rag.ErrInvalid) || err == nil && !(r.Bound >= 0) {
			t.Errorf("%q is the rule %+v, %v", text, r, err)
		}
	})
}
