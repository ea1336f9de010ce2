package browser

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/dashboard"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/trace"
)

// handbook is the sample folder.
const handbook = "../../examples/handbook"

// site is a dashboard over a folder of its own, on a port of its own.
type site struct {
	url string // without a slash at its end
	dir string
	eng *rag.Engine
}

// start serves a dashboard over an empty folder.
func start(t *testing.T, change func(*dashboard.Options), opts ...rag.Option) *site {
	t.Helper()
	s := &site{dir: t.TempDir()}
	opts = append([]rag.Option{rag.WithEmbedder(&ragtest.HashEmbedder{})}, opts...)
	var err error
	if s.eng, err = rag.Open(s.dir, opts...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.eng.Close(); err != nil {
			t.Error(err)
		}
	})
	o := dashboard.Options{Traces: trace.NewIndex(s.dir), EvalDir: filepath.Join(s.dir, "eval"), UploadDir: filepath.Join(s.dir, "uploads"), Version: "1.0", Now: time.Now}
	if change != nil {
		change(&o)
	}
	dash, err := dashboard.New(s.eng, o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(dash)
	t.Cleanup(func() {
		if err := dash.Close(); err != nil {
			t.Error(err)
		}
		server.Close()
	})
	s.url = server.URL
	return s
}

// ingest puts sources in.
func (s *site) ingest(t *testing.T, sources ...rag.Sources) {
	t.Helper()
	if _, err := s.eng.Ingest(t.Context(), rag.IngestRequest{Sources: sources}); err != nil {
		t.Fatal(err)
	}
}

// search makes a trace of a search and returns its ID.
func (s *site) search(t *testing.T, q rag.Query) string {
	t.Helper()
	res, err := s.eng.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return res.TraceID
}

// pages that this build serves, by name.
var pages = []struct{ name, path string }{
	{"overview", "/"},
	{"browse", "/browse"},
	{"ingest", "/ingest"},
	{"ingest-traces", "/traces/ingest"},
	{"query-traces", "/traces/query"},
	{"evaluation-empty", "/evaluation"},
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
