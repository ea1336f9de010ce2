package httpjson

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// GateConfig says what a [Gate] lets through.
type GateConfig struct {
	PerMinute  int           // requests; 0: any number
	Concurrent int           // requests under way, a stream until it ends; 0: any number
	BreakAfter int           // failures in a row after which nothing is sent; 0: never
	BreakFor   time.Duration // how long then; a single request tries it afterwards
}

// Gate keeps a service from being asked more than it can take, and from being asked at all while it is down: a bucket
// of tokens, a number of places and a circuit breaker (M. Nygard, Release It!, 2007, chapter 5). A try is one request. It
// is safe for concurrent use.
type Gate struct {
	c      GateConfig
	places chan struct{}

	mu       sync.Mutex
	tokens   float64 // below 0: taken in advance by those who wait
	filled   time.Time
	failures int       // in a row
	shut     time.Time // until then nothing is sent
	trying   bool      // a request is under way to see whether the service is back
}

// NewGate returns a gate that is open.
func NewGate(c GateConfig) *Gate {
	g := &Gate{c: c}
	if c.Concurrent > 0 {
		g.places = make(chan struct{}, c.Concurrent)
	}
	g.tokens = g.burst()
	return g
}

// ErrShut means that a request was not sent, because those before it failed.
var ErrShut = errors.New("not asked")

// burst is how many requests may go at once after a pause: as many as there are places, so that a minute does not begin
// with a crowd.
func (g *Gate) burst() float64 {
	if n := g.c.Concurrent; n > 0 && n < g.c.PerMinute {
		return float64(n)
	}
	return float64(g.c.PerMinute)
}

// verdict is what a try says of the service.
type verdict int

const (
	well    verdict = iota // it answers
	ill                    // it does not
	unknown                // the caller gave up
)

// verdictOf reads an error. A service that refuses a request, or asks to be asked less often, is well.
func verdictOf(ctx context.Context, err error) verdict {
	var status *StatusError
	switch {
	case err == nil:
		return well
	case ctx.Err() != nil, errors.Is(err, errRequest):
		return unknown
	case errors.As(err, &status) && status.Code < 500:
		return well
	}
	return ill
}

// enter waits for a place and a token. Then leave must be called with what came of it. The error is ctx's, or ErrShut:
// also where ctx ends before there is a token.
func (g *Gate) enter(ctx context.Context) (leave func(verdict), err error) {
	probe, err := g.admit()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			g.settle(unknown, probe)
		}
	}()
	if g.places != nil {
		select {
		case g.places <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	release := func() {
		if g.places != nil {
			<-g.places
		}
	}
	if err := g.wait(ctx); err != nil {
		release()
		return nil, err
	}
	return func(v verdict) {
		release()
		g.settle(v, probe)
	}, nil
}

// admit asks the breaker. probe says that the request is the one that tries whether the service is back.
func (g *Gate) admit() (probe bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut.IsZero() {
		return false, nil
	}
	left := time.Until(g.shut)
	if left > 0 || g.trying {
		return false, fmt.Errorf("%w: it failed %d times in a row; the next try is in %s", ErrShut, g.failures, max(left, 0).Round(time.Second))
	}
	g.trying = true
	return true, nil
}

// settle tells the breaker.
func (g *Gate) settle(v verdict, probe bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if probe {
		g.trying = false
	}
	switch v {
	case well:
		g.failures, g.shut = 0, time.Time{}
	case ill:
		if g.failures++; g.c.BreakAfter > 0 && g.failures >= g.c.BreakAfter {
			g.shut = time.Now().Add(g.c.BreakFor)
		}
	}
}

// wait takes a token, and waits until there is one.
func (g *Gate) wait(ctx context.Context) error {
	if g.c.PerMinute <= 0 {
		return ctx.Err()
	}
	pause := g.take()
	if pause <= 0 {
		return ctx.Err()
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < pause {
		g.giveBack()
		return fmt.Errorf("%w: %d requests a minute are allowed, and the next one is due in %s", ErrShut, g.c.PerMinute, pause.Round(time.Millisecond))
	}
	if err := Sleep(ctx, pause); err != nil {
		g.giveBack()
		return err
	}
	return nil
}

// take takes a token, which may be one that is still to come, and returns how long until it does.
func (g *Gate) take() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, perToken := time.Now(), time.Minute/time.Duration(g.c.PerMinute)
	if !g.filled.IsZero() {
		g.tokens = min(g.burst(), g.tokens+float64(now.Sub(g.filled))/float64(perToken))
	}
	g.filled = now
	g.tokens--
	return time.Duration(-g.tokens * float64(perToken))
}

func (g *Gate) giveBack() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tokens++
}
