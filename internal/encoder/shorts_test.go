package encoder

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed-d8745b77/rag/internal/simd"
)

// dotGo and roundGo are the integer kernels by their definition.
func dotGo(rows int) func(a []int16, rowScales []float32, b0, b1 []int16, scales, c []float32, ldc, k int) {
	return func(a []int16, rowScales []float32, b0, b1 []int16, scales, c []float32, ldc, k int) {
		for r := range rows {
			for o := range 2 * tileCols {
				b := b0
				if o >= tileCols {
					b = b1
				}
				var sum int32
				for i := range k {
					sum += int32(a[r*k+i]) * int32(b[i/2*2*tileCols+o%tileCols*2+i%2])
				}
				c[r*ldc+o] += float32(sum) * scales[o] * rowScales[r]
			}
		}
	}
}

func roundGo(x []float32, to []int16, top float32) float32 {
	var most float32
	for _, v := range x {
		most = max(most, v, -v)
	}
	for i, v := range x {
		to[i] = 0
		if most > 0 {
			to[i] = int16(math.RoundToEven(float64(v / most * top)))
		}
	}
	return most / top
}

// integerKernels are those that this processor has, and the definition.
func integerKernels() []simd.Kernels {
	defined := simd.Portable()
	defined.Round, defined.TileShorts = roundGo, dotGo(defined.Rows)
	all := []simd.Kernels{defined}
	for _, k := range simd.Available() {
		if k.TileShorts != nil {
			all = append(all, k)
		}
	}
	return all
}

func TestRound(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, k := range integerKernels() {
		for _, top := range []float32{2736, math.MaxInt16} {
			x := random(rng, 3*lanes, 5)
			x[17] = -40 // the largest is negative
			got := make([]int16, len(x))
			scale := k.Round(x, got, top)
			if got[17] != -int16(top) {
				t.Errorf("kernel %s: the largest value became %d, want %g", k.Name, got[17], -top)
			}
			for i, v := range x {
				if d := math.Abs(float64(v) - float64(got[i])*float64(scale)); !(d <= 0.501*float64(scale)) {
					t.Errorf("kernel %s: value %g became %d·%g", k.Name, v, got[i], scale)
				}
			}
		}
		zeros := []int16{1, 2}
		zeros = append(zeros, make([]int16, lanes-2)...)
		k.Round(make([]float32, lanes), zeros, 100)
		for _, v := range zeros {
			if v != 0 {
				t.Errorf("kernel %s: zero became %d", k.Name, v)
			}
		}
	}
}

func TestShortsMulAdd(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	const outputs, rows = 4 * tileCols, 2 * tileRows
	for _, k := range integerKernels() {
		for _, inputs := range []int{lanes, 3 * lanes, 384} {
			for _, most := range []float64{mostOfInt8, mostOfInt4} {
				m := newShorts(outputs, inputs, most)
				weights := make([][]float32, outputs)
				for o := range weights {
					weights[o] = make([]float32, inputs)
					for i := range weights[o] { // whole numbers below most, and most: they are kept as they are
						weights[o][i] = float32(rng.IntN(int(2*most)) - int(most))
					}
					weights[o][0] = float32(most)
					m.setRow(o, weights[o], most)
				}
				a := random(rng, rows*inputs, 1)
				c := random(rng, rows*outputs, 1)
				want := make([]float64, len(c))
				var scale float64
				for i, v := range c {
					want[i] = float64(v)
					for j, x := range a[i/outputs*inputs:][:inputs] {
						want[i] += float64(x) * float64(weights[i%outputs][j])
					}
					scale = max(scale, math.Abs(want[i]))
				}
				m.mulAdd(&k, &rounded{}, a, c, outputs, rows)
				for i := range c {
					if d := math.Abs(float64(c[i]) - want[i]); !(d < 1e-3*scale) {
						t.Fatalf("kernel %s, %d inputs: value %d is %g, want %g", k.Name, inputs, i, c[i], want[i])
					}
				}
			}
		}
	}
}

// TestShortsDoNotOverflow takes the largest sum of products there can be.
func TestShortsDoNotOverflow(t *testing.T) {
	for _, k := range integerKernels() {
		for _, inputs := range []int{384, 1536, 4096} {
			m := newShorts(2*tileCols, inputs, mostOfInt8)
			ones := make([]float32, inputs)
			for i := range ones {
				ones[i] = 1
			}
			for o := range m.outputs {
				m.setRow(o, ones, mostOfInt8)
			}
			a := repeat(nil, ones, tileRows)
			c := make([]float32, tileRows*m.outputs)
			m.mulAdd(&k, &rounded{}, a, c, m.outputs, tileRows)
			for i, v := range c {
				if d := math.Abs(float64(v) - float64(inputs)); !(d < 1e-3*float64(inputs)) {
					t.Fatalf("kernel %s, %d inputs: value %d is %g, want %d", k.Name, inputs, i, v, inputs)
				}
			}
		}
	}
}
