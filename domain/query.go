package domain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
)

// Query completes a question about the domain: its collection where none is named, its forced filter, the words of its
// vocabulary for other names of them, and its validity policy. A question without AsOf is asked as of now. A filter on what is no
// field of the domain, nor one that the engine gives every passage, and a value that is in no vocabulary are rag.ErrInvalid. The
// domain that the collection remembers has no say any more.
func (d *Domain) Query(q rag.Query, now time.Time) (rag.Query, error) {
	if q.Collection == "" {
		q.Collection = d.Collection
	}
	var err error
	if q.Filter, err = d.canonical(q.Filter); err != nil {
		return q, err
	}
	q.Filter, q.NoDomain = rag.And(d.ForcedFilter(), q.Filter), true
	if d.Validity == nil {
		return q, nil
	}
	if q.AsOf.IsZero() {
		q.AsOf = now
	}
	q.Expired = q.Expired || d.Validity.Expired == Flag
	return q, nil
}

// ForcedFilter is the condition that every hit must meet; the zero filter if there is none.
func (d *Domain) ForcedFilter() rag.Filter {
	var all []rag.Filter
	for _, name := range slices.Sorted(maps.Keys(d.Forced)) {
		all = append(all, rag.Eq(name, d.Forced[name]))
	}
	return rag.And(all...)
}

// filterable are the names that a filter can ask for: the domain's, and those that the engine gives values of its own.
func (d *Domain) filterable() []string {
	names := slices.Concat(d.names(), slices.Sorted(maps.Keys(d.Forced)), reserved, []string{FieldTitle, rag.FieldLanguage})
	slices.Sort(names)
	return slices.Compact(names)
}

// canonical puts the values that a filter asks for into the words of the vocabulary.
func (d *Domain) canonical(f rag.Filter) (rag.Filter, error) {
	f.Args, f.Values = slices.Clone(f.Args), slices.Clone(f.Values)
	for i := range f.Args {
		var err error
		if f.Args[i], err = d.canonical(f.Args[i]); err != nil {
			return f, err
		}
	}
	field, ok := d.Field(f.Field)
	if known := d.filterable(); !ok && f.Field != "" && !slices.Contains(known, f.Field) {
		return f, fmt.Errorf("filter on %s: the domain has no such field%s (fields: %s): %w", f.Field, rag.DidYouMean(f.Field, known), strings.Join(known, ", "), rag.ErrInvalid)
	}
	if !ok || field.Enum == nil || f.Op != rag.OpEq && f.Op != rag.OpIn {
		return f, nil
	}
	word := func(v any) (any, error) {
		text, ok := v.(string)
		if !ok || d.Paths != nil && text == d.Paths.Unknown {
			return v, nil
		}
		w, err := field.Word(text)
		if err != nil {
			return v, fmt.Errorf("filter on %s: %w", f.Field, err)
		}
		return w, nil
	}
	var err error
	if f.Op == rag.OpEq {
		f.Value, err = word(f.Value)
		return f, err
	}
	for i, v := range f.Values {
		if f.Values[i], err = word(v); err != nil {
			return f, err
		}
	}
	return f, nil
}
