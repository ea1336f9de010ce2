package domain

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/seed-d8745b77/rag"
)

// Type is the type of a field's values.
type Type string

// The types.
const (
	String Type = "string"
	Number Type = "number" // float64
	Bool   Type = "bool"
	Date   Type = "date" // a string: a day (2026-12-31) or an instant (RFC 3339)
	List   Type = "list" // of strings
)

var types = []string{string(String), string(Number), string(Bool), string(Date), string(List)}

// Field is one name of metadata that a domain knows.
type Field struct {
	Name        string              `json:"name"`
	Type        Type                `json:"type"`
	Required    bool                `json:"required,omitempty"`
	Enum        []string            `json:"enum,omitempty"`       // the controlled vocabulary, in the order of the file; nil: any text
	Aliases     map[string][]string `json:"aliases,omitempty"`    // other names of a word of Enum
	Filterable  bool                `json:"filterable,omitempty"` // may be asked for by its exact value
	Description string              `json:"description,omitempty"`

	names map[string]string // word of Enum by folded name
}

// foldName makes names that differ in case, width or blanks around them equal.
func foldName(s string) string { return strings.ToLower(strings.TrimSpace(norm.NFKC.String(s))) }

// shownWords is how many words of a vocabulary a message lists.
const shownWords = 12

// Word returns the word of the vocabulary that a text names, itself or by another name. Without a vocabulary every text
// is a word.
func (f *Field) Word(text string) (string, error) {
	if f.Enum == nil {
		return text, nil
	}
	if word, ok := f.names[foldName(text)]; ok {
		return word, nil
	}
	shown := strings.Join(f.Enum[:min(len(f.Enum), shownWords)], ", ")
	if len(f.Enum) > shownWords {
		shown += fmt.Sprintf(" and %d more", len(f.Enum)-shownWords)
	}
	return "", &valueError{InvalidEnum, fmt.Sprintf("%q is not in the vocabulary (%s)%s", text, shown, rag.DidYouMean(text, f.Enum))}
}

// Value checks a value and returns it as it is kept: nil for one that says nothing (null, "", an empty list).
func (f *Field) Value(v any) (any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		if strings.TrimSpace(v) == "" && f.Type != List {
			return nil, nil
		}
	}
	switch f.Type {
	case Number:
		if x, ok := v.(float64); ok && !math.IsInf(x, 0) && !math.IsNaN(x) {
			return x, nil
		}
	case Bool:
		if b, ok := v.(bool); ok {
			return b, nil
		}
	case Date:
		if s, ok := v.(string); ok {
			if !isDate(s) {
				return nil, dateError(s)
			}
			return s, nil
		}
	case List:
		return f.list(v)
	default:
		if s, ok := v.(string); ok {
			return f.Word(s)
		}
	}
	return nil, f.wrongType(v)
}

func (f *Field) wrongType(v any) error {
	return &valueError{WrongType, fmt.Sprintf("want %s, got %s", typeNames[f.Type], describe(v))}
}

// list checks a list of texts.
func (f *Field) list(v any) (any, error) {
	var elems []any
	switch v := v.(type) {
	case []any:
		elems = v
	case []string:
		for _, s := range v {
			elems = append(elems, s)
		}
	default:
		return nil, f.wrongType(v)
	}
	list := make([]string, 0, len(elems))
	for _, e := range elems {
		s, ok := e.(string)
		if !ok || strings.TrimSpace(s) == "" {
			return nil, &valueError{WrongType, fmt.Sprintf("an element is %s: want texts", describe(e))}
		}
		word, err := f.Word(s)
		if err != nil {
			return nil, err
		}
		list = append(list, word)
	}
	if len(list) == 0 {
		return nil, nil
	}
	return list, nil
}

// valueError says what is wrong with a value. It matches rag.ErrInvalid.
type valueError struct {
	kind    Kind
	message string
}

func (e *valueError) Error() string { return e.message }

func (e *valueError) Unwrap() error { return rag.ErrInvalid }

// dateError is the error of a text that is no date. A policy may let it pass.
func dateError(text string) error {
	return &valueError{UnparsableDate, fmt.Sprintf("%q is neither a day like 2026-12-31 nor an instant like 2026-12-31T15:04:05Z", text)}
}

// kindOfError returns the kind of a value's error.
func kindOfError(err error) Kind {
	var bad *valueError
	if errors.As(err, &bad) {
		return bad.kind
	}
	return ""
}

func isDate(s string) bool {
	_, ok := rag.FirstInstant(s, time.UTC)
	return ok
}

var typeNames = map[Type]string{String: "a text", Number: "a number", Bool: "true or false", Date: "a date in quotes", List: "a list of texts"}

// describe names the type of a value, for messages.
func describe(v any) string {
	switch v := v.(type) {
	case string:
		if strings.TrimSpace(v) == "" {
			return "an empty text"
		}
		return "a text"
	case float64:
		return "a number"
	case bool:
		return "true or false"
	case []any, []string:
		return "a list"
	case nil:
		return "null"
	}
	return "an object"
}
