package rag

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// WorkRequest says how to work on a queue. All fields may be left zero.
type WorkRequest struct {
	Collection string        // "" means Config.Collection
	Drain      bool          // end when the queue is worked off, also what others hold; else Work goes on until the context is done
	Worker     string        // name that others see; "": the machine and the process
	Lease      time.Duration // after which what a lost worker held is taken over; renewed while the worker lives; 0: a minute; at least a second
	Tries      int           // a source that fails so often is given up; 0: 3. One whose bytes are at fault is given up at once
	Pause      time.Duration // before the second try of a source, 4 times as long before each further one; 0: 2 seconds
	Poll       time.Duration // how often an empty queue is looked at; 0: a second

	// Open makes the source to be read; its URI and what else was enqueued are set by the engine. nil: a file of this machine.
	Open func(ctx context.Context, q QueuedSource) (Source, error)

	Tell       func(*IngestReport) // told of each round that is over; called from one goroutine
	EachSource func(SourceStep)    // as in [IngestRequest]
}

// WorkReport sums up what a worker did. Its JSON form is what `rag worker --json` prints at its end.
type WorkReport struct {
	Collection string      `json:"collection"`
	Worker     string      `json:"worker"`
	Sources    int         `json:"sources"` // taken from the queue
	Added      int         `json:"added"`
	Updated    int         `json:"updated"`
	Unchanged  int         `json:"unchanged"`
	Skipped    int         `json:"skipped"` // no loader reads them
	Failed     int         `json:"failed"`  // given up
	Retried    int         `json:"retried"` // failed, and are tried again
	Lost       int         `json:"lost"`    // another worker took them over, since the lease ran out
	Chunks     ChunkCounts `json:"chunks"`
	Embedded   int         `json:"embedded"`
	Cached     int         `json:"cached"`
	ElapsedMS  int64       `json:"elapsed_ms"`
}

// Defaults and bounds of [WorkRequest].
const (
	defaultLease = time.Minute
	leastLease   = time.Second
	defaultTries = 3
	defaultPause = 2 * time.Second
	defaultPoll  = time.Second
)

// Bounds of a worker's rounds.
const (
	// maxLosses is how often a source may be lost with its worker before it is given up as what ended them. Those that were
	// lost come last, so that one that ends every worker takes few others with it.
	maxLosses = 5
	// roundSources, or what takes longer than roundTime, end a round, after which whoever waits to write alone has his turn.
	roundSources = 512
	roundTime    = time.Minute
	// claimsPerReader is how many sources are claimed at once for each that reads: few, since what one worker has claimed
	// no other works on.
	claimsPerReader = 4
	// joinPatience is how long a worker waits at least for those who write alone before it says so and tries again.
	joinPatience = 10 * time.Second
	// longestPause is that between two tries of a worker whose services do not answer.
	longestPause = 30 * time.Second
)

// Work ingests what is in the collection's queue, beside other workers, each source as [Engine.Ingest] would: a source is
// worked on by one worker at a time, and committed only by the one that holds it. Searches see each document in its old or
// its new version, and calls that need the collection alone (Ingest, Delete, Reindex, Verify, Repair, Export, Copy) have
// their turn between rounds. A source that fails is tried again; the queue tells which were given up, and why.
//
// When the context is done, what is not finished is given back. A worker that goes on waits for services that do not
// answer; one that drains ends with the error. Errors: ErrPartial if this worker gave sources up; ErrUnsupported if the
// catalog has no queue; ErrFingerprint; the context's if it is done before the queue is drained.
func (e *Engine) Work(ctx context.Context, req WorkRequest) (*WorkReport, error) {
	if err := e.writable("work"); err != nil {
		return nil, err
	}
	queue, err := e.workQueue("work")
	if err != nil {
		return nil, err
	}
	if err := req.fill(); err != nil {
		return nil, err
	}
	w := &worker{Engine: e, queue: queue, req: req, name: e.collection(req.Collection), started: e.now()}
	w.report = WorkReport{Collection: w.name, Worker: req.Worker}
	err = w.work(ctx)
	w.report.ElapsedMS = e.now().Sub(w.started).Milliseconds()
	if ctx.Err() != nil && !req.Drain {
		err = nil
	}
	if err == nil && w.report.Failed > 0 {
		err = fmt.Errorf("%w: %d of the queue are given up", ErrPartial, w.report.Failed)
	}
	return &w.report, err
}

