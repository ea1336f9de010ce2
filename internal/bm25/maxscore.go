package bm25

import (
	"math/bits"
	"slices"
)

// windowSize is the number of documents that are scored together.
const windowSize = 1 << 12

// window is the sums of the documents of a window; between windows all are 0.
type window struct {
	sums  [windowSize]int64
	marks [windowSize / 64]uint64 // documents that have a term
}

// scoreWindow ranks the documents from begin to end: MaxScore (Turtle and Flood, "Query evaluation: strategies and
// optimizations", 1995) with the bounds of the blocks that the window touches. The clauses that even together cannot
// bring a document among the best do not bring documents up; they are only asked about those that the others do.
func (s *search) scoreWindow(p *Part, cursors []*cursor, begin, end uint32) {
	lengths, asked := p.seg.lengths, 0 // number of clauses that are only asked
	if s.active, s.sums = append(s.active[:0], cursors...), append(s.sums[:0], 0); end-begin > fewInWindow {
		s.bound(begin, end, lengths)
		for asked < len(s.active) && s.sums[asked+1] < s.top.least() {
			asked++
		}
		if asked == len(s.active) {
			return
		}
	}
	for _, c := range s.active[asked:] {
		c.addTo(&s.window, begin, end, s.norms, lengths)
	}
	for i, marks := range s.window.marks {
		for ; marks != 0; marks &= marks - 1 {
			slot := i*64 + bits.TrailingZeros64(marks)
			sum := s.window.sums[slot]
			s.window.sums[slot] = 0
			doc := begin + uint32(slot)
			if sum, ok := s.complete(sum, doc, asked, lengths); ok {
				s.offer(p, doc, sum)
			}
		}
		s.window.marks[i] = 0
	}
}

// fewInWindow is the number of documents up to which a window is scored whole: bounds would cost more than they save.
const fewInWindow = 1 << 10

// bound keeps the active clauses that have documents in a window, by rising bound, and adds the bounds up.
func (s *search) bound(begin, end uint32, lengths []uint32) {
	s.active = slices.DeleteFunc(s.active, func(c *cursor) bool {
		c.window(begin, end, s.norms, lengths)
		return c.bound == 0
	})
	slices.SortStableFunc(s.active, func(a, b *cursor) int { return int(min(max(a.bound-b.bound, -1), 1)) })
	for i, c := range s.active {
		s.sums = append(s.sums, s.sums[i]+c.bound)
	}
}

// complete adds the shares of the first clauses to a document's sum; ok is false if it cannot come among the best.
func (s *search) complete(sum int64, doc uint32, asked int, lengths []uint32) (all int64, ok bool) {
	for i := asked; ; i-- {
		if sum+s.sums[i] < s.top.least() {
			return 0, false
		}
		if i == 0 {
			return sum, true
		}
		c := s.active[i-1]
		if at, ok := c.seek(doc); ok && at == doc {
			sum += c.shareOf(s.norms.of(lengths[doc]))
		}
	}
}
