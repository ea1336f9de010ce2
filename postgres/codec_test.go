package postgres

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

// every has a field of each kind that a record keeps.
type every struct {
	Text   string
	Bytes  []byte
	Yes    bool
	Count  int
	Long   int64
	Share  float64
	At     time.Time
	Meta   rag.Meta
	Inner  struct{ Texts []string }
	Behind *struct{ N int }
	Sum    [4]byte
	Pair   [2]int
	Each   []struct{ A, B string }
}

// FuzzDecode feeds arbitrary fields past the checksum: an error of its kind, or a value that comes back as it is.
func FuzzDecode(f *testing.F) {
	v := every{
		Text: "ä", Bytes: []byte{0}, Yes: true, Count: -1, Long: 1 << 62, Share: 0.5, At: time.Unix(1e9, 1).UTC(), Meta: rag.Meta{"a": 1.0, "b": []string{"c"}},
		Behind: &struct{ N int }{3}, Sum: [4]byte{1, 2}, Pair: [2]int{4, 5}, Each: []struct{ A, B string }{{"x", ""}, {"", "y"}},
	}
	v.Inner.Texts = []string{"", "t"}
	rec, err := encode(v)
	if err != nil {
		f.Fatal(err)
	}
	if back, err := decode[every](rec); err != nil || !cmp.Equal(back, v) {
		f.Fatalf("%v: %s", err, cmp.Diff(v, back))
	}
	f.Add(rec[5:]) // behind the checksum and the version
	f.Add([]byte{})
	f.Add([]byte{1, 4, 'E', 'a', 'c', 'h', 1, 255})
	f.Fuzz(func(t *testing.T, fields []byte) {
		w := record.NewWriter(recordVersion, len(fields))
		w.Raw(fields)
		rec, err := w.Finish()
		if err != nil {
			t.Fatal(err)
		}
		v, err := decode[every](rec)
		if err != nil {
			if !errors.Is(err, rag.ErrInvalid) {
				t.Errorf("an error of another kind: %v", err)
			}
			return
		}
		again, err := encode(v)
		if err != nil {
			t.Fatalf("%+v cannot be kept: %v", v, err)
		}
		back, err := decode[every](again)
		if err != nil || !cmp.Equal(v, back, cmpopts.EquateNaNs()) {
			t.Errorf("%v: %s", err, cmp.Diff(v, back, cmpopts.EquateNaNs()))
		}
	})
}
