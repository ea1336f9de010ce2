package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// Lines knows on which line of a file each key stands. The zero value knows none.
type Lines struct {
	file  string
	lines map[string]int // by path: "fusion.k", "variants.0.config"
}

// located is an error whose line is known.
type located struct{ error }

func (e located) Unwrap() error { return e.error }

// Locate says of a *[rag.ConfigError] in which line of the file its key stands, or what the key is a part of. Other errors,
// those of what is not in the file, and those whose line is known stay as they are.
func (l Lines) Locate(err error) error {
	var wrong *rag.ConfigError
	if known := (located{}); !errors.As(err, &wrong) || errors.As(err, &known) {
		return err
	}
	for key := wrong.Key; key != ""; key = key[:max(0, strings.LastIndexByte(key, '.'))] {
		if line, ok := l.lines[key]; ok {
			return located{fmt.Errorf("%s:%d: %w", l.file, line, err)}
		}
	}
	return err
}

// Locate says of an error in the configuration, such as [rag.Open] returns, in which line of the file it is, see
// [Lines.Locate].
func (l Loaded) Locate(err error) error { return l.lines.Locate(err) }

// Decode reads YAML, one document, into a struct with JSON tags, as strictly as [Load] reads rag.yaml, but without variables.
// name is used in messages.
func Decode(name string, data []byte, into any) (Lines, error) {
	root, err := document(name, data)
	if err != nil || root == nil {
		return Lines{}, err
	}
	r := reader{file: name, origins: map[string]Origin{}, lines: map[string]int{}}
	values, err := r.value(root, reflect.TypeOf(into).Elem(), "")
	if err != nil {
		return Lines{}, err
	}
	raw, err := json.Marshal(values)
	if err != nil {
		return Lines{}, fmt.Errorf("%s: %w", name, err)
	}
	return Lines{name, r.lines}, json.Unmarshal(raw, into)
}
