package encoder

import "github.com/seed-d8745b77/rag/internal/simd"

// Sizes of the kernels, under short names.
const (
	tileCols = simd.TileCols
	tileRows = simd.TileRows
	lanes    = simd.Lanes
)

// matrix is a weight of a linear layer, or a temporary one of the attention, in the order the kernel reads it: panels
// of tileCols outputs, each with one row of tileCols values per input.
type matrix struct {
	panels  []float32 // [outputs/tileCols][inputs][tileCols]
	outputs int       // a multiple of tileCols
	inputs  int
}

func newMatrix(outputs, inputs int) matrix {
	return matrix{panels: make([]float32, outputs*inputs), outputs: outputs, inputs: inputs}
}

// panelStep is how many inputs are taken at a time: that much of a panel (16 KiB) and of the rows beside it stay in
// the first-level cache.
const panelStep = 256

// mulAdd adds a·m to c for the given number of rows, a multiple of tileRows, with row strides lda and ldc.
func (m *matrix) mulAdd(k *simd.Kernels, a []float32, lda int, c []float32, ldc, rows int) {
	for from := 0; from < m.inputs; from += panelStep {
		step := min(panelStep, m.inputs-from)
		panel := func(col int) []float32 { return m.panels[col*m.inputs+from*tileCols:] }
		col := 0
		for ; k.Pair != nil && col+2*tileCols <= m.outputs; col += 2 * tileCols {
			b0, b1 := panel(col), panel(col+tileCols)
			for row := 0; row < rows; row += k.Rows {
				k.Pair(a[row*lda+from:], lda, b0, b1, c[row*ldc+col:], ldc, step)
			}
		}
		for ; col < m.outputs; col += tileCols {
			b := panel(col)
			for row := 0; row < rows; row += k.Rows {
				k.Tile(a[row*lda+from:], lda, b, c[row*ldc+col:], ldc, step)
			}
		}
	}
}

// setRow puts the weights of one output in their place.
func (m *matrix) setRow(output int, weights []float32) {
	panel := m.panels[output/tileCols*tileCols*m.inputs+output%tileCols:]
	for i, w := range weights {
		panel[i*tileCols] = w
	}
}

// wholeTiles rounds a number of rows up to whole tiles.
func wholeTiles(rows int) int { return (rows + tileRows - 1) / tileRows * tileRows }

// wholePanels rounds a number of columns up to whole panels.
func wholePanels(cols int) int { return (cols + tileCols - 1) / tileCols * tileCols }
