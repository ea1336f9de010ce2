package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
	"github.com/seed-d8745b77/rag/internal/remedy"
	"github.com/seed-d8745b77/rag/jobs"
)

// Codes of errors. They are stable: programs tell errors apart by them.
const (
	codeBadRequest   = "bad_request"         // 400: the body is not the JSON that is wanted
	codeUnauthorized = "unauthorized"        // 401: no token, or none that is valid
	codeForbidden    = "forbidden"           // 403: who asks may not do this
	codeNotFound     = "not_found"           // 404: it is not there, or may not be seen
	codeMethod       = "method_not_allowed"  // 405
	codeConflict     = "conflict"            // 409: the data was built by another pipeline, or another process has it
	codeTooLarge     = "too_large"           // 413
	codeInvalid      = "invalid"             // 422: a value that cannot be right
	codeUnsupported  = "unsupported"         // 422: the engine as it is set up cannot do this
	codeRate         = "rate_limited"        // 429: too many requests a minute
	codeConcurrent   = "too_many_concurrent" // 429: too many requests at once
	codeQuota        = "quota_exceeded"      // 429: the allowance of the day is used up
	codeInternal     = "internal"            // 500: the log has the details
	codeBusy         = "busy"                // 503: too many requests wait
	codeEnding       = "ending"              // 503: the server is ending
	codeUnavailable  = "unavailable"         // 503: a service behind the engine does not answer
	codeTimeout      = "timeout"             // 504: it took longer than a request may
)

// Error is what a request that cannot be done is answered with, as {"error": …}.
type Error struct {
	Status  int    `json:"-"`
	Code    string `json:"code" jsonschema:"stable, for programs"`
	Message string `json:"message" jsonschema:"for people"`
	Field   string `json:"field,omitempty" jsonschema:"what of the request is meant"`

	retry time.Duration // 0: no hint
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// errorBody is the body of every answer that is not 2xx.
type errorBody struct {
	Error *Error `json:"error"`
}

// invalid is a value of the request that cannot be right.
func invalid(field, format string, args ...any) error {
	return &Error{Status: http.StatusUnprocessableEntity, Code: codeInvalid, Field: field, Message: fmt.Sprintf(format, args...)}
}

func badRequest(format string, args ...any) error {
	return &Error{Status: http.StatusBadRequest, Code: codeBadRequest, Message: fmt.Sprintf(format, args...)}
}

func forbidden(format string, args ...any) error {
	return &Error{Status: http.StatusForbidden, Code: codeForbidden, Message: fmt.Sprintf(format, args...)}
}

// missing is something that is not there, or that may not be seen: the same to whoever asks.
func missing(what, name string) error {
	return &Error{Status: http.StatusNotFound, Code: codeNotFound, Message: fmt.Sprintf("there is no %s %q", what, cut(name))}
}

// kinds tells kinds of the engine's errors apart, the first that fits.
var kinds = []struct {
	err    error
	status int
	code   string
}{
	{jobs.ErrClosed, http.StatusServiceUnavailable, codeEnding},
	{rag.ErrNotFound, http.StatusNotFound, codeNotFound},
	{rag.ErrLocked, http.StatusConflict, codeConflict},
	{rag.ErrFingerprint, http.StatusConflict, codeConflict},
	{rag.ErrDimension, http.StatusConflict, codeConflict},
	{rag.ErrUnavailable, http.StatusServiceUnavailable, codeUnavailable},
	{context.DeadlineExceeded, http.StatusGatewayTimeout, codeTimeout},
	{rag.ErrUnsupported, http.StatusUnprocessableEntity, codeUnsupported},
	{rag.ErrInvalid, http.StatusUnprocessableEntity, codeInvalid},
}

// errorOf says an error to a client. One of no kind that is known is not told: it may hold anything.
func (c *call) errorOf(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return &Error{Status: http.StatusRequestEntityTooLarge, Code: codeTooLarge, Message: fmt.Sprintf("the request has more than %d bytes", large.Limit)}
	}
	for _, k := range kinds {
		if !errors.Is(err, k.err) {
			continue
		}
		e := &Error{Status: k.status, Code: k.code, Message: sentence(err)}
		if k.status == http.StatusServiceUnavailable {
			e.retry = time.Second
		}
		return e
	}
	c.o.Logger.Error("request failed", "id", c.id, "route", c.route.path, "err", err)
	if remedy.Short(err) {
		return &Error{Status: http.StatusServiceUnavailable, Code: codeUnavailable, Message: "the server is short of disk space or of open files: who runs it finds in its log which", retry: shortRetry}
	}
	return c.internal()
}

// shortRetry is when a client may come back to a server that is short of something: somebody has to help it.
const shortRetry = time.Minute

// internal is the answer to what only the log may know.
func (c *call) internal() *Error {
	return &Error{Status: http.StatusInternalServerError, Code: codeInternal, Message: fmt.Sprintf("internal error %s: the log has the details, other requests are not affected", c.id)}
}

// sentence is an error for a reader, on one line, without the kinds at its end, which are for programs.
func sentence(err error) string {
	text := strings.TrimPrefix(err.Error(), "search: ")
	for _, k := range kinds {
		text = strings.TrimSuffix(text, ": "+k.err.Error())
	}
	text, _, _ = strings.Cut(text, "\ngoroutine ") // no stack leaves the process
	return strings.Join(strings.Fields(text), " ")
}

// maxNamed is how much of a name that a request gave is repeated in an error, in characters.
const maxNamed = 80

func cut(s string) string { return mdtext.Clip(s, maxNamed) }

// writeError answers with an error.
func writeError(w http.ResponseWriter, e *Error) {
	if e.retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(e.retry.Seconds()))))
	}
	if e.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	writeJSON(w, e.Status, errorBody{e})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	data, err := json.Marshal(body)
	if err != nil { // plain data
		panic("httpapi: " + err.Error())
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // a client that is gone needs no answer
}
