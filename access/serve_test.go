package access

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// serving starts a server with limits and returns its address, and a channel with what each request's body came to.
func serving(t *testing.T, l limits) (addr string, bodies chan error) {
	t.Helper()
	ln, _, err := Listen(t.Context(), ":0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	bodies = make(chan error, 8)
	ended := make(chan error, 1)
	go func() {
		ended <- serve(ctx, ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, err := io.Copy(io.Discard, r.Body)
			bodies <- err
			fmt.Fprint(w, "done")
		}), Grace, l)
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return ln.Addr().String(), bodies
}

// dial connects and sends.
func dial(t *testing.T, addr, text string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c, bufio.NewReader(c)
}

const (
	soon  = 20 * time.Millisecond // a limit that a test waits for
	never = time.Hour             // one that it does not
)

// TestSlowClientsAreLeft has clients that begin and do not go on: each is left by the limit of its own.
func TestSlowClientsAreLeft(t *testing.T) {
	wide := limits{header: never, pause: never, idle: never, headBytes: 64 << 10, connections: 8}
	for name, c := range map[string]struct {
		limit func(*limits)
		sends string
	}{
		"in the head":      {func(l *limits) { l.header = soon }, "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "},
		"between requests": {func(l *limits) { l.idle = soon }, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"},
		"in the body":      {func(l *limits) { l.pause = soon }, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nab"},
	} {
		t.Run(name, func(t *testing.T) {
			l := wide
			c.limit(&l)
			addr, bodies := serving(t, l)
			_, answer := dial(t, addr, c.sends)
			got, err := io.ReadAll(answer) // ends when the server closes the connection
			if err != nil && !strings.Contains(err.Error(), "reset") {
				t.Error(err)
			}
			if name == "in the body" {
				if err := <-bodies; !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("the body ends with %v, answered %q", err, got)
				}
			}
		})
	}
}

func TestHugeHeadsAreRefused(t *testing.T) {
	addr, _ := serving(t, usual)
	_, answer := dial(t, addr, "GET / HTTP/1.1\r\nHost: x\r\nX-Much: "+strings.Repeat("x", usual.headBytes+8<<10)+"\r\n\r\n")
	res, err := http.ReadResponse(answer, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status %s", res.Status)
	}
}

// TestConnectionsBeyondTheLimitWait: one more connection than is served gets its answer when another has ended.
func TestConnectionsBeyondTheLimitWait(t *testing.T) {
	l := usual
	l.connections = 1
	addr, bodies := serving(t, l)
	first, one := dial(t, addr, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	answered(t, one)
	<-bodies
	_, two := dial(t, addr, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	select {
	case <-bodies:
		t.Error("a second connection is served beside the first")
	default:
	}
	_ = first.Close()
	answered(t, two)
}

// answered reads an answer, which must be good.
func answered(t *testing.T, r *bufio.Reader) {
	t.Helper()
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("status %s", res.Status)
	}
}

// TestALongAnswerOutlivesThePause: behind its body a request may take as long as it wants.
func TestALongAnswerOutlivesThePause(t *testing.T) {
	ln, _, err := Listen(t.Context(), ":0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	l := usual
	l.pause = soon
	go func() {
		ended <- serve(ctx, ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			select {
			case <-r.Context().Done():
			case <-time.After(5 * soon):
				fmt.Fprint(w, "done")
			}
		}), Grace, l)
	}()
	_, answer := dial(t, ln.Addr().String(), "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab")
	res, err := http.ReadResponse(answer, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(io.LimitReader(res.Body, 4)); string(got) != "done" || err != nil {
		t.Errorf("answered %q, %v", got, err)
	}
	_ = res.Body.Close()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
