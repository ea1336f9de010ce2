package httpjson_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/internal/httpjson"
)

// transport answers requests without a network, so that time can be made up.
type transport func(r *http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// step is what a service does: it waits, then it writes.
type step struct {
	wait time.Duration
	text string
	err  error // ends the reply; nil: it goes on
}

// streaming returns a client of a service that answers with these steps, and counts requests.
func streaming(calls *int, header http.Header, kind string, steps ...step) *httpjson.Client {
	return &httpjson.Client{Header: header, HTTP: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		*calls++
		body, w := io.Pipe()
		go func() {
			for _, s := range steps {
				select {
				case <-time.After(s.wait):
				case <-r.Context().Done():
					_ = w.CloseWithError(r.Context().Err()) // it returns nil
					return
				}
				if _, err := io.WriteString(w, s.text); err != nil || s.err != nil {
					_ = w.CloseWithError(s.err) // it returns nil
					return
				}
			}
			_ = w.Close() // it returns nil
		}()
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {kind}}, Body: body, Request: r}, nil
	})}}
}

// collect ranges over a stream.
func collect(ctx context.Context, c *httpjson.Client, form httpjson.Form) (got []string, err error) {
	for e, failed := range c.Stream(ctx, "http://host/", map[string]int{"n": 7}, form) {
		if failed != nil {
			return got, failed
		}
		got = append(got, e.Name+"|"+string(e.Data))
	}
	return got, nil
}

const sse, ndjson = "text/event-stream; charset=utf-8", "application/x-ndjson"

func TestStreamReadsPieces(t *testing.T) {
	for name, c := range map[string]struct {
		kind, text string
		form       httpjson.Form
		want       []string
	}{
		"events":           {sse, "data: a\n\ndata:b\n\n", httpjson.Events, []string{"|a", "|b"}},
		"named":            {sse, "event: x\ndata: a\nid: 7\n\ndata: b\n\n", httpjson.Events, []string{"x|a", "|b"}},
		"lines of one":     {sse, "data: a\ndata: b\ndata\n\n", httpjson.Events, []string{"|a\nb\n"}},
		"comments":         {sse, ": keep alive\n\n:\n\ndata: a\n\n", httpjson.Events, []string{"|a"}},
		"carriage returns": {sse, "data: a\r\n\r\ndata: b\r\n\r\n", httpjson.Events, []string{"|a", "|b"}},
		"not ended":        {sse, "data: a\n\ndata: b\n", httpjson.Events, []string{"|a"}},
		"without data":     {sse, "event: x\n\ndata: a\n\n", httpjson.Events, []string{"|a"}},
		"json lines":       {ndjson, "{\"a\":1}\n\n  \n{\"b\":2}\r\n{\"c\":3}", httpjson.Lines, []string{`|{"a":1}`, `|{"b":2}`, `|{"c":3}`}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 3, len(c.text)} { // however it is cut on the way
				var steps []step
				for at := 0; at < len(c.text); at += size {
					steps = append(steps, step{text: c.text[at:min(at+size, len(c.text))]})
				}
				calls := 0
				got, err := collect(t.Context(), streaming(&calls, nil, c.kind, steps...), c.form)
				if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
					t.Errorf("pieces of %d: error %v (-want +got):\n%s", size, err, diff)
				}
			}
		})
	}
}

func TestStreamKeepsItsTimes(t *testing.T) {
	event := func(wait time.Duration) step { return step{wait: wait, text: "data: a\n\n"} }
	for name, c := range map[string]struct {
		steps []step
		want  int // pieces
		err   string
		spent time.Duration
	}{
		"in time":           {[]step{event(50 * time.Second), event(20 * time.Second), event(20 * time.Second)}, 3, "", 90 * time.Second},
		"does not begin":    {[]step{event(70 * time.Second)}, 0, "does not begin", time.Minute},
		"stops":             {[]step{event(0), event(40 * time.Second)}, 1, "has stopped", 30 * time.Second},
		"a comment is life": {[]step{event(0), {20 * time.Second, ":\n", nil}, event(20 * time.Second)}, 2, "", 40 * time.Second},
		"does not end":      {[]step{event(0), event(29 * time.Second), event(29 * time.Second), event(29 * time.Second), event(29 * time.Second)}, 4, "does not end", 100 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls, start := 0, time.Now()
				client := streaming(&calls, nil, sse, c.steps...)
				client.FirstByte, client.Idle, client.Timeout = time.Minute, 30*time.Second, 100*time.Second
				got, err := collect(t.Context(), client, httpjson.Events)
				if len(got) != c.want || time.Since(start) != c.spent || calls != 1 {
					t.Errorf("%d pieces in %s and %d requests, want %d in %s and one", len(got), time.Since(start), calls, c.want, c.spent)
				}
				if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want %q", err, c.err)
				}
			})
		})
	}
}

