package rag

import (
	"context"
	"fmt"
	"slices"
)

// tellAnswer has the question answered from the passages found, and tells whether the chunk came into the prompt and was
// cited.
func (w *explaining) tellAnswer(ctx context.Context) error {
	req := AskRequest{Query: w.asked.q, Found: w.asked.result}
	a := w.newAnswering(req, func(AnswerEvent) bool { return true })
	if err := a.run(ctx); err != nil {
		return err
	}
	number := 0
	for _, s := range a.answer.Sources {
		if s.Hit.Chunk.ID == w.chunk.ID {
			number = s.Number
		}
	}
	pack, cite := StageFate{Stage: StagePack, Rank: w.x.Rank, Kept: number > 0}, StageFate{Stage: StageCite}
	switch passages := w.config.Answer.Passages; {
	case *w.x.Rank > passages:
		pack.Reason = fmt.Sprintf("an answer is made from the first %d passages", passages)
	case number == 0:
		pack.Reason = fmt.Sprintf("packed out: there was room for %v tokens", a.spans[StagePack].Detail["budget"])
	}
	cited := func(c Citation) bool { return c.Marker == number }
	switch at := slices.IndexFunc(a.answer.Citations, cited); {
	case !pack.Kept:
		cite.Reason = "the answer was not made from it"
	case at >= 0:
		cite.Kept, cite.Reason = true, a.answer.Citations[at].Verdict
	case a.answer.Refused:
		cite.Reason = "there is no answer: " + a.answer.Reason
	default:
		cite.Reason = "not cited"
	}
	w.x.Stages = append(w.x.Stages, pack, cite)
	switch {
	case cite.Kept:
		w.x.Verdict = fmt.Sprintf("returned at rank %d and cited as [%d]", *w.x.Rank, number)
	case pack.Kept:
		w.x.Verdict = fmt.Sprintf("returned at rank %d, and the answer was made with it: %s", *w.x.Rank, cite.Reason)
	default:
		changes, err := w.nearestRoom(ctx, req)
		if err != nil {
			return err
		}
		w.conclude(fmt.Sprintf("returned at rank %d, and not in the answer's prompt: %s", *w.x.Rank, pack.Reason), changes, "would have put it in")
	}
	return nil
}

// mostRoom is the greatest budget that is tried, in tokens: more than chat models read.
const mostRoom = 1 << 21

// nearestRoom returns the changes with which the chunk comes into the prompt, after trying them; nil if none does.
func (w *explaining) nearestRoom(ctx context.Context, req AskRequest) ([]Remedy, error) {
	e := *w.Engine
	var changes []Remedy
	if *w.x.Rank > e.config.Answer.Passages {
		e.config.Answer.Passages = *w.x.Rank
		changes = append(changes, Remedy{RemedyPassages, *w.x.Rank})
	}
	if e.chat == nil {
		return changes, nil // nothing is packed
	}
	packs := func(tokens int) (bool, error) {
		req.ContextTokens = tokens
		a := e.newAnswering(req, func(AnswerEvent) bool { return true })
		if err := a.find(ctx); err != nil {
			return false, err
		}
		_, err := a.pack()
		return slices.ContainsFunc(a.answer.Sources, func(s AnswerSource) bool { return s.Hit.Chunk.ID == w.chunk.ID }), err
	}
	low, high := e.config.Answer.ContextTokens, e.config.Answer.ContextTokens
	for {
		ok, err := packs(high)
		if err != nil || high > mostRoom {
			return nil, err
		}
		if ok {
			break
		}
		low, high = high, 2*high
	}
	for high-low > 1 {
		middle := low + (high-low)/2
		ok, err := packs(middle)
		if err != nil {
			return nil, err
		}
		if ok {
			high = middle
		} else {
			low = middle
		}
	}
	if high > e.config.Answer.ContextTokens {
		changes = append(changes, Remedy{RemedyContextTokens, high})
	}
	return changes, nil
}
