package tokenize

import (
	"math"
	"sync"
)

// normalizer brings text into the form that the vocabulary has. It appends to w.normal; at is where text stands in
// the original.
type normalizer interface {
	normalize(w *work, text string, at int)
}

// model cuts normalized text into tokens and emits them to w, until it is full.
type model interface {
	tokenize(w *work, text normalized)
}

// pipeline is a tokenizer as tokenizer.json describes it: added tokens are found in the raw text, what stands between
// them is normalized, added tokens that want it are found in that, and the model tokenizes the rest.
type pipeline struct {
	raw, normal added
	normalizer  normalizer
	model       model
	frame       frame
	scratch     sync.Pool // of *work
}

var _ Tokenizer = (*pipeline)(nil)

func newPipeline(n normalizer, m model, f frame, tokens []addedToken) *pipeline {
	p := &pipeline{normalizer: n, model: m, frame: f}
	p.scratch.New = func() any { return &work{} }
	for _, t := range tokens {
		if !t.normalized {
			p.raw.add(t)
			continue
		}
		var w work
		n.normalize(&w, t.text, 0)
		t.text = string(w.normal.text)
		p.normal.add(t)
	}
	return p
}

// Encode implements [Tokenizer].
func (p *pipeline) Encode(text string, limit int) (ids []int32, cut bool) {
	room := max(limit-p.frame.single.special(), 0)
	w := p.run(text, room, false)
	defer p.scratch.Put(w)
	found := w.ids[:min(len(w.ids), room)]
	ids, _ = p.frame.single.join(found, nil)
	return ids, len(w.ids) > room
}

// EncodePair implements [Tokenizer].
func (p *pipeline) EncodePair(first, second string, limit int) (ids, types []int32, cut bool) {
	room := max(limit-p.frame.pair.special(), 0)
	a := p.run(first, room, false)
	defer p.scratch.Put(a)
	foundFirst := a.ids[:min(len(a.ids), room)]
	b := p.run(second, room-len(foundFirst), false)
	defer p.scratch.Put(b)
	foundSecond := b.ids[:min(len(b.ids), room-len(foundFirst))]
	ids, types = p.frame.pair.join(foundFirst, foundSecond)
	return ids, types, len(foundFirst) < len(a.ids) || len(foundSecond) < len(b.ids)
}

// Count implements [Tokenizer].
func (p *pipeline) Count(text string) int {
	w := p.run(text, math.MaxInt, false)
	defer p.scratch.Put(w)
	return len(w.ids)
}

// Tokens implements [Tokenizer].
func (p *pipeline) Tokens(text string) []Token {
	w := p.run(text, math.MaxInt, true)
	defer p.scratch.Put(w)
	tokens := make([]Token, len(w.ids))
	for i, id := range w.ids {
		tokens[i] = Token{ID: id, Start: w.spans[i].start, End: w.spans[i].end}
	}
	return tokens
}

// run tokenizes text until it has more than enough ids.
func (p *pipeline) run(text string, enough int, track bool) *work {
	w := p.scratch.Get().(*work)
	w.reset(enough, track)
	for at := 0; at < len(text) && !w.full(); {
		found, id := p.raw.next(text, at)
		p.segment(w, text[at:found.start], at)
		if found.end > found.start && !w.full() {
			w.emit(id, found)
		}
		at = found.end
	}
	return w
}

// segment tokenizes text that holds no token that is found in raw text.
func (p *pipeline) segment(w *work, text string, at int) {
	if text == "" {
		return
	}
	w.normal.reset()
	p.normalizer.normalize(w, text, at)
	if p.normal.empty() {
		p.model.tokenize(w, w.normal)
		return
	}
	whole := string(w.normal.text)
	for at := 0; at < len(whole) && !w.full(); {
		found, id := p.normal.next(whole, at)
		p.model.tokenize(w, w.normal.part(at, found.start))
		if found.end > found.start && !w.full() {
			w.emit(id, w.normal.covers(found.start, found.end))
		}
		at = found.end
	}
}
