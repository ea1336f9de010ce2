package remote

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

// holds judges a condition as a service does.
func (c Condition) holds(f Fields) bool {
	one := func(a Condition) bool { return a.holds(f) }
	switch c.Op {
	case Any:
		return true
	case Has:
		return slices.Contains(f.Has, c.Token)
	case HasNot:
		return !slices.Contains(f.Has, c.Token)
	case Begins:
		return slices.ContainsFunc(f.Has, func(t string) bool { return strings.HasPrefix(t, c.Token) }) && slices.Contains(f.Has, c.Field)
	case InForce:
		return f.From <= c.At && f.Until >= c.At
	case NotForce:
		return f.From >= c.At || f.Until <= c.At
	case All:
		return !slices.ContainsFunc(c.Args, func(a Condition) bool { return !one(a) })
	case OneOf:
		return slices.ContainsFunc(c.Args, one)
	}
	return false
}

var (
	someValues = []any{"", "a", "ab", `a"b`, "ä\u2028<", "2026-01-05", "2026-01-05T10:00:00Z", 0.0, 1.0, -2.5, true, false}
	someFields = []string{"a", "b", `a"="b`}
	someTimes  = []time.Time{{}, time.Unix(1e9, 999), time.Unix(1e9, 1500), time.Unix(2e9, 0), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}
)

func pick[T any](rnd *rand.Rand, of []T) T { return of[rnd.IntN(len(of))] }

func randomFilter(rnd *rand.Rand, depth int) rag.Filter {
	n := 6
	if depth > 0 {
		n = 9
	}
	field, value := pick(rnd, someFields), pick(rnd, someValues)
	switch rnd.IntN(n) {
	case 0:
		return rag.Eq(field, value)
	case 1:
		return rag.In(field, value, pick(rnd, someValues))
	case 2:
		return rag.Exists(field)
	case 3:
		return rag.Prefix(field, pick(rnd, []string{"", "a", `a"`, "ä", "\xc3", "2026-01"}))
	case 4:
		return rag.Range(field, pick(rnd, []rag.Bounds{{GT: "a"}, {LTE: "2026-01-05"}, {GTE: 0}, {LT: 1}}))
	case 5:
		return rag.ValidAt(pick(rnd, someTimes[1:]))
	case 6:
		return rag.Not(randomFilter(rnd, depth-1))
	case 7:
		return rag.And(randomFilter(rnd, depth-1), randomFilter(rnd, depth-1))
	}
	return rag.Or(randomFilter(rnd, depth-1), randomFilter(rnd, depth-1))
}

func randomMeta(rnd *rand.Rand) (rag.Meta, rag.Validity) {
	m := rag.Meta{}
	for _, field := range someFields {
		switch rnd.IntN(3) {
		case 0:
			m[field] = pick(rnd, someValues)
		case 1:
			m[field] = []string{"a", `a"b`, "ab"}[:rnd.IntN(4)]
		}
	}
	return m, rag.Validity{From: pick(rnd, someTimes), Until: pick(rnd, someTimes)}
}

// What a service is asked for has every match of the filter, and what it keeps of a record is enough to judge it.
func TestConditionsLoseNothing(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	left := 0
	for range 100_000 {
		f := randomFilter(rnd, 3)
		m, v := randomMeta(rnd)
		fields, err := FieldsOf(m, v)
		if err != nil || f.Validate() != nil {
			t.Fatal(err, f.Validate())
		}
		want := f.Match(m, v)
		if got, err := matches(f, fields.Payload); got != want || err != nil {
			t.Fatalf("%+v on %v, %v: %v, %v from what is kept, want %v", f, m, v, got, err, want)
		}
		holds := Narrow(f).holds(fields)
		if want && !holds {
			t.Fatalf("%+v matches %v, %v, and the condition %+v does not", f, m, v, Narrow(f))
		}
		if !holds {
			left++
		}
	}
	if left < 30_000 {
		t.Errorf("only %d of 100,000 records are left out: the conditions say little", left)
	}
}

