package eval_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
)

// Rules change what is asked, not the set that they are applied to.
func TestUnderRules(t *testing.T) {
	set, problems := eval.Parse([]byte(`{"question": "a", "expected_sources": ["x.md"], "filters": {"country": "uk"}, "as_of": "2026-03-01"}` + "\n" +
		`{"question": "b", "expected_sources": ["x.md"], "as_of": "2026-03-01", "expiry_policy": "exclude"}` + "\n" + `{"question": "c", "expected_sources": ["x.md"]}` + "\n"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	ruled, err := set.Under(func(q rag.Query) (rag.Query, error) {
		q.Filter, q.Expired = rag.And(rag.Eq("of", "domain"), q.Filter), true
		return q, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		filter  string
		expired bool
	}{{`of = "domain" and country = "uk"`, true}, {`of = "domain"`, false}, {`of = "domain"`, false}} {
		if q := ruled.Questions[i].Query(""); q.Filter.String() != want.filter || q.Expired != want.expired {
			t.Errorf("question %d: %s, %v", i, q.Filter, q.Expired)
		}
	}
	if q := set.Questions[1].Query(""); !q.Filter.IsZero() {
		t.Errorf("the set itself has changed: %s", q.Filter)
	}
	_, err = set.Under(func(q rag.Query) (rag.Query, error) { return q, rag.ErrInvalid })
	if !errors.Is(err, rag.ErrInvalid) || !strings.HasPrefix(err.Error(), "line 1 (") {
		t.Errorf("refused: %v", err)
	}
}
