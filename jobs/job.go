package jobs

import (
	"context"
	"crypto/rand"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/seed-d8745b77/rag"
)

// State is where a job is.
type State string

// States of a job.
const (
	Queued    State = "queued" // waits until fewer jobs are at work
	Running   State = "running"
	Done      State = "done" // also where some of its items failed
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Ended reports whether a job in this state is over.
func (s State) Ended() bool { return s == Done || s == Failed || s == Cancelled }

// Status is a job as a whole.
type Status struct {
	ID      string    `json:"job_id"`
	Kind    string    `json:"kind"`
	Title   string    `json:"title"`
	Target  string    `json:"target,omitempty"`
	State   State     `json:"state"`
	Seq     int64     `json:"seq"`    // number of the last change
	Stages  []Stage   `json:"stages"` // in the order in which they were first told of
	Last    string    `json:"stage"`  // name of the stage told of last
	Counts  Counts    `json:"counts"`
	Error   string    `json:"error,omitempty"` // Failed: why
	Created time.Time `json:"created"`
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
}

// Stage is how far one stage of a job is.
type Stage struct {
	Name  string `json:"name"`
	Done  int    `json:"done"`
	Total int    `json:"total"` // as far as it is known
}

// Stage returns the stage of this name, zero if there is none.
func (s *Status) Stage(name string) Stage {
	for _, st := range s.Stages {
		if st.Name == name {
			return st
		}
	}
	return Stage{Name: name}
}

// Elapsed is how long the job has been at work.
func (s *Status) Elapsed(now time.Time) time.Duration {
	switch {
	case s.Started.IsZero():
		return 0
	case !s.Ended.IsZero():
		now = s.Ended
	}
	return max(0, now.Sub(s.Started)) // the clock may have been put back
}

// Change is what has changed since a reader asked last.
type Change struct {
	Status Status `json:"status"`
	Items  []Item `json:"items"` // in the order of their last change
	Result any    `json:"-"`     // what Work returned; nil before the job has ended
}

// Job is work under way, or done. It is safe for concurrent use.
type Job struct {
	id, owner, kind string
	detail          any
	cancel          context.CancelFunc
	ended           chan struct{}
	now             func() time.Time

	mu      sync.Mutex
	status  Status
	items   *items
	result  any
	err     error
	changed chan struct{} // closed at the next change, and made anew
}

func newJob(s Spec, o Options, cancel context.CancelFunc) *Job {
	id := rand.Text()[:12]
	return &Job{
		id: id, owner: s.Owner, kind: s.Kind, detail: s.Detail, cancel: cancel, now: o.Now, ended: make(chan struct{}), changed: make(chan struct{}),
		items:  newItems(o.Items),
		status: Status{ID: id, Kind: s.Kind, Title: s.Title, Target: s.Target, State: Queued, Seq: 1, Stages: []Stage{}, Created: o.Now()},
	}
}

// ID names the job.
func (j *Job) ID() string { return j.id }

// Detail is that of the job's Spec.
func (j *Job) Detail() any { return j.detail }

// Cancel asks the job to end. What it has done stays.
func (j *Job) Cancel() { j.cancel() }

// Done is closed when the job has ended.
func (j *Job) Done() <-chan struct{} { return j.ended }

func (j *Job) hasEnded() bool {
	select {
	case <-j.ended:
		return true
	default:
		return false
	}
}

// Status returns the job as a whole.
func (j *Job) Status() Status { return j.Since(maxSeq).Status }

// maxSeq is behind every change.
const maxSeq = int64(1<<63 - 1)

// Result returns what the job's Work returned; nil, nil before it has ended.
func (j *Job) Result() (any, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.result, j.err
}

// Since returns the job, and its items that changed behind change number seq: 0 for all.
func (j *Job) Since(seq int64) Change {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.since(seq)
}

func (j *Job) since(seq int64) Change {
	c := Change{Status: j.status, Items: j.items.since(seq), Result: j.result}
	c.Status.Stages = slices.Clone(c.Status.Stages)
	c.Status.Counts = j.items.counts.clone()
	return c
}

// Follow yields what has changed behind change number seq, then what changes, until the job has ended or the context is
// done. The last change of a job that has ended is yielded once, also to who has seen it.
func (j *Job) Follow(ctx context.Context, seq int64) iter.Seq[Change] {
	return func(yield func(Change) bool) {
		for {
			j.mu.Lock()
			c, next := j.since(seq), j.changed
			j.mu.Unlock()
			over := c.Status.State.Ended()
			if (c.Status.Seq > seq || over) && !yield(c) || over {
				return
			}
			seq = c.Status.Seq
			select {
			case <-next:
			case <-ctx.Done():
				return
			}
		}
	}
}

// change makes a change and wakes those who wait for one.
func (j *Job) change(what func(seq int64)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.status.Seq++
	what(j.status.Seq)
	close(j.changed)
	j.changed = make(chan struct{})
}

func (j *Job) begin() {
	j.change(func(int64) { j.status.State, j.status.Started = Running, j.now() })
}

func (j *Job) finish(result any, err error, cancelled bool) {
	j.change(func(int64) {
		s := &j.status
		j.result, j.err, s.Ended, s.State = result, err, j.now(), Done
		switch {
		case cancelled:
			s.State = Cancelled
		case err != nil && !errors.Is(err, rag.ErrPartial):
			s.State, s.Error = Failed, err.Error()
		}
	})
	close(j.ended)
}

// Run is a job as its work sees it.
type Run struct{ job *Job }

// Stage tells how far a stage is.
func (r *Run) Stage(name string, done, total int) {
	r.job.change(func(int64) {
		s := &r.job.status
		s.Last = name
		for i := range s.Stages {
			if s.Stages[i].Name == name {
				s.Stages[i] = Stage{name, done, total}
				return
			}
		}
		s.Stages = append(s.Stages, Stage{name, done, total})
	})
}

// Item tells of an item.
func (r *Run) Item(it Item) {
	r.job.change(func(seq int64) {
		it.Seq = seq
		r.job.items.put(it, r.job.now())
	})
}
