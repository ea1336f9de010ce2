package weaviate_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/vectorstore/weaviate"
)

// onCluster gives the settings for the folders of a suite on the three nodes that `make cluster` starts; without them the
// test is skipped.
func onCluster(t *testing.T) func(dir string) weaviate.Config {
	t.Helper()
	nodes := strings.Split(os.Getenv("RAG_WEAVIATE"), ",")
	if nodes[0] == "" {
		t.Skip("skipped: no cluster of Weaviate at $RAG_WEAVIATE; make cluster starts one")
	}
	return func(dir string) weaviate.Config {
		sum := sha256.Sum256([]byte(dir))
		return weaviate.Config{URL: nodes[0], Others: nodes[1:], Prefix: "T" + hex.EncodeToString(sum[:8]), Replicas: 3, MaxResults: 20_000}
	}
}

func TestVectorsOnACluster(t *testing.T) {
	at := onCluster(t)
	ragtest.TestVectorStore(t, func(t *testing.T, dir string) rag.VectorStore { return vectors(t, at(dir)) }, ragtest.Approximate(0.97))
}

func TestTextsOnACluster(t *testing.T) {
	at := onCluster(t)
	ragtest.TestSparseIndex(t, func(t *testing.T, dir string) rag.SparseIndex { return texts(t, at(dir)) })
}
