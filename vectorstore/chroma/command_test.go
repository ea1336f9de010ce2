//go:build unix

package chroma_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/internal/testdata"
)

// command is the command over a data folder whose vectors are in the server.
type command struct {
	t           *testing.T
	binary, dir string
}

// buildCommand builds the command, with the vectors at an address of the server.
func buildCommand(t *testing.T, at string) *command {
	t.Helper()
	c := &command{t, "", t.TempDir()}
	c.binary = filepath.Join(c.dir, "rag")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", c.binary, "./cmd/rag")
	build.Dir = testdata.ModuleRoot(t)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v: %s", err, out)
	}
	c.settings(at)
	return c
}

// settings writes those that the command finds.
func (c *command) settings(at string) {
	c.t.Helper()
	text := fmt.Sprintf("vector_store: {provider: chroma, url: %q, prefix: %s}\n", at, prefix(c.dir))
	if err := os.WriteFile(filepath.Join(c.dir, "rag.yaml"), []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func (c *command) start(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(c.t.Context(), c.binary, args...)
	cmd.Dir, cmd.Env = c.dir, append(os.Environ(), "RAG_DIR=")
	return cmd
}

// run runs the command to its end, which must be a good one, and returns what it printed.
func (c *command) run(args ...string) string {
	c.t.Helper()
	cmd := c.start(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		c.t.Fatalf("rag %s: %v\n%s%s", strings.Join(args, " "), err, &out, &errs)
	}
	return out.String()
}

// The command walks the quick start with vectors in the server.
func TestQuickStart(t *testing.T) {
	racetest.Skip(t)
	c := buildCommand(t, address(t))
	if err := os.CopyFS(filepath.Join(c.dir, "handbook"), os.DirFS(filepath.Join(testdata.ModuleRoot(t), "examples", "handbook"))); err != nil {
		t.Fatal(err)
	}
	const question = "How many days of annual leave do I have?"
	if text := c.run("ingest", "handbook"); !strings.Contains(text, "10 added") {
		t.Errorf("ingest: %s", text)
	}
	if text := c.run("ingest", "handbook"); !strings.Contains(text, "10 unchanged") {
		t.Errorf("ingest again: %s", text)
	}
	for _, verb := range []string{"search", "ask"} {
		if text := c.run(verb, question); !strings.Contains(text, "leave-policy-") {
			t.Errorf("%s: %s", verb, text)
		}
	}
	c.run("delete", "handbook/code-of-conduct.docx")
	c.run("verify")
	c.run("reindex")
	c.run("verify")
	c.run("delete", "--all", "--yes")
}

// A process that is killed in any of its calls leaves every document whole, and the next ingest finishes its work.
func TestKilledInACall(t *testing.T) {
	racetest.Skip(t)
	server, err := url.Parse(address(t))
	if err != nil {
		t.Fatal(err)
	}
	var left atomic.Int64 // calls until the one that does not come back
	var calls atomic.Int64
	reached := make(chan struct{}, 1)
	proxy := httputil.NewSingleHostReverseProxy(server)
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		if left.Add(-1) == 0 {
			_, _ = io.Copy(io.Discard, r.Body) // else it is not noticed that the client goes
			reached <- struct{}{}
			<-r.Context().Done()
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	defer between.Close()

	c := buildCommand(t, between.URL)
	write := func(version string) {
		t.Helper()
		var text strings.Builder
		for part := range 3 {
			fmt.Fprintf(&text, "# Part %d\n\nThe %s leaves from pier %d. %s\n\n", part, version, part, strings.Repeat("Tickets are sold on board. ", 30))
		}
		for _, name := range []string{"a.md", "b.md"} {
			if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	write("ferry")
	c.run("ingest", "a.md", "b.md")
	versions := []string{"barge", "raft", "yacht", "canoe", "dinghy", "liner", "sloop", "trawler"}
	was := "ferry"
	for i, version := range versions {
		write(version)
		left.Store(int64(i + 1))
		calls.Store(0)
		p := c.start("ingest", "a.md", "b.md")
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- p.Wait() }()
		select {
		case <-reached:
			if err := p.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			<-ended
		case err := <-ended: // it makes no more calls than that
			if err != nil || i < 3 {
				t.Fatalf("the ingest ended with %d calls: %v", calls.Load(), err)
			}
			return
		}
		left.Store(0)
		text := c.run("search", "from which pier does it leave", "--no-color")
		if old, now := strings.Contains(text, was), strings.Contains(text, version); old == now {
			t.Errorf("killed in call %d: the versions of the %s and the %s are found: %v and %v", i+1, was, version, old, now)
		}
		c.run("ingest", "a.md", "b.md")
		c.run("verify")
		was = version
	}
}
