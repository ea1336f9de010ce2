package encoder

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// resealed returns file with a change to its bytes before the digest, and the digest made true again.
func resealed(file []byte, change func(body []byte) []byte) []byte {
	body := change(bytes.Clone(file[:len(file)-digestSize]))
	digest := sha256.Sum256(body)
	return append(body, digest[:]...)
}

func TestWeightsRoundTrip(t *testing.T) {
	for name, form := range map[string]func(string) Form{"exact": exact, "int8": int8s, "int4": int4s} {
		w, err := openWeights(tinyFile(t, form))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tinyConfig, w.config); diff != "" {
			t.Errorf("config (-want +got):\n%s", diff)
		}
		for _, want := range tinyTensors(tinyConfig) {
			got, err := w.table(want.Name, want.Rows, want.Cols)
			if err != nil {
				t.Fatal(err)
			}
			for r := range want.Rows {
				row := make([]float32, want.Cols)
				got.row(r, row)
				original := want.Values[r*want.Cols : (r+1)*want.Cols]
				var top, allowed float64
				for _, v := range original {
					top = max(top, math.Abs(float64(v)))
				}
				switch form(want.Name) {
				case Int8:
					allowed = top / math.MaxInt8 / 2 * 1.001 // half a step, and rounding of the scale
				case Int4:
					allowed = top / 8 * 1.001 // a step: what would be 8 becomes 7
				}
				if d := farthest(row, original); d > allowed {
					t.Errorf("%s: %s row %d is off by %g, more than %g", name, want.Name, r, d, allowed)
				}
			}
		}
	}
}

func TestWriteIsDeterministic(t *testing.T) {
	if !bytes.Equal(tinyFile(t, int8s), tinyFile(t, int8s)) {
		t.Error("the same tensors gave other bytes")
	}
}

func TestWriteQuantisesAZeroRow(t *testing.T) {
	tensors := tinyTensors(tinyConfig)
	clear(tensors[0].Values)
	var file bytes.Buffer
	if err := Write(&file, tinyConfig, tensors, int8s); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file.Bytes()); err != nil {
		t.Error(err)
	}
}

func TestRevisionNamesTheWeights(t *testing.T) {
	a, err := Revision(tinyFile(t, exact))
	if err != nil {
		t.Fatal(err)
	}
	b, err := Revision(tinyFile(t, int8s))
	if err != nil {
		t.Fatal(err)
	}
	if a == b || len(a) != 2*digestSize {
		t.Errorf("revisions %q and %q of unlike weights", a, b)
	}
}

func TestLoadRefusesDamagedFiles(t *testing.T) {
	good := tinyFile(t, int8s)
	header := func(from, to string) []byte {
		return resealed(good, func(body []byte) []byte {
			n := binary.LittleEndian.Uint32(body[prefixSize-4:])
			head := strings.Replace(string(body[prefixSize:prefixSize+int(n)]), from, to, 1)
			rest := body[prefixSize+int(n):]
			binary.LittleEndian.PutUint32(body[prefixSize-4:], uint32(len(head)))
			return append(append(bytes.Clone(body[:prefixSize]), head...), rest...)
		})
	}
	flipped := bytes.Clone(good)
	flipped[len(flipped)/2] ^= 1
	for name, file := range map[string][]byte{
		"empty":               nil,
		"another file":        bytes.Repeat([]byte("x"), 1000),
		"cut":                 good[:len(good)-1],
		"a flipped bit":       flipped,
		"newer version":       resealed(good, func(b []byte) []byte { b[len(magic)] = formatVersion + 1; return b }),
		"header too long":     resealed(good, func(b []byte) []byte { b[prefixSize-1] = 255; return b }),
		"header no JSON":      resealed(good, func(b []byte) []byte { b[prefixSize] = '['; return b }),
		"data cut":            resealed(good, func(b []byte) []byte { return b[:len(b)-1] }),
		"unknown type":        header(`"i8"`, `"i9"`),
		"negative offset":     header(`"offset":0`, `"offset":-1`),
		"offset out of range": header(`"offset":0`, `"offset":99999999`),
		"endless tensor":      header(`"rows":50`, `"rows":99999999`),
		"other shape":         header(`"rows":50`, `"rows":49`),
		"tensor missing":      header(`query.weight`, `query.height`),
		"bias missing":        header(`query.bias`, `query.bios`),
		"norm missing":        header(`output.LayerNorm.bias`, `output.LayerNorm.b`),
		"no layers":           header(`"layers":2`, `"layers":0`),
		"odd heads":           header(`"heads":4`, `"heads":3`),
		"small heads":         header(`"heads":4`, `"heads":8`),
		"no epsilon":          header(`"epsilon":1e-12`, `"epsilon":0`),
		"other architecture":  header(`"bert"`, `"gpt"`),
		"other pooling":       header(`"mean"`, `"max"`),
	} {
		if _, err := Load(file); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got error %v, want ErrFormat", name, err)
		}
	}
}

