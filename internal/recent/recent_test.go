package recent_test

import (
	"testing"

	"github.com/seed-d8745b77/rag/internal/recent"
)

func TestTheLongestUnusedGoes(t *testing.T) {
	v := recent.New[string](2)
	made := 0
	get := func(key string) {
		t.Helper()
		if got := v.Get(key, func() string { made++; return "of " + key }); got != "of "+key {
			t.Errorf("%s: %q", key, got)
		}
	}
	for _, step := range []struct {
		key  string
		made int
	}{{"a", 1}, {"b", 2}, {"a", 2}, {"c", 3}, {"a", 3}, {"b", 4}} { // c takes the place of b, b that of c
		get(step.key)
		if made != step.made {
			t.Errorf("after %s %d were made, want %d", step.key, made, step.made)
		}
	}
	if v.Len() != 2 {
		t.Errorf("%d are kept", v.Len())
	}
}
