package rerank

import "testing"

func FuzzReadRanking(f *testing.F) {
	for _, s := range []string{`{"ranking":[3,1,2]}`, "x [1] {", `[[[[`, `{"ranking":["2",2.5,-1]}`} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, reply string, n int) {
		if n < 1 || n > 50 {
			return
		}
		order, err := readRanking(reply, n)
		seen := map[int]bool{}
		for _, i := range order {
			if i < 0 || i >= n || seen[i] {
				t.Errorf("order %v of %d", order, n)
			}
			seen[i] = true
		}
		if err == nil && 2*len(order) < n {
			t.Errorf("order %v of %d without an error", order, n)
		}
		if x, err := readScore(reply); err == nil && !(x >= 0 && x <= 1) {
			t.Errorf("score %v", x)
		}
	})
}
