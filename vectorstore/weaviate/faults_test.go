package weaviate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/vectorstore/weaviate"
)

func host(url string) string { return strings.TrimPrefix(url, "http://") }

// far are the settings of a store that reaches the server at host and port, and tries once.
func far(at string) weaviate.Config {
	return weaviate.Config{URL: "http://" + at, MaxResults: 10_001, Tries: 1}
}

// engine opens one over vectors and words in a server.
func engine(t *testing.T, c weaviate.Config) *rag.Engine {
	t.Helper()
	eng, err := rag.Open(t.TempDir(), rag.WithEmbedder(&ragtest.HashEmbedder{Dims: 32}), rag.WithVectorStore(vectors(t, c)), rag.WithSparseIndex(texts(t, c)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	return eng
}

func TestVectorFaults(t *testing.T) {
	_, url := newFake(t)
	ragtest.TestVectorStoreFaults(t, host(url), func(t *testing.T, at string) rag.VectorStore { return vectors(t, far(at)) })
}

func TestTextFaults(t *testing.T) {
	_, url := newFake(t)
	ragtest.TestSparseIndexFaults(t, host(url), func(t *testing.T, at string) rag.SparseIndex { return texts(t, far(at)) })
}

func TestEngineFaults(t *testing.T) {
	f, url := newFake(t)
	ragtest.TestEngineFaults(t, host(url), func(t *testing.T, at string) *rag.Engine {
		f.mu.Lock()
		clear(f.classes)
		f.mu.Unlock()
		return engine(t, far(at))
	})
}

// refuser stands before a fake and has every second object of the batches refused, or a part of what is to be deleted
// stay, while it is on: the status of the whole is a success.
type refuser struct {
	next http.Handler
	on   atomic.Bool
	hits atomic.Int64
}

func (r *refuser) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if !r.on.Load() || req.URL.Path != "/v1/batch/objects" {
		r.next.ServeHTTP(w, req)
		return
	}
	r.hits.Add(1)
	if req.Method == http.MethodDelete {
		_, _ = io.WriteString(w, `{"results":{"matches":2,"successful":1,"failed":1}}`)
		return
	}
	var in struct {
		Objects []map[string]any `json:"objects"`
	}
	if err := json.NewDecoder(req.Body).Decode(&in); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	var taken []map[string]any
	var out []any
	for i, o := range in.Objects {
		result := map[string]any{"status": "SUCCESS"}
		if i%2 == 1 {
			result = map[string]any{"status": "FAILED", "errors": failure("no space left on the device of the shard")}
		} else {
			taken = append(taken, o)
		}
		out = append(out, map[string]any{"id": o["id"], "result": result})
	}
	body, _ := json.Marshal(map[string]any{"objects": taken}) // it came from JSON
	part := req.Clone(req.Context())
	part.Body, part.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.next.ServeHTTP(httptest.NewRecorder(), part)
	_ = json.NewEncoder(w).Encode(out) // a client that is gone is the test's business
}

// report is a text of some passages, each with the version.
func report(version string) rag.Sources {
	var text strings.Builder
	for i := range 6 {
		fmt.Fprintf(&text, "# Part %d\n\nThe %s report on harbour %d. %s\n\n", i, version, i, strings.Repeat("It is kept in the archive of the harbour. ", 20))
	}
	return rag.Bytes("mem:///report.md", []byte(text.String()))
}

// Objects that are refused one by one make the call an error; nothing of them is shown, and the next run takes them away.
func TestObjectsThatAreRefused(t *testing.T) {
	f, _ := newFake(t)
	r := &refuser{next: f}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	c := far(host(server.URL))
	eng := engine(t, c)
	ingest := func(version string) error {
		_, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{report(version)}})
		return err
	}
	shows := func(version string) {
		t.Helper()
		for _, mode := range []rag.Mode{rag.Dense, rag.Sparse} {
			result, err := eng.Search(t.Context(), rag.Query{Text: "harbour", Mode: mode, TopK: 100})
			if err != nil {
				t.Fatal(err)
			}
			if version == "" && len(result.Hits) > 0 || version != "" && len(result.Hits) == 0 {
				t.Errorf("%s: %d hits, want those of %q", mode, len(result.Hits), version)
			}
			for _, h := range result.Hits {
				if !strings.Contains(h.Chunk.Text, version) {
					t.Errorf("%s shows %q, want only the %s version", mode, h.Chunk.Text, version)
				}
			}
		}
	}
	verified := func(want bool) {
		t.Helper()
		rep, err := eng.Verify(t.Context(), "")
		if err != nil || rep.OK != want || !want && len(rep.Orphans) == 0 {
			t.Errorf("verify: %v, %+v; want it to be well: %v, or orphans", err, rep, want)
		}
	}
	if err := ingest("first"); err != nil {
		t.Fatal(err)
	}

	r.on.Store(true)
	if err := ingest("second"); !errors.Is(err, rag.ErrUnavailable) || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("an ingest of which a part was refused: %v, want ErrUnavailable and what the server says", err)
	}
	shows("first")
	verified(false)
	r.on.Store(false)
	if _, err := eng.Repair(t.Context(), ""); err != nil {
		t.Error(err)
	}
	verified(true)
	shows("first")
	if err := ingest("second"); err != nil {
		t.Error(err)
	}
	shows("second")
	verified(true)

	r.on.Store(true)
	rep, err := eng.Delete(t.Context(), rag.DeleteRequest{URIs: []string{"mem:///report.md"}})
	if !errors.Is(err, rag.ErrPartial) || !errors.Is(err, rag.ErrUnavailable) || len(rep.Failed) != 2 {
		t.Errorf("a delete of which a part stays: %v, %+v", err, rep)
	}
	shows("")
	r.on.Store(false)
	if err := ingest("third"); err != nil { // it finishes what was left
		t.Error(err)
	}
	shows("third")
	verified(true)
	if r.hits.Load() < 3 {
		t.Errorf("only %d calls were refused", r.hits.Load())
	}
}
