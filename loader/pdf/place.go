package pdf

import (
	"math"
	"slices"
)

// Limits of what belongs to a picture, in points.
const (
	captionGap = 40.0 // from a picture to its caption
	captionAdd = 6.0  // by which the caption may reach into the picture's box
)

// unturned maps a box in the frame of turned text back onto the page.
func (b box) unturned(turn int) box { return b.turned((4 - turn) % 4) }

// place puts pictures among the blocks of their page: before the caption, else behind the text above, else before the
// text below. Blocks keep their order, pictures at one place have theirs from top to bottom.
func place(blocks []block, pictures []picture) []block {
	before := make([][]*picture, len(blocks)+1)
	for i := range pictures {
		p := &pictures[i]
		at := placeOf(blocks, p.box)
		before[at] = append(before[at], p)
	}
	var out []block
	for i, list := range before {
		slices.SortStableFunc(list, func(a, b *picture) int { return int(math.Copysign(1, b.box.y1-a.box.y1)) })
		for _, p := range list {
			out = append(out, block{picture: p, box: p.box})
		}
		if i < len(blocks) {
			out = append(out, blocks[i])
		}
	}
	return out
}

// placeOf returns before which block a picture stands.
func placeOf(blocks []block, p box) int {
	above, below := -1, -1
	nearest := math.Inf(1)
	for i := range blocks {
		b := blocks[i].box.unturned(blocks[i].turn)
		if min(b.x1, p.x1) <= max(b.x0, p.x0) {
			continue // beside it
		}
		gap := max(p.y0-b.y1, b.y0-p.y1) // below or above the picture
		if caption.MatchString(blocks[i].text) && gap >= -captionAdd && gap <= captionGap {
			return i
		}
		switch {
		case b.centerY() < p.centerY():
			if below < 0 {
				below = i
			}
		case b.y0-p.y1 < nearest:
			above, nearest = i, b.y0-p.y1
		}
	}
	switch {
	case above >= 0:
		return above + 1
	case below >= 0:
		return below
	}
	return len(blocks)
}
