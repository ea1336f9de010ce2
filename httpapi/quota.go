package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/access"
)

// Quota is what one tenant may do: all principals with the same filter are one, a principal that sees everything is one, and
// without tokens each address is one.
type Quota struct {
	PerMinute   int   // requests; as many at once after a pause; 0: 600
	Concurrent  int   // requests at work or waiting, streams included; 0: 16
	TopK        int   // greatest top_k; 0: 100
	IngestBytes int64 // bytes of sources read and uploaded a day (UTC); 0: any number
}

const (
	defaultPerMinute  = 600
	defaultConcurrent = 16
	defaultMostTopK   = 100
)

func (q *Quota) validate() error {
	if q.PerMinute < 0 || q.Concurrent < 0 || q.TopK < 0 || q.IngestBytes < 0 {
		return fmt.Errorf("http: a quota must not be negative: %w", rag.ErrInvalid)
	}
	return nil
}

// quotas counts what tenants do.
type quotas struct {
	quota Quota
	rate  *access.Limiter

	mu     sync.Mutex
	active map[string]int   // requests by tenant; only those that have any
	day    string           // of which bytes are counted
	bytes  map[string]int64 // by tenant
}

func newQuotas(q Quota) *quotas {
	perSecond := float64(q.PerMinute) / time.Minute.Seconds()
	return &quotas{quota: q, rate: access.NewLimiter(perSecond, q.PerMinute), active: map[string]int{}, bytes: map[string]int64{}}
}

// enter counts a request in; leave must be called when it has ended.
func (q *quotas) enter(tenant string, now time.Time) (leave func(), err error) {
	if wait, ok := q.rate.Allow(tenant, now); !ok {
		return nil, &Error{Status: http.StatusTooManyRequests, Code: codeRate, Message: fmt.Sprintf("more than %d requests a minute", q.quota.PerMinute), retry: wait}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.active[tenant] >= q.quota.Concurrent {
		return nil, &Error{Status: http.StatusTooManyRequests, Code: codeConcurrent, Message: fmt.Sprintf("more than %d requests at once", q.quota.Concurrent), retry: time.Second}
	}
	q.active[tenant]++
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.active[tenant]--; q.active[tenant] == 0 {
			delete(q.active, tenant)
		}
	}, nil
}

// spend takes bytes of a tenant's allowance of the day, or none of them.
func (q *quotas) spend(tenant string, n int64, now time.Time) error {
	if q.quota.IngestBytes == 0 || n <= 0 {
		return nil
	}
	now = now.UTC()
	q.mu.Lock()
	defer q.mu.Unlock()
	if day := now.Format(time.DateOnly); day != q.day {
		q.day = day
		clear(q.bytes)
	}
	if q.bytes[tenant]+n > q.quota.IngestBytes {
		tomorrow := now.Truncate(24 * time.Hour).Add(24 * time.Hour)
		return &Error{Status: http.StatusTooManyRequests, Code: codeQuota, Message: fmt.Sprintf("more than %d bytes a day", q.quota.IngestBytes), retry: tomorrow.Sub(now)}
	}
	q.bytes[tenant] += n
	return nil
}

// gate lets so many requests work at once and so many wait.
type gate struct {
	slots   chan struct{}
	waiting chan struct{}
}

func newGate(parallel, queue int) *gate {
	return &gate{make(chan struct{}, parallel), make(chan struct{}, queue)}
}

// enter waits for a slot; leave must be called when the work has ended.
func (g *gate) enter(ctx context.Context) (leave func(), err error) {
	select {
	case g.slots <- struct{}{}:
		return g.leave, nil
	default:
	}
	select {
	case g.waiting <- struct{}{}:
		defer func() { <-g.waiting }()
	default:
		return nil, &Error{Status: http.StatusServiceUnavailable, Code: codeBusy, Message: fmt.Sprintf("%d requests are at work and %d wait", cap(g.slots), cap(g.waiting)), retry: time.Second}
	}
	select {
	case g.slots <- struct{}{}:
		return g.leave, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (g *gate) leave() { <-g.slots }
