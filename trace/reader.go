package trace

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
)

// Reader reads kept traces back: an [Index] those on disk, a [Ring] those in memory. It is safe for concurrent use.
type Reader interface {
	// List returns a page of the traces that match, newest first, in the order in which they were recorded.
	List(ctx context.Context, q Query) (Page, error)
	// Get returns the trace of this ID, or the only one whose ID begins so; of several recorded under one ID the newest.
	// rag.ErrNotFound: there is none. rag.ErrInvalid: the beginning fits several.
	Get(ctx context.Context, id string) (rag.Trace, error)
	// Stats sums up the traces that match in so many stretches of equal length between q.Since and q.Until. A zero
	// Since is the oldest of these traces, a zero Until the newest. q.Before, q.After and q.Limit mean nothing here. No
	// traces and no range give nil.
	Stats(ctx context.Context, q Query, buckets int) ([]Bucket, error)
	// All yields the traces in the order in which they were recorded. An error ends the sequence.
	All() iter.Seq2[rag.Trace, error]
}

// Query says which traces are wanted. The zero value means all.
type Query struct {
	Types      []string  // one of the rag.Trace constants each; nil: all
	Text       string    // words that all stand in the trace's ID, question or sources, in any case; "": any
	Collection string    // "": all
	Status     []string  // one of the Status constants each; nil: all
	MinMS      float64   // took at least so long
	Since      time.Time // began then or later; zero: any time
	Until      time.Time // began before; zero: any time
	Before     string    // recorded before the trace of this ID, which is [Page].Next of the page before; if that is gone, so are those before it
	After      string    // recorded after the trace of this ID; if that is gone, any
	Limit      int       // traces on a page; 0: 50, at most 1000
}

const (
	defaultLimit = 50
	mostLimit    = 1000
)

// Page is a part of a list.
type Page struct {
	Traces []Summary `json:"traces"`         // never null
	Next   string    `json:"next,omitempty"` // Query.Before of the next page; "" if this is the last
}

// What became of a call.
const (
	StatusOK      = "ok"
	StatusPartial = "partial" // it went on without a stage or a source that failed
	StatusRefused = "refused" // there is no answer
	StatusError   = "error"   // it failed
)

// Summary is what a list tells of a trace.
type Summary struct {
	ID         string        `json:"trace_id"`
	Type       string        `json:"trace_type"`
	Timestamp  time.Time     `json:"timestamp"`
	Collection string        `json:"collection"`
	Question   string        `json:"question,omitempty"` // at most 200 characters; "" for an ingest, and where the trace keeps none
	Sources    []string      `json:"sources,omitempty"`  // ingest: the first three
	Mode       string        `json:"mode,omitempty"`     // query
	Status     string        `json:"status"`             // one of the Status constants
	TotalMS    float64       `json:"total_ms"`
	Stages     []StageTime   `json:"stages"`           // that ran, in pipeline order; never null
	Hits       int           `json:"hits"`             // query: results
	Counts     *rag.Counts   `json:"counts,omitempty"` // ingest
	Answer     *AnswerResult `json:"answer,omitempty"` // ask
	Notes      int           `json:"notes"`            // things that were asked and not done
	Error      string        `json:"error,omitempty"`
}

// StageTime is how long a stage took.
type StageTime struct {
	Stage   string  `json:"stage"`
	StartMS float64 `json:"start_ms"`
	EndMS   float64 `json:"end_ms"`
	MS      float64 `json:"elapsed_ms"`
	Failed  bool    `json:"failed,omitempty"`
}

// AnswerResult is what a list tells of an answer.
type AnswerResult struct {
	Mode        string        `json:"mode"`
	Reliability string        `json:"reliability"`
	Confidence  float64       `json:"confidence"`
	Usage       rag.ChatUsage `json:"usage"`
}

// entry is a trace in memory.
type entry struct {
	Summary
	words  string // what Query.Text is looked for in, in lower case
	length int    // of its JSON

	// Where that is: nobody can change what was recorded.
	text   []byte // of a ring
	file   *file  // of an index
	offset int64  // in the file
}

// matcher is a query made ready.
type matcher struct {
	Query
	words []string
}

func (q Query) matcher() matcher {
	return matcher{q, strings.Fields(strings.ToLower(q.Text))}
}

func (m *matcher) match(e *entry) bool {
	switch {
	case m.Types != nil && !slices.Contains(m.Types, e.Type),
		m.Collection != "" && m.Collection != e.Collection,
		m.Status != nil && !slices.Contains(m.Status, e.Status),
		m.MinMS > 0 && e.TotalMS < m.MinMS, // a clock that was put back makes it negative
		!m.Since.IsZero() && e.Timestamp.Before(m.Since),
		!m.Until.IsZero() && !e.Timestamp.Before(m.Until):
		return false
	}
	for _, w := range m.words {
		if !strings.Contains(e.words, w) {
			return false
		}
	}
	return true
}

// list makes a page of entries that come newest first.
func list(entries iter.Seq[*entry], q Query) (Page, error) {
	if q.Limit < 0 || q.Limit > mostLimit {
		return Page{}, fmt.Errorf("list traces: the limit is %d: it must be from 1 to %d: %w", q.Limit, mostLimit, rag.ErrInvalid)
	}
	if q.Limit == 0 {
		q.Limit = defaultLimit
	}
	m := q.matcher()
	page := Page{Traces: []Summary{}}
	reached := q.Before == ""
	for e := range entries {
		if q.After != "" && e.ID == q.After {
			break
		}
		if !reached {
			reached = e.ID == q.Before
			continue
		}
		if !m.match(e) {
			continue
		}
		if len(page.Traces) == q.Limit {
			page.Next = page.Traces[q.Limit-1].ID
			break
		}
		page.Traces = append(page.Traces, e.Summary)
	}
	return page, nil
}

// find returns the entry of Reader.Get.
func find(entries iter.Seq[*entry], id string) (*entry, error) {
	var fits *entry
	several := false
	for e := range entries {
		if e.ID == id {
			return e, nil
		}
		if id != "" && strings.HasPrefix(e.ID, id) {
			several = several || fits != nil && fits.ID != e.ID
			if fits == nil {
				fits = e
			}
		}
	}
	switch {
	case several:
		return nil, fmt.Errorf("several traces have IDs that begin with %q: give more of it: %w", id, rag.ErrInvalid)
	case fits == nil:
		return nil, fmt.Errorf("no trace %q: %w", id, rag.ErrNotFound)
	}
	return fits, nil
}
