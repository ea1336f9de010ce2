// Package jobs lets work go on after the call that began it has been answered: ingests, evaluations.
//
//	m := jobs.New(jobs.Options{})
//	defer m.Close()
//	job, err := m.Start(jobs.Spec{Owner: "ann", Kind: jobs.KindIngest, Work: jobs.Ingest(lend, request)})
//	for change := range job.Follow(ctx, 0) { … } // what has changed, until the job has ended
//
// A job tells its state as a whole and its items, such as files, one by one. Every change has a number, and who has seen
// the changes up to N asks for those behind it. What is kept is the latest state of each item and not the history of
// changes: so a reader that was away misses nothing, a slow one does not hold up the work, and memory is bounded.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/seed-d8745b77/rag"
)

// Options sets a manager up.
type Options struct {
	Keep     int              // jobs that are remembered, the oldest that have ended are forgotten first; 0: 100
	Parallel int              // jobs at work at once, others wait; 0: 4
	Items    int              // items of one job that are remembered, the first that have ended are forgotten first but counted; 0: 10,000
	Logger   *slog.Logger     // told of panics; nil: silent
	Now      func() time.Time // nil: time.Now
}

const (
	defaultKeep     = 100
	defaultParallel = 4
	defaultItems    = 10_000
)

// ErrClosed is returned by Start when the manager has been closed.
var ErrClosed = errors.New("the server is ending: no new job is begun")

// Manager runs jobs. Make one with [New]; it is safe for concurrent use.
type Manager struct {
	options Options
	slots   chan struct{} // taken by jobs at work
	wg      sync.WaitGroup

	mu     sync.Mutex
	list   []*Job // oldest first
	closed bool
}

// New returns a manager without jobs.
func New(o Options) *Manager {
	fill(&o.Keep, defaultKeep)
	fill(&o.Parallel, defaultParallel)
	fill(&o.Items, defaultItems)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Manager{options: o, slots: make(chan struct{}, o.Parallel)}
}

func fill(field *int, value int) {
	if *field <= 0 {
		*field = value
	}
}

// Spec describes a job.
type Spec struct {
	Owner  string // who may see it
	Kind   string // what kind of work it is, such as KindIngest
	Title  string // for people: what is worked on
	Target string // what it works on, such as a collection
	Detail any    // what the owner wants to find again with it

	// Work does it, tells run how far it is, and ends soon when the context is done. What it returns beside an error
	// is the job's result, also where there is an error.
	Work func(ctx context.Context, run *Run) (result any, err error)
}

// Kinds of jobs that this module has.
const (
	KindIngest = "ingest"
	KindEval   = "evaluation"
)

// Start begins a job and does not wait for it. ErrClosed: the manager is closed; rag.ErrUnavailable: as many jobs as are
// remembered are under way.
func (m *Manager) Start(s Spec) (*Job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, ErrClosed
	}
	if m.forget(); len(m.list) >= m.options.Keep {
		return nil, fmt.Errorf("%d jobs are under way: wait for one to end: %w", len(m.list), rag.ErrUnavailable)
	}
	ctx, cancel := context.WithCancel(context.Background()) // a job outlives the call that began it
	j := newJob(s, m.options, cancel)
	m.list = append(m.list, j)
	m.wg.Go(func() {
		defer cancel()
		m.run(ctx, j, s.Work)
	})
	return j, nil
}

// run waits for a slot and does the work.
func (m *Manager) run(ctx context.Context, j *Job, work func(context.Context, *Run) (any, error)) {
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
	case <-ctx.Done():
		j.finish(nil, ctx.Err(), true)
		return
	}
	j.begin()
	result, err := m.survive(j, func() (any, error) { return work(ctx, &Run{j}) })
	j.finish(result, err, ctx.Err() != nil)
}

// survive makes a call that may panic.
func (m *Manager) survive(j *Job, call func() (any, error)) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			m.options.Logger.Error("a job panicked", "job", j.id, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = errors.New("it gave up because of an internal error")
		}
	}()
	return call()
}

// forget makes room for one job; m.mu is held.
func (m *Manager) forget() {
	for i := 0; i < len(m.list) && len(m.list) >= m.options.Keep; {
		if !m.list[i].hasEnded() {
			i++
			continue
		}
		m.list = slices.Delete(m.list, i, i+1)
	}
}

// Get finds a job of an owner; rag.ErrNotFound if there is none, or it is another's.
func (m *Manager) Get(owner, id string) (*Job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, j := range m.list {
		if j.owner == owner && j.id == id {
			return j, nil
		}
	}
	return nil, fmt.Errorf("there is no job of this name: %w", rag.ErrNotFound)
}

// List returns the jobs of an owner, newest first. With kinds, only those.
func (m *Manager) List(owner string, kinds ...string) []*Job {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []*Job
	for _, j := range slices.Backward(m.list) {
		if j.owner == owner && (len(kinds) == 0 || slices.Contains(kinds, j.kind)) {
			found = append(found, j)
		}
	}
	return found
}

// Close cancels the jobs that are under way and waits until they have ended.
func (m *Manager) Close() {
	m.mu.Lock()
	m.closed = true
	for _, j := range m.list {
		j.cancel()
	}
	m.mu.Unlock()
	m.wg.Wait()
}