func FuzzLoad(f *testing.F) {
	good := tinyFile(f, int8s)
	f.Add(good[:len(good)-digestSize])
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, body []byte) {
		file := resealed(append(body, make([]byte, digestSize)...), func(b []byte) []byte { return b })
		if _, err := Load(file); err != nil && !errors.Is(err, ErrFormat) {
			t.Errorf("error of another kind: %v", err)
		}
	})
}

// safetensors packs a header and data as such a file.
func safetensors(t testing.TB, header any, data []byte) []byte {
	t.Helper()
	head, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
	return append(append(file, head...), data...)
}

func entry(dtype string, shape []int, from, to int) map[string]any {
	return map[string]any{"dtype": dtype, "shape": shape, "data_offsets": []int{from, to}}
}

func TestReadSafetensors(t *testing.T) {
	data := appendFloats(nil, 1, 2, 3, 4, 5, 6, -7)
	got, err := ReadSafetensors(safetensors(t, map[string]any{
		"__metadata__": map[string]string{"format": "pt"},
		"matrix":       entry("F32", []int{2, 3}, 0, 24),
		"bias":         entry("F32", []int{1}, 24, 28),
		"ids":          entry("I64", []int{1, 3}, 0, 24),
	}, data))
	if err != nil {
		t.Fatal(err)
	}
	want := []Tensor{
		{Name: "bias", Rows: 1, Cols: 1, Values: []float32{-7}},
		{Name: "matrix", Rows: 2, Cols: 3, Values: []float32{1, 2, 3, 4, 5, 6}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tensors (-want +got):\n%s", diff)
	}
}

func TestReadSafetensorsRefusesDamagedFiles(t *testing.T) {
	for name, file := range map[string][]byte{
		"empty":           nil,
		"header too long": {255, 255, 255, 255, 255, 255, 255, 255, '{', '}'},
		"no JSON":         append(binary.LittleEndian.AppendUint64(nil, 2), "[]"...),
		"no entry":        safetensors(t, map[string]any{"a": 3}, nil),
		"beyond the data": safetensors(t, map[string]any{"a": entry("F32", []int{2}, 0, 8)}, make([]byte, 4)),
		"wrong size":      safetensors(t, map[string]any{"a": entry("F32", []int{2}, 0, 4)}, make([]byte, 4)),
		"negative":        safetensors(t, map[string]any{"a": entry("F32", []int{-1}, 0, 4)}, make([]byte, 4)),
	} {
		if _, err := ReadSafetensors(file); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got error %v, want ErrFormat", name, err)
		}
	}
}

func FuzzReadSafetensors(f *testing.F) {
	f.Add(safetensors(f, map[string]any{"a": entry("F32", []int{2, 1}, 0, 8)}, make([]byte, 8)))
	f.Fuzz(func(t *testing.T, file []byte) {
		if _, err := ReadSafetensors(file); err != nil && !errors.Is(err, ErrFormat) {
			t.Errorf("error of another kind: %v", err)
		}
	})
}
