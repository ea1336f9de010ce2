package local

import "testing"

func TestCacheKeepsWhatWasUsedLast(t *testing.T) {
	c := newCache(3)
	a, b, d, e := keyOf("q", "a"), keyOf("q", "b"), keyOf("q", "d"), keyOf("q", "e")
	for i, k := range []key{a, b, d} {
		c.put(k, float64(i))
	}
	c.get(a)
	c.put(b, 1) // used again: now d was not used for longest
	c.put(e, 3)
	for _, tt := range []struct {
		name  string
		key   key
		score float64
		kept  bool
	}{{"looked up", a, 0, true}, {"put again", b, 1, true}, {"not used for longest", d, 0, false}, {"new", e, 3, true}} {
		if score, kept := c.get(tt.key); kept != tt.kept || score != tt.score {
			t.Errorf("%s: %v, kept %v; want %v, %v", tt.name, score, kept, tt.score, tt.kept)
		}
	}
}

func TestCacheOfNothing(t *testing.T) {
	c := newCache(-1)
	c.put(keyOf("q", "a"), 1)
	if _, kept := c.get(keyOf("q", "a")); kept {
		t.Error("a score was kept")
	}
}

func TestKeysTellQueryAndTextApart(t *testing.T) {
	if keyOf("ab", "c") == keyOf("a", "bc") {
		t.Error("another split of the same bytes has the same key")
	}
}
