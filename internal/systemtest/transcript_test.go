package systemtest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTranscript(t *testing.T) {
	got := transcript("text\n\n```sh\n$ no\n```\n```console\n$ rag ingest docs\n3 added\n\n$ rag search \\\n  x\na\n…\nb … c\n```\n$ no\n")
	want := []step{{"rag ingest docs", []string{"3 added"}}, {"rag search \\\n  x", []string{"a", "…", "b … c"}}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(step{})); diff != "" {
		t.Error(diff)
	}
}

func TestMatches(t *testing.T) {
	lines := func(s ...string) []string { return s }
	for _, c := range []struct {
		want, have []string
		ok         bool
	}{
		{lines("a"), lines("a"), true},
		{lines("a"), lines("b"), false},
		{lines("a"), lines("a", "b"), false},
		{lines("a", "b"), lines("a"), false},
		{lines("a", "…"), lines("a"), true},
		{lines("a", "…", "d"), lines("a", "b", "c", "d"), true},
		{lines("a", "…", "d"), lines("a", "b", "c"), false},
		{lines("in … ms"), lines("in 12 ms"), true},
		{lines("in … ms"), lines("in 12 s"), false},
		{lines("…x…x"), lines("x"), false},
		{lines("1 … 2 … 3"), lines("1 a 2 b 3"), true},
		{lines("1 … 2 … 3"), lines("1 a b 3"), false},
	} {
		if got := matches(c.want, c.have); got != c.ok {
			t.Errorf("%q, %q: %v", c.want, c.have, got)
		}
	}
}
