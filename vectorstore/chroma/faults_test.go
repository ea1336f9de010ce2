//go:build unix

package chroma_test

import (
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/vectorstore/chroma"
)

// far is a store that reaches the server at host and port, and tries once.
func far(t *testing.T, at, prefix string) *chroma.Store {
	t.Helper()
	return open(t, chroma.Config{URL: "http://" + at, Prefix: prefix, Tries: 1})
}

func host(t *testing.T) string { return strings.TrimPrefix(address(t), "http://") }

func TestFaults(t *testing.T) {
	name := prefix(t.TempDir())
	ragtest.TestVectorStoreFaults(t, host(t), func(t *testing.T, at string) rag.VectorStore { return far(t, at, name) })
}

func TestEngineFaults(t *testing.T) {
	ragtest.TestEngineFaults(t, host(t), func(t *testing.T, at string) *rag.Engine {
		dir := t.TempDir()
		return engine(t, dir, rag.WithEmbedder(&ragtest.HashEmbedder{Dims: 32}), rag.WithVectorStore(far(t, at, prefix(dir))))
	})
}
