package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/seed-d8745b77/rag"
)

// parseFilters reads the text forms of filters that must all hold. Where one cannot be read the error shows the place.
func parseFilters(texts []string) (rag.Filter, error) {
	var all []rag.Filter
	for _, text := range texts {
		f, err := rag.ParseFilter(text)
		var at *rag.FilterError
		if errors.As(err, &at) {
			return rag.Filter{}, fmt.Errorf("--filter: %w\n  %s\n  %s^", err, visible(text), strings.Repeat(" ", uniseg.StringWidth(visible(text[:at.Offset]))))
		}
		if f, err = localURIs(f); err != nil {
			return rag.Filter{}, fmt.Errorf("--filter %s: %w", text, err)
		}
		all = append(all, f)
	}
	return rag.And(all...), nil
}

// localURIs makes URIs of the paths that a filter compares with the URI of documents.
func localURIs(f rag.Filter) (rag.Filter, error) {
	var err error
	local := func(value any) any {
		name, ok := value.(string)
		if !ok || err != nil {
			return value
		}
		var uri string
		if uri, err = toURI(name); f.Op == rag.OpPrefix && strings.HasSuffix(name, "/") && !strings.HasSuffix(uri, "/") {
			uri += "/" // the beginning of what is in the folder, and not of folder-2
		}
		return uri
	}
	if f.Field == rag.FieldURI {
		switch f.Op {
		case rag.OpEq, rag.OpPrefix:
			f.Value = local(f.Value)
		case rag.OpIn:
			values := make([]any, len(f.Values))
			for i, v := range f.Values {
				values[i] = local(v)
			}
			f.Values = values
		}
	}
	args := make([]rag.Filter, 0, len(f.Args))
	for _, a := range f.Args {
		if a, err = localURIs(a); err != nil {
			return f, err
		}
		args = append(args, a)
	}
	if len(args) > 0 {
		f.Args = args
	}
	return f, err
}
