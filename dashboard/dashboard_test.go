package dashboard

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/ragtest"
)

// testToken is long enough.
const testToken = "0123456789abcdef"

// engine returns one over data in memory, with an embedder that costs nothing.
func engine(t *testing.T, opts ...rag.Option) *rag.Engine {
	t.Helper()
	eng, err := rag.Open("", append([]rag.Option{rag.WithEmbedder(hash())}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = eng.Close() })
	return eng
}

// hash is an embedder that costs nothing.
func hash() rag.Embedder { return &ragtest.HashEmbedder{Dims: 32} }

// ingest puts texts, by name, into an engine.
func ingest(t *testing.T, eng *rag.Engine, texts map[string]string) {
	t.Helper()
	req := rag.IngestRequest{}
	for name, text := range texts {
		req.Sources = append(req.Sources, rag.Bytes(name, []byte(text)))
	}
	if _, err := eng.Ingest(t.Context(), req); err != nil {
		t.Fatal(err)
	}
}

// server returns a dashboard over the engine.
func server(t *testing.T, eng *rag.Engine, o Options) *Server {
	t.Helper()
	o.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	s, err := New(eng, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// get asks a dashboard for a page, after set has changed the request, and returns status, head and body.
func get(t testing.TB, h http.Handler, target string, set ...func(*http.Request)) (int, http.Header, string) {
	t.Helper()
	return send(t, h, httptest.NewRequest(http.MethodGet, "http://localhost"+target, nil), set...)
}

// post sends a form.
func post(t testing.TB, h http.Handler, target, form string, set ...func(*http.Request)) (int, http.Header, string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "http://localhost"+target, strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return send(t, h, r, set...)
}

func send(t testing.TB, h http.Handler, r *http.Request, set ...func(*http.Request)) (int, http.Header, string) {
	t.Helper()
	r = r.WithContext(t.Context())
	for _, f := range set {
		f(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	res := w.Result()
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(body)
}
