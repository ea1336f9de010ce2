package postgres_test

import (
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/postgres"
	"github.com/seed-d8745b77/rag/ragtest"
)

func openCatalog(t testing.TB, key string) *postgres.Catalog {
	t.Helper()
	c, err := postgres.OpenCatalog(t.Context(), database(t, key))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCatalog(t *testing.T) {
	ragtest.TestCatalog(t, func(t *testing.T, dir string) rag.Catalog { return openCatalog(t, dir) })
}
