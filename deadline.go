package rag

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// callerShare is the part of the caller's remaining time that a step which the search can do without may use up: the
// rest is for the answer without it.
const callerShare = 0.5

// maxAbandoned is how many calls may go on in the background after their deadline before no more are made until one of
// them has ended.
const maxAbandoned = 8

// errAbandoned is what a provider that does not come back to its senses is answered with.
var errAbandoned = fmt.Errorf("%d earlier calls have not returned since their deadlines: %w", maxAbandoned, ErrUnavailable)

// within makes a call that the search can do without, with a deadline: its budget, or a share of what the caller's
// deadline leaves if that is less. A call that ignores its context is left behind, and one that panics has failed.
func within[T any](ctx context.Context, abandoned *atomic.Int32, who string, budget time.Duration, call func(context.Context) (T, error)) (T, error) {
	var none T
	if deadline, ok := ctx.Deadline(); ok {
		budget = min(budget, time.Duration(callerShare*float64(time.Until(deadline))))
	}
	if abandoned.Load() >= maxAbandoned {
		return none, errAbandoned
	}
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	type reply struct {
		value T
		err   error
	}
	got := make(chan reply, 1)
	go func() {
		value, err := survive(who, func() (T, error) { return call(ctx) })
		got <- reply{value, err}
	}()
	select {
	case r := <-got:
		return r.value, r.err
	case <-ctx.Done():
		abandoned.Add(1)
		go func() { <-got; abandoned.Add(-1) }()
		return none, fmt.Errorf("no reply within %v: %w", budget.Round(time.Millisecond), ctx.Err())
	}
}
