package rag

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// claims are the sources that a worker holds. A goroutine beside the work renews their leases, and settles those that have
// ended. The methods that an ingest calls do nothing without claims.
type claims struct {
	queue      WorkQueue
	collection string
	lease      time.Duration
	tries      int           // a source that fails so often is given up
	pause      time.Duration // before its second try
	log        *slog.Logger

	renewing sync.Mutex // so that no older Touched is kept over a newer

	mu     sync.Mutex
	held   map[string]*QueueClaim // by URI: what is being worked on
	ends   []QueueEnd             // not yet told
	counts claimCounts
	wake   chan struct{} // there are ends
}

// claimCounts count how claims ended.
type claimCounts struct{ taken, failed, retried, lost int }

// Pauses between the tries of a source grow by this factor: what does not go at once may go when a service is back.
const pauseGrowth = 4

// settlePatience is how long a worker that ends tries to give back what it holds. What it cannot is taken over when the
// leases run out.
const settlePatience = 10 * time.Second

func (c *claims) add(taken []QueueClaim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range taken {
		c.held[taken[i].URI] = &taken[i]
	}
	c.counts.taken += len(taken)
}

func (c *claims) scope(uri string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if claim := c.held[uri]; claim != nil {
		return claim.Scope
	}
	return ""
}

// stillHeld are the sources of a group that no other worker has taken over.
func (c *claims) stillHeld(group []*prepared) []*prepared {
	c.mu.Lock()
	defer c.mu.Unlock()
	var left []*prepared
	for _, p := range group {
		if c.held[p.file.URI] != nil {
			left = append(left, p)
		}
	}
	return left
}

// done ends a claim well.
func (c *claims) done(uri string) {
	if c != nil {
		c.end(uri, func(claim *QueueClaim) QueueEnd { return QueueEnd{State: QueueDone} })
	}
}

// failed ends a claim whose source failed: it is tried again, unless its own bytes are at fault or it failed too often.
func (c *claims) failed(uri string, err error) {
	if c == nil {
		return
	}
	c.end(uri, func(claim *QueueClaim) QueueEnd {
		claim.Tries++
		if claim.Tries >= c.tries || errors.Is(err, ErrInvalid) || errors.Is(err, ErrUnsupported) {
			c.counts.failed++
			return QueueEnd{State: QueueFailed, Error: err.Error()}
		}
		c.counts.retried++
		wait := c.pause
		for range claim.Tries - 1 {
			wait *= pauseGrowth
		}
		return QueueEnd{State: QueuePending, Wait: wait, Error: err.Error()}
	})
}

// end takes a claim out of those that are held. Of one that is done or given up nothing is left in the indexes.
func (c *claims) end(uri string, how func(*QueueClaim) QueueEnd) {
	c.mu.Lock()
	defer c.mu.Unlock()
	claim := c.held[uri]
	if claim == nil {
		return
	}
	delete(c.held, uri)
	end := how(claim)
	if end.State == QueueDone {
		claim.Pending, claim.Touched = nil, nil
	}
	end.QueueClaim = *claim
	c.ends = append(c.ends, end)
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// touch notes in the queue what the group may leave in the indexes. It is ErrLocked if a source was taken over.
func (c *claims) touch(ctx context.Context, w *groupWork, group []*prepared) error {
	changed := map[string][]string{}
	for _, chunk := range w.changed {
		uri := SourceURI(chunk.URI)
		changed[uri] = append(changed[uri], chunk.ID)
	}
	c.mu.Lock()
	for _, p := range group {
		if claim := c.held[p.file.URI]; claim != nil {
			claim.Touched = union(claim.Touched, changed[claim.URI], w.removed([]*prepared{p}))
		}
	}
	for _, uri := range w.pending {
		if claim := c.held[SourceURI(uri)]; claim != nil {
			claim.Pending = union(claim.Pending, []string{uri})
		}
	}
	c.mu.Unlock()
	return c.renew(ctx, group)
}

func union(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}

// of returns the claims of a group; ErrLocked if one is not held any more.
func (c *claims) of(group []*prepared) ([]QueueClaim, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]QueueClaim, 0, len(group))
	for _, p := range group {
		claim := c.held[p.file.URI]
		if claim == nil {
			return nil, &StageError{StageUpsert, p.file.URI, fmt.Errorf("another worker has taken it over: %w", ErrLocked)}
		}
		list = append(list, *claim)
	}
	return list, nil
}

