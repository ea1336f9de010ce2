package dashboard

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/seed-d8745b77/rag"
)

// What a page may answer besides the errors of the engine.
var (
	errNoPage   = errors.New("there is no such page")
	errForeign  = errors.New("a page of another address asked for this change")
	errReadOnly = fmt.Errorf("the dashboard is read-only: %w", rag.ErrUnsupported)
	errInternal = errors.New("internal error; the log has the details")
)

// invalid returns an error about what the reader gave, in the reader's language.
func invalid(text string) error { return &saidError{text, rag.ErrInvalid} }

// missing returns an error about something that is not there, in the reader's language.
func missing(text string) error { return &saidError{text, rag.ErrNotFound} }

// saidError is an error in the words of a catalogue.
type saidError struct {
	text string
	kind error
}

func (e *saidError) Error() string { return e.text }
func (e *saidError) Unwrap() error { return e.kind }

// problem is the view of an error: what happened, and what to do.
type problem struct {
	Status int    `json:"status"` // of HTTP
	Kind   string `json:"kind"`
	Cause  string `json:"cause"`
	Advice string `json:"advice"`
}

func (p *problem) title(r *request) string { return r.T("problem." + p.Kind) }

// problemKinds tells kinds of errors apart, the first that fits.
var problemKinds = []struct {
	err    error
	kind   string // the texts are problem.<kind> and advice.<kind>
	status int
}{
	{errNoPage, "no_page", http.StatusNotFound},
	{errForeign, "foreign", http.StatusForbidden},
	{errReadOnly, "read_only", http.StatusForbidden},
	{errInternal, "internal", http.StatusInternalServerError},
	{rag.ErrNotFound, "not_found", http.StatusNotFound},
	{rag.ErrLocked, "locked", http.StatusConflict},
	{rag.ErrFingerprint, "fingerprint", http.StatusConflict},
	{rag.ErrDimension, "fingerprint", http.StatusConflict},
	{rag.ErrUnavailable, "unavailable", http.StatusServiceUnavailable},
	{rag.ErrUnsupported, "unsupported", http.StatusForbidden},
	{rag.ErrInvalid, "invalid", http.StatusBadRequest},
}

// kindOf tells which kind of error it is, and its status of HTTP.
func kindOf(err error) (kind string, status int) {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return "too_large", http.StatusRequestEntityTooLarge
	}
	for _, k := range problemKinds {
		if errors.Is(err, k.err) {
			return k.kind, k.status
		}
	}
	return "failed", http.StatusInternalServerError
}

// problemOf returns how an error is shown.
func problemOf(r *request, err error) *problem {
	p := &problem{Cause: err.Error()}
	p.Kind, p.Status = kindOf(err)
	if p.Status == http.StatusInternalServerError {
		r.s.log.Error("page failed", "path", r.URL.Path, "error", err)
	}
	p.Advice = r.T("advice." + p.Kind)
	return p
}
