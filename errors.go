package rag

import (
	"context"
	"errors"
	"fmt"
)

// Kinds of errors. Every error of the package and of its providers that a caller may want to act on wraps
// one of them; test with [errors.Is].
var (
	ErrUnknownProvider = errors.New("unknown provider")               // a name that no linked room registered
	ErrInvalid         = errors.New("invalid")                        // input that cannot be right: fix the input
	ErrUnsupported     = errors.New("unsupported")                    // the provider cannot do this
	ErrNotFound        = errors.New("not found")                      // no such collection, document or chunk
	ErrDimension       = errors.New("wrong vector dimension")         // the collection holds vectors of another length
	ErrFingerprint     = errors.New("built by another pipeline")      // the collection's header names another model or analyzer
	ErrLocked          = errors.New("locked")                         // another process has the data open
	ErrUnavailable     = errors.New("unavailable")                    // a service did not answer: worth a retry
	ErrPartial         = errors.New("some sources could not be read") // the report lists them
)

// errorKinds are the words for the kinds in traces. Of several that an error wraps, the first one is told.
var errorKinds = []struct {
	kind error
	word string
}{
	{context.Canceled, "canceled"}, {context.DeadlineExceeded, "timeout"},
	{ErrUnknownProvider, "unknown_provider"}, {ErrDimension, "dimension"}, {ErrFingerprint, "fingerprint"},
	{ErrLocked, "locked"}, {ErrNotFound, "not_found"}, {ErrPartial, "partial"},
	{ErrUnsupported, "unsupported"}, {ErrUnavailable, "unavailable"}, {ErrInvalid, "invalid"},
}

// errorKind names the kind of an error; "other" if it has none.
func errorKind(err error) string {
	for _, k := range errorKinds {
		if errors.Is(err, k.kind) {
			return k.word
		}
	}
	return "other"
}

// StageError says in which stage of the pipeline, and for which source, an error happened.
type StageError struct {
	Stage string // one of the Stage constants
	URI   string // the source; "" if the stage worked for several
	Err   error
}

// Error returns "stage uri: cause".
func (e *StageError) Error() string {
	if e.URI == "" {
		return fmt.Sprintf("%s: %v", e.Stage, e.Err)
	}
	return fmt.Sprintf("%s %s: %v", e.Stage, e.URI, e.Err)
}

// Unwrap returns the cause.
func (e *StageError) Unwrap() error { return e.Err }
