package postgres

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// fieldsJSON is what filters see of a passage, for a column that the conditions of [args.where] read.
func fieldsJSON(m rag.Meta) ([]byte, error) {
	clean, err := m.Clean()
	if err != nil {
		return nil, err
	}
	fields := make(map[string]any, len(clean))
	for name, v := range clean {
		fields[textOf(name)] = jsonValue(v)
	}
	return json.Marshal(fields)
}

// jsonValue is a value as the column holds it. What is put and what is asked for go through it.
func jsonValue(v any) any {
	switch v := v.(type) {
	case string:
		return textOf(v)
	case []string:
		list := make([]string, len(v))
		for i, s := range v {
			list[i] = textOf(s)
		}
		return list
	}
	return v
}

// args collects the arguments of a statement.
type args []any

// add returns the placeholder of a further argument.
func (a *args) add(v any) string {
	*a = append(*a, v)
	return fmt.Sprintf("$%d", len(*a))
}

// where returns the condition of a filter that is valid, over the columns fields, valid_from and valid_until. It is never
// null, so that a not can stand before it, and says the same as [rag.Filter.Match].
func (a *args) where(f rag.Filter) string {
	switch f.Op {
	case rag.OpAll:
		return "true"
	case rag.OpEq:
		return a.equal(f.Field, f.Value)
	case rag.OpIn:
		one := rag.Filter{Op: rag.OpOr}
		for _, v := range f.Values {
			one.Args = append(one.Args, rag.Eq(f.Field, v))
		}
		return a.where(one)
	case rag.OpExists:
		return "fields ? " + a.add(textOf(f.Field)) + "::text"
	case rag.OpPrefix:
		return a.some(f.Field, `@ starts with $p`, map[string]any{"p": jsonValue(f.Value)})
	case rag.OpRange:
		return a.within(f.Field, f.Bounds)
	case rag.OpValidAt:
		at := a.add(seconds(f.At)) + "::numeric"
		return "((valid_from is null or valid_from <= " + at + ") and (valid_until is null or valid_until > " + at + "))"
	case rag.OpNot:
		return "not " + a.where(f.Args[0])
	}
	parts := make([]string, len(f.Args))
	for i, arg := range f.Args {
		parts[i] = a.where(arg)
	}
	switch {
	case f.Op == rag.OpOr && len(parts) == 0:
		return "false"
	case f.Op == rag.OpOr:
		return "(" + strings.Join(parts, " or ") + ")"
	case len(parts) == 0:
		return "true"
	}
	return "(" + strings.Join(parts, " and ") + ")"
}

// equal asks in the two ways that an index over the fields answers: as the value itself, and as an element of a list.
func (a *args) equal(field string, value any) string {
	value, field = jsonValue(value), textOf(field)
	is := "fields @> " + a.addJSON(map[string]any{field: value})
	if _, isText := value.(string); !isText {
		return is
	}
	return "(" + is + " or fields @> " + a.addJSON(map[string]any{field: []any{value}}) + ")"
}

// some asks whether the value, or an element of a list, meets a condition of the JSON path language.
func (a *args) some(field, condition string, vars map[string]any) string {
	path, err := json.Marshal(textOf(field)) // the quoting of JSON is that of the path language
	if err != nil {
		path = []byte(`""`) // a string has a form
	}
	return "jsonb_path_exists(fields, " + a.add("$."+string(path)+"[*] ? ("+condition+")") + "::jsonpath, " + a.addJSON(vars) + ")"
}

// within asks for values between bounds: by the path language for numbers, and for texts one by one, since a bound that is
// a day is compared with as much of a text as a day has.
func (a *args) within(field string, b *rag.Bounds) string {
	bounds := []struct {
		op    string
		value any
	}{{">", b.GT}, {">=", b.GTE}, {"<", b.LT}, {"<=", b.LTE}}
	var numbers, texts []string
	vars := map[string]any{}
	for i, bound := range bounds {
		switch v := bound.value.(type) {
		case float64:
			name := fmt.Sprintf("b%d", i)
			vars[name] = v
			numbers = append(numbers, "@ "+bound.op+" $"+name)
		case string:
			value := "value"
			if isDay(v) {
				value = fmt.Sprintf("left(value, %d)", len(v))
			}
			texts = append(texts, value+` collate "C" `+bound.op+" "+a.add(textOf(v))+"::text")
		}
	}
	if numbers != nil {
		return a.some(field, strings.Join(numbers, " && "), vars)
	}
	of := "fields -> " + a.add(textOf(field)) + "::text"
	return "exists (select from jsonb_array_elements_text(case jsonb_typeof(" + of + ") when 'array' then " + of +
		" when 'string' then jsonb_build_array(" + of + ") else '[]' end) as elements(value) where " + strings.Join(texts, " and ") + ")"
}

// isDay reports whether a bound is a day, which holds all its instants.
func isDay(bound string) bool {
	return (&rag.Bounds{LTE: bound}).Contain(bound + "T")
}

// addJSON returns the placeholder of a further argument, given as JSON.
func (a *args) addJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil { // no filter that is valid holds such a value
		data = []byte("null")
	}
	return a.add(string(data)) + "::jsonb"
}
