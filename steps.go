package rag

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
)

// StepCount says what a transformer that can ask a chat model, or that leaves passages out, did in an ingest.
type StepCount struct {
	Step      string `json:"step"`             // its name: "enrich"
	Calls     int    `json:"calls"`            // of the chat model
	Cached    int    `json:"cached"`           // replies that an earlier run had got
	Fallbacks int    `json:"fallbacks"`        // passages or pictures for which the model gave nothing, so that rules stood in, if there are any
	Skipped   int    `json:"skipped"`          // those that the step cannot work on as it is set up: there is no model, or it is no picture that can be sent
	Dropped   int    `json:"dropped"`          // passages left out
	Reason    string `json:"reason,omitempty"` // of a fallback or skip; of several the first in the alphabet
}

// Steps counts what the transformers do to one document of an ingest, and holds them to the budget of the whole. It is
// safe for concurrent use.
type Steps struct {
	run *runSteps

	mu   sync.Mutex
	fell bool // a fallback happened
}

// runSteps is the part that all documents of an ingest share.
type runSteps struct {
	mu     sync.Mutex
	counts map[string]*StepCount
	failed map[string]int // calls in a row that failed, by step
}

type stepsKey struct{}

// StepsOf returns the counts that the context of an ingest carries. Elsewhere it returns new ones.
func StepsOf(ctx context.Context) *Steps {
	if s, ok := ctx.Value(stepsKey{}).(*Steps); ok {
		return s
	}
	return newRunSteps().document()
}

func newRunSteps() *runSteps {
	return &runSteps{counts: map[string]*StepCount{}, failed: map[string]int{}}
}

// document returns the counts for one more document.
func (r *runSteps) document() *Steps { return &Steps{run: r} }

// within gives a context these counts.
func (s *Steps) within(ctx context.Context) context.Context {
	return context.WithValue(ctx, stepsKey{}, s)
}

// Count adds to the counts of the step named in c. A document with a fallback is done again by the next ingest.
func (s *Steps) Count(c StepCount) {
	if c.Fallbacks > 0 {
		s.mu.Lock()
		s.fell = true
		s.mu.Unlock()
	}
	s.run.mu.Lock()
	defer s.run.mu.Unlock()
	sum := s.run.step(c.Step)
	sum.Calls += c.Calls
	sum.Cached += c.Cached
	sum.Fallbacks += c.Fallbacks
	sum.Skipped += c.Skipped
	sum.Dropped += c.Dropped
	if c.Reason != "" && (sum.Reason == "" || c.Reason < sum.Reason) {
		sum.Reason = c.Reason
	}
}

// step returns the counts of a step; the caller holds the lock.
func (r *runSteps) step(name string) *StepCount {
	c := r.counts[name]
	if c == nil {
		c = &StepCount{Step: name}
		r.counts[name] = c
	}
	return c
}

// mostFailures is after how many failed calls in a row a step no longer asks in this ingest: a model that is down would
// cost its time limit for each passage.
const mostFailures = 5

// Spend counts a call of the chat model, unless the step may make no more in this ingest: it has made most calls (below
// 0: any number), or too many in a row have failed. Then the error says so, and matches ErrUnavailable.
func (s *Steps) Spend(step string, most int) error {
	s.run.mu.Lock()
	defer s.run.mu.Unlock()
	c := s.run.step(step)
	switch {
	case s.run.failed[step] >= mostFailures:
		return fmt.Errorf("the chat model failed %d times in a row and is not asked any more: %w", mostFailures, ErrUnavailable)
	case most >= 0 && c.Calls >= most:
		return fmt.Errorf("the %d calls of an ingest are used up (max_llm_calls): the next ingest goes on: %w", most, ErrUnavailable)
	}
	c.Calls++
	return nil
}

// Answered notes whether a call that was spent succeeded.
func (s *Steps) Answered(step string, ok bool) {
	s.run.mu.Lock()
	defer s.run.mu.Unlock()
	if ok {
		s.run.failed[step] = 0
	} else {
		s.run.failed[step]++
	}
}

// fallback reports whether a fallback happened to the document.
func (s *Steps) fallback() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fell
}

// list returns the counts by name.
func (r *runSteps) list() []StepCount {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []StepCount
	for _, c := range r.counts {
		all = append(all, *c)
	}
	slices.SortFunc(all, func(a, b StepCount) int { return cmp.Compare(a.Step, b.Step) })
	return all
}
