package mcpadapter

import (
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed-d8745b77/rag"
)

// outputSchema describes a type as JSON Schema.
func outputSchema(zero any) (*jsonschema.Schema, error) {
	s, err := jsonschema.ForType(reflect.TypeOf(zero), nil)
	if err != nil {
		return nil, fmt.Errorf("schema of its result: %w: %w", err, rag.ErrInvalid)
	}
	portable(s)
	return s, nil
}

// portable writes a type that is a list ("null" or an array) as one type, since some hosts refuse a server for a list, and
// lets objects grow: a program that knows an older schema must not refuse a newer result.
func portable(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	if s.Type == "object" && s.Properties != nil {
		s.AdditionalProperties = nil
	}
	for _, p := range s.Properties {
		portable(p)
	}
	portable(s.Items)
	portable(s.AdditionalProperties)
}
