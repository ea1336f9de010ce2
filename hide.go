package rag

import (
	"github.com/seed-d8745b77/rag/internal/remedy"
	"github.com/seed-d8745b77/rag/internal/secret"
)

// What an engine says of failures holds no secret that it knows: the values of [WithSecrets], those of settings under keys
// that name secrets, and what providers took from the environment. Providers keep their own keys out of their errors; this
// is for those that do not, and for services that repeat what they were sent. Texts of documents, answers and passages are
// left as they are: offsets point into them.

// HideSecrets returns a text in which "***" stands for each secret that the engine knows, and for what looks like one. It is
// for what a program shows or keeps of failures beside the engine, such as those of a chat model that it asks itself.
func (e *Engine) HideSecrets(text string) string { return e.tracing.secret.Hide(text) }

// hide is deferred by the verbs. What the system is short of is told with what to do about it.
func (e *Engine) hide(err *error) { *err = withoutSecrets(e.tracing.secret, remedy.Of(*err)) }

// hideReasons takes secrets out of what a search says about less than was asked.
func (s *search) hideReasons() {
	r, hide := s.result, s.HideSecrets
	r.Rerank.Reason = hide(r.Rerank.Reason)
	for i := range r.Notes {
		r.Notes[i].Reason = hide(r.Notes[i].Reason)
	}
	for i := range r.Rewrites {
		r.Rewrites[i].Reason = hide(r.Rewrites[i].Reason)
	}
}

// withoutSecrets returns an error of the same kinds whose text holds no secret.
func withoutSecrets(m secret.Masker, err error) error {
	if err == nil {
		return nil
	}
	said := err.Error()
	if text := m.Hide(said); text != said {
		return &hiddenError{text, err}
	}
	return err
}

// hiddenError is an error that says less than its cause.
type hiddenError struct {
	text  string
	cause error
}

func (h *hiddenError) Error() string { return h.text }

func (h *hiddenError) Unwrap() error { return h.cause }
