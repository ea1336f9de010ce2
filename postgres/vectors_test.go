package postgres_test

import (
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/postgres"
	"github.com/seed-d8745b77/rag/ragtest"
)

// foundOf is the least share of the true nearest that the graph finds in the suite; it finds nearly all.
const foundOf = 0.97

func TestVectors(t *testing.T) {
	for name, c := range map[string]postgres.VectorConfig{
		"as they are":    {},
		"half precision": {HalfVec: true, M: 24, EFConstruction: 100},
	} {
		t.Run(name, func(t *testing.T) {
			ragtest.TestVectorStore(t, func(t *testing.T, dir string) rag.VectorStore {
				c.Config = database(t, dir)
				v, err := postgres.OpenVectors(t.Context(), c)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}, ragtest.Approximate(foundOf), ragtest.Slow())
		})
	}
}
