package ragtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/racetest"
)

// cuts are the faults that end a connection.
var cuts = []Fault{CutBefore, CutRequest, CutReply, CutWithin}

// patience is how long a call may take to return once its context has ended. A driver may first ask the server to stop.
const patience = 20 * time.Second

// act is a call of a provider behind a network, and what must be true however it ends.
type act[S any] struct {
	name    string
	prepare func(ctx context.Context, s S, collection string) error // nil: the collection is not there before
	do      func(ctx context.Context, s S, collection string) error // errWrong if the answer is not the whole and right one
	holds   func(ctx context.Context, s S, collection string, done bool) error
	cuts    []Fault // nil: all cuts, and silence
}

// errWrong is a wrong answer that came without an error.
var errWrong = errors.New("a wrong answer without an error")

// faults has each request of each act go wrong in each way.
type faults[S any] struct {
	address string
	open    func(t *testing.T, address string) S
	beside  S // reaches the server by itself
	silent  sync.WaitGroup
}

// runFaults runs the acts that there are for a provider.
func runFaults[S any](t *testing.T, address string, open func(t *testing.T, address string) S, acts func(s S) []act[S]) {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatalf("the address must be host:port of a server that is there: %v", err)
	}
	_ = conn.Close() // it was only asked whether somebody is there
	f := &faults[S]{address: address, open: open}
	f.beside = f.opened(t, address)
	defer f.silent.Wait()
	outer := t
	for _, a := range acts(f.beside) {
		t.Run(a.name, func(t *testing.T) {
			if racetest.Detector && a.cuts != nil {
				t.Skip("one goroutine that writes much races with nobody")
			}
			n := f.requests(t, a)
			t.Logf("%d requests", n)
			for i := 1; i <= n && a.cuts == nil; i++ {
				f.silence(outer, a, i)
			}
			f.cut(t, a, n)
		})
	}
}

// opened opens a provider that is closed with the test.
func (f *faults[S]) opened(t *testing.T, address string) S {
	t.Helper()
	s := f.open(t, address)
	if c, ok := any(s).(io.Closer); ok {
		t.Cleanup(func() {
			if err := c.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
	return s
}

// collection makes one that the act can begin with.
func (f *faults[S]) collection(t *testing.T, a act[S], name string) string {
	t.Helper()
	name = a.name + " " + name
	if a.prepare != nil {
		if err := a.prepare(t.Context(), f.beside, name); err != nil {
			t.Fatalf("prepare: %v", err)
		}
	}
	return name
}

// requests counts those of an act that nothing disturbs.
func (f *faults[S]) requests(t *testing.T, a act[S]) int {
	t.Helper()
	p := NewProxy(t, f.address)
	s, name := f.opened(t, p.Addr), f.collection(t, a, "undisturbed")
	p.Arm(0, "")
	err := a.do(t.Context(), s, name)
	if err = cmp.Or(err, a.holds(t.Context(), f.beside, name, true)); err != nil {
		t.Fatal(err)
	}
	n, _ := p.Requests()
	if n == 0 {
		t.Fatal("the provider does not ask the server at the address that it was opened with")
	}
	return n
}

// cut cuts the connection at each request. What has happened by then stays valid, the error says that the service is to
// blame, and the same call again ends as if nothing had been.
func (f *faults[S]) cut(t *testing.T, a act[S], requests int) {
	p := NewProxy(t, f.address)
	s := f.opened(t, p.Addr)
	ways := a.cuts
	if ways == nil {
		ways = cuts
	}
	for _, how := range ways {
		struck := 0
		for n := 1; n <= requests; n++ {
			which := fmt.Sprintf("request %d, %s", n, how)
			name := f.collection(t, a, which)
			p.Arm(n, how)
			err := a.do(t.Context(), s, name)
			_, hit := p.Requests()
			p.Arm(0, "")
			if hit {
				struck++
			}
			if err != nil && (!hit || !errors.Is(err, rag.ErrUnavailable)) {
				t.Errorf("%s: %v, want ErrUnavailable", which, err)
			}
			if err := a.holds(t.Context(), f.beside, name, err == nil); err != nil {
				t.Errorf("after %s: %v", which, err)
			}
			if err := a.do(t.Context(), s, name); err != nil {
				t.Errorf("the second try after %s: %v", which, err)
			}
			if err := a.holds(t.Context(), f.beside, name, true); err != nil {
				t.Errorf("after the second try after %s: %v", which, err)
			}
		}
		if struck == 0 {
			t.Errorf("%s: no request was struck, so this shows nothing", how)
		}
	}
}

// silence lets the server never answer a request. The call returns when its context ends, with the context's error. A driver
// may take its time to give up, so that the test goes on meanwhile.
func (f *faults[S]) silence(t *testing.T, a act[S], n int) {
	t.Helper()
	which := fmt.Sprintf("request %d, %s", n, Silence)
	p := NewProxy(t, f.address)
	s, name := f.open(t, p.Addr), f.collection(t, a, which)
	f.silent.Go(func() {
		if err := f.unanswered(t.Context(), p, a, s, name, n); err != nil {
			t.Errorf("%s, %s: %v", a.name, which, err)
		}
		if c, ok := any(s).(io.Closer); ok {
			if err := c.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}
	})
}

func (f *faults[S]) unanswered(test context.Context, p *Proxy, a act[S], s S, name string, n int) error {
	ctx, cancel := context.WithCancel(test)
	defer cancel()
	struck, returned := p.Arm(n, Silence), make(chan error, 1)
	go func() { returned <- a.do(ctx, s, name) }()
	var err error
	select {
	case err = <-returned: // there were fewer requests this time
	case <-struck:
		cancel()
		select {
		case err = <-returned:
		case <-time.After(patience):
			p.CutAll()
			return fmt.Errorf("the call had not returned %s after its context ended, then with %w", patience, <-returned)
		}
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w, want the context's error", err)
	}
	if err := a.holds(test, f.beside, name, err == nil); err != nil {
		return fmt.Errorf("afterwards: %w", err)
	}
	p.Arm(0, "")
	if err := cmp.Or(a.do(test, s, name), a.holds(test, f.beside, name, true)); err != nil {
		return fmt.Errorf("the second try: %w", err)
	}
	return nil
}
