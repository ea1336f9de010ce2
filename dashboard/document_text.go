package dashboard

import (
	"slices"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// segment is a part of a document's running text in which nothing begins or ends.
type segment struct {
	Text   string  `json:"text"`
	Kind   string  `json:"kind"`             // one of the kinds below
	Begins []begin `json:"begins,omitempty"` // chunks that begin here
	Chosen bool    `json:"chosen,omitempty"` // part of the chunk that was asked for
}

// begin is the beginning of a chunk in running text.
type begin struct {
	ID      string `json:"id"`
	Ordinal int    `json:"ordinal"` // 0-based
	URL     string `json:"url"`
}

// Kinds of segments. Even and odd are the parity of the chunk's place, by which neighbours are told apart.
const (
	segmentGap     = "gap" // in no chunk
	segmentEven    = "even"
	segmentOdd     = "odd"
	segmentOverlap = "overlap" // in more than one chunk
)

// unchunkedBytes is how much of a text without chunks is shown.
const unchunkedBytes = 100_000

// segments cuts the text of a document at the edges of chunks that follow each other in it. What stands before the first is
// shown if it is the first of the document, and what stands behind the last likewise.
func segments(text string, chunks []rag.Chunk, chosen string, first, last bool) []segment {
	if len(chunks) == 0 {
		return []segment{{Text: mdtext.Cut(text, unchunkedBytes), Kind: segmentGap}}
	}
	from, to := chunks[0].Start, 0
	for i := range chunks {
		to = max(to, chunks[i].End)
	}
	if first {
		from = 0
	}
	if last {
		to = len(text)
	}
	edges := []int{from, to}
	for i := range chunks {
		edges = append(edges, chunks[i].Start, chunks[i].End)
	}
	for i := range edges {
		edges[i] = min(edges[i], len(text)) // the document may have been replaced between two reads
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	list := make([]segment, 0, len(edges))
	for i := range len(edges) - 1 {
		list = append(list, segmentOf(text, edges[i], edges[i+1], chunks, chosen))
	}
	return list
}

// segmentOf describes the text between two edges.
func segmentOf(text string, from, to int, chunks []rag.Chunk, chosen string) segment {
	s := segment{Text: text[from:to], Kind: segmentGap}
	within := 0
	for i := range chunks {
		c := &chunks[i]
		if c.Start == from {
			s.Begins = append(s.Begins, begin{ID: c.ID, Ordinal: c.Ordinal})
		}
		if from < c.Start || c.End < to {
			continue
		}
		within++
		s.Chosen = s.Chosen || c.ID == chosen
		if s.Kind = segmentEven; c.Ordinal%2 == 1 {
			s.Kind = segmentOdd
		}
	}
	if within > 1 {
		s.Kind = segmentOverlap
	}
	return s
}