// A service that ranks approximately gives exactly min(k, matches), in order.
func TestSearchIsExact(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		n, k, most := rnd.IntN(200), 1+rnd.IntN(30), 20+rnd.IntN(200)
		var all []Row
		for i := range n {
			m := rag.Meta{"n": float64(i % 7)}
			f, err := FieldsOf(m, rag.Validity{})
			if err != nil {
				t.Fatal(err)
			}
			x := float32(rnd.IntN(20)) // many are equal
			all = append(all, Row{ID: fmt.Sprintf("r%03d", i), Score: float64(x), Vector: []float32{x}, Payload: f.Payload})
		}
		filter := pick(rnd, []rag.Filter{{}, rag.Range("n", rag.Bounds{LT: 1}), rag.Eq("n", 9)})
		want := ranking{k: k}
		for _, r := range all {
			if err := want.judge(filter, r); err != nil {
				t.Fatal(err)
			}
		}
		ranked := slices.Clone(all)
		slices.SortStableFunc(ranked, func(a, b Row) int { return int(b.Score - a.Score) })
		short := rnd.IntN(3) == 0 // it gives fewer than there are
		got, err := Search(t.Context(), k, filter, []float32{1}, Asked{
			Most: most,
			Nearest: func(_ context.Context, n int) ([]Row, error) {
				if n > most {
					t.Errorf("%d are asked for, and %d may be", n, most)
				}
				if short {
					return ranked[:min(n, len(ranked))/2], nil
				}
				return ranked[:min(n, len(ranked))], nil
			},
			Scan: func(context.Context) iter.Seq2[Row, error] {
				return func(yield func(Row, error) bool) {
					for _, r := range all {
						r.Score = 0
						if !yield(r, nil) {
							return
						}
					}
				}
			},
		})
		if diff := cmp.Diff(want.result(), got); diff != "" || err != nil {
			t.Fatalf("%d of %d, at most %d, %+v: error %v (-want +got):\n%s", k, n, most, filter, err, diff)
		}
	}
}

func TestNames(t *testing.T) {
	form := regexp.MustCompile(`^rag(-[A-Za-z0-9]+)*-[0-9a-f]{20}$`)
	seen := map[string]bool{}
	for _, c := range []string{"", "handbook", "hand book", "hand-book", "手册", "a␞1", strings.Repeat("long ", 40)} {
		name := Name("rag", c, "-")
		if !form.MatchString(name) || len(name) > 70 || seen[name] {
			t.Errorf("%q is called %q", c, name)
		}
		seen[name] = true
	}
}

func TestSettings(t *testing.T) {
	for _, s := range []Settings{{}, {URL: "host:80"}, {URL: "ftp://host"}, {URL: "http://host?x=1"}, {URL: "http://host", Key: "ä"}, {URL: "http://host", Tries: -1}} {
		if _, err := NewService(s); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%+v: error %v, want ErrInvalid", s, err)
		}
	}
}

func TestErrorsHaveTheirKind(t *testing.T) {
	for status, want := range map[int]error{
		400: rag.ErrInvalid, 401: rag.ErrInvalid, 403: rag.ErrInvalid, 404: rag.ErrNotFound, 409: rag.ErrInvalid, 429: rag.ErrUnavailable, 500: rag.ErrUnavailable, 503: rag.ErrUnavailable,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte("look at " + r.Header.Get("X-Token"))) // a client that is gone is the test's business
		}))
		s, err := NewService(Settings{Name: "store", URL: server.URL, KeyHeader: "X-Token", Key: "canary-123", Tries: 1})
		if err != nil {
			t.Fatal(err)
		}
		err = s.Call(t.Context(), http.MethodGet, "/", nil, nil)
		if !errors.Is(err, want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("status %d: error %v, want %v and no key", status, err, want)
		}
		server.Close()
		if err := s.Call(t.Context(), http.MethodGet, "/", nil, nil); !errors.Is(err, rag.ErrUnavailable) {
			t.Errorf("nobody listens: error %v, want ErrUnavailable", err)
		}
	}
}
