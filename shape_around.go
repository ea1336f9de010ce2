package rag

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// maxParent is the length in bytes above which a section is not given with a hit: about 8,000 tokens, which many models
// do not take.
const maxParent = 32 << 10

// furnish gives the final hits what stands around them and where the query's words are.
func (s *search) furnish(ctx context.Context) error {
	span, start := s.spans[StageShape], s.now()
	defer s.end(span, start)
	if s.shaping.highlight {
		s.highlight(ctx)
	}
	if s.shaping.neighbours == 0 && !s.shaping.parent || len(s.hits) == 0 {
		return nil
	}
	span.Status = ""
	span.Detail["neighbours"], span.Detail["parent"] = s.shaping.neighbours, s.shaping.parent
	siblings, err := s.siblings(ctx)
	if err != nil {
		return err
	}
	if s.shaping.neighbours > 0 {
		s.addNeighbours(siblings)
	}
	if s.shaping.parent {
		return s.addParents(ctx, siblings)
	}
	return nil
}

// siblings reads the passages of the hits' documents, in document order, by URI. A document that is gone meanwhile has
// none.
func (s *search) siblings(ctx context.Context) (map[string][]Chunk, error) {
	all := map[string][]Chunk{}
	for _, h := range s.hits {
		uri := h.Chunk.URI
		if _, ok := all[uri]; ok {
			continue
		}
		entry, err := s.catalog.Entry(ctx, s.q.Collection, uri)
		if errors.Is(err, ErrNotFound) {
			all[uri] = nil
			continue
		}
		if err != nil {
			return nil, err
		}
		ids := make([]string, len(entry.Chunks))
		for i, ref := range entry.Chunks {
			ids[i] = ref.ID
		}
		if all[uri], err = s.readable(s.catalog.Chunks(ctx, s.q.Collection, ids)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// addNeighbours gives each hit the passages before and behind it. A passage is shown once: those that are a hit
// themselves, or stand with a better one, end the row, and so does one that the filter excludes.
func (s *search) addNeighbours(siblings map[string][]Chunk) {
	shown := map[string]bool{}
	for _, h := range s.hits {
		shown[h.Chunk.ID] = true
	}
	for i := range s.hits {
		h := &s.hits[i]
		row := siblings[h.Chunk.URI]
		at := slices.IndexFunc(row, func(c Chunk) bool { return c.ID == h.Chunk.ID })
		take := func(k int) bool {
			if at < 0 || k < 0 || k >= len(row) || shown[row[k].ID] || !s.filter.Match(row[k].Fields(), row[k].Validity) {
				return false
			}
			shown[row[k].ID] = true
			return true
		}
		for n := 1; n <= s.shaping.neighbours && take(at-n); n++ {
			h.Before = append(h.Before, row[at-n])
		}
		slices.Reverse(h.Before)
		for n := 1; n <= s.shaping.neighbours && take(at+n); n++ {
			h.After = append(h.After, row[at+n])
		}
	}
}

// addParents gives each hit the part of its document that it was cut from: what all passages of its ParentID cover, or
// else the innermost section that has it whole. One that is longer than maxParent, or holds a passage that the filter
// excludes, is not given.
func (s *search) addParents(ctx context.Context, siblings map[string][]Chunk) error {
	documents := map[string]*Document{}
	given := map[string]map[Parent]bool{} // by URI
	for i := range s.hits {
		h := &s.hits[i]
		uri, row := h.Chunk.URI, siblings[h.Chunk.URI]
		if _, ok := documents[uri]; !ok {
			doc, err := s.catalog.Document(ctx, s.q.Collection, uri)
			if damage := (*DamageError)(nil); errors.As(err, &damage) {
				s.noteDamage("a surrounding part was left out", damage)
			} else if err != nil && !errors.Is(err, ErrNotFound) {
				return err
			}
			documents[uri], given[uri] = &doc, map[Parent]bool{}
		}
		doc := documents[uri]
		p, ok := parentOf(&h.Chunk, row, doc.Sections)
		if !ok || p.End-p.Start > maxParent || p.End > len(doc.Text) || s.hides(row, p) {
			continue
		}
		if !given[uri][p] {
			given[uri][p] = true
			h.Parent = &Parent{p.Start, p.End, doc.Text[p.Start:p.End]}
		} else {
			h.Parent = &p
		}
	}
	return nil
}

// parentOf returns the bounds of a chunk's parent; ok is false if it has none.
func parentOf(c *Chunk, siblings []Chunk, sections []Section) (p Parent, ok bool) {
	if c.ParentID != "" {
		p.Start, p.End = c.Start, c.End
		for _, other := range siblings {
			if other.ParentID == c.ParentID {
				p.Start, p.End = min(p.Start, other.Start), max(p.End, other.End)
			}
		}
		return p, true
	}
	for _, sec := range sections {
		if sec.Start <= c.Start && c.End <= sec.End && (!ok || sec.End-sec.Start < p.End-p.Start) {
			p, ok = Parent{Start: sec.Start, End: sec.End}, true
		}
	}
	return p, ok
}

// hides reports whether a passage in these bounds does not match the filter.
func (s *search) hides(row []Chunk, p Parent) bool {
	return slices.ContainsFunc(row, func(c Chunk) bool {
		return c.Start < p.End && p.Start < c.End && !s.filter.Match(c.Fields(), c.Validity)
	})
}

// highlight asks the sparse index where the query's words stand in the hits. Hits are good without.
func (s *search) highlight(ctx context.Context) {
	h, ok := s.sparse.(Highlighter)
	if !ok || len(s.hits) == 0 {
		return
	}
	recs := make([]TextRecord, len(s.hits))
	for i := range s.hits {
		c := &s.hits[i].Chunk
		recs[i] = TextRecord{ID: c.ID, DocID: c.DocID, Text: c.Text, Language: c.Language}
	}
	marked := make([][]TextRange, len(s.hits))
	for _, l := range s.lookups {
		if l.Role == AsPassage {
			continue // its words were not looked for
		}
		ranges, err := h.Highlight(ctx, s.index, SparseQuery{Text: l.Text, Match: s.q.Match}, recs)
		if err == nil && len(ranges) != len(recs) {
			err = fmt.Errorf("the index marked %d texts of %d: %w", len(ranges), len(recs), ErrInvalid)
		}
		if err != nil {
			s.result.Notes = append(s.result.Notes, Note{StageShape, "no highlights: " + err.Error()})
			return
		}
		for i := range marked {
			marked[i] = append(marked[i], ranges[i]...)
		}
	}
	for i := range s.hits {
		s.hits[i].Highlights = joinRanges(s.hits[i].Chunk.Text, marked[i])
	}
}

// joinRanges sorts ranges of a text and joins those that overlap or touch. Ends inside a rune move out of it; what lies
// outside the text, or is empty, falls.
func joinRanges(text string, ranges []TextRange) []TextRange {
	var out []TextRange
	slices.SortFunc(ranges, func(a, b TextRange) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	for _, r := range ranges {
		if r.Start < 0 || r.End > len(text) || r.Start >= r.End {
			continue
		}
		for r.Start > 0 && !utf8.RuneStart(text[r.Start]) {
			r.Start--
		}
		for r.End < len(text) && !utf8.RuneStart(text[r.End]) {
			r.End++
		}
		if n := len(out); n > 0 && r.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, r.End)
		} else {
			out = append(out, r)
		}
	}
	return out
}
