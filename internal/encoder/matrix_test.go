package encoder

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed-d8745b77/rag/internal/simd"
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
	for _, k := range simd.Available() {
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
					t.Fatalf("kernel %s, %d inputs: value %d is %g, want %g", k.Name, inputs, i, c[i], want[i])
				}
			}
		}
	}
}
