package access

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/seed-d8745b77/rag"
)

// Data lends an engine for one call.
type Data interface {
	// Lend returns the engine and a function that gives it back.
	Lend(ctx context.Context) (engine *rag.Engine, done func(), err error)
}

// Fixed is an engine that is open all the time; closing it is the caller's.
func Fixed(e *rag.Engine) Data { return fixed{e} }

type fixed struct{ engine *rag.Engine }

func (f fixed) Lend(context.Context) (*rag.Engine, func(), error) { return f.engine, func() {}, nil }

// Following is data that is opened when it is first needed, and again when it has changed since: what other processes
// write is seen by the calls that come after. It is safe for concurrent use.
type Following struct {
	open  func(context.Context) (*rag.Engine, error)
	stamp func() string
	log   *slog.Logger
	now   func() time.Time

	mu      sync.Mutex
	current *lent // nil: not open yet
	stamped string
	next    time.Time // not opened again before: opening must not become all that is done
	closed  bool
}

// lent is an engine with those who use it.
type lent struct {
	engine *rag.Engine
	users  int
	old    bool // closed by the last user
}

// openShare is how many times as long as opening takes the data is then used.
const openShare = 5

// Follow returns data that open opens. stamp tells the state of the data on disk; where it gives something else than
// before, the data is opened anew. A logger may be nil.
func Follow(open func(context.Context) (*rag.Engine, error), stamp func() string, log *slog.Logger) *Following {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Following{open: open, stamp: stamp, log: log, now: time.Now}
}

// Lend opens the data if need be. An engine that is open is lent where a newer state cannot be opened.
func (f *Following) Lend(ctx context.Context) (*rag.Engine, func(), error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, nil, errClosed
	}
	if err := f.refresh(ctx); err != nil {
		return nil, nil, err
	}
	l := f.current
	l.users++
	return l.engine, sync.OnceFunc(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if l.users--; l.users == 0 && l.old {
			f.close(l)
		}
	}), nil
}

var errClosed = errors.New("the data is closed: the server is ending")

// refresh opens what is not open, or has changed.
func (f *Following) refresh(ctx context.Context) error {
	stamp := f.stamp()
	if f.current != nil && (stamp == f.stamped || f.now().Before(f.next)) {
		return nil
	}
	start := f.now()
	engine, err := f.open(ctx)
	f.next = f.now().Add(openShare * f.now().Sub(start))
	if err != nil {
		if f.current == nil {
			return err
		}
		f.log.Warn("the data has changed and cannot be opened: the state before is used", "err", err)
		return nil
	}
	f.log.Info("data opened", "took", f.now().Sub(start))
	if old := f.current; old != nil {
		if old.old = true; old.users == 0 {
			f.close(old)
		}
	}
	f.current, f.stamped = &lent{engine: engine}, stamp
	return nil
}

func (f *Following) close(l *lent) {
	if err := l.engine.Close(); err != nil {
		f.log.Warn("closing data", "err", err)
	}
}

// Close closes the data; calls under way close it when they end.
func (f *Following) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if l := f.current; l != nil {
		if l.old = true; l.users == 0 {
			f.close(l)
		}
		f.current = nil
	}
}
