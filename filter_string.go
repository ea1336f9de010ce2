package rag

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// String returns the text form of the filter, which [ParseFilter] reads: the same filter, but that a list of one
// condition is that condition, and a list of none "everything" or "not everything". What is no valid filter, or has more
// conditions inside each other than ParseFilter takes, has a form for people only.
func (f Filter) String() string {
	switch f.Op {
	case OpAll:
		return "everything"
	case OpAnd, OpOr:
		return f.listString()
	case OpNot:
		if len(f.Args) != 1 {
			break
		}
		if a := f.Args[0]; a.Op == OpEq {
			return filterField(a.Field) + " != " + filterValue(a.Value)
		}
		return "not " + f.Args[0].operand()
	case OpValidAt:
		return "valid at " + filterInstant(f.At)
	case OpExists:
		return filterField(f.Field) + " exists"
	case OpEq:
		return filterField(f.Field) + " = " + filterValue(f.Value)
	case OpPrefix:
		return filterField(f.Field) + " starts with " + filterValue(f.Value)
	case OpIn:
		values := make([]string, len(f.Values))
		for i, v := range f.Values {
			values[i] = filterValue(v)
		}
		return filterField(f.Field) + " in [" + strings.Join(values, ", ") + "]"
	case OpRange:
		if f.Bounds != nil {
			return filterField(f.Field) + f.Bounds.text()
		}
	}
	return fmt.Sprintf("invalid filter with operator %q", f.Op)
}

// listString joins the conditions of a list.
func (f Filter) listString() string {
	switch {
	case len(f.Args) == 0 && f.Op == OpAnd:
		return "everything"
	case len(f.Args) == 0:
		return "not everything"
	case len(f.Args) == 1:
		return f.Args[0].String()
	}
	parts := make([]string, len(f.Args))
	for i, a := range f.Args {
		if parts[i] = a.operand(); f.Op == OpOr && a.Op == OpAnd {
			parts[i] = a.String() // "and" binds closer
		}
	}
	return strings.Join(parts, " "+string(f.Op)+" ")
}

// operand returns the text form, in parentheses if it is a list.
func (f Filter) operand() string {
	if (f.Op == OpAnd || f.Op == OpOr) && len(f.Args) > 0 {
		return "(" + f.String() + ")"
	}
	return f.String()
}

// text returns " >= 1 < 5", or " between 1 and 5".
func (b *Bounds) text() string {
	if b.GTE != nil && b.LTE != nil && b.GT == nil && b.LT == nil {
		return " between " + filterValue(b.GTE) + " and " + filterValue(b.LTE)
	}
	var s strings.Builder
	for _, bound := range []struct {
		op    string
		value any
	}{{" > ", b.GT}, {" >= ", b.GTE}, {" < ", b.LT}, {" <= ", b.LTE}} {
		if bound.value != nil {
			s.WriteString(bound.op + filterValue(bound.value))
		}
	}
	return s.String()
}

// filterField returns the name bare if it reads as one word.
func filterField(name string) string {
	reserved := slices.ContainsFunc(filterWords, func(w string) bool { return strings.EqualFold(w, name) })
	if name == "" || reserved || strings.ContainsFunc(name, func(r rune) bool { return !isWordRune(r) || !strconv.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// filterValue quotes texts; days stand bare, since that is how they are read most easily.
func filterValue(v any) string {
	switch v := v.(type) {
	case string:
		if isDay(v) {
			return v
		}
		return strconv.Quote(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// filterInstant returns a day if the instant is the beginning of one in UTC.
func filterInstant(t time.Time) string {
	if u := t.UTC(); u.Equal(u.Truncate(24 * time.Hour)) {
		return u.Format(time.DateOnly)
	}
	return t.Format(time.RFC3339Nano)
}

// isDay reports whether a text has the form of a day: 2026-01-31.
func isDay(s string) bool {
	if len(s) != len(time.DateOnly) || s[4] != '-' || s[7] != '-' {
		return false
	}
	for i := range len(s) {
		if i != 4 && i != 7 && (s[i] < '0' || '9' < s[i]) {
			return false
		}
	}
	return true
}
