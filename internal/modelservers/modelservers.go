//go:build unix

// Package modelservers runs, for tests, servers of make-believe models that others wrote (scripts/install-model-servers):
// llmock, which can be told what to say and when to fail, and mock-ai-api.
package modelservers

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag/internal/testdata"
	"github.com/seed-d8745b77/rag/internal/testserver"
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

// Llmock starts llmock, or skips the test as Need does. OpenAI's protocol is at /v1 below its address.
func Llmock(t testing.TB) *testserver.Server {
	t.Helper()
	port := testserver.FreePort(t)
	return start(t, "http://127.0.0.1:"+port, "/_llmock/verdict", "llmock", "serve", "--host", "127.0.0.1", "--port", port, "--log-level", "warning")
}

// MockAI starts mock-ai-api, or skips the test as Need does. Its address is that of OpenAI's protocol; the other that of
// Anthropic's.
func MockAI(t testing.TB) (s *testserver.Server, anthropic string) {
	t.Helper()
	first, second := testserver.FreePort(t), testserver.FreePort(t)
	s = start(t, "http://127.0.0.1:"+first, "/v1/models", "mock-ai-api", "--openai-port", first, "--anthropic-port", second)
	anthropic = "http://127.0.0.1:" + second
	testserver.Wait(t, s, anthropic)
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
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if said, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode > 299 {
		t.Fatalf("%s: %s %s %v", url, resp.Status, said, err)
	}
}

// start runs a server and waits until it answers at a path.
func start(t testing.TB, url, path, program string, args ...string) *testserver.Server {
	t.Helper()
	Need(t)
	return testserver.Start(t, url, path, filepath.Join(folder(t), "bin", program), args...)
}
