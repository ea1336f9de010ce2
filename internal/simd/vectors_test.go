package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// rowsOf returns pointers to n vectors of a length, each at its own distance from a multiple of 64 bytes.
func rowsOf[V any](n, length int, value func() V) (rows []*V, vectors [][]V) {
	for i := range n {
		v := make([]V, length+i+1)[i:]
		for j := range v {
			v[j] = value()
		}
		rows, vectors = append(rows, &v[0]), append(vectors, v[:length])
	}
	return rows, vectors
}

func checkDot(t *testing.T, k Kernels, rng *rand.Rand, length, count int) {
	t.Helper()
	rows, vectors := rowsOf(count, length, func() float32 { return float32(rng.NormFloat64()) })
	_, qs := rowsOf(1, length, func() float32 { return float32(rng.NormFloat64()) })
	out := append(make([]float32, count), 7)
	k.DotRows(qs[0], rows, out)
	for i, v := range vectors {
		var want float64
		for j, x := range v {
			want += float64(x) * float64(qs[0][j])
		}
		if d := math.Abs(float64(out[i]) - want); !(d <= 1e-5*float64(length+1)) {
			t.Errorf("kernel %s, row %d of %d, %d values: %g, want %g", k.Name, i, count, length, out[i], want)
		}
		if one := k.Dot(qs[0], v); one != out[i] {
			t.Errorf("kernel %s, row %d of %d, %d values: %g in a list, %g alone", k.Name, i, count, length, out[i], one)
		}
	}
	if out[count] != 7 {
		t.Errorf("kernel %s, %d rows: the value behind the results was changed", k.Name, count)
	}
}

func checkDotInt8(t *testing.T, k Kernels, value func() int8, length, count int) {
	t.Helper()
	rows, vectors := rowsOf(count, length, value)
	_, qs := rowsOf(1, length, value)
	out := append(make([]int32, count), 7)
	k.DotInt8Rows(qs[0], rows, out)
	for i, v := range vectors {
		var want int32
		for j, x := range v {
			want += int32(x) * int32(qs[0][j])
		}
		if out[i] != want {
			t.Errorf("kernel %s, row %d of %d, %d values: %d, want %d", k.Name, i, count, length, out[i], want)
		}
		if one := k.DotInt8(qs[0], v); one != want {
			t.Errorf("kernel %s, %d values: %d, want %d", k.Name, length, one, want)
		}
	}
	if out[count] != 7 {
		t.Errorf("kernel %s, %d rows: the value behind the results was changed", k.Name, count)
	}
}

func TestDot(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	small := func() int8 { return int8(rng.UintN(256)) }
	for _, k := range Available() {
		for length := range 200 {
			checkDot(t, k, rng, length, length%11)
			checkDotInt8(t, k, small, length, length%11)
		}
		for count := range 70 {
			checkDot(t, k, rng, 384, count)
			checkDotInt8(t, k, small, 384, count)
		}
	}
}

// The largest products must fit whatever the instructions keep sums in.
func TestDotInt8Extremes(t *testing.T) {
	for _, k := range Available() {
		for _, v := range []int8{math.MinInt8, math.MaxInt8} {
			checkDotInt8(t, k, func() int8 { return v }, 1<<16, 5)
		}
	}
}

func FuzzDot(f *testing.F) {
	f.Add(uint64(1), uint16(384), uint8(9))
	f.Fuzz(func(t *testing.T, seed uint64, length uint16, count uint8) {
		rng := rand.New(rand.NewPCG(seed, 0))
		for _, k := range Available() {
			checkDot(t, k, rng, int(length%2048), int(count%80))
			checkDotInt8(t, k, func() int8 { return int8(rng.UintN(256)) }, int(length%2048), int(count%80))
		}
	})
}

func TestDotAllocates(t *testing.T) {
	a := make([]float32, 100)
	b := make([]int8, 100)
	for _, k := range Available() {
		if n := testing.AllocsPerRun(10, func() { k.Dot(a, a); k.DotInt8(b, b) }); n != 0 {
			t.Errorf("kernel %s allocates %g times", k.Name, n)
		}
	}
}

func BenchmarkDotRows(b *testing.B) {
	const dims, count = 384, 32
	rng := rand.New(rand.NewPCG(1, 2))
	floats, vectors := rowsOf(count, dims, rng.Float32)
	bytes, codes := rowsOf(count, dims, func() int8 { return int8(rng.UintN(256)) })
	out, sums := make([]float32, count), make([]int32, count)
	for _, k := range Available() {
		b.Run("float32/"+k.Name, func(b *testing.B) {
			for b.Loop() {
				k.DotRows(vectors[0], floats, out)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*count), "ns/row")
		})
		b.Run("int8/"+k.Name, func(b *testing.B) {
			for b.Loop() {
				k.DotInt8Rows(codes[0], bytes, sums)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*count), "ns/row")
		})
	}
}
