package vectorstore

import "testing"

// TestScanIsCheaper: few are compared, many are walked to, and the more there are in all the smaller the part.
func TestScanIsCheaper(t *testing.T) {
	tuning := tuning{exactBelow: 20_000}
	for _, c := range []struct {
		n, total int
		want     bool
	}{
		{19_999, 19_999, true}, {20_000, 20_000, false}, {40_000, 100_000, true}, {50_000, 100_000, false},
		{100_000, 1_000_000, true}, {200_000, 1_000_000, false}, {0, 1_000_000, true},
	} {
		if got := tuning.scanIsCheaper(c.n, c.total); got != c.want {
			t.Errorf("%d of %d: %v, want %v", c.n, c.total, got, c.want)
		}
	}
}
