package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

func random(rng *rand.Rand, n int, scale float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64() * scale)
	}
	return x
}

func TestSoftmax(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, k := range Available() {
		for _, n := range []int{Lanes, 2 * Lanes, 17 * Lanes} {
			x := random(rng, n, 10)
			for i := n - 3; i < n; i++ {
				x[i] = float32(math.Inf(-1))
			}
			top, total := math.Inf(-1), 0.0
			for _, v := range x {
				top = max(top, float64(v))
			}
			want := make([]float64, n)
			for i, v := range x {
				want[i] = math.Exp(float64(v) - top)
				total += want[i]
			}
			k.Softmax(x)
			for i := range x {
				if d := math.Abs(float64(x[i]) - want[i]/total); !(d < 1e-6) {
					t.Errorf("kernel %s, %d values: value %d is %g, want %g", k.Name, n, i, x[i], want[i]/total)
				}
			}
		}
	}
}

func TestGELU(t *testing.T) {
	for _, k := range Available() {
		var x []float32
		for v := float32(-20); v < 20; v += 0.01 {
			x = append(x, v)
		}
		x = append(x, 0, -0, 1e-30, -1e-30, 1e4, -1e4)
		for len(x)%Lanes != 0 {
			x = append(x, 0)
		}
		y := append([]float32{}, x...)
		k.GELU(y)
		for i, v := range x {
			want := float64(v) / 2 * (1 + math.Erf(float64(v)/math.Sqrt2))
			if d := math.Abs(float64(y[i]) - want); !(d <= 2e-6*max(1, math.Abs(want))) {
				t.Errorf("kernel %s: gelu(%g) is %g, want %g", k.Name, v, y[i], want)
			}
		}
	}
}
