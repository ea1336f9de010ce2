package catalog

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

// earlier makes a record of version 1 of one whose fields end with so many bytes that later versions added: a 0 for each
// empty list or value that is not there.
func earlier(t *testing.T, rec []byte, tail int) []byte {
	t.Helper()
	empty, err := finish(0, func(*record.Writer) {})
	if err != nil {
		t.Fatal(err)
	}
	w := record.NewWriter(1, 0)
	w.Raw(rec[len(empty) : len(rec)-tail])
	if rec, err = w.Finish(); err != nil {
		t.Fatal(err)
	}
	return rec
}

func TestRecordsOfVersion1AreRead(t *testing.T) {
	chunk := rag.Chunk{ID: "c", Text: "text", Captions: []rag.Caption{{ImageID: "i", Text: "a cat"}}, Meta: rag.Meta{"a": "b"}}
	rec, err := encodeChunk(chunk)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeChunk(earlier(t, rec, 1))
	if diff := cmp.Diff(chunk, got); err != nil || diff != "" {
		t.Errorf("chunk: %v (-want +got):\n%s", err, diff)
	}
	entry := storedEntry{docNo: 7, chunks: 1, Entry: rag.Entry{URI: "a", Images: 3, Meta: rag.Meta{"a": "b"}}}
	if rec, err = encodeEntry(entry); err != nil {
		t.Fatal(err)
	}
	line, err := decodeEntry(earlier(t, rec, 2))
	if diff := cmp.Diff(entry, line, cmp.AllowUnexported(storedEntry{})); err != nil || diff != "" {
		t.Errorf("entry: %v (-want +got):\n%s", err, diff)
	}
}

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
			want.Run = rag.RunDelete
			w.String(want.Run)
		}
		if version > 3 {
			want.Touched = []string{"c"}
			w.Strings(want.Touched)
			w.String("")
		}
		if version > 4 {
			want.Manifests = []string{"m"}
			w.String("")
			w.Strings(want.Manifests)
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
