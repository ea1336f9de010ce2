package mcpadapter

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed-d8745b77/rag"
)

// States of a job.
const (
	jobRunning   = "running"
	jobDone      = "done"
	jobFailed    = "failed"
	jobCancelled = "cancelled"
)

// maxJobs is how many jobs are remembered; the oldest that have ended are forgotten first.
const maxJobs = 100

// job is an ingest that goes on after the call that began it has been answered.
type job struct {
	owner  string // name of the principal
	cancel context.CancelFunc
	ended  chan struct{}

	mu     sync.Mutex
	status jobStatus
}

// jobStatus is the data of ingest, job_status and cancel_job.
type jobStatus struct {
	JobID     string   `json:"job_id"`
	State     string   `json:"state"` // running, done, failed or cancelled
	Stage     string   `json:"stage,omitempty"`
	Done      int      `json:"done"` // of the stage
	Total     int      `json:"total"`
	Added     int      `json:"added"`
	Updated   int      `json:"updated"`
	Unchanged int      `json:"unchanged"`
	Failed    []string `json:"failed"` // sources that could not be read, with the reason
	Error     string   `json:"error,omitempty"`
	Started   string   `json:"started"` // RFC 3339
}

func (j *job) snapshot() jobStatus {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.status
}

// jobs are those of one server.
type jobs struct {
	mu    sync.Mutex
	list  []*job // oldest first
	wg    sync.WaitGroup
	ended bool
}

// start runs work as a job of its own.
func (js *jobs) start(owner string, now time.Time, work func(ctx context.Context, j *job) (*rag.IngestReport, error)) (*job, error) {
	js.mu.Lock()
	defer js.mu.Unlock()
	if js.ended {
		return nil, errClosed
	}
	js.forget()
	ctx, cancel := context.WithCancel(context.Background())
	j := &job{owner: owner, cancel: cancel, ended: make(chan struct{})}
	j.status = jobStatus{JobID: rand.Text()[:12], State: jobRunning, Failed: []string{}, Started: instant(now)}
	js.list = append(js.list, j)
	js.wg.Go(func() {
		defer close(j.ended)
		defer cancel()
		report, err := survive(func() (*rag.IngestReport, error) { return work(ctx, j) })
		j.finish(report, err, ctx.Err() != nil)
	})
	return j, nil
}

// survive makes a call that may panic.
func survive(call func() (*rag.IngestReport, error)) (report *rag.IngestReport, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("it gave up because of an internal error")
		}
	}()
	return call()
}

func (j *job) finish(report *rag.IngestReport, err error, cancelled bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := &j.status
	s.State = jobDone
	if report != nil {
		s.Added, s.Updated, s.Unchanged = report.Added, report.Updated, report.Unchanged
		for _, f := range report.Failed {
			s.Failed = append(s.Failed, fmt.Sprintf("%s: %s", place(f.URI), f.Error))
		}
	}
	switch {
	case cancelled:
		s.State = jobCancelled
	case err != nil && !errors.Is(err, rag.ErrPartial):
		s.State, s.Error = jobFailed, sentence(err)
	}
}

// forget makes room.
func (js *jobs) forget() {
	for i := 0; i < len(js.list) && len(js.list) >= maxJobs; {
		if js.list[i].snapshot().State == jobRunning {
			i++
			continue
		}
		js.list = append(js.list[:i], js.list[i+1:]...)
	}
}

// get finds a job of an owner.
func (js *jobs) get(owner, id string) (*job, error) {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, j := range js.list {
		if j.owner == owner && j.snapshot().JobID == id {
			return j, nil
		}
	}
	return nil, fmt.Errorf("there is no job %q: %w", cut(id, 40), rag.ErrNotFound)
}

// close cancels what is under way and waits for it.
func (js *jobs) close() {
	js.mu.Lock()
	js.ended = true
	for _, j := range js.list {
		j.cancel()
	}
	js.mu.Unlock()
	js.wg.Wait()
}
