package sparse

import (
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

func FuzzPayload(f *testing.F) {
	w := record.NewWriter(1, 64)
	w.Bool(true)
	w.Bool(false)
	w.Bool(false)
	w.Len(1, false)
	w.String("year")
	w.Uint(kindNumber)
	w.Float64(2026)
	text, err := w.Fields()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add("\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")
	f.Fuzz(func(t *testing.T, payload string) {
		m := rag.Meta{}
		decodePayload(payload, map[string]bool{"year": true}, m)
		for name := range m {
			if name != "year" {
				t.Errorf("the field %q was not asked for", name)
			}
		}
	})
}
