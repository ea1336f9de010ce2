package rag

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-d8745b77/rag/internal/strict"
)

// ConfigError is an error in one value of a configuration. It wraps ErrInvalid or ErrUnknownProvider, or ErrNotFound where what it names,
// such as a model, is not there.
type ConfigError struct {
	Key string // where it stands: "retrieval.top_k", "transforms.0.mode"; in settings read by themselves "" for the whole
	Err error
}

// Error returns "key: what is wrong".
func (e *ConfigError) Error() string {
	if e.Key == "" {
		return e.Err.Error()
	}
	return e.Key + ": " + e.Err.Error()
}

// Unwrap returns what is wrong.
func (e *ConfigError) Unwrap() error { return e.Err }

// InConfig says of an error in settings under which key of the configuration they stand. An error of another kind gets the
// key as its beginning.
func InConfig(key string, err error) error {
	var inside *ConfigError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &inside):
		return fmt.Errorf("%s: %w", key, err)
	case inside.Key != "":
		key += "." + inside.Key
	}
	return &ConfigError{key, inside.Err}
}

// UnknownName is the error of a setting that must be one of a list of known names, and is none: it says which there are.
func UnknownName(key, name string, known []string) *ConfigError {
	return &ConfigError{key, fmt.Errorf("%q is none%s (known: %s): %w", name, DidYouMean(name, known), strings.Join(known, ", "), ErrInvalid)}
}

// DecodeSettings reads settings, a JSON object, into a struct; without any, what it holds stays. A key that it does not have, a
// value of the wrong kind, and a number outside of the interval that a field's tag names, such as `range:"[1,100]"` or
// `range:"(0,1]"` or `range:"[-1,10] but 0"`, are a *[ConfigError] that says what is wanted. That holds for a zero that is
// written out too: in settings it stands for itself, and a key that is left out for the default. Nor may a number without
// an interval be absurd: a thousand million of an int, 10^12 of an int64 (bytes), a million of a float64 are the most.
func DecodeSettings(raw json.RawMessage, into any) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	err := strict.Decode(raw, into)
	wrong, known := errors.AsType[*strict.Error](err)
	if err == nil {
		wrong = strict.CheckSettings(raw, into)
		known = wrong != nil
	}
	switch {
	case known:
		message := wrong.Message
		if wrong.Field == "" {
			message = "settings: " + message
		}
		return &ConfigError{wrong.Field, fmt.Errorf("%s: %w", message, ErrInvalid)}
	case err != nil && !errors.Is(err, ErrInvalid):
		return &ConfigError{"", fmt.Errorf("settings: %v: %w", err, ErrInvalid)}
	case err != nil:
		return &ConfigError{"", err}
	}
	return nil
}
