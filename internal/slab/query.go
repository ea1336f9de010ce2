package slab

// group is how many rows are scored by one call of a kernel.
const group = 64

// Query is a vector in the form that a slab compares, and memory to compare with: one goroutine at a time may use it.
// The zero value is ready for [Slab.Prepare].
type Query struct {
	floats []float32 // of a Float32 slab, padded
	codes  []int8    // of an Int8 slab, padded
	scale  float32

	ownFloats []float32 // what Prepare fills
	ownCodes  []int8

	floatRows [group]*float32
	codeRows  [group]*int8
	sums      [group]int32
}

// Prepare sets q to a vector of Dims values.
func (s *Slab) Prepare(vector []float32, q *Query) {
	if s.kind == Float32 {
		if len(q.ownFloats) != s.width {
			q.ownFloats = make([]float32, s.width)
		}
		copy(q.ownFloats, vector[:s.dims])
		q.floats = q.ownFloats
		return
	}
	if len(q.ownCodes) != s.width {
		q.ownCodes = make([]int8, s.width)
	}
	q.scale = quantise(vector[:s.dims], q.ownCodes)
	q.codes = q.ownCodes
}

// PrepareSlot sets q to the vector of a slot, in place: it holds as long as the slot is not set again.
func (s *Slab) PrepareSlot(slot uint32, q *Query) {
	if s.kind == Float32 {
		q.floats = s.floats(slot)
		return
	}
	q.codes, q.scale = s.codes(slot), *s.scale(slot)
}

// Scores sets out[i] to the score of slots[i].
func (s *Slab) Scores(q *Query, slots []uint32, out []float32) {
	out = out[:len(slots)]
	for len(slots) > 0 {
		n := min(group, len(slots))
		if s.kind == Float32 {
			for i, slot := range slots[:n] {
				q.floatRows[i] = (*float32)(s.rows.Row(slot))
			}
			s.kernels.DotRows(q.floats, q.floatRows[:n], out)
		} else {
			for i, slot := range slots[:n] {
				q.codeRows[i] = (*int8)(s.rows.Row(slot))
			}
			s.kernels.DotInt8Rows(q.codes, q.codeRows[:n], q.sums[:])
			for i, slot := range slots[:n] {
				out[i] = float32(q.sums[i]) * (q.scale * *s.scale(slot))
			}
		}
		slots, out = slots[n:], out[n:]
	}
}

// ScanRange sets out[i] to the score of slot from+i, for the slots below to.
func (s *Slab) ScanRange(q *Query, from, to uint32, out []float32) {
	var slots [group]uint32
	for from < to {
		n := min(group, to-from)
		for i := range n {
			slots[i] = from + i
		}
		s.Scores(q, slots[:n], out)
		from, out = from+n, out[n:]
	}
}

// Between returns the score of two slots.
func (s *Slab) Between(a, b uint32) float32 {
	if s.kind == Float32 {
		return s.kernels.Dot(s.floats(a), s.floats(b))
	}
	return float32(s.kernels.DotInt8(s.codes(a), s.codes(b))) * (*s.scale(a) * *s.scale(b))
}
