package encoder

import "math"

// norm is a layer norm: each row is shifted and scaled to mean 0 and variance 1, then to gain and bias.
type norm struct {
	gain, bias []float32
	epsilon    float64
}

// apply normalizes the rows of x, each as long as gain.
func (n *norm) apply(x []float32) {
	size := len(n.gain)
	for len(x) > 0 {
		row := x[:size]
		mean := sum(row) / float32(size)
		variance := sumOfSquares(row, mean) / float32(size)
		scale := float32(1 / math.Sqrt(float64(variance)+n.epsilon))
		gain, bias := n.gain[:len(row)], n.bias[:len(row)]
		for i, v := range row {
			row[i] = (v-mean)*scale*gain[i] + bias[i]
		}
		x = x[size:]
	}
}

// sum adds in four lanes, so that no addition waits for the one before; len(x) is a multiple of four.
func sum(x []float32) float32 {
	var a, b, c, d float32
	for ; len(x) >= 4; x = x[4:] {
		a += x[0]
		b += x[1]
		c += x[2]
		d += x[3]
	}
	return (a + b) + (c + d)
}

// sumOfSquares adds the squared distances from mean, in the way of sum.
func sumOfSquares(x []float32, mean float32) float32 {
	var a, b, c, d float32
	for ; len(x) >= 4; x = x[4:] {
		p, q, r, s := x[0]-mean, x[1]-mean, x[2]-mean, x[3]-mean
		a += p * p
		b += q * q
		c += r * r
		d += s * s
	}
	return (a + b) + (c + d)
}

// mean returns the mean of the rows of x.
func mean(x []float32, size int) []float32 {
	v := make([]float32, size)
	share := float32(size) / float32(len(x))
	for ; len(x) > 0; x = x[size:] {
		for i, a := range x[:size] {
			v[i] += a
		}
	}
	for i := range v {
		v[i] *= share
	}
	return v
}

// toUnit scales a vector to length 1.
func toUnit(v []float32) {
	scale := float32(1 / math.Sqrt(float64(sumOfSquares(v, 0))))
	for i := range v {
		v[i] *= scale
	}
}
