package rag

import (
	"sync"
)

// lazyReranker is the reranker of an engine, made at the first search: nothing else needs it, so what it lacks must
// stop nothing else.
type lazyReranker struct {
	plan func() (Reranker, error) // nil: there is nothing to make
	mu   sync.Mutex
	made Reranker // nil: off, or not made yet
}

// planReranker takes the reranker given as an option, or notes how to make the configured one. Only its name is looked
// at now.
func (e *Engine) planReranker(s *settings, env Env) error {
	c, r := s.config.Rerank, &s.providers.Rerankers
	switch {
	case s.reranker != nil:
		e.methods[StageRerank], e.ranker.made = providerName(s.reranker), s.reranker
	case c.Provider != None:
		if _, err := r.find(c.Provider); err != nil {
			return InConfig("rerank", err)
		}
		e.methods[StageRerank] = c.Provider
		e.ranker.plan = func() (Reranker, error) { return r.make("rerank", c, env) }
	}
	return nil
}

// makeReranker returns the reranker, nil if there is none. One that could not be made is tried again at the next call.
func (e *Engine) makeReranker() (Reranker, error) {
	l := &e.ranker
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made != nil || l.plan == nil {
		return l.made, nil
	}
	made, err := l.plan()
	if err != nil {
		return nil, err
	}
	e.own(made)
	l.made = made
	return made, nil
}

// Ready reports what would fail every call that needs it: a configured reranker that cannot be made, because its
// settings are wrong (ErrInvalid) or its model is not on this machine (ErrNotFound), and an embedder or a chat model that
// lacks its key (ErrInvalid). [Open] lets it pass, since other calls do without. It asks no service.
func (e *Engine) Ready() (err error) {
	defer e.hide(&err)
	_, err = e.makeReranker()
	for _, slot := range []struct {
		name  string
		model any
	}{{"embedder", e.embedder}, {"llm", e.chat}, {"vision_llm", e.vision}} {
		if r, ok := slot.model.(interface{ Ready() error }); ok && err == nil {
			if err = r.Ready(); err != nil {
				err = InConfig(slot.name, &ConfigError{"", err}) // a key that no setting and no variable gives
			}
		}
	}
	return err
}
