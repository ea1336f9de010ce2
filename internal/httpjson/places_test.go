package httpjson_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/internal/httpjson"
)

// A place that does not answer, or is in trouble, is left; one that refuses a request, or says what it could not do, is not.
func TestPlaces(t *testing.T) {
	broken, refusing, part, well := &fakePlace{status: 503}, &fakePlace{status: 400}, &fakePlace{body: `[{"Error":"not yet"}]`}, &fakePlace{body: `[]`}
	client := func(places ...*fakePlace) *httpjson.Client {
		return &httpjson.Client{
			Places: httpjson.NewPlaces("http://0", "http://1", "http://2"), Sleep: func(context.Context, time.Duration) error { return nil },
			HTTP: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) { return places[r.URL.Host[0]-'0'].reply(t, r) })},
		}
	}
	for name, c := range map[string]struct {
		places []*fakePlace
		fails  []bool // of requests
		asked  []int  // of each place
	}{
		"the first is asked":                      {[]*fakePlace{well, well, well}, []bool{false, false}, []int{2, 0, 0}},
		"nobody goes back to one that failed":     {[]*fakePlace{broken, well, well}, []bool{false, false}, []int{1, 2, 0}},
		"the one that failed first comes again":   {[]*fakePlace{broken, broken, broken}, []bool{true, true}, []int{2, 2, 2}},
		"a request that is refused is refused":    {[]*fakePlace{refusing, well, well}, []bool{true}, []int{1, 0, 0}},
		"what was not done in part is done there": {[]*fakePlace{part, well, well}, []bool{true}, []int{3, 0, 0}},
	} {
		var places []*fakePlace
		for _, p := range c.places {
			places = append(places, &fakePlace{status: p.status, body: p.body})
		}
		client := client(places...)
		for _, want := range c.fails {
			var out verdict
			if err := client.Do(t.Context(), http.MethodPut, "/path", 7, &out); (err != nil) != want {
				t.Errorf("%s: error %v, want one: %v", name, err, want)
			}
		}
		var asked []int
		for _, p := range places {
			asked = append(asked, p.asked)
		}
		if diff := cmp.Diff(c.asked, asked); diff != "" {
			t.Errorf("%s: how often each was asked (-want +got):\n%s", name, diff)
		}
	}
}

type fakePlace struct {
	status int // 0: 200
	body   string
	asked  int
}

func (p *fakePlace) reply(t *testing.T, r *http.Request) (*http.Response, error) {
	t.Helper()
	p.asked++
	if r.URL.Path != "/path" {
		t.Errorf("asked for %s", r.URL)
	}
	return &http.Response{StatusCode: max(p.status, 200), Body: io.NopCloser(strings.NewReader(p.body)), Request: r}, nil
}
