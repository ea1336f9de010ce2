package catalog

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

func TestHeadersOfEarlierVersionsAreRead(t *testing.T) {
	for version := byte(1); version < headerVersion; version++ {
		want := rag.Header{Embedder: "e/1", Dims: 384, Sparse: "bm25/1", Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Dirty: true}
		w := record.NewWriter(version, 0)
		w.String(want.Embedder)
		w.Int(want.Dims)
		w.String(want.Sparse)
		w.Time(want.Created)
		w.Bool(want.Dirty)
		if version > 1 {
			want.Pending, want.Generation = []string{"a"}, 3
			w.Strings(want.Pending)
			w.Uint(uint64(want.Generation))
		}
		if version > 2 {
			want.Run = rag.RunReindex
			w.String(want.Run)
		}
		rec, err := w.Finish()
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeHeader(rec)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("version %d: error %v, header (-want +got):\n%s", version, err, diff)
		}
	}
}
