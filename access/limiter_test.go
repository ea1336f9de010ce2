package access_test

import (
	"testing"
	"time"

	"github.com/seed-d8745b77/rag/access"
)

// TestTheLimiterAfterTheClockIsPutBack: a caller who has an allowance keeps it, gets no new one, and need not wait until the
// clock is where it was.
func TestTheLimiterAfterTheClockIsPutBack(t *testing.T) {
	l := access.NewLimiter(1, 2)
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	before := noon.Add(-24 * time.Hour)
	for i, c := range []struct {
		now  time.Time
		ok   bool
		wait time.Duration
	}{
		{noon, true, 0}, {before, true, 0}, {before, false, time.Second}, {before.Add(time.Second), true, 0}, {before.Add(time.Second), false, time.Second},
	} {
		if wait, ok := l.Allow("ann", c.now); ok != c.ok || wait != c.wait {
			t.Errorf("call %d: %v, wait %v; want %v, %v", i, ok, wait, c.ok, c.wait)
		}
	}
}
