//go:build unix

package chroma_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/testserver"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/vectorstore/chroma"
)

// release is the one that scripts/install-chroma installs.
const release = "1.5.9"

// server is started by the first test that asks for it, with its data in a folder of its own, and ends with the tests.
var (
	server *testserver.Server
	data   string
)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if data, err = os.MkdirTemp("", "chroma"); err != nil {
			panic(err)
		}
		defer os.RemoveAll(data)
		defer func() {
			if server != nil {
				server.Stop()
			}
		}()
		return m.Run()
	}())
}

// address returns that of a server. Without one the test is skipped, or fails if RAG_REQUIRE_SERVICES is set.
func address(t testing.TB) string {
	t.Helper()
	if server != nil {
		return server.URL
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(cmp.Or(os.Getenv("XDG_CACHE_HOME"), filepath.Join(home, ".cache")), "rag", "chroma-"+release, "bin", "chroma")
	if _, err := os.Stat(program); err != nil {
		if os.Getenv("RAG_REQUIRE_SERVICES") != "" {
			t.Fatal("the server of Chroma is required and not installed: run scripts/install-chroma")
		}
		t.Skip("skipped: the server of Chroma is not installed")
	}
	port := testserver.FreePort(t)
	server = testserver.Start(t, "http://127.0.0.1:"+port, "/api/v2/heartbeat", program, "run", "--host", "127.0.0.1", "--port", port, "--path", data)
	return server.URL
}

// prefix tells the collections of one folder from those of all others.
func prefix(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return "t" + hex.EncodeToString(sum[:8])
}

func open(t testing.TB, c chroma.Config) *chroma.Store {
	t.Helper()
	s, err := chroma.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	ragtest.TestVectorStore(t, func(t *testing.T, dir string) rag.VectorStore {
		return open(t, chroma.Config{URL: address(t), Prefix: prefix(dir)})
	}, ragtest.Approximate(0.97), ragtest.Slow())
}
