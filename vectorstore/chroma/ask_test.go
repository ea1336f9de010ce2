package chroma_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/vectorstore/chroma"
)

// A search and a reading of vectors that meet a record as it is deleted are made again until they meet none; other trouble
// ends them, and so does such a reply that stays.
func TestTornReplies(t *testing.T) {
	const (
		missing = `{"error":"InternalError","message":"Error executing plan: Internal error: Error finding id"}`
		vector  = `{"error":"InternalError","message":"Error executing plan: Internal error: Error getting embedding"}`
	)
	for _, c := range []struct {
		name  string
		torn  int    // replies before a good one
		reply string // that they are; 200 if it begins with {"ids"
		good  bool
	}{
		{"a record is missing", 3, missing, true},
		{"its vector is missing", 3, vector, true},
		{"the reply has a null", 3, `{"ids":[["a","b"]],"distances":[[0]],"metadatas":[[{},{}]],"embeddings":null}`, true},
		{"it stays", 100, missing, false},
		{"the disk is full", 3, `{"error":"InternalError","message":"disk full"}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					io.WriteString(w, `{"id":"1","metadata":{"rag_dims":2}}`)
					return
				}
				asked++
				switch {
				case asked > c.torn && strings.HasSuffix(r.URL.Path, "/get"):
					io.WriteString(w, `{"ids":["a"],"embeddings":[[1,0]]}`)
				case asked > c.torn:
					io.WriteString(w, `{"ids":[["a","b"]],"distances":[[0,1]],"metadatas":[[{"rag_meta":"{}"},{"rag_meta":"{}"}]]}`)
				case strings.HasPrefix(c.reply, `{"ids"`) && strings.HasSuffix(r.URL.Path, "/get"):
					io.WriteString(w, `{"ids":["a"],"embeddings":[null]}`)
				case strings.HasPrefix(c.reply, `{"ids"`):
					io.WriteString(w, c.reply)
				default:
					w.WriteHeader(http.StatusInternalServerError)
					io.WriteString(w, c.reply)
				}
			}))
			defer server.Close()
			s, err := chroma.New(chroma.Config{URL: server.URL, Tries: 1})
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Search(t.Context(), "c", rag.VectorQuery{Vector: []float32{1, 0}, K: 1})
			if good := err == nil && len(got) == 1 && got[0].ID == "a"; good != c.good || !good && !errors.Is(err, rag.ErrUnavailable) {
				t.Errorf("search, after %d requests: %v, %v", asked, got, err)
			}
			asked = 0
			vectors, err := s.Vectors(t.Context(), "c", []string{"a"})
			if good := err == nil && len(vectors) == 1 && len(vectors[0]) == 2; good != c.good || !good && !errors.Is(err, rag.ErrUnavailable) {
				t.Errorf("vectors, after %d requests: %v, %v", asked, vectors, err)
			}
		})
	}
}
