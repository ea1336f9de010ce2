package httpapi_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/access"
	"github.com/seed-d8745b77/rag/httpapi"
	"github.com/seed-d8745b77/rag/ragtest"
)

// FuzzRequests sends any body, and any query, to each route: what is wrong is the client's mistake, never the server's.
func FuzzRequests(f *testing.F) {
	eng, err := rag.Open("", rag.WithEmbedder(&ragtest.HashEmbedder{}))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = eng.Close() })
	api, err := httpapi.New(access.Fixed(eng), httpapi.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(api.Close)
	f.Add([]byte(`{"query":"x","top_k":3,"filter":{"op":"eq","field":"a","value":1},"mode":"dense"}`), "limit=2&cursor=abc&uri=x")
	f.Add([]byte(`{"query":"x","filter":"a = 1 and (b","turns":[{"role":"user","text":"y"}]}`), "limit=-1&%zz")
	f.Add([]byte(`{"path":"../..","chunk_id":"x","as_of":"2026-13-01"}`), "")
	f.Fuzz(func(t *testing.T, body []byte, query string) {
		for _, route := range [][2]string{{http.MethodPost, "/v1/search"}, {http.MethodPost, "/v1/ask"}, {http.MethodPost, "/v1/explain"}, {http.MethodGet, "/v1/documents"}, {http.MethodGet, "/v1/document"}, {http.MethodGet, "/v1/document/chunks"}} {
			r := httptest.NewRequestWithContext(t.Context(), route[0], "http://127.0.0.1"+route[1], bytes.NewReader(body))
			r.URL = &url.URL{Scheme: "http", Host: "127.0.0.1", Path: route[1], RawQuery: query}
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			api.ServeHTTP(w, r)
			if w.Code >= 500 && w.Code != http.StatusServiceUnavailable && w.Code != http.StatusGatewayTimeout {
				t.Errorf("%s %s: %d %s", route[0], route[1], w.Code, w.Body)
			}
		}
	})
}
