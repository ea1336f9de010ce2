package postgres_test

import (
	"testing"

	"github.com/seed-d8745b77/rag/ragtest"
)

func TestWorkQueue(t *testing.T) {
	ragtest.TestWorkQueue(t, func(t *testing.T) ragtest.QueueCatalog {
		c := openCatalog(t, "")
		t.Cleanup(func() { c.Close() })
		return c
	})
}
