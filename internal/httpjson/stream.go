package httpjson

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"time"
)

// Defaults of a stream. A model on a machine of one's own may have to be read from disk before it says a word.
const (
	DefaultStreamTimeout = 10 * time.Minute
	DefaultFirstByte     = 2 * time.Minute
	DefaultIdle          = time.Minute
)

// Form is how a service streams.
type Form string

// Forms of streams.
const (
	Events Form = "text/event-stream"    // server-sent events
	Lines  Form = "application/x-ndjson" // a JSON value on each line
)

// Event is a piece of a stream.
type Event struct {
	Name string // of a server-sent event; "": it has none
	Data []byte // valid until the next piece is asked for
}

// maxEvent bounds a piece of a stream, in bytes.
const maxEvent = 4 << 20

// Times that a stream keeps; the error says which one it did not.
var (
	errFirstByte = errors.New("the reply does not begin")
	errIdle      = errors.New("the reply has stopped")
	errTotal     = errors.New("the reply does not end")
)

// begunError is an error of a stream of which a piece was shown: another try would show it again.
type begunError struct{ error }

func (e *begunError) Unwrap() error { return e.error }

// Stream sends in as JSON and yields the pieces of the reply as they come. As long as none has been yielded it tries
// again as [Client.Post] does. It ends without an error where the service ends the reply, and it is for the caller to
// know whether that was its end; a connection that breaks is an error. Breaking out ends the request. The time that the
// caller takes for a piece counts for Timeout only.
func (c *Client) Stream(ctx context.Context, url string, in any, form Form) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		body, err := json.Marshal(in)
		if err != nil {
			yield(Event{}, fmt.Errorf("encode request: %w", err))
			return
		}
		begun, more := false, true
		show := func(e Event) bool {
			begun = true
			more = yield(e, nil)
			return more
		}
		err = c.retry(ctx, func() error {
			err := c.stream(ctx, url, body, form, show)
			if err != nil && begun {
				return &begunError{err}
			}
			return err
		})
		if err == nil || !more {
			return
		}
		var shown *begunError
		if errors.As(err, &shown) {
			err = shown.error
		}
		yield(Event{}, err)
	}
}

// stream makes one try, and shows what comes until show returns false.
func (c *Client) stream(parent context.Context, url string, body []byte, form Form, show func(Event) bool) (err error) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	total := time.AfterFunc(cmp.Or(c.Timeout, DefaultStreamTimeout), func() { cancel(errTotal) })
	defer total.Stop()
	first := time.AfterFunc(cmp.Or(c.FirstByte, DefaultFirstByte), func() { cancel(errFirstByte) })
	defer first.Stop()
	defer func() {
		if cause := context.Cause(ctx); err != nil && cause != nil && parent.Err() == nil {
			err = cause // says more than that the context was cancelled
		}
	}()
	resp, err := c.send(ctx, http.MethodPost, url, body, string(form))
	if err != nil {
		return err
	}
	defer resp.Body.Close() // read-only: nothing to lose
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); form == Events && (err != nil || kind != string(Events)) {
		data, _ := io.ReadAll(io.LimitReader(resp.Body, maxEvent)) // it is wrong, whether or not it is whole
		return fmt.Errorf("%w: no stream of events: %s", errReply, c.Excerpt(data))
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, maxEvent)
	var p parser
	idle := cmp.Or(c.Idle, DefaultIdle)
	pause := time.AfterFunc(idle, func() { cancel(errIdle) })
	defer pause.Stop()
	pause.Stop() // until the reply begins
	for lines.Scan() {
		first.Stop()
		pause.Stop()
		if e, ok := p.line(form, lines.Bytes()); ok && !show(e) {
			return nil
		}
		pause.Reset(idle)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read reply: %w", err)
	}
	return nil
}

// parser puts lines together to pieces.
type parser struct {
	name string
	data []byte
	some bool // a data line came, though it may be empty
}

// line takes the next line without its end, and returns the piece that it completes. Server-sent events are read as the
// HTML standard says (section 9.2.6), but for lines that end in a carriage return alone, which nobody sends.
func (p *parser) line(form Form, line []byte) (Event, bool) {
	if form == Lines {
		return Event{Data: line}, len(bytes.TrimSpace(line)) > 0
	}
	if len(line) == 0 {
		e, ok := Event{p.name, p.data}, p.some
		p.name, p.data, p.some = "", nil, false
		return e, ok
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "event":
		p.name = string(value)
	case "data":
		if p.some {
			p.data = append(p.data, '\n')
		}
		p.data, p.some = append(p.data, value...), true
	}
	return Event{}, false // a comment, or a field that is of no use here
}
