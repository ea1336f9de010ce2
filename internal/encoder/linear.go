package encoder

import "github.com/seed-d8745b77/rag/internal/simd"

// linear is y = W·x + bias, with the weights in one of two forms.
type linear struct {
	matrix matrix
	shorts *shorts // nil: matrix counts
	bias   []float32
}

// apply adds W·x to y for rows without gaps; the bias is in y already.
func (l *linear) apply(k *simd.Kernels, s *scratch, x, y []float32, rows int) {
	if l.shorts != nil {
		l.shorts.mulAdd(k, &s.rounded, x, y, l.shorts.outputs, rows)
		return
	}
	l.matrix.mulAdd(k, x, l.matrix.inputs, y, l.matrix.outputs, rows)
}

// part is one of the weights that make up a linear layer, by the name of its tensors; its outputs are multiplied by
// the scale.
type part struct {
	name  string
	scale float64
}

// loadLinear puts the parts, all of this shape, side by side. Quantised weights become integers where the kernels have
// a use for them.
func loadLinear(w *weights, k *simd.Kernels, outputs, inputs int, parts ...part) (linear, error) {
	l := linear{bias: make([]float32, 0, len(parts)*outputs)}
	row := make([]float32, inputs)
	var set func(output int, weights []float32)
	for n, p := range parts {
		weight, err := w.table(p.name+".weight", outputs, inputs)
		if err != nil {
			return l, err
		}
		bias, err := w.vector(p.name+".bias", outputs)
		if err != nil {
			return l, err
		}
		if n == 0 {
			set = l.form(weight, k, len(parts)*outputs)
		}
		for i := range outputs {
			weight.row(i, row)
			if p.scale != 1 {
				for j := range row {
					row[j] *= float32(p.scale)
				}
			}
			set(n*outputs+i, row)
			l.bias = append(l.bias, bias[i]*float32(p.scale))
		}
	}
	return l, nil
}

// form makes room for the weights in the form that suits the first of them, and returns what puts a row in its place.
func (l *linear) form(first *table, k *simd.Kernels, outputs int) func(output int, weights []float32) {
	if k.TileShorts == nil || !first.quantised() || outputs%(2*tileCols) != 0 {
		l.matrix = newMatrix(outputs, first.cols)
		return l.matrix.setRow
	}
	most := float64(mostOfInt8)
	if first.form == Int4 {
		most = mostOfInt4
	}
	l.shorts = newShorts(outputs, first.cols, most)
	return func(output int, weights []float32) { l.shorts.setRow(output, weights, most) }
}
