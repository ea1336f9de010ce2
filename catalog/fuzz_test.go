package catalog

import (
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

// FuzzRecords reads any fields in a record whose checksum is right, as each kind of record.
func FuzzRecords(f *testing.F) {
	for _, encode := range []func() ([]byte, error){
		func() ([]byte, error) {
			return encodeHeader(rag.Header{Embedder: "e", Dims: 3, Pending: []string{"a"}, Away: []rag.AwaySource{{URI: "a", Given: rag.Given{Title: "A"}}}})
		},
		func() ([]byte, error) { return encodeRefs([]rag.ChunkRef{{ID: "0123456789abcdef01234567"}}) },
		func() ([]byte, error) {
			return encodeChunk(rag.Chunk{ID: "a", Text: "b", Meta: rag.Meta{"k": []string{"v"}}})
		},
		func() ([]byte, error) {
			rec, _, err := encodeDocument(rag.Document{URI: "a", Text: "b", Pages: []int{0}})
			return rec, err
		},
	} {
		rec, err := encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(rec[5:]) // behind version and checksum
	}
	f.Fuzz(func(t *testing.T, fields []byte) {
		for version := byte(1); version <= max(layoutVersion, headerVersion); version++ {
			w := record.NewWriter(version, len(fields))
			w.Raw(fields)
			rec, err := w.Finish()
			if err != nil {
				t.Fatal(err)
			}
			_, _ = decodeHeader(rec)
			_, _ = decodeEntry(rec)
			_, _ = decodeRefs(rec)
			_, _ = decodeChunk(rec)
			_, _ = decodeDocument(rec, func(digest) ([]byte, error) { return nil, nil })
		}
	})
}
