package dashboard

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

// FuzzForms gives every page any query, and what tries a question any form: they answer, and not by failing.
func FuzzForms(f *testing.F) {
	eng, err := rag.Open("", rag.WithEmbedder(&ragtest.HashEmbedder{}))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = eng.Close() })
	s, err := New(eng, Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	for _, query := range []string{"q=a&filter=b+%3D+1&as_of=2026-01-01&mode=dense&top_k=3", "range=-1&after=%ff&tab=x&lang=zz", "collection=%00&status=x&from=9&to=1&rewrite=hyde&ask=on"} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		for _, route := range []string{"GET /", "GET /browse", "GET /validity", "GET /ingest", "GET /traces/ingest", "GET " + queryPath, "GET " + evalPath, "POST " + queryPath + "/try"} {
			method, path, _ := strings.Cut(route, " ")
			r := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1"+path, nil)
			if method == http.MethodPost {
				r = httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1"+path, strings.NewReader(query))
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			} else {
				r.URL = &url.URL{Scheme: "http", Host: "127.0.0.1", Path: path, RawQuery: query}
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code >= 500 && w.Code != http.StatusServiceUnavailable {
				t.Errorf("%s %q: %d", route, query, w.Code)
			}
		}
	})
}
