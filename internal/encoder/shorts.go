package encoder

import (
	"math"

	"github.com/seed-d8745b77/rag/internal/simd"
)

// shorts is a quantised weight of a linear layer for kernels that multiply integers of 16 bits: the weights of a row
// as integers with one scale, which is exact for int8, and activations rounded for each token.
//
// Activations of 8 bits would be twice as fast again, and too coarse: with a scale for each token the least cosine to
// the fp32 model falls from .9988 to .9940 (bench/models.md).
type shorts struct {
	panels  []int16   // [outputs/tileCols][inputs/2][tileCols][2]
	scales  []float32 // [outputs]
	outputs int       // a multiple of 2·tileCols
	inputs  int       // a multiple of lanes
	most    float32   // largest activation, so that no sum of products is beyond an int32
}

// Largest weights: of int8 tensors as they are, and of four-bit ones, whose blocks of a row have scales of their own.
const (
	mostOfInt8 = 127
	mostOfInt4 = 511
)

func newShorts(outputs, inputs int, mostWeight float64) *shorts {
	most := math.Min(math.MaxInt16, math.Floor(math.MaxInt32/mostWeight/float64(inputs)))
	return &shorts{
		panels: make([]int16, outputs*inputs), scales: make([]float32, outputs),
		outputs: outputs, inputs: inputs, most: float32(most),
	}
}

// setRow puts the weights of one output in their place; the largest of them becomes mostWeight.
func (m *shorts) setRow(output int, weights []float32, mostWeight float64) {
	var top float64
	for _, w := range weights {
		top = max(top, math.Abs(float64(w)))
	}
	if top == 0 {
		return
	}
	m.scales[output] = float32(top / mostWeight)
	panel := m.panels[output/tileCols*tileCols*m.inputs+output%tileCols*2:]
	for i, w := range weights {
		panel[i/2*2*tileCols+i%2] = int16(math.Round(float64(w) / top * mostWeight))
	}
}

// mulAdd adds a·m to c for the given number of rows, a multiple of tileRows; a has no gaps, c the row stride ldc.
// Each row is rounded by itself, so that what comes out depends on nothing but that row.
func (m *shorts) mulAdd(k *simd.Kernels, s *rounded, a, c []float32, ldc, rows int) {
	s.values, s.scales = resize(s.values, rows*m.inputs), resize(s.scales, rows)
	for r := range rows {
		s.scales[r] = k.Round(a[r*m.inputs:(r+1)*m.inputs], s.values[r*m.inputs:(r+1)*m.inputs], m.most)
	}
	for col := 0; col < m.outputs; col += 2 * tileCols {
		b0, b1 := m.panels[col*m.inputs:], m.panels[(col+tileCols)*m.inputs:]
		for row := 0; row < rows; row += k.Rows {
			k.TileShorts(s.values[row*m.inputs:], s.scales[row:], b0, b1, m.scales[col:], c[row*ldc+col:], ldc, m.inputs)
		}
	}
}

// rounded holds activations as integers.
type rounded struct {
	values []int16   // [rows][inputs]
	scales []float32 // [rows]
}
