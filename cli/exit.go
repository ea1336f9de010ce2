package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/domain"
)

// Exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2 // unknown command or flag, missing or unreadable argument
	exitPartial     = 3 // some sources failed, the rest is done
	exitLocked      = 4 // another process has the data folder open
	exitFingerprint = 5 // the collection was built by another pipeline
)

// reported is returned by a verb that has told everything and ends with a code of its own.
type reported struct{ code int }

func (e *reported) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// usageError is a command line that cannot be understood.
type usageError struct {
	command string // path of the command: "rag search"
	message string
}

func (e *usageError) Error() string { return e.message }

// usagef makes a usageError for a command.
func usagef(cmd *cobra.Command, format string, args ...any) error {
	return &usageError{cmd.CommandPath(), fmt.Sprintf(format, args...)}
}

// errorJSON is what --json prints in place of a result.
type errorJSON struct {
	Error errorBody `json:"error"`
}

type errorBody struct {
	Kind     string        `json:"kind"`
	Message  string        `json:"message"`
	Problems []problemJSON `json:"problems,omitempty"` // of a manifest or a domain file: all, where the message lists the first
}

type problemJSON struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Field   string `json:"field"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// errorJSON describes an error for programs.
func (a *app) errorJSON(err error) errorJSON {
	kind, _ := classify(err)
	body := errorBody{Kind: kind, Message: a.secrets.hide(err.Error())}
	var wrong *domain.FileError
	if errors.As(err, &wrong) {
		for _, p := range wrong.List {
			body.Problems = append(body.Problems, problemJSON{p.Line, p.Column, p.Field, string(p.Kind), a.secrets.hide(p.Message)})
		}
	}
	return errorJSON{body}
}

// kinds are the kinds of errors with their exit codes. An error can be of several kinds: the first counts.
var kinds = []struct {
	err  error
	code int
}{
	{context.Canceled, exitFailed},
	{rag.ErrLocked, exitLocked},
	{rag.ErrFingerprint, exitFingerprint},
	{rag.ErrPartial, exitPartial},
	{rag.ErrUnavailable, exitFailed},
	{rag.ErrDimension, exitFailed},
	{rag.ErrUnknownProvider, exitFailed},
	{rag.ErrNotFound, exitFailed},
	{rag.ErrUnsupported, exitFailed},
	{rag.ErrInvalid, exitFailed},
}

// message is an error's text for a reader: without the kind at its end, which is for programs.
func message(text string) string {
	for _, k := range kinds {
		if errors.Is(k.err, rag.ErrUnknownProvider) {
			continue // it says what the quoted name in front of it is
		}
		text = strings.TrimSuffix(text, ": "+k.err.Error())
	}
	return text
}

// classify returns an error's kind and exit code.
func classify(err error) (kind string, code int) {
	var done *reported
	if errors.As(err, &done) {
		return "failed", done.code
	}
	var usage *usageError
	if errors.As(err, &usage) {
		return "usage", exitUsage
	}
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			return rag.ErrorKind(err), k.code
		}
	}
	return rag.ErrorKind(err), exitFailed
}
