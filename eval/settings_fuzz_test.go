package eval_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
)

func FuzzParseSettings(f *testing.F) {
	for _, s := range []string{
		``, `null`, `{"provider":"composite","backends":["ragas","custom"],"repeat":3}`, `{"enabled":false,"metrics":["faithfulness"]}`,
		`{"repeat":-1}`, `{"backend":1}`, `{"provider":"nobody"}`, `[]`, `{"repeat":1e3}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := eval.ParseSettings(raw)
		if err != nil {
			if _, ok := errors.AsType[*rag.ConfigError](err); !ok || !errors.Is(err, rag.ErrInvalid) {
				t.Errorf("an error of another kind: %v", err)
			}
			return
		}
		known := append([]string{"", "composite", "custom", "ragas"}, eval.BackendNames...)
		if s.Repeat < 0 || s.Repeat > 1000 || !slices.Contains(known, s.Provider) {
			t.Errorf("%s is taken for %+v", raw, s)
		}
	})
}
