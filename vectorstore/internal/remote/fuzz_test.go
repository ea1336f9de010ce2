package remote

import (
	"errors"
	"testing"

	"github.com/seed-d8745b77/rag"
)

// FuzzMatches judges any metadata that a service gives back.
func FuzzMatches(f *testing.F) {
	f.Add(`{"meta":{"a":"b","n":1.5,"l":["x"]}}`)
	f.Add(`{"meta":{"a":{"b":1}},"from":"2026-01-01T00:00:00Z"}`)
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := matches(rag.And(rag.Eq("a", "b"), rag.Not(rag.Eq("n", 2.0))), text); err != nil && !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("error %v, want ErrInvalid", err)
		}
	})
}
