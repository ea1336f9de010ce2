package encoder

import (
	"context"
	"math"
	"runtime"
)

// scratch holds the activations of one sequence. It grows to the longest one it met and is used by one goroutine at
// a time.
type scratch struct {
	x        []float32 // [rows][Hidden]: the residual stream
	qkv      []float32 // [rows][3·Hidden]: queries, keys, values
	attended []float32 // [rows][Hidden]
	wide     []float32 // [rows][FeedForward]
	scores   []float32 // [rows][columns]: attention of one head
	keys     matrix    // of one head: outputs are tokens, inputs its dimensions
	values   matrix    // of one head: outputs are its dimensions, inputs tokens
	rounded  rounded   // input of the linear layer at work
}

// forward sets x to what the last layer makes of a sequence of 1 to Positions tokens.
//
// Rows are rounded up to whole tiles. The rows in excess begin as zeros and go through everything like the others;
// no token attends to them and no result is made of them.
func (m *Model) forward(ctx context.Context, s *scratch, p Pair) error {
	rows := wholeTiles(len(p.IDs))
	m.embed(s, p, rows)
	for i := range m.layers {
		if err := ctx.Err(); err != nil {
			return err
		}
		m.block(s, &m.layers[i], len(p.IDs), rows)
	}
	return nil
}

// vector returns the vector of a sequence: the mean of its tokens' vectors, or the first of them.
func (m *Model) vector(ctx context.Context, s *scratch, ids []int32) ([]float32, error) {
	if err := m.forward(ctx, s, Pair{IDs: ids}); err != nil {
		return nil, err
	}
	tokens := len(ids)
	if m.config.Pooling == PoolingCLS {
		tokens = 1
	}
	v := mean(s.x[:tokens*m.config.Hidden], m.config.Hidden)
	if !m.config.Raw {
		toUnit(v)
	}
	return v, nil
}

// score returns the logit of a pair.
func (m *Model) score(ctx context.Context, s *scratch, p Pair) (float32, error) {
	if err := m.forward(ctx, s, p); err != nil {
		return 0, err
	}
	return m.head.score(s.x[:m.config.Hidden]), nil
}

// embed sets x to the normalized sums of word, position and type vectors.
func (m *Model) embed(s *scratch, p Pair, rows int) {
	hidden := m.config.Hidden
	s.x = resize(s.x, rows*hidden)
	for i, id := range p.IDs {
		row := s.x[i*hidden : (i+1)*hidden]
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
	runtime.KeepAlive(m.file)
	clear(s.x[len(p.IDs)*hidden:])
	m.norm.apply(s.x)
}

// block is one layer. Products are added to what stands in their place already: the bias, and where the layer adds
// its input, that input.
func (m *Model) block(s *scratch, l *layer, tokens, rows int) {
	k := &m.kernels

	s.qkv = repeat(s.qkv, l.attend.bias, rows)
	l.attend.apply(k, s, s.x, s.qkv, rows)
	m.attend(s, tokens, rows)
	addToRows(s.x, l.attendOut.bias)
	l.attendOut.apply(k, s, s.attended, s.x, rows)
	l.attendNorm.apply(s.x)

	s.wide = repeat(s.wide, l.widen.bias, rows)
	l.widen.apply(k, s, s.x, s.wide, rows)
	k.gelu(s.wide)
	addToRows(s.x, l.narrow.bias)
	l.narrow.apply(k, s, s.wide, s.x, rows)
	l.norm.apply(s.x)
}

// attend sets attended to softmax(q·k)·v for each head; the queries are scaled already.
func (m *Model) attend(s *scratch, tokens, rows int) {
	hidden := m.config.Hidden
	size := hidden / m.config.Heads
	columns := wholePanels(tokens)
	s.attended = resize(s.attended, rows*hidden)
	s.scores = resize(s.scores, rows*columns)
	clear(s.attended)
	for at := 0; at < hidden; at += size {
		s.packHead(at, size, tokens, hidden)
		clear(s.scores)
		s.keys.mulAdd(&m.kernels, s.qkv[at:], 3*hidden, s.scores, columns, rows)
		for r := range rows {
			row := s.scores[r*columns : (r+1)*columns]
			hide(row[tokens:])
			m.kernels.softmax(row)
		}
		s.values.mulAdd(&m.kernels, s.scores, columns, s.attended[at:], hidden, rows)
	}
}

// packHead brings keys and values of the head at this offset into panels. Columns of keys beyond the tokens keep what
// they held: their scores are hidden.
func (s *scratch) packHead(at, size, tokens, hidden int) {
	columns := wholePanels(tokens)
	s.keys = matrix{panels: resize(s.keys.panels, columns*size), outputs: columns, inputs: size}
	s.values = matrix{panels: resize(s.values.panels, size*tokens), outputs: size, inputs: tokens}
	for t := range tokens {
		row := s.qkv[t*3*hidden:]
		s.keys.setRow(t, row[hidden+at:hidden+at+size])
		value := row[2*hidden+at : 2*hidden+at+size]
		for j := 0; j < size; j += tileCols {
			copy(s.values.panels[j*tokens+t*tileCols:], value[j:j+tileCols])
		}
	}
}

// hide makes scores so small that softmax gives them no share.
func hide(scores []float32) {
	for i := range scores {
		scores[i] = -math.MaxFloat32 / 2
	}
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
