package splitter

// span is a chunk in the making: units [first, end), without overlap.
type span struct{ first, end int }

// cutter cuts parts into spans that fit.
type cutter struct {
	units  []unit
	before []int // before[i] is the weight of the units in front of unit i
	sizes  Config
	spans  []span
}

func newCutter(units []unit, sizes Config) *cutter {
	c := &cutter{units: units, before: make([]int, len(units)+1), sizes: sizes}
	for i, u := range units {
		c.before[i+1] = c.before[i] + u.weight
	}
	return c
}

// weight returns the tokens of units [i, j).
func (c *cutter) weight(i, j int) int { return c.before[j] - c.before[i] }

// cut appends the spans of units [i, j): it halves them at the best boundary until the pieces fit. So a stretch of text
// becomes a chunk if its two borders are stronger than every boundary inside, and the stretch with the text up to the
// next border that is stronger still does not fit: it depends on text at most one chunk away, and what an edit changes
// stays near the edit. (This is a treap over the boundaries, cut off at a weight.)
func (c *cutter) cut(i, j int) {
	if at := c.choose(i, j); at > 0 {
		c.cut(i, at)
		c.cut(at, j)
		return
	}
	c.spans = append(c.spans, span{i, j})
}

// choose returns the unit before which [i, j) is cut, or -1 if it fits or cannot be cut.
func (c *cutter) choose(i, j int) int {
	all := c.weight(i, j)
	if all <= c.sizes.MaxTokens {
		return -1
	}
	if at := c.best(i, j, c.sizes.MinTokens, byGrapheme); at > 0 {
		return at
	}
	if at := c.best(i, j, 0, byGrapheme); at > 0 {
		return at
	}
	return c.best(i, j, 0, byGlue)
}

// best returns the best boundary in [i, j) that leaves at least so many tokens on either side and is at least this
// strong, or -1: the strongest, of these the one with the greatest hash behind it, of these the one nearest to the middle.
func (c *cutter) best(i, j, least int, weakest class) int {
	best, bestOff := -1, 0
	for k := i + 1; k < j; k++ {
		u := &c.units[k]
		left, right := c.weight(i, k), c.weight(k, j)
		if u.before < weakest || left < least || right < least {
			continue
		}
		off := max(left-right, right-left)
		if best > 0 {
			b := &c.units[best]
			if u.before < b.before || u.before == b.before && (u.hash < b.hash || u.hash == b.hash && off >= bestOff) {
				continue
			}
		}
		best, bestOff = k, off
	}
	return best
}

// overlap returns the unit at which the chunk of span s begins when it repeats the last sentences of the span before.
// Only a chunk that begins inside a paragraph does: what is cut at the end of a paragraph stands for itself.
func (c *cutter) overlap(before, s span) int {
	first := s.first
	if c.units[first].before != bySentence {
		return first
	}
	room := min(c.sizes.OverlapTokens, c.sizes.MaxTokens-c.weight(s.first, s.end))
	// The first unit of the span before is never repeated: each chunk begins behind the one before.
	for first-1 > before.first && c.units[first-1].sentence && c.weight(first-1, s.first) <= room {
		first--
		if c.units[first].before != bySentence {
			break
		}
	}
	return first
}
