package rag_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
)

// The second document of a source has the URI of the source with #2 behind it: no other source may have it, since a later
// version of the first with one document would remove it.
func TestURIsThatNoSourceCanHave(t *testing.T) {
	for uri, ok := range map[string]bool{
		"mem:a": true, "mem:a#2": false, "mem:a#10": false, "mem:a#part": true, "mem:a#2b": true, "mem:a%232": true,
		"mem:" + strings.Repeat("a", 16<<10-4): true, "mem:" + strings.Repeat("a", 16<<10-3): false,
	} {
		f := newFixture(t)
		rep, err := f.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Bytes(uri, []byte("text"))}})
		refused := errors.Is(err, rag.ErrPartial) && len(rep.Failed) == 1 && errors.Is(rep.Failed[0].Err, rag.ErrInvalid)
		if refused == ok || (rep.Added == 1) != ok {
			t.Errorf("%.20q: %+v, %v", uri, rep, err)
		}
	}
}
