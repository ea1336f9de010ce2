// Package httpjson sends JSON to a service and reads JSON back: with a time-out, with another try where the service asks
// for one, and with errors that hold no key.
//
//	c := httpjson.Client{Header: http.Header{"Authorization": {"Bearer " + key}}}
//	err := c.Post(ctx, "https://example.com/v1/rerank", request, &reply)
package httpjson

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag/internal/secret"
	"github.com/seed-d8745b77/rag/internal/strict"
)

// Defaults of a [Client].
const (
	DefaultTimeout = 30 * time.Second
	DefaultTries   = 3
)

const (
	firstWait   = 250 * time.Millisecond // before the second try; doubled for each further one
	longestWait = 30 * time.Second       // a service that asks for more is not waited for
	maxReply    = 16 << 20               // bytes
	shownBody   = 300                    // bytes of a reply that go into an error
)

// Client posts JSON. The zero value is ready. It is safe for concurrent use.
type Client struct {
	HTTP    *http.Client  // nil: one that follows no redirect, since a header with a key would go to whoever is named there
	Header  http.Header   // sent with each request; its values are in no error, also where the service repeats them
	Secrets []string      // further texts that are in no error, such as what the address holds
	Timeout time.Duration // of one try; 0: DefaultTimeout, for a stream DefaultStreamTimeout
	Tries   int           // at most; 0: DefaultTries
	Gate    *Gate         // lets requests through; nil: all at once
	Places  *Places       // what Do puts before the URL, another one for the next try where one fails; nil: nothing

	FirstByte time.Duration // how long a stream may take to begin; 0: DefaultFirstByte
	Idle      time.Duration // how long it may pause; 0: DefaultIdle

	// Sleep waits between tries; nil: a timer. Tests replace it.
	Sleep func(ctx context.Context, d time.Duration) error
	// Now reads the clock, for a Retry-After that is a date; nil: time.Now.
	Now func() time.Time
}

// direct is the client of those who bring none. Services of models are asked several things at once, over more
// connections than Go keeps by itself.
var direct = func() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}()

// StatusError is a reply that is no success.
type StatusError struct {
	Code       int           // HTTP status
	Body       string        // beginning of the reply
	RetryAfter time.Duration // how long the service asks to wait; 0: it does not say
}

// Error returns "status code: beginning of the reply".
func (e *StatusError) Error() string {
	return fmt.Sprintf("status %d %s: %s", e.Code, http.StatusText(e.Code), e.Body)
}

// Temporary reports whether another try may succeed: too many requests, or the service's own trouble.
func (e *StatusError) Temporary() bool {
	return e.Code == http.StatusTooManyRequests || e.Code >= 500
}

// Post sends in as JSON and reads the reply into out. Replies 429 and 5xx and connections that fail are tried again,
// after the wait that Retry-After asks for or a growing one, as long as ctx has time for it. The error is ctx's, a
// *StatusError, ErrShut, or says what was wrong with the connection or the reply.
func (c *Client) Post(ctx context.Context, url string, in, out any) error {
	return c.Do(ctx, http.MethodPost, url, in, out)
}

// Do is Post with any method. in nil sends no body, out nil takes a reply that is no JSON, or is empty. A method that
// does something else when it is done twice must not be sent: a reply that is lost on the way is asked for again, and so
// is one of which out, where it is a [Verdict], says that the service could not do all.
func (c *Client) Do(ctx context.Context, method, url string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("encode request: %w", err)
		}
	}
	if c.Places == nil {
		return c.retry(ctx, func() error { return c.once(ctx, method, url, body, out) })
	}
	return c.retry(ctx, func() error {
		at, address := c.Places.now()
		err := c.once(ctx, method, address+url, body, out)
		if ctx.Err() == nil && broken(err) {
			c.Places.leave(at)
		}
		return err
	})
}

// Verdict is a reply that can say, although its status is that of success, that it is none. It is a pointer.
type Verdict interface {
	// Failed is nil if everything was done.
	Failed() error
}

// partError is what a Verdict says.
type partError struct{ error }

func (e *partError) Unwrap() error { return e.error }

// retry calls once until it succeeds, another try can help no more, or the tries are used up.
func (c *Client) retry(ctx context.Context, once func() error) error {
	tries := c.Tries
	if tries < 1 {
		tries = DefaultTries
	}
	wait := firstWait
	var last error
	for try := 1; ; try++ {
		err := c.gated(ctx, once)
		if last != nil && errors.Is(err, ErrShut) {
			return last // what shut the gate says more
		}
		again, asked := retriable(err)
		if err == nil || !again || try == tries || ctx.Err() != nil {
			return err
		}
		pause := max(wait, asked)
		if deadline, ok := ctx.Deadline(); pause > longestWait || ok && c.now().Add(pause).After(deadline) {
			return err // the service's answer says more than a time-out would
		}
		if err := c.sleep(ctx, pause); err != nil {
			return err
		}
		wait *= 2
		last = err
	}
}

