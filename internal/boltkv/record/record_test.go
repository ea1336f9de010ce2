package record_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/internal/boltkv/record"
)

// fields is one value of each kind.
type fields struct {
	U    uint64
	I    int
	B    bool
	S    string
	L    []string
	F    float64
	T    time.Time
	M    map[string]any
	Tail []float32
}

func encode(t testing.TB, f fields) []byte {
	t.Helper()
	w := record.NewWriter(3, 0)
	w.Uint(f.U)
	w.Int(f.I)
	w.Bool(f.B)
	w.String(f.S)
	w.Strings(f.L)
	w.Float64(f.F)
	w.Time(f.T)
	w.Map(f.M)
	w.Float32s(f.Tail)
	rec, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func decode(rec []byte, tail int) (fields, error) {
	r, raw, _, err := record.OpenTail(rec, 3, 4*tail)
	if err != nil {
		return fields{}, err
	}
	f := fields{U: r.Uint(), I: r.Int(), B: r.Bool(), S: r.String(), L: r.Strings(), F: r.Float64(), T: r.Time(), M: r.Map()}
	if tail > 0 {
		f.Tail = make([]float32, tail)
		record.ReadFloat32s(f.Tail, raw)
	}
	return f, r.Close()
}

func TestRoundTrip(t *testing.T) {
	zone := time.FixedZone("", -5*3600)
	for name, f := range map[string]fields{
		"zero": {},
		"all kinds": {
			U: math.MaxUint64, I: math.MinInt64, B: true, S: "a\x00\xff", L: []string{"", "b"}, F: math.Inf(-1),
			T:    time.Date(2024, 2, 29, 23, 59, 59, 7, zone),
			M:    map[string]any{"s": "x", "f": 1.5, "t": true, "u": false, "l": []string{"a"}, "e": []string{}, "n": []string(nil)},
			Tail: []float32{1, -0.5},
		},
		"empty is not nil": {L: []string{}, M: map[string]any{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := decode(encode(t, f), len(f.Tail))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(f, got); diff != "" {
				t.Error(diff)
			}
			_, wantOffset := f.T.Zone()
			if _, offset := got.T.Zone(); offset != wantOffset {
				t.Errorf("zone offset %d, want %d", offset, wantOffset)
			}
		})
	}
}

func TestEveryFlippedBitIsDamage(t *testing.T) {
	rec := encode(t, fields{S: "text", M: map[string]any{"k": "v"}})
	for i := range rec {
		for bit := range 8 {
			bad := append([]byte{}, rec...)
			bad[i] ^= 1 << bit
			if _, err := decode(bad, 0); !errors.Is(err, record.ErrDamaged) {
				t.Fatalf("byte %d bit %d: %v, want ErrDamaged", i, bit, err)
			}
		}
	}
	for n := range rec {
		if _, err := decode(rec[:n], 0); !errors.Is(err, record.ErrDamaged) {
			t.Fatalf("cut to %d bytes: %v, want ErrDamaged", n, err)
		}
	}
}

func TestNewerVersion(t *testing.T) {
	rec := encode(t, fields{})
	if _, _, err := record.Open(rec, 2); !errors.Is(err, record.ErrNewer) {
		t.Errorf("got %v, want ErrNewer", err)
	}
}

func TestMapRefusesOtherKinds(t *testing.T) {
	for _, v := range []any{nil, 1, float32(1), []any{"a"}, time.Time{}} {
		w := record.NewWriter(1, 0)
		w.Map(map[string]any{"k": v})
		if _, err := w.Finish(); !errors.Is(err, record.ErrKind) {
			t.Errorf("%T: %v, want ErrKind", v, err)
		}
	}
}

// FuzzReader feeds arbitrary fields past the checksum: no panic, no huge allocation, an error or a value.
func FuzzReader(f *testing.F) {
	f.Add([]byte{})
	f.Add(encode(f, fields{S: "x", L: []string{"y"}, M: map[string]any{"a": 1.0}})[5:])
	f.Fuzz(func(t *testing.T, b []byte) {
		w := record.NewWriter(3, len(b))
		w.Raw(b)
		rec, err := w.Finish()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decode(rec, 0); err != nil && !errors.Is(err, record.ErrDamaged) {
			t.Fatalf("%v is not ErrDamaged", err)
		}
	})
}
