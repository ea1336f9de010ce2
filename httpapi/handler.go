package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"runtime/debug"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/access"
	"github.com/seed-d8745b77/rag/internal/strict"
)

// need is what a route wants of who asks.
type need int

const (
	nothing need = iota // open to everybody who reaches the server
	reader              // a token, where there are tokens
	owner               // one that sees everything: what is told is of all tenants
	writer              // a reader of a server that may be written to
)

// route is one line of the API: what answers it, and all that its description says.
type route struct {
	method, path string
	about        string
	need         need
	works        bool    // it takes a slot, and its time is bounded
	query        []param // of the URL
	body         any     // zero value of the request; nil: it has none
	status       int     // of success
	answer       any     // zero value of the answer; nil: it is no JSON
	media        string  // of an answer that is no JSON, or of a stream that can be had in place of it
	events       []event // of the stream
	run          func(c *call) (any, error)
}

// param is a parameter in the URL.
type param struct {
	name, about string
	in          string // "query" or "path"
	whole       bool   // a whole number
	required    bool
}

// event is a kind of message in a stream.
type event struct {
	name, about string
	data        any // zero value
}

// call is one request on its way.
type call struct {
	*Server
	w         *response
	r         *http.Request
	route     *route
	id        string // in the log, and in the answer where only the log tells more
	principal access.Principal
	tenant    string
	engine    *rag.Engine // as the principal sees it; only of routes that work
}

// written is what a route returns that has written its answer.
type written struct{}

// response remembers what was answered.
type response struct {
	http.ResponseWriter
	status int // 0: nothing yet
}

func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *response) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// statusGone is what the log and the metrics say where the client went before it was answered.
const statusGone = 499

// handler is the one way into every route.
func (s *Server) handler(rt *route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := s.o.Now()
		c := &call{Server: s, w: &response{ResponseWriter: w}, r: r, route: rt, id: rand.Text()[:10]}
		defer s.metrics.begin()()
		defer func() {
			took := s.o.Now().Sub(start)
			s.metrics.request(rt, c.w.status, took)
			s.o.Logger.Info("request", "id", c.id, "route", rt.method+" "+rt.path, "principal", c.principal.Name, "status", c.w.status, "took", took)
		}()
		defer func() {
			if p := recover(); p != nil { // the server outlives what it serves
				s.o.Logger.Error("panic", "id", c.id, "route", rt.path, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				c.fail(c.internal())
			}
		}()
		answer, err := c.do()
		switch {
		case err != nil && c.gone(err):
			c.w.status = statusGone // nobody is there to be answered
		case err != nil:
			c.fail(c.errorOf(err))
		case answer != written{}:
			writeJSON(c.w, rt.status, answer)
		}
	})
}

// gone reports whether an error is that the client went before it was answered.
func (c *call) gone(err error) bool {
	return c.r.Context().Err() != nil && errors.Is(err, context.Canceled)
}

// fail answers with an error, unless an answer has begun.
func (c *call) fail(e *Error) {
	if c.w.status != 0 {
		return
	}
	if e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable {
		c.metrics.refuse(e.Code)
	}
	writeError(c.w, e)
}

// do finds out who asks, whether they may now, and runs the route.
func (c *call) do() (any, error) {
	if c.route.need == nothing {
		return c.route.run(c)
	}
	if c.draining.Load() {
		return nil, errEnding
	}
	if err := c.authorize(); err != nil {
		return nil, err
	}
	leave, err := c.quotas.enter(c.tenant, c.o.Now())
	if err != nil {
		return nil, err
	}
	defer leave()
	if !c.route.works {
		return c.route.run(c)
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), c.o.Budget)
	defer cancel()
	c.r = c.r.WithContext(ctx)
	leave, err = c.gate.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	done, err := c.lend(c)
	if err != nil {
		return nil, err
	}
	defer done()
	return c.route.run(c)
}

// authorize finds out who asks.
func (c *call) authorize() error {
	c.tenant = access.Address(c.r)
	if c.keys != nil {
		token := access.Bearer(c.r)
		grant, err := c.keys.Check(c.r.Context(), token)
		if err != nil && !errors.Is(err, access.ErrToken) {
			c.o.Logger.Error("tokens cannot be checked", "id", c.id, "err", err)
		}
		if token == "" || err != nil {
			// Guessing is slowed by address, before the principal's own allowance counts.
			leave, err := c.quotas.enter(c.tenant, c.o.Now())
			if err != nil {
				return err
			}
			leave()
			return &Error{Status: http.StatusUnauthorized, Code: codeUnauthorized, Message: "a valid token is needed: send it as Authorization: Bearer"}
		}
		c.principal = grant.Principal
		c.tenant = grant.Principal.Tenant()
	}
	switch {
	case c.route.need == owner && !c.principal.Filter.IsZero():
		return forbidden("this tells of all tenants: only who sees everything may ask")
	case c.route.need == writer && !c.o.Write:
		return forbidden("this server only reads")
	}
	return nil
}

// read reads the body into a request. Unknown fields are mistakes.
func (c *call) read(into any) error {
	// curl -d says that it sends a form: foreign pages, which could say so as well, are refused by where they come from.
	switch kind, _, _ := mime.ParseMediaType(c.r.Header.Get("Content-Type")); kind {
	case "", "application/json", "application/x-www-form-urlencoded":
	default:
		return badRequest("the body is %s: send application/json", cut(kind))
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, c.o.MaxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return err
	case err != nil:
		return badRequest("the body did not come whole")
	case len(bytes.TrimSpace(body)) == 0:
		return badRequest("the body is empty: send a JSON object")
	}
	err = strict.Decode(body, into)
	var wrong *strict.Error
	if errors.As(err, &wrong) {
		field := cut(wrong.Field)
		return &Error{Status: http.StatusBadRequest, Code: codeBadRequest, Field: field, Message: cmp.Or(field, "the body") + ": " + wrong.Message}
	}
	return err
}

// number reads a whole number of the URL, initial where there is none.
func (c *call) number(name string, initial, least, most int) (int, error) {
	text := c.r.URL.Query().Get(name)
	if text == "" {
		return initial, nil
	}
	var n int
	if _, err := fmt.Sscanf(text, "%d", &n); err != nil || fmt.Sprint(n) != text || n < least || n > most {
		return 0, invalid(name, "%s is %q: want a whole number from %d to %d", name, cut(text), least, most)
	}
	return n, nil
}

// named returns a parameter that must be given.
func (c *call) named(name string) (string, error) {
	v := c.r.URL.Query().Get(name)
	if v == "" {
		return "", invalid(name, "%s is missing", name)
	}
	return v, nil
}

// collection is the one that a request means.
func (s *Server) collection(name string) string {
	if name == "" {
		return s.o.Collection
	}
	return name
}
