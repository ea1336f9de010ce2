// Package simd holds inner loops of arithmetic in the forms that suit a processor: those of a transformer, and products
// of vectors. The fastest set that the processor has is chosen when the program runs; every loop exists in plain Go.
//
//	k := simd.Fastest()
//	cosine := k.Dot(a, b) // of unit vectors
package simd

// Sizes that matrices are packed and padded by.
const (
	TileCols = 16 // outputs of a panel
	TileRows = 12 // a multiple of the rows of every kernel's tile
	Lanes    = 16 // Softmax, GELU and Round take multiples of this many values
)

// Kernels are the inner loops, in the form that suits a processor. Two sets agree to about 1e-5, not to the bit.
type Kernels struct {
	Name string
	Rows int // of a tile

	// Tile adds a·b to c: a is Rows rows of k values with row stride lda, b is k rows of TileCols values without gaps,
	// c is Rows rows of TileCols values with row stride ldc. k is at least 1.
	Tile func(a []float32, lda int, b, c []float32, ldc, k int)

	// Pair is Tile for two panels at a time, c has rows of 2·TileCols values. It may be nil.
	Pair func(a []float32, lda int, b0, b1, c []float32, ldc, k int)

	// Softmax replaces the values of one row by their shares of e^x; len(x) is a multiple of Lanes and above 0.
	Softmax func(x []float32)

	// GELU replaces each value by x/2 · (1 + erf(x/√2)); len(x) is a multiple of Lanes and above 0.
	GELU func(x []float32)

	// Round rounds a row to integers of at most top, which it scales the row to; it returns what an integer stands for.
	// len(x) is a multiple of Lanes and above 0. It and TileShorts are nil where products of integers gain nothing.
	Round func(x []float32, to []int16, top float32) float32

	// TileShorts is Pair for integers: it adds each sum of products, times the row's and the output's scale, to c. a
	// has rows of k values without gaps, b0 and b1 hold two inputs of each output side by side; k is even.
	TileShorts func(a []int16, rowScales []float32, b0, b1 []int16, scales, c []float32, ldc, k int)

	// Dot returns the inner product of two vectors of one length.
	Dot func(a, b []float32) float32

	// DotRows sets out[i] to Dot of q and the len(q) values at rows[i], to the bit. It fetches rows ahead, so one call
	// with many rows is faster than many calls; out has at least len(rows) values.
	DotRows func(q []float32, rows []*float32, out []float32)

	// DotInt8 is Dot for integers. It is exact up to 2^31/128^2 = 131072 values.
	DotInt8 func(a, b []int8) int32

	// DotInt8Rows is DotRows for integers.
	DotInt8Rows func(q []int8, rows []*int8, out []int32)
}

// Fastest returns the kernels for this processor.
func Fastest() Kernels { return Available()[0] }

// Portable returns the kernels in Go alone.
func Portable() Kernels {
	return Kernels{
		Name: "go", Rows: 6, Tile: tileGo, Softmax: softmaxGo, GELU: geluGo,
		Dot: dotGo, DotRows: dotRowsGo, DotInt8: dotInt8Go, DotInt8Rows: dotInt8RowsGo,
	}
}
