package encoder

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

func TestMulAdd(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, k := range available() {
		for _, inputs := range []int{1, 2, 3, 4, 5, 7, 32, panelStep, panelStep + 1, 3*panelStep + 5} {
			const outputs, rows, gap = 2 * tileCols, 2 * tileRows, 3
			m := newMatrix(outputs, inputs)
			weights := make([][]float32, outputs)
			for o := range weights {
				weights[o] = random(rng, inputs, 1)
				m.setRow(o, weights[o])
			}
			lda, ldc := inputs+gap, outputs+gap
			a, c := random(rng, rows*lda, 1), random(rng, rows*ldc, 1)
			want := make([]float64, len(c))
			for i, v := range c {
				want[i] = float64(v)
			}
			for r := range rows {
				for o := range outputs {
					for i := range inputs {
						want[r*ldc+o] += float64(a[r*lda+i]) * float64(weights[o][i])
					}
				}
			}
			m.mulAdd(&k, a, lda, c, ldc, rows)
			for i := range c {
				if d := math.Abs(float64(c[i]) - want[i]); !(d < 1e-3) {
					t.Fatalf("kernel %s, %d inputs: value %d is %g, want %g", k.name, inputs, i, c[i], want[i])
				}
			}
		}
	}
}

func TestSoftmax(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, k := range available() {
		for _, n := range []int{lanes, 2 * lanes, 17 * lanes} {
			x := random(rng, n, 10)
			hide(x[n-3:])
			top, total := math.Inf(-1), 0.0
			for _, v := range x {
				top = max(top, float64(v))
			}
			want := make([]float64, n)
			for i, v := range x {
				want[i] = math.Exp(float64(v) - top)
				total += want[i]
			}
			k.softmax(x)
			for i := range x {
				if d := math.Abs(float64(x[i]) - want[i]/total); !(d < 1e-6) {
					t.Errorf("kernel %s, %d values: value %d is %g, want %g", k.name, n, i, x[i], want[i]/total)
				}
			}
		}
	}
}

func TestGELU(t *testing.T) {
	for _, k := range available() {
		var x []float32
		for v := float32(-20); v < 20; v += 0.01 {
			x = append(x, v)
		}
		x = append(x, 0, -0, 1e-30, -1e-30, 1e4, -1e4)
		for len(x)%lanes != 0 {
			x = append(x, 0)
		}
		y := append([]float32{}, x...)
		k.gelu(y)
		for i, v := range x {
			want := float64(v) / 2 * (1 + math.Erf(float64(v)/math.Sqrt2))
			if d := math.Abs(float64(y[i]) - want); !(d <= 2e-6*max(1, math.Abs(want))) {
				t.Errorf("kernel %s: gelu(%g) is %g, want %g", k.name, v, y[i], want)
			}
		}
	}
}
