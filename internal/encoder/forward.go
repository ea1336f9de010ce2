package encoder

import (
	"context"
	"runtime"
)

// scratch holds the activations of a pack of sequences. It grows to the largest one it met and is used by one
// goroutine at a time.
type scratch struct {
	spans    []span
	x        []float32 // [rows][Hidden]: the residual stream
	qkv      []float32 // [rows][3·Hidden]: queries, keys, values
	attended []float32 // [rows][Hidden]
	wide     []float32 // [rows][FeedForward]
	rounded  rounded   // input of the linear layer at work
	head     attentionHead
}

// span is the place of a sequence among the rows of a pack.
type span struct{ from, tokens int }

// forward sets x to what the last layer makes of a pack of sequences, each of 1 to Positions tokens: their rows follow
// each other, at spans. No row has an influence on another but through the attention, which stays within a sequence;
// so a sequence's rows are the same to the bit whatever it is packed with.
//
// Rows are rounded up to whole tiles. The rows in excess begin as zeros and go through everything like the others;
// no token attends to them and no result is made of them.
func (m *Model) forward(ctx context.Context, s *scratch, pack []Pair) error {
	s.spans = s.spans[:0]
	tokens := 0
	for _, p := range pack {
		s.spans = append(s.spans, span{from: tokens, tokens: len(p.IDs)})
		tokens += len(p.IDs)
	}
	rows := wholeTiles(tokens)
	m.embed(s, pack, rows)
	for i := range m.layers {
		if err := ctx.Err(); err != nil {
			return err
		}
		m.block(s, &m.layers[i], rows)
	}
	return nil
}

// vector returns the vector of a sequence of the pack: the mean of its tokens' vectors, or the first of them.
func (m *Model) vector(s *scratch, sequence int) []float32 {
	at := s.spans[sequence]
	if m.config.Pooling == PoolingCLS {
		at.tokens = 1
	}
	v := mean(s.x[at.from*m.config.Hidden:(at.from+at.tokens)*m.config.Hidden], m.config.Hidden)
	if !m.config.Raw {
		toUnit(v)
	}
	return v
}

// score returns the logit of a pair of the pack.
func (m *Model) score(s *scratch, sequence int) float32 {
	return m.head.score(s.x[s.spans[sequence].from*m.config.Hidden:][:m.config.Hidden])
}

// embed sets x to the normalized sums of word, position and type vectors.
func (m *Model) embed(s *scratch, pack []Pair, rows int) {
	hidden := m.config.Hidden
	s.x = resize(s.x, rows*hidden)
	rest := s.x
	for _, p := range pack {
		for i, id := range p.IDs {
			row := rest[:hidden]
			rest = rest[hidden:]
			m.words.row(int(id), row)
			segment := 0
			if p.Types != nil {
				segment = int(p.Types[i])
			}
			kind := m.types[segment*hidden : (segment+1)*hidden]
			for j, v := range m.positions[i*hidden : (i+1)*hidden] {
				row[j] += v + kind[j]
			}
		}
	}
	runtime.KeepAlive(m.file)
	clear(rest)
	m.norm.apply(s.x)
}

// block is one layer. Products are added to what stands in their place already: the bias, and where the layer adds
// its input, that input.
func (m *Model) block(s *scratch, l *layer, rows int) {
	k := &m.kernels

	s.qkv = repeat(s.qkv, l.attend.bias, rows)
	l.attend.apply(k, s, s.x, s.qkv, rows)
	m.attend(s, rows)
	addToRows(s.x, l.attendOut.bias)
	l.attendOut.apply(k, s, s.attended, s.x, rows)
	l.attendNorm.apply(s.x)

	s.wide = repeat(s.wide, l.widen.bias, rows)
	l.widen.apply(k, s, s.x, s.wide, rows)
	k.GELU(s.wide)
	addToRows(s.x, l.narrow.bias)
	l.narrow.apply(k, s, s.wide, s.x, rows)
	l.norm.apply(s.x)
}

// resize returns a slice of n values, what they are does not matter, in the memory of x where it is enough.
func resize[T float32 | int16](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	return x[:n]
}

// repeat returns rows copies of row, in the memory of x where it is enough.
func repeat(x, row []float32, rows int) []float32 {
	x = resize(x, rows*len(row))
	for i := range rows {
		copy(x[i*len(row):], row)
	}
	return x
}

// addToRows adds row to each row of x.
func addToRows(x, row []float32) {
	for ; len(x) > 0; x = x[len(row):] {
		for i, v := range row {
			x[i] += v
		}
	}
}