// The time that a reader takes is not the service's.
func TestASlowReaderIsNoPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, n := 0, 0
		client := streaming(&calls, nil, sse, step{text: "data: a\n\n"}, step{text: "data: b\n\n"})
		client.Idle = time.Second
		for _, err := range client.Stream(t.Context(), "http://host/", 1, httpjson.Events) {
			if err != nil {
				t.Fatal(err)
			}
			<-time.After(time.Minute)
			n++
		}
		if n != 2 {
			t.Errorf("%d pieces, want 2", n)
		}
	})
}

func TestStreamTriesAgainOnlyBeforeTheFirstPiece(t *testing.T) {
	cut := errors.New("connection reset")
	for name, c := range map[string]struct {
		steps []step
		calls int
		want  int
	}{
		"before": {[]step{{text: ": hello\n", err: cut}}, 3, 0},
		"behind": {[]step{{text: "data: a\n\n", err: cut}}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			client := streaming(&calls, nil, sse, c.steps...)
			client.Sleep = func(context.Context, time.Duration) error { return nil }
			got, err := collect(t.Context(), client, httpjson.Events)
			if calls != c.calls || len(got) != c.want || !errors.Is(err, cut) {
				t.Errorf("%d requests, %d pieces, error %v; want %d, %d, %v", calls, len(got), err, c.calls, c.want, cut)
			}
		})
	}
}

func TestAReplyThatIsNoStream(t *testing.T) {
	calls := 0
	header := http.Header{"Api-Key": {"sk-canary-123"}}
	_, err := collect(t.Context(), streaming(&calls, header, "application/json", step{text: `{"error":"key sk-canary-123 is over its quota"}`}), httpjson.Events)
	if err == nil || calls != 1 || !strings.Contains(err.Error(), "key *** is over its quota") {
		t.Errorf("%d requests, error %v", calls, err)
	}
}

func TestTheBreakerStopsTries(t *testing.T) {
	calls := 0
	client := httpjson.Client{
		Gate:  httpjson.NewGate(httpjson.GateConfig{BreakAfter: 2, BreakFor: time.Hour}),
		Sleep: func(context.Context, time.Duration) error { return nil },
		HTTP: &http.Client{Transport: transport(func(*http.Request) (*http.Response, error) {
			calls++
			return nil, fmt.Errorf("refused %d", calls)
		})},
	}
	err := client.Post(t.Context(), "http://host/", 1, nil)
	if calls != 2 || err == nil || !strings.Contains(err.Error(), "refused 2") {
		t.Errorf("%d requests, error %v; want two, and the error of the last", calls, err)
	}
	if err := client.Post(t.Context(), "http://host/", 1, nil); calls != 2 || !errors.Is(err, httpjson.ErrShut) {
		t.Errorf("%d requests, error %v; want none more and ErrShut", calls, err)
	}
}

// A header with a key must not go to whoever a redirect names.
func TestRedirectsAreNotFollowed(t *testing.T) {
	client, url, _, calls := serve(t, reply{307, "", "elsewhere"})
	var status *httpjson.StatusError
	if err := client.Post(t.Context(), url, map[string]int{"n": 7}, nil); !errors.As(err, &status) || status.Code != 307 || *calls != 1 {
		t.Errorf("error %v after %d requests", err, *calls)
	}
}

func FuzzStream(f *testing.F) {
	f.Add("data: a\n\nevent: b\r\ndata\n\n: c\n", true)
	f.Add("{}\n[1]\n", false)
	f.Fuzz(func(t *testing.T, text string, events bool) {
		form, kind := httpjson.Lines, ndjson
		if events {
			form, kind = httpjson.Events, sse
		}
		whole, cut := 0, 0
		got, err := collect(t.Context(), streaming(&whole, nil, kind, step{text: text}), form)
		middle := len(text) / 2
		again, failed := collect(t.Context(), streaming(&cut, nil, kind, step{text: text[:middle]}, step{text: text[middle:]}), form)
		if diff := cmp.Diff(got, again); diff != "" || (err == nil) != (failed == nil) {
			t.Errorf("a cut on the way changes what is read: %v, %v\n%s", err, failed, diff)
		}
	})
}
