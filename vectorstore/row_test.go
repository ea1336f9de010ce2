package vectorstore

import (
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

// FuzzRows reads any bytes as the records of a store: behind a checksum that is right, as a row, its fields and a change.
func FuzzRows(f *testing.F) {
	fields, err := encodeFields(rag.Meta{"a": "b", "n": 1.5, "l": []string{"x"}}, rag.Validity{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(fields))
	f.Add([]byte("\x01a\x01b\x00\x00\x00\x80\x3f"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _, _ = decodeFields(string(data))
		w := record.NewWriter(layoutVersion, len(data))
		w.Raw(data)
		rec, err := w.Finish()
		if err != nil {
			t.Fatal(err)
		}
		for dims := range 3 {
			if _, vector, err := decodeRow(rec, dims); err == nil && len(vector) != 4*dims {
				t.Errorf("%d bytes of a vector with %d numbers", len(vector), dims)
			}
		}
		_, _ = readChange(make([]byte, keyLen), rec)
	})
}
