package encoder

import (
	"math"

	"github.com/seed-d8745b77/rag/internal/simd"
)

// attentionHead holds one head of one sequence; rows are the tokens, rounded up to whole tiles.
type attentionHead struct {
	queries []float32 // [rows][size]
	scores  []float32 // [rows][columns]
	out     []float32 // [rows][size]
	keys    matrix    // outputs are tokens, inputs the head's dimensions
	values  matrix    // outputs are the head's dimensions, inputs tokens
}

// attend sets attended to softmax(q·k)·v for each sequence and head; the queries are scaled already.
func (m *Model) attend(s *scratch, rows int) {
	hidden := m.config.Hidden
	size := hidden / m.config.Heads
	s.attended = resize(s.attended, rows*hidden)
	for _, at := range s.spans {
		qkv := s.qkv[at.from*3*hidden:]
		attended := s.attended[at.from*hidden:]
		for first := 0; first < hidden; first += size {
			s.head.pack(qkv[first:], at.tokens, size, hidden)
			s.head.attend(&m.kernels, at.tokens)
			for t := range at.tokens {
				copy(attended[t*hidden+first:][:size], s.head.out[t*size:])
			}
		}
	}
	last := s.spans[len(s.spans)-1]
	clear(s.attended[(last.from+last.tokens)*hidden:])
}

// pack takes a head's queries, keys and values from the rows of qkv, which begins at the head's queries. Queries of
// rows in excess and columns of keys beyond the tokens keep what they held: nobody looks at what comes of them.
func (h *attentionHead) pack(qkv []float32, tokens, size, hidden int) {
	columns := wholePanels(tokens)
	h.queries = resize(h.queries, wholeTiles(tokens)*size)
	h.keys = matrix{panels: resize(h.keys.panels, columns*size), outputs: columns, inputs: size}
	h.values = matrix{panels: resize(h.values.panels, size*tokens), outputs: size, inputs: tokens}
	for t := range tokens {
		row := qkv[t*3*hidden:]
		copy(h.queries[t*size:], row[:size])
		h.keys.setRow(t, row[hidden:hidden+size])
		value := row[2*hidden : 2*hidden+size]
		for j := 0; j < size; j += tileCols {
			copy(h.values.panels[j*tokens+t*tileCols:], value[j:j+tileCols])
		}
	}
}

// attend sets out.
func (h *attentionHead) attend(k *simd.Kernels, tokens int) {
	rows, columns, size := wholeTiles(tokens), wholePanels(tokens), h.values.outputs
	h.scores, h.out = resize(h.scores, rows*columns), resize(h.out, rows*size)
	clear(h.scores)
	clear(h.out)
	h.keys.mulAdd(k, h.queries, size, h.scores, columns, rows)
	for r := range tokens {
		row := h.scores[r*columns : (r+1)*columns]
		hide(row[tokens:])
		k.Softmax(row)
	}
	h.values.mulAdd(k, h.scores, columns, h.out, size, rows)
}

// hide makes scores so small that softmax gives them no share.
func hide(scores []float32) {
	for i := range scores {
		scores[i] = -math.MaxFloat32 / 2
	}
}
