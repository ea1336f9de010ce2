package hnsw_test

import (
	"bytes"
	"testing"

	"github.com/seed-d8745b77/rag/internal/hnsw"
)

func save(t testing.TB, g *hnsw.Graph) []byte {
	t.Helper()
	var file bytes.Buffer
	n, err := g.WriteTo(&file)
	if err != nil || n != int64(file.Len()) {
		t.Fatalf("wrote %d bytes of %d: %v", n, file.Len(), err)
	}
	return file.Bytes()
}
