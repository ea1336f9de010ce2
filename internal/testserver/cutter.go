package testserver

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
)

// Cutter stands before a server and cuts the connection of one request.
type Cutter struct {
	URL string

	forward http.Handler
	mu      sync.Mutex
	left    int  // requests until the one that is cut; below 1: none is
	done    bool // the server does what the request asks for, and only the reply is lost
	cut     bool
}

// NewCutter returns one before the server at an address; it ends with the test.
func NewCutter(t testing.TB, target string) *Cutter {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	c := &Cutter{forward: &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }}}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

// Arm makes the n-th request from now on fail, 1 is the next: before the server sees it, or after it has done it.
func (c *Cutter) Arm(n int, done bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left, c.done, c.cut = n, done, false
}

// Cut reports whether a request was cut since Arm.
func (c *Cutter) Cut() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cut
}

// ServeHTTP passes a request on, or cuts its connection.
func (c *Cutter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.left--
	now, done := c.left == 0, c.done
	c.cut = c.cut || now
	c.mu.Unlock()
	if !now {
		c.forward.ServeHTTP(w, r)
		return
	}
	if done {
		c.forward.ServeHTTP(httptest.NewRecorder(), r)
	}
	panic(http.ErrAbortHandler) // net/http closes the connection without a word
}
