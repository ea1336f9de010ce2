//go:build unix

// Package modelservers runs, for tests, servers of make-believe models that others wrote (scripts/install-model-servers):
// llmock, which can be told what to say and when to fail, and mock-ai-api.
package modelservers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag/internal/testdata"
)

// Need skips a test where the servers are not installed, or fails it if RAG_REQUIRE_SERVICES is set.
func Need(t testing.TB) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(folder(t), "installed.txt")); err != nil {
		if os.Getenv("RAG_REQUIRE_SERVICES") != "" {
			t.Fatal("the model servers are required and not installed: run scripts/install-model-servers")
		}
		t.Skip("skipped: the model servers are not installed")
	}
}

func folder(t testing.TB) string {
	return filepath.Join(testdata.ModuleRoot(t), "bin", "model-servers")
}

// Server is a running server.
type Server struct {
	URL string // of its first port
	cmd *exec.Cmd
}

// Stop ends the server and its children.
func (s *Server) Stop() {
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) // it may be gone
	_ = s.cmd.Wait()                                      // it was killed
}

// Llmock starts llmock, or skips the test as Need does. OpenAI's protocol is at /v1 below its address.
func Llmock(t testing.TB) *Server {
	t.Helper()
	port := freePort(t)
	return start(t, "http://127.0.0.1:"+port, "/_llmock/verdict", "llmock", "serve", "--host", "127.0.0.1", "--port", port, "--log-level", "warning")
}

// MockAI starts mock-ai-api, or skips the test as Need does. Its address is that of OpenAI's protocol; the other that of
// Anthropic's.
func MockAI(t testing.TB) (s *Server, anthropic string) {
	t.Helper()
	first, second := freePort(t), freePort(t)
	s = start(t, "http://127.0.0.1:"+first, "/v1/models", "mock-ai-api", "--openai-port", first, "--anthropic-port", second)
	anthropic = "http://127.0.0.1:" + second
	if err := listens(anthropic); err != nil {
		s.Stop()
		t.Fatalf("mock-ai-api: %v", err)
	}
	return s, anthropic
}

// Script makes llmock forget what it was told and tells it what to do with the next requests.
func Script(t testing.TB, url string, behaviours ...string) {
	t.Helper()
	post(t, url+"/_llmock/reset", "{}")
	if len(behaviours) > 0 {
		post(t, url+"/_llmock/scenario", `{"behaviors":[`+strings.Join(behaviours, ",")+`]}`)
	}
}

func post(t testing.TB, url, body string) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if said, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode > 299 {
		t.Fatalf("%s: %s %s %v", url, resp.Status, said, err)
	}
}

func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// start runs a server and waits until it answers at a path.
func start(t testing.TB, url, path, program string, args ...string) *Server {
	t.Helper()
	Need(t)
	cmd := exec.Command(filepath.Join(folder(t), "bin", program), args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	said, err := os.CreateTemp("", "model-server")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(said.Name())
	defer said.Close()
	cmd.Stderr = said // no pipe: its children would keep it open
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &Server{url, cmd}
	if err := listens(url + path); err != nil {
		s.Stop()
		text, _ := os.ReadFile(said.Name()) // the error says enough without
		t.Fatalf("%s: %v: %s", program, err, text)
	}
	return s
}

// startTime is how long a server may take to listen; a busy machine needs some.
const startTime = time.Minute

func listens(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	for tick := time.NewTicker(50 * time.Millisecond); ; {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", url, err)
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			return resp.Body.Close()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errors.New("it does not listen")
		}
	}
}
