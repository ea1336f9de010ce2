package rag

import (
	"context"
	"fmt"
	"time"
)

// QueuedSource is a source in a [WorkQueue]: what a worker needs to open it. Its bytes are read when it is worked on.
type QueuedSource struct {
	URI       string
	Scope     string // of the set it was listed in, see [Sources]; "": it was named by itself
	Name      string // as the other fields, of [Source]
	MediaType string
	Title     string
	Meta      Meta
}

// QueueClaim is a source that a worker has taken from a [WorkQueue].
type QueueClaim struct {
	QueuedSource
	Number  int64    // of this taking: whoever takes the source after it has another
	Tries   int      // how often it failed
	Losses  int      // how often its worker was lost
	Pending []string // as in [Header], of this source alone
	Touched []string // likewise; left by this claim or one before it
}

// States of a source in a [WorkQueue].
const (
	QueuePending = "pending" // waits for a worker
	QueueRunning = "running" // is claimed
	QueueDone    = "done"    // the collection is up to date with it, or no loader reads it
	QueueFailed  = "failed"  // it failed as often as it may
)

// QueueEnd says how a claim ends. Of the claim Tries, Losses, Pending and Touched are kept.
type QueueEnd struct {
	QueueClaim
	State string        // QueueDone, QueueFailed, or QueuePending: it is to be worked on again
	Wait  time.Duration // QueuePending: not before it is over
	Error string        // why it failed; "" if it did not
}

// QueueStatus says how far the work on a queue is. Its JSON form is what `rag queue --json` prints.
type QueueStatus struct {
	Collection string         `json:"collection"`
	Pending    int            `json:"pending"`
	Running    int            `json:"running"`
	Done       int            `json:"done"` // since the queue was last empty
	Failed     int            `json:"failed"`
	Unclean    int            `json:"unclean"` // sources of which the indexes may hold what the catalog does not, until they are worked on
	Workers    []QueueWorker  `json:"workers"` // that hold sources, by name
	Failures   []QueueFailure `json:"failures"`
}

// QueueWorker is a worker as a queue sees it.
type QueueWorker struct {
	Name    string  `json:"name"`
	Sources int     `json:"sources"` // that it holds
	Lease   float64 `json:"lease_s"` // seconds until the first of its leases runs out; below 0: it has, and anyone may take the source
}

// QueueFailure is a source that failed, or that waits for its next try, first those that are given up, then by URI.
type QueueFailure struct {
	URI   string `json:"uri"`
	State string `json:"state"` // QueueFailed or QueuePending
	Tries int    `json:"tries"`
	Error string `json:"error"`
}

// EnqueueRequest says what to put into the queue of a collection. Only Sources must be given.
type EnqueueRequest struct {
	Collection string    // "" means Config.Collection
	Sources    []Sources // as of [IngestRequest]; workers must be able to open them, see [WorkRequest]
	Domain     Domain    // as of [IngestRequest]: the collection remembers it, and workers follow it
	NoDomain   bool      // likewise
}

// EnqueueReport says what was put into a queue. Its JSON form is what `rag ingest --queue --json` prints.
type EnqueueReport struct {
	Collection string          `json:"collection"`
	Queued     int             `json:"queued"`
	Domain     *DomainUse      `json:"domain,omitempty"` // that workers will follow; nil: none
	Failed     []SourceFailure `json:"failed"`           // sources that could not be listed
	Skipped    []SourceNote    `json:"skipped"`          // files in a folder that are passed over
}

// Enqueue lists the sources and puts them into the collection's queue, for workers to ingest, see [Engine.Work]. Nothing is
// read: what counts is what a worker finds when it opens a source. A source that is in the queue already is worked on once
// more. What could not be listed is in the report, and the error matches ErrPartial. ErrUnsupported: the catalog has no queue.
func (e *Engine) Enqueue(ctx context.Context, req EnqueueRequest) (*EnqueueReport, error) {
	if len(req.Sources) == 0 {
		return nil, fmt.Errorf("enqueue: no sources given: %w", ErrInvalid)
	}
	if err := e.writable("enqueue"); err != nil {
		return nil, err
	}
	queue, err := e.workQueue("enqueue")
	if err != nil {
		return nil, err
	}
	run := newIngestRun(e, e.collection(req.Collection), IngestRequest{Sources: req.Sources})
	if err := checkCollection(run.name); err != nil {
		return nil, err
	}
	domain := newIngestRun(e, run.name, IngestRequest{Sources: req.Sources, Domain: req.Domain, NoDomain: req.NoDomain})
	if err := domain.remember(ctx); err != nil {
		return nil, err
	}
	run.domain, run.header = domain.domain, domain.header
	if err := run.list(ctx); err != nil {
		return nil, err
	}
	queued := make([]QueuedSource, len(run.sources))
	for i, src := range run.sources {
		switch {
		case src.stored != nil:
			return nil, fmt.Errorf("enqueue %s: documents of an export go in by import: %w", src.URI, ErrUnsupported)
		case src.Policy != nil:
			return nil, fmt.Errorf("enqueue %s: workers follow the collection's domain, and know no policy of a source's own: %w", src.URI, ErrUnsupported)
		}
		queued[i] = QueuedSource{URI: src.URI, Scope: run.scopeOf(src.URI), Name: src.Name, MediaType: src.MediaType, Title: src.Title, Meta: src.Meta}
	}
	if err := queue.Enqueue(ctx, run.name, queued); err != nil {
		return nil, err
	}
	sortNotes(&run.report)
	rep := &EnqueueReport{Collection: run.name, Queued: len(queued), Domain: domain.report.Domain, Failed: run.report.Failed, Skipped: run.report.Skipped}
	return rep, partial(rep.Failed)
}

// Queue tells how far workers are with a collection's queue, with up to 100 failures. "" means the configured collection.
// ErrUnsupported: the catalog has no queue.
func (e *Engine) Queue(ctx context.Context, collection string) (QueueStatus, error) {
	if err := e.whole("queue"); err != nil {
		return QueueStatus{}, err
	}
	queue, err := e.workQueue("queue")
	if err != nil {
		return QueueStatus{}, err
	}
	return queue.Queue(ctx, e.collection(collection), shownFailures)
}

// shownFailures is how many failures a status lists.
const shownFailures = 100

// workQueue is the catalog's.
func (e *Engine) workQueue(verb string) (WorkQueue, error) {
	queue, ok := e.catalog.(WorkQueue)
	if !ok {
		return nil, fmt.Errorf("%s: the catalog %q is one process's own and has no queue: ingest without one, or keep the catalog in a database (catalog: {provider: postgres}), with a program that links it: %w",
			verb, e.methods[StageCommit], ErrUnsupported)
	}
	return queue, nil
}
