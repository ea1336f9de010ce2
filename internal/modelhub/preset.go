package modelhub

import (
	"errors"
	"fmt"
	"strings"
)

// Preset returns the card of a preset for a task, by its name or its repository. near says which known name may have
// been meant. An unknown name is ErrUnknown, a model for another task ErrInvalid, one that cannot be run
// ErrUnsupported.
func Preset(task, name string, near func(name string, known []string) string) (Card, error) {
	known := Names(task)
	card, ok := Named(name)
	switch {
	case !ok:
		return card, fmt.Errorf("unknown model %q%s (known: %s; or the path of a folder, absolute or beginning with a dot): %w",
			name, near(name, known), strings.Join(known, ", "), ErrUnknown)
	case card.Unsupported != "":
		return card, card.Refusal()
	case card.Task == task:
		return card, nil
	case task == TaskRerank:
		return card, fmt.Errorf("model %s makes vectors: name it under embedder (rerankers: %s): %w", card.Name, strings.Join(known, ", "), ErrInvalid)
	}
	return card, fmt.Errorf("model %s is a reranker: name it under rerank (embedding models: %s): %w", card.Name, strings.Join(known, ", "), ErrInvalid)
}

// Kinds are the errors that a program knows for the kinds of this package.
type Kinds struct {
	NotFound    error // of ErrNotFound
	Unsupported error // of ErrUnsupported
	Invalid     error // of ErrInvalid, ErrMismatch and ErrUnknown
	Unavailable error // of ErrUnavailable
}

// Of adds the program's kind to an error of a kind of this package and leaves other errors alone.
func (k Kinds) Of(err error) error {
	for _, kind := range []struct{ from, to error }{
		{ErrNotFound, k.NotFound},
		{ErrUnsupported, k.Unsupported},
		{ErrInvalid, k.Invalid},
		{ErrMismatch, k.Invalid},
		{ErrUnknown, k.Invalid},
		{ErrUnavailable, k.Unavailable},
	} {
		if errors.Is(err, kind.from) && !errors.Is(err, kind.to) {
			return WithKind(err, kind.to)
		}
	}
	return err
}

// WithKind returns err as an error of one more kind, its message unchanged: it says what is wrong already.
func WithKind(err, kind error) error { return &kinded{err, kind} }

// kinded is an error that is of one more kind than its message says.
type kinded struct{ err, kind error }

func (e *kinded) Error() string   { return e.err.Error() }
func (e *kinded) Unwrap() []error { return []error{e.err, e.kind} }
