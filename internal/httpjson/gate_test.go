package httpjson

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// pass goes through the gate, stays for a while and says how it went.
func pass(t *testing.T, g *Gate, stay time.Duration, v verdict) {
	t.Helper()
	leave, err := g.enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	<-time.After(stay)
	leave(v)
}

func TestGateKeepsTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, start := NewGate(GateConfig{PerMinute: 60, Concurrent: 10}), time.Now()
		for range 10 { // as many as there are places go at once
			pass(t, g, 0, well)
		}
		if spent := time.Since(start); spent != 0 {
			t.Errorf("the first ten waited %s", spent)
		}
		for range 5 {
			pass(t, g, 0, well)
		}
		if spent := time.Since(start); spent != 5*time.Second {
			t.Errorf("five more waited %s, want a second each", spent)
		}
		<-time.After(time.Hour) // a pause saves no more than the ten
		start = time.Now()
		for range 11 {
			pass(t, g, 0, well)
		}
		if spent := time.Since(start); spent != time.Second {
			t.Errorf("eleven after an hour waited %s, want a second", spent)
		}
	})
}

func TestGateDoesNotWaitInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(GateConfig{PerMinute: 1})
		pass(t, g, 0, well)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start := time.Now()
		if _, err := g.enter(ctx); !errors.Is(err, ErrShut) || !strings.Contains(err.Error(), "1m0s") || time.Since(start) != 0 {
			t.Errorf("got %v after %s, want ErrShut that says when, at once", err, time.Since(start))
		}
		gone, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, stop)
		if _, err := g.enter(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		<-time.After(59 * time.Second) // neither has used the token up
		start = time.Now()
		pass(t, g, 0, well)
		if spent := time.Since(start); spent != 0 {
			t.Errorf("waited %s", spent)
		}
	})
}

func TestGateKeepsTheNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(GateConfig{Concurrent: 3})
		var under, most atomic.Int32
		start := time.Now()
		var wg sync.WaitGroup
		for range 9 {
			wg.Go(func() {
				leave, err := g.enter(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				most.Store(max(most.Load(), under.Add(1)))
				<-time.After(time.Second)
				under.Add(-1)
				leave(well)
			})
		}
		wg.Wait()
		if spent := time.Since(start); spent != 3*time.Second || most.Load() != 3 {
			t.Errorf("%d at once, %s in all; want 3 and 3s", most.Load(), spent)
		}
	})
}

func TestGateBreaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(GateConfig{BreakAfter: 3, BreakFor: time.Minute})
		pass(t, g, 0, ill)
		pass(t, g, 0, ill)
		pass(t, g, 0, well) // in a row, or not at all
		pass(t, g, 0, ill)
		pass(t, g, 0, unknown)
		pass(t, g, 0, ill)
		pass(t, g, 0, ill)
		shut := func(when string) {
			t.Helper()
			if _, err := g.enter(t.Context()); !errors.Is(err, ErrShut) {
				t.Errorf("%s: got %v, want ErrShut", when, err)
			}
		}
		shut("after three failures")
		<-time.After(time.Minute)
		leave, err := g.enter(t.Context())
		if err != nil {
			t.Fatalf("after a minute: %v", err)
		}
		shut("while one tries")
		leave(ill)
		shut("after it failed")
		<-time.After(time.Minute)
		pass(t, g, 0, unknown) // who tried gave up: the next one tries
		pass(t, g, 0, well)
		pass(t, g, 0, well)
	})
}
