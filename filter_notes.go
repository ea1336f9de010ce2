package rag

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// noteMismatches says of a search that found nothing which fields its filter names that no passage has, and which
// conditions ask for another kind of value than the passages hold.
func (s *search) noteMismatches(ctx context.Context) error {
	conditions := s.q.Filter.conditions()
	if len(s.hits) > 0 || len(conditions) == 0 {
		return nil
	}
	held := map[string]map[string]bool{} // kinds by field
	for c, err := range s.catalog.Scan(ctx, s.q.Collection, Filter{}) {
		if isDamage(err) {
			continue
		}
		if err != nil {
			return err
		}
		for name, value := range c.Fields() {
			if held[name] == nil {
				held[name] = map[string]bool{}
			}
			held[name][kindOf(value)] = true
		}
	}
	names := slices.Sorted(maps.Keys(held))
	for _, c := range conditions {
		kinds := c.kinds()
		var note string
		switch {
		case held[c.Field] == nil:
			note = fmt.Sprintf("no passage has the field %q%s (fields: %s)", c.Field, DidYouMean(c.Field, names), strings.Join(names, ", "))
		case len(kinds) > 0 && !slices.ContainsFunc(kinds, func(k string) bool { return held[c.Field][k] }):
			note = fmt.Sprintf("the filter asks for a %s in the field %q, and the passages hold a %s there",
				strings.Join(kinds, " or "), c.Field, strings.Join(slices.Sorted(maps.Keys(held[c.Field])), " or "))
		}
		if note != "" && !slices.Contains(s.result.Notes, Note{StageQuery, note}) {
			s.note(StageQuery, "", note)
		}
	}
	return nil
}

// conditions lists the parts of the filter that look at a field, in order.
func (f Filter) conditions() []Filter {
	if f.Field != "" {
		return []Filter{f}
	}
	var all []Filter
	for _, a := range f.Args {
		all = append(all, a.conditions()...)
	}
	return all
}

// kinds lists the kinds of value that a condition asks for, each once; none if any will do.
func (f Filter) kinds() []string {
	values := f.Values
	switch f.Op {
	case OpEq, OpPrefix:
		values = []any{f.Value}
	case OpRange:
		values = []any{f.Bounds.GT, f.Bounds.GTE, f.Bounds.LT, f.Bounds.LTE}
	}
	var kinds []string
	for _, v := range values {
		if v != nil && !slices.Contains(kinds, kindOf(v)) {
			kinds = append(kinds, kindOf(v))
		}
	}
	return kinds
}

// kindOf names the kind of a metadata value, as it is compared: an element of a list is a text.
func kindOf(value any) string {
	switch value.(type) {
	case float64:
		return "number"
	case bool:
		return "bool"
	}
	return "text"
}
