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

// errorKinds names the kinds of errors. An error can be of several: the first counts.
var errorKinds = []struct {
	err  error
	name string
}{
	{context.Canceled, "canceled"}, {ErrLocked, "locked"}, {ErrFingerprint, "fingerprint"}, {ErrPartial, "partial"},
	{context.DeadlineExceeded, "timeout"}, {ErrUnavailable, "unavailable"}, {ErrDimension, "dimension"},
	{ErrUnknownProvider, "unknown_provider"}, {ErrNotFound, "not_found"}, {ErrUnsupported, "unsupported"}, {ErrInvalid, "invalid"},
}

// ErrorKind returns the name of an error's kind, as it stands in traces: "not_found", "canceled", "timeout"; "failed" for
// one of no kind, "" for nil. An error can be of several kinds: the first in the order above counts, after "canceled".
func ErrorKind(err error) string {
	if err == nil {
		return ""
	}
	for _, k := range errorKinds {
		if errors.Is(err, k.err) {
			return k.name
		}
	}
	return "failed"
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