// gated makes a try once the gate lets it through.
func (c *Client) gated(ctx context.Context, once func() error) error {
	if c.Gate == nil {
		return once()
	}
	leave, err := c.Gate.enter(ctx)
	if err != nil {
		return err
	}
	err = once()
	leave(verdictOf(ctx, err))
	return err
}

// errRequest marks a request that cannot be made, such as one to an address that is none.
var errRequest = errors.New("the request cannot be made")

// errReply marks a reply that is not the JSON expected: another try would bring the same.
var errReply = errors.New("the reply is not the JSON expected")

// retriable reports whether another try may help, and how long the service asks to wait.
func retriable(err error) (bool, time.Duration) {
	var status *StatusError
	var begun *begunError
	switch {
	case errors.As(err, &begun):
		return false, 0
	case errors.As(err, &status):
		return status.Temporary(), status.RetryAfter
	case errors.Is(err, errReply), errors.Is(err, errRequest), errors.Is(err, ErrShut):
		return false, 0
	case errors.Is(err, errFirstByte), errors.Is(err, errIdle), errors.Is(err, errTotal):
		return false, 0 // it was waited for long enough
	}
	return err != nil, 0
}

// once makes one try.
func (c *Client) once(ctx context.Context, method, url string, body []byte, out any) error {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Timeout, DefaultTimeout))
	defer cancel()
	resp, err := c.send(ctx, method, url, body, "application/json")
	if err != nil {
		return err
	}
	defer resp.Body.Close() // read-only: nothing to lose
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxReply+1))
	if err != nil {
		return fmt.Errorf("read reply: %w", err)
	}
	if len(data) > maxReply {
		return fmt.Errorf("%w: more than %d bytes", errReply, maxReply)
	}
	if out == nil {
		return nil
	}
	if err := strict.Unmarshal(data, out); err != nil {
		return fmt.Errorf("%w: %v: %s", errReply, err, c.Excerpt(data))
	}
	if v, ok := out.(Verdict); ok {
		if err := v.Failed(); err != nil {
			reflect.ValueOf(out).Elem().SetZero() // what the next reply does not name must not stay of this one
			return &partError{err}
		}
	}
	return nil
}

// send makes a request and returns its reply, whose body the caller closes. A reply that is no success is a *StatusError.
func (c *Client) send(ctx context.Context, method, url string, body []byte, accept string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRequest, withoutURL(err))
	}
	for name, values := range c.Header {
		req.Header[name] = values
	}
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", accept)
	resp, err := cmp.Or(c.HTTP, direct).Do(req)
	if err != nil {
		return nil, withoutURL(err)
	}
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		return resp, nil
	}
	defer resp.Body.Close() // read-only: nothing to lose
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err != nil && len(data) == 0 {
		data = []byte("(" + err.Error() + ")") // the status says enough
	}
	return nil, &StatusError{Code: resp.StatusCode, Body: c.Excerpt(data), RetryAfter: c.retryAfter(resp.Header.Get("Retry-After"))}
}

// withoutURL takes the address out of a client's error: it may hold a key.
func withoutURL(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// Excerpt returns the beginning of what a service sent, on one line, for an error: without the values of the headers and
// other secrets, in whatever form it repeats them. They are hidden before the rest is cut off: half of one would not be known.
func (c *Client) Excerpt(data []byte) string {
	hidden := slices.Clone(c.Secrets)
	for _, values := range c.Header {
		for _, v := range values {
			hidden = append(hidden, strings.TrimPrefix(strings.TrimPrefix(v, "Bearer "), "Basic "))
		}
	}
	text := secret.NewMasker(hidden).Hide(strings.ToValidUTF8(string(data), ""))
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return "(empty reply)"
	}
	return strings.ToValidUTF8(text[:min(len(text), shownBody)], "")
}

// retryAfter reads seconds or a date; 0 if it says nothing.
func (c *Client) retryAfter(header string) time.Duration {
	if seconds, err := strconv.Atoi(header); err == nil && seconds > 0 {
		return time.Duration(min(seconds, int(time.Hour/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, at.Sub(c.now()))
	}
	return 0
}

func (c *Client) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

func (c *Client) sleep(ctx context.Context, d time.Duration) error {
	if c.Sleep != nil {
		return c.Sleep(ctx, d)
	}
	return Sleep(ctx, d)
}

// Sleep waits as long, or until ctx ends, with its error.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