// renew gives the claims of a group another lease. It is ErrLocked if one was taken over.
func (c *claims) renew(ctx context.Context, group []*prepared) error {
	if _, err := c.of(group); err != nil {
		return err
	}
	in := make(map[string]bool, len(group))
	for _, p := range group {
		in[p.file.URI] = true
	}
	if err := c.renewed(ctx, func(uri string) bool { return in[uri] }); err != nil {
		return err
	}
	_, err := c.of(group)
	return err
}

// renewAll gives all claims another lease.
func (c *claims) renewAll(ctx context.Context) error {
	return c.renewed(ctx, func(string) bool { return true })
}

// renewed renews the claims of some URIs, and lets go of those that others have taken over.
func (c *claims) renewed(ctx context.Context, which func(uri string) bool) error {
	c.renewing.Lock()
	defer c.renewing.Unlock()
	var list []QueueClaim
	c.mu.Lock()
	for uri, claim := range c.held {
		if which(uri) {
			list = append(list, *claim)
		}
	}
	c.mu.Unlock()
	if len(list) == 0 {
		return nil
	}
	held, err := c.queue.Renew(ctx, c.collection, list, c.lease)
	if err != nil {
		return err
	}
	for _, claim := range list {
		if !slices.Contains(held, claim.URI) {
			c.lose(claim)
		}
	}
	return nil
}

// lose lets go of a claim that another has.
func (c *claims) lose(claim QueueClaim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.held[claim.URI]; now == nil || now.Number != claim.Number {
		return
	}
	c.log.Warn("another worker has taken a source over: the lease ran out", "collection", c.collection, "doc", claim.URI)
	c.counts.lost++
	delete(c.held, claim.URI)
	if len(claim.Touched) > 0 {
		c.ends = append(c.ends, QueueEnd{QueueClaim: claim, State: QueuePending})
	}
}

// commit commits a group if it is still held.
func (c *claims) commit(ctx context.Context, group []*prepared, changes []Change) error {
	list, err := c.of(group)
	if err != nil {
		return err
	}
	return c.queue.CommitClaimed(ctx, c.collection, list, changes)
}

// clean notes that the indexes hold of a source what the catalog says.
func (c *claims) clean(uri string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if claim := c.held[uri]; claim != nil {
		claim.Pending, claim.Touched = nil, nil
	}
}

// touched are the records of a source that may differ from the catalog.
func (c *claims) touched(uri string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if claim := c.held[uri]; claim != nil {
		return claim.Touched
	}
	return nil
}

// settle tells the queue which claims have ended. What cannot be told now is told later.
func (c *claims) settle(ctx context.Context) error {
	c.mu.Lock()
	ends := c.ends
	c.ends = nil
	c.mu.Unlock()
	if len(ends) == 0 {
		return nil
	}
	err := c.queue.Settle(ctx, c.collection, ends)
	if err != nil {
		c.mu.Lock()
		c.ends = append(ends, c.ends...)
		c.mu.Unlock()
	}
	return err
}

// keep renews and settles until stop is closed.
func (c *claims) keep(ctx context.Context, stop <-chan struct{}) {
	tick := time.NewTicker(c.lease / renewals)
	defer tick.Stop()
	for {
		var err error
		select {
		case <-stop:
			return
		case <-tick.C:
			err = errors.Join(c.renewAll(ctx), c.settle(ctx))
		case <-c.wake:
			err = c.settle(ctx)
		}
		if err != nil && ctx.Err() == nil {
			c.log.Warn("the queue cannot be reached: what is held may be taken over", "collection", c.collection, "error", err)
		}
	}
}

// renewals is how often a lease is renewed before it runs out: two may fail.
const renewals = 3

// giveBack settles what has ended, and returns what has not to the queue. It also does when the context is done.
func (c *claims) giveBack(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settlePatience)
	defer cancel()
	c.mu.Lock()
	for uri, claim := range c.held {
		c.ends = append(c.ends, QueueEnd{QueueClaim: *claim, State: QueuePending})
		delete(c.held, uri)
	}
	c.mu.Unlock()
	return c.settle(ctx)
}
