package weaviate_test

import (
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/vectorstore/weaviate"
)

var update = flag.Bool("update", false, "rewrite testdata/requests.txt")

func vectors(t testing.TB, c weaviate.Config) *weaviate.Vectors {
	t.Helper()
	v, err := weaviate.NewVectors(c)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func texts(t testing.TB, c weaviate.Config) *weaviate.Texts {
	t.Helper()
	x, err := weaviate.NewTexts(c)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// fakes gives each folder of a suite a server of its own.
func fakes() func(t *testing.T, dir string) weaviate.Config {
	urls := map[string]string{}
	return func(t *testing.T, dir string) weaviate.Config {
		if urls[dir] == "" {
			_, urls[dir] = newFake(t)
		}
		return weaviate.Config{URL: urls[dir], MaxResults: 10_001}
	}
}

func TestVectorsOverAFake(t *testing.T) {
	at := fakes()
	ragtest.TestVectorStore(t, func(t *testing.T, dir string) rag.VectorStore { return vectors(t, at(t, dir)) }, ragtest.Slow())
}

func TestTextsOverAFake(t *testing.T) {
	at := fakes()
	ragtest.TestSparseIndex(t, func(t *testing.T, dir string) rag.SparseIndex { return texts(t, at(t, dir)) }, ragtest.Slow())
}

// What is sent is what three nodes of version 1.35.2 understood.
func TestRequests(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body any
		if err := json.NewDecoder(r.Body).Decode(&body); err == nil {
			if m, ok := body.(map[string]any); ok && m["deletionTimeUnixMilli"] != nil {
				m["deletionTimeUnixMilli"] = 0
			}
			text, err := json.MarshalIndent(body, "", "  ")
			if err != nil {
				t.Error(err)
			}
			got = append(got, r.Method+" "+r.URL.String()+"\n"+string(text))
		} else {
			got = append(got, r.Method+" "+r.URL.String())
		}
		replies := map[string]string{
			"POST /v1/batch/objects": `[{"id":"x","result":{"status":"SUCCESS"}}]`,
			"POST /v1/graphql":       `{"data":{"Get":{"RagVectors_hand_book_c65c546e798c2e34ac65":[],"RagWords_hand_book_c65c546e798c2e34ac65":[]},"Aggregate":{}}}`,
			"GET /v1/objects":        `{"objects":[]}`,
		}
		if reply := replies[r.Method+" "+r.URL.Path]; reply != "" {
			_, _ = w.Write([]byte(reply)) // a client that is gone is the test's business
			return
		}
		dims := "2"
		if strings.Contains(r.URL.Path, "Words") {
			dims = "0"
		}
		asked := strings.Count(strings.Join(got, "\n"), "GET "+r.URL.Path)
		switch {
		case r.Method == http.MethodGet && asked == 1:
			w.WriteHeader(http.StatusNotFound)
		case r.Method == http.MethodGet:
			_, _ = w.Write([]byte(`{"description":"{\"rag_collection\":\"hand book\",\"rag_dims\":` + dims + `}","replicationConfig":{"factor":3}}`))
		default:
			_, _ = w.Write([]byte(`{}`))
		}
	}))
	defer server.Close()
	c := weaviate.Config{URL: server.URL, Replicas: 3}
	v, x, ctx := vectors(t, c), texts(t, c), t.Context()
	march := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	filter := rag.And(rag.Eq("lang", `d"e`), rag.Not(rag.In("n", 1, true)), rag.Prefix("uri", "a/"), rag.ValidAt(march), rag.Range("n", rag.Bounds{GT: 3}))
	meta, validity := rag.Meta{"lang": "de", "tags": []string{"a", "b"}}, rag.Validity{From: march, Stated: true}
	if err := v.Upsert(ctx, "hand book", []rag.VectorRecord{{ID: "c1", DocID: "d1", Vector: []float32{0.6, 0.8}, Meta: meta, Validity: validity}}); err != nil {
		t.Error(err)
	}
	if err := x.Upsert(ctx, "hand book", []rag.TextRecord{{ID: "c1", DocID: "d1", Text: "Ferries leave C++ at 7.30.", Meta: meta, Language: "en"}}); err != nil {
		t.Error(err)
	}
	if _, err := v.Search(ctx, "hand book", rag.VectorQuery{Vector: []float32{0.6, 0.8}, K: 10, Filter: filter}); err != nil {
		t.Error(err)
	}
	if _, err := x.Search(ctx, "hand book", rag.SparseQuery{Text: "When do ferries leave?", K: 10}); err != nil {
		t.Error(err)
	}
	if _, err := v.Vectors(ctx, "hand book", []string{"c1", "c2"}); err != nil {
		t.Error(err)
	}
	for _, err := range v.IDs(ctx, "hand book") {
		t.Error(err)
	}
	if err := errors.Join(v.Delete(ctx, "hand book", []string{"c1"}), v.Drop(ctx, "hand book")); err != nil {
		t.Error(err)
	}
	golden := filepath.Join("testdata", "requests.txt")
	text := strings.ReplaceAll(strings.Join(got, "\n\n"), server.URL, "") + "\n"
	if *update {
		if err := os.WriteFile(golden, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// Objects that are refused right after their class was made are sent again, and a delete is not lost.
func TestBatchesThatFailInPart(t *testing.T) {
	f, url := newFake(t)
	f.late = true
	v := vectors(t, weaviate.Config{URL: url})
	recs := []rag.VectorRecord{{ID: "a", Vector: []float32{1, 0}}, {ID: "b", Vector: []float32{0, 1}}}
	if err := v.Upsert(t.Context(), "c", recs); err != nil {
		t.Fatal(err)
	}
	if err := v.Delete(t.Context(), "c", []string{"a"}); err != nil {
		t.Fatal(err)
	}
	got, err := v.Search(t.Context(), "c", rag.VectorQuery{Vector: []float32{1, 0}, K: 5})
	if diff := cmp.Diff([]rag.Match{{ID: "b"}}, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	if err := vectors(t, weaviate.Config{URL: url, Tries: 1}).Upsert(t.Context(), "other", recs); !errors.Is(err, rag.ErrUnavailable) || !strings.Contains(err.Error(), "could not find index") {
		t.Errorf("in one try: error %v, want ErrUnavailable with what the server says", err)
	}
}

// A write that a lost node keeps from reaching all replicas reaches as many as are asked for, or is an error.
func TestNodesThatAreLost(t *testing.T) {
	for _, c := range []struct {
		lost  int
		level string
		want  error
	}{{0, "ALL", nil}, {1, "", nil}, {1, "ALL", rag.ErrUnavailable}, {2, "", rag.ErrUnavailable}, {2, "ONE", nil}} {
		f, url := newFake(t)
		f.lost = c.lost
		err := vectors(t, weaviate.Config{URL: url, Consistency: c.level}).Upsert(t.Context(), "c", []rag.VectorRecord{{ID: "a", Vector: []float32{1, 0}}})
		if !errors.Is(err, c.want) {
			t.Errorf("%d lost, level %q: error %v, want %v", c.lost, c.level, err, c.want)
		}
	}
}

// Where a node does not answer, the next is asked.
func TestOtherNodes(t *testing.T) {
	_, url := newFake(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	v := vectors(t, weaviate.Config{URL: gone.URL, Others: []string{url}})
	if err := v.Upsert(t.Context(), "c", []rag.VectorRecord{{ID: "a", Vector: []float32{1, 0}}}); err != nil {
		t.Fatal(err)
	}
	if got, err := v.Search(t.Context(), "c", rag.VectorQuery{Vector: []float32{1, 0}, K: 5}); len(got) != 1 || err != nil {
		t.Errorf("got %v, %v, want a", got, err)
	}
}

// What another process dropped is not there, and can be written to again.
func TestDroppedByAnother(t *testing.T) {
	for _, beside := range []bool{false, true} { // whether there is another class: servers say in two ways that there is none
		_, url := newFake(t)
		c := weaviate.Config{URL: url, Tries: 1}
		v, x, ctx := vectors(t, c), texts(t, c), t.Context()
		write := func(collection string) {
			t.Helper()
			if err := v.Upsert(ctx, collection, []rag.VectorRecord{{ID: "a", Vector: []float32{1, 0}}}); err != nil {
				t.Error(err)
			}
			if err := x.Upsert(ctx, collection, []rag.TextRecord{{ID: "a", Text: "harbour"}}); err != nil {
				t.Error(err)
			}
		}
		count := func(want int) {
			t.Helper()
			near, err := v.Search(ctx, "c", rag.VectorQuery{Vector: []float32{1, 0}, K: 5})
			worded, failed := x.Search(ctx, "c", rag.SparseQuery{Text: "harbour", K: 5})
			if len(near) != want || len(worded) != want || err != nil || failed != nil {
				t.Errorf("beside %v: %v, %v and %v, %v; want %d", beside, near, err, worded, failed, want)
			}
		}
		drop := func() {
			t.Helper()
			if err := errors.Join(vectors(t, c).Drop(ctx, "c"), texts(t, c).Drop(ctx, "c")); err != nil {
				t.Error(err)
			}
		}
		if beside {
			write("other")
		}
		write("c")
		drop()
		count(0)
		write("c")
		count(1)
		drop()
		if err := errors.Join(v.Delete(ctx, "c", []string{"a"}), x.Delete(ctx, "c", []string{"a"})); err != nil {
			t.Error(err)
		}
		write("c")
		drop()
		for _, l := range []rag.IDLister{v, x} {
			for id, err := range l.IDs(ctx, "c") {
				t.Errorf("there is %q, %v", id, err)
			}
		}
		write("c")
		drop()
		write("c") // to a class that it takes to be there
		count(1)
	}
}

func TestSettings(t *testing.T) {
	for name, c := range map[string]weaviate.Config{
		"url": {URL: "localhost:8080"}, "prefix": {Prefix: "rag"}, "consistency": {Consistency: "TWO"}, "replicas": {Replicas: -1},
		"k1": {K1: -1}, "b": {B: 2}, "key": {APIKey: "a\nb"}, "time-out": {TimeoutMS: -1},
	} {
		if _, err := weaviate.NewVectors(c); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%s: error %v, want ErrInvalid", name, err)
		}
	}
}
