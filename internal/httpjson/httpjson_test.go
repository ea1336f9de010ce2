package httpjson_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/internal/httpjson"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// reply is one answer of a service.
type reply struct {
	status     int
	retryAfter string
	body       string
}

// serve answers with the replies, one after the other, the last one from then on, and keeps the waits.
func serve(t *testing.T, replies ...reply) (c *httpjson.Client, url string, waits *[]time.Duration, calls *int) {
	t.Helper()
	waits, calls = new([]time.Duration), new(int)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in map[string]int
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in["n"] != 7 || r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("request %v, %v, %v", in, err, r.Header)
		}
		rep := replies[min(*calls, len(replies)-1)]
		*calls++
		if rep.retryAfter != "" {
			w.Header().Set("Retry-After", rep.retryAfter)
		}
		w.WriteHeader(rep.status)
		_, _ = io.WriteString(w, rep.body) // a client that is gone is the test's business
	}))
	t.Cleanup(srv.Close)
	return &httpjson.Client{
		Header: http.Header{"Authorization": {"Bearer secret"}},
		Now:    func() time.Time { return noon },
		Sleep:  func(_ context.Context, d time.Duration) error { *waits = append(*waits, d); return nil },
	}, srv.URL, waits, calls
}

func TestPostTriesAgainWhereItMayHelp(t *testing.T) {
	ok := reply{200, "", `{"x": 1}`}
	const ms = time.Millisecond
	for _, c := range []struct {
		name    string
		replies []reply
		waits   []time.Duration
		err     string
	}{
		{"at once", []reply{ok}, nil, ""},
		{"after trouble", []reply{{503, "", "busy"}, {500, "", ""}, ok}, []time.Duration{250 * ms, 500 * ms}, ""},
		{"three tries", []reply{{503, "", " so \n busy "}}, []time.Duration{250 * ms, 500 * ms}, "status 503 Service Unavailable: so busy"},
		{"seconds are waited", []reply{{429, "2", ""}, ok}, []time.Duration{2 * time.Second}, ""},
		{"a date is waited for", []reply{{429, noon.Add(5 * time.Second).Format(http.TimeFormat), ""}, ok}, []time.Duration{5 * time.Second}, ""},
		{"a date that is over", []reply{{429, noon.Add(-5 * time.Second).Format(http.TimeFormat), ""}, ok}, []time.Duration{250 * ms}, ""},
		{"not for ever", []reply{{429, "3600", ""}}, nil, "status 429"},
		{"a bad request stays bad", []reply{{400, "", `{"message":"no model"}`}}, nil, `status 400 Bad Request: {"message":"no model"}`},
		{"a bad key stays bad", []reply{{401, "", ""}}, nil, "status 401"},
		{"not JSON", []reply{{200, "", "<html>"}}, nil, "not the JSON expected"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, url, waits, calls := serve(t, c.replies...)
			var out struct{ X int }
			err := client.Post(t.Context(), url, map[string]int{"n": 7}, &out)
			if c.err == "" && (err != nil || out.X != 1) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("error %v, reply %+v", err, out)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the key is in the error: %v", err)
			}
			if diff := cmp.Diff(c.waits, *waits); diff != "" || *calls != len(c.waits)+1 {
				t.Errorf("%d calls, waits (-want +got):\n%s", *calls, diff)
			}
		})
	}
}

func TestPostKeepsTheDeadline(t *testing.T) {
	client, url, waits, _ := serve(t, reply{503, "20", ""})
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
	defer cancel()
	client.Now = func() time.Time { return time.Now().Add(time.Hour - time.Second) } // as if the hour were nearly over
	var status *httpjson.StatusError
	if err := client.Post(ctx, url, map[string]int{"n": 7}, nil); !errors.As(err, &status) || status.Code != 503 || len(*waits) != 0 {
		t.Errorf("error %v, waits %v", err, *waits)
	}
	cancelled, stop := context.WithCancel(t.Context())
	stop()
	if err := client.Post(cancelled, url, map[string]int{"n": 7}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestErrorsDoNotNameTheAddress(t *testing.T) {
	client := httpjson.Client{Tries: 1}
	err := client.Post(t.Context(), "http://127.0.0.1:1/?key=secret", 1, nil)
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
}

// verdict is a reply that says what failed.
type verdict []struct{ Error string }

func (v *verdict) Failed() error {
	for _, x := range *v {
		if x.Error != "" {
			return errors.New(x.Error)
		}
	}
	return nil
}

// A reply that is a success by its status is asked for again where it says that it is none, and nothing stays of it.
func TestDoTriesAgainWhatFailedInPart(t *testing.T) {
	client, url, waits, _ := serve(t, reply{200, "", `[{"Error":"not yet"},{}]`}, reply{200, "", `[{},{}]`})
	var out verdict
	if err := client.Do(t.Context(), http.MethodPut, url, map[string]int{"n": 7}, &out); err != nil || len(out) != 2 || len(*waits) != 1 {
		t.Errorf("error %v, reply %v, waits %v", err, out, *waits)
	}
	client, url, _, calls := serve(t, reply{200, "", `[{"Error":"never"}]`})
	if err := client.Do(t.Context(), http.MethodPut, url, map[string]int{"n": 7}, &out); err == nil || err.Error() != "never" || *calls != httpjson.DefaultTries {
		t.Errorf("error %v after %d calls", err, *calls)
	}
}

// A reply that nobody reads may be empty.
func TestDoWithoutReply(t *testing.T) {
	client, url, _, _ := serve(t, reply{204, "", ""})
	if err := client.Do(t.Context(), http.MethodDelete, url, map[string]int{"n": 7}, nil); err != nil {
		t.Error(err)
	}
}

// TestExcerptHidesBeforeItCuts: half of a key, or one that is written another way, would not be known later.
func TestExcerptHidesBeforeItCuts(t *testing.T) {
	const key, word = "Quiet-4712-y/0123456789", "me:Hush-4711-x"
	c := &httpjson.Client{Header: http.Header{"Authorization": {"Bearer " + key}}, Secrets: []string{word}}
	coded := base64.StdEncoding.EncodeToString([]byte(word))
	for at := 200; at < 320; at += 7 {
		for _, form := range []string{key, word, coded, url.QueryEscape(key), strings.ReplaceAll(key, "/", `\/`), "Basic " + coded} {
			got := c.Excerpt([]byte(strings.Repeat("x", at) + " " + form + " and more"))
			for _, part := range []string{"Quiet", "4712", "Hush", coded[:6]} {
				if strings.Contains(got, part) {
					t.Errorf("behind %d bytes %q is told: %q", at, form, got)
				}
			}
		}
	}
}