// fill sets defaults, or reports what is out of range.
func (r *WorkRequest) fill() error {
	if r.Worker == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "unknown host"
		}
		r.Worker = fmt.Sprintf("process %d on %s", os.Getpid(), host)
	}
	for _, d := range []struct {
		value *time.Duration
		zero  time.Duration
	}{{&r.Lease, defaultLease}, {&r.Pause, defaultPause}, {&r.Poll, defaultPoll}} {
		if *d.value == 0 {
			*d.value = d.zero
		}
	}
	if r.Tries == 0 {
		r.Tries = defaultTries
	}
	if r.Lease < leastLease || r.Pause < 0 || r.Poll < 0 || r.Tries < 0 {
		return fmt.Errorf("work: lease %v, tries %d, pause %v, poll %v: the lease must be a second at least, and nothing below 0: %w", r.Lease, r.Tries, r.Pause, r.Poll, ErrInvalid)
	}
	return nil
}

// worker is the state of one Work call.
type worker struct {
	*Engine
	queue   WorkQueue
	req     WorkRequest
	name    string // of the collection
	started time.Time
	report  WorkReport
}

// work runs rounds until the queue is drained or the context is done.
func (w *worker) work(ctx context.Context) error {
	pause := w.req.Poll
	for {
		some, err := w.round(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && !errors.Is(err, ErrLocked) && (w.req.Drain || !errors.Is(err, ErrUnavailable)):
			return err
		case err != nil:
			w.log.Warn("waiting to go on with the queue", "collection", w.name, "error", err)
			pause = min(2*pause, longestPause)
		case some:
			pause = w.req.Poll
			continue
		default:
			if done, err := w.drained(ctx); done || err != nil {
				return err
			}
			pause = w.req.Poll
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// drained reports whether a worker that drains is done.
func (w *worker) drained(ctx context.Context) (bool, error) {
	if !w.req.Drain {
		return false, nil
	}
	status, err := w.queue.Queue(ctx, w.name, 0)
	return err == nil && status.Pending+status.Running == 0, err
}

// round takes sources from the queue and ingests them, until there are none or others may want their turn. It reports
// whether there were some.
func (w *worker) round(ctx context.Context) (some bool, err error) {
	held := &claims{
		queue: w.queue, collection: w.name, lease: w.req.Lease, tries: w.req.Tries, pause: w.req.Pause, log: w.log,
		held: map[string]*QueueClaim{}, wake: make(chan struct{}, 1),
	}
	first, err := w.claim(ctx, held)
	if err != nil || len(first) == 0 && len(held.ends) == 0 {
		return false, err
	}
	run := newIngestRun(w.Engine, w.name, IngestRequest{Collection: w.name, EachSource: w.req.EachSource})
	run.held = held
	stop, keeping := make(chan struct{}), sync.WaitGroup{}
	keeping.Go(func() { held.keep(ctx, stop) })
	var kept error
	end := sync.OnceFunc(func() {
		close(stop)
		keeping.Wait()
		kept = held.giveBack(ctx)
	})
	err = w.together(ctx, run, func() error {
		defer end()
		return run.readAndWrite(ctx, func(ctx context.Context, next chan<- Source) error { return w.feed(ctx, run, first, next) })
	})
	end() // also where it never began
	err = errors.Join(err, kept)
	w.tally(ctx, run, err)
	return true, err
}

// together runs what writes while the collection is shared with other workers. The header says that a run is under way
// from the first that comes to the last that leaves.
func (w *worker) together(ctx context.Context, run *ingestRun, write func() error) error {
	done := w.write(w.name) // among the calls of this process
	defer done()
	leave, err := w.queue.ShareCollection(ctx, w.name, max(w.lockWait, joinPatience), func() error {
		if err := run.openCollection(ctx); err != nil { // it repairs what was cut short
			return err
		}
		return run.markDirty(ctx, nil, nil)
	})
	if err != nil {
		return err
	}
	if run.header, run.exists, err = w.readHeader(ctx, w.name); err == nil {
		err = w.checkHeader(w.name, run.header, true, true)
	}
	if err == nil {
		err = run.chooseDomain()
	}
	if err == nil {
		err = write()
	}
	return errors.Join(err, leave(func() error { return w.settle(context.WithoutCancel(ctx)) }))
}

// settle takes the mark out of the header, unless something is left that who takes a source over has to clean.
func (w *worker) settle(ctx context.Context) error {
	status, err := w.queue.Queue(ctx, w.name, 0)
	if err != nil || status.Unclean > 0 {
		return err
	}
	h, exists, err := w.readHeader(ctx, w.name)
	if err != nil || !exists || !h.Dirty {
		return err
	}
	h.settle()
	return w.catalog.Commit(ctx, w.name, []Change{{Header: &h}})
}

// claim takes sources from the queue. One that was lost too often with its worker is given up.
func (w *worker) claim(ctx context.Context, held *claims) (taken []QueueClaim, err error) {
	all, err := w.queue.Claim(ctx, w.name, w.req.Worker, claimsPerReader*w.config.Ingest.Workers, w.req.Lease)
	if err != nil {
		return nil, err
	}
	held.add(all)
	for _, c := range all {
		if c.Losses > maxLosses {
			held.failed(c.URI, fmt.Errorf("%d workers were lost while they worked on it: %w", c.Losses, ErrInvalid))
			continue
		}
		taken = append(taken, c)
	}
	return taken, nil
}

// feed gives sources to those who read, as they are claimed.
func (w *worker) feed(ctx context.Context, run *ingestRun, batch []QueueClaim, next chan<- Source) error {
	var err error
	began := w.now()
	for n := 0; len(batch) > 0; {
		for _, c := range batch {
			if err := run.mend(ctx, c.URI); err != nil {
				return err
			}
			src, err := w.source(ctx, c.QueuedSource)
			if err != nil {
				run.fail(StageLoad, c.URI, err)
				continue
			}
			run.tell(SourceStep{URI: c.URI, Stage: StageCheck})
			select {
			case next <- src:
			case <-ctx.Done():
				return nil
			}
		}
		if n += len(batch); n >= roundSources || w.now().Sub(began) > roundTime {
			return nil
		}
		if batch, err = w.claim(ctx, run.held); err != nil {
			return err
		}
	}
	return nil
}

// source is what was enqueued, as it can be read here.
func (w *worker) source(ctx context.Context, q QueuedSource) (src Source, err error) {
	path, isFile := FilePath(q.URI)
	switch {
	case w.req.Open != nil:
		src, err = w.req.Open(ctx, q)
	case !isFile:
		err = fmt.Errorf("it is no file: give the worker what opens it, WorkRequest.Open: %w", ErrUnsupported)
	case q.Scope != "":
		src, err = fileIn(q.Scope, q.URI)
	default:
		src, err = fileSource(path)
	}
	if err != nil {
		return Source{}, err
	}
	src.URI, src.Name, src.MediaType, src.Title, src.Meta = q.URI, q.Name, q.MediaType, q.Title, q.Meta
	return src, nil
}

// tally counts a round.
func (w *worker) tally(ctx context.Context, run *ingestRun, err error) {
	rep, counts := run.finish(), run.held.counts
	w.record(ctx, run.trace(err))
	sum := &w.report
	sum.Sources += counts.taken
	sum.Failed += counts.failed
	sum.Retried += counts.retried
	sum.Lost += counts.lost
	sum.Added += rep.Added
	sum.Updated += rep.Updated
	sum.Unchanged += rep.Unchanged
	sum.Skipped += len(rep.Skipped)
	sum.Chunks.New += rep.Chunks.New
	sum.Chunks.Reused += rep.Chunks.Reused
	sum.Chunks.Removed += rep.Chunks.Removed
	sum.Embedded += rep.Embedded
	sum.Cached += rep.Cached
	if w.req.Tell != nil {
		w.req.Tell(rep)
	}
}
