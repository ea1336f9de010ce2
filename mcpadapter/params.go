package mcpadapter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-d8745b77/rag"
)

// kind is the type of a parameter's values.
type kind string

const (
	textKind   kind = "string"
	wholeKind  kind = "integer"
	numberKind kind = "number"
	flagKind   kind = "boolean"
)

// param is a parameter of a tool: its schema, its checks and its messages are made from this one description.
type param struct {
	name     string
	kind     kind
	about    string
	required bool
	least    int      // of whole numbers
	most     int      // of whole numbers
	words    []string // texts that are meant; others are checked by the tool. nil: any
	initial  any      // what is meant where nothing is given; nil: the tool decides
}

// maxText bounds texts that are given, in characters: a question is not a document.
const maxText = 4000

func question(about string) param {
	return param{name: "query", kind: textKind, about: about, required: true}
}

// topK is how many passages are wanted, as System D has it.
func topK() param {
	return param{name: "top_k", kind: wholeKind, about: "passages wanted", least: 1, most: 20, initial: 5}
}

func (a *Adapter) collectionParam() param {
	return param{name: "collection", kind: textKind, initial: a.options.Collection}
}

// schema describes parameters as JSON Schema. No type is a list of types: some hosts refuse a server for one.
func schema(params []param) json.RawMessage {
	properties := map[string]any{}
	required := []string{}
	for _, p := range params {
		one := map[string]any{"type": p.kind}
		if p.about != "" {
			one["description"] = p.about
		}
		if p.kind == wholeKind {
			one["minimum"], one["maximum"] = p.least, p.most
		}
		if p.words != nil {
			one["enum"] = p.words
		}
		if p.initial != nil {
			one["default"] = p.initial
		}
		properties[p.name] = one
		if p.required {
			required = append(required, p.name)
		}
	}
	s := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	b, err := json.Marshal(s)
	if err != nil {
		panic("mcpadapter: " + err.Error()) // plain data
	}
	return b
}

// args are the arguments of a call, checked, with what is meant where nothing was given.
type args map[string]any

func (a args) text(name string) string { s, _ := a[name].(string); return s }
func (a args) whole(name string) int   { n, _ := a[name].(int); return n }

// parse checks the arguments of a call. Errors are sentences that name the parameter and what it may be.
func parse(params []param, raw json.RawMessage) (args, error) {
	given := map[string]any{}
	if !utf8.Valid(raw) { // encoding/json would put other characters in place of what is wrong
		return nil, fmt.Errorf("the arguments are not UTF-8: %w", rag.ErrInvalid)
	}
	if len(bytes.TrimSpace(raw)) > 0 {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&given); err != nil {
			return nil, fmt.Errorf("the arguments are no JSON object: %w", rag.ErrInvalid)
		}
	}
	out := args{}
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = p.name
		v, ok := given[p.name]
		delete(given, p.name)
		if !ok || v == nil {
			if p.required {
				return nil, fmt.Errorf("%s is missing: give %s: %w", p.name, p.want(), rag.ErrInvalid)
			}
			out[p.name] = p.initial
			continue
		}
		value, ok := p.check(v)
		if !ok {
			return nil, fmt.Errorf("%s is %s: give %s: %w", p.name, shown(v), p.want(), rag.ErrInvalid)
		}
		out[p.name] = value
	}
	if len(given) > 0 { // one is enough to say
		name := slices.Sorted(maps.Keys(given))[0]
		return nil, fmt.Errorf("there is no parameter %q%s (%s): %w", name, rag.DidYouMean(name, names), thereAre(names), rag.ErrInvalid)
	}
	return out, nil
}

// thereAre lists the parameters of a tool.
func thereAre(names []string) string {
	if len(names) == 0 {
		return "it has none"
	}
	return "there are: " + strings.Join(names, ", ")
}

// check returns a value as the tool gets it.
func (p *param) check(v any) (any, bool) {
	switch v := v.(type) {
	case string:
		blank := strings.TrimSpace(v) == ""
		return v, p.kind == textKind && !(p.required && blank) && utf8.RuneCountInString(v) <= maxText
	case bool:
		return v, p.kind == flagKind
	case json.Number:
		x, err := v.Float64()
		if err != nil || p.kind != wholeKind && p.kind != numberKind {
			return nil, false
		}
		if p.kind == numberKind {
			return x, true
		}
		return int(x), x == math.Trunc(x) && x >= float64(p.least) && x <= float64(p.most)
	}
	return nil, false
}

// want says what a parameter may be.
func (p *param) want() string {
	switch p.kind {
	case wholeKind:
		return fmt.Sprintf("a whole number from %d to %d", p.least, p.most)
	case numberKind:
		return "a number"
	case flagKind:
		return "true or false"
	}
	want := fmt.Sprintf("a text of at most %d characters", maxText)
	if p.words != nil {
		want = "one of " + strings.Join(p.words, ", ")
	}
	if p.about != "" {
		want += " (" + p.about + ")"
	}
	return want
}

// shown is a value as a message shows it.
func shown(v any) string {
	switch v := v.(type) {
	case string:
		switch n := utf8.RuneCountInString(v); {
		case strings.TrimSpace(v) == "":
			return "empty"
		case n > maxText:
			return fmt.Sprintf("a text of %d characters", n)
		default:
			return fmt.Sprintf("the text %q", cut(v, 40))
		}
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	}
	return fmt.Sprint(v)
}

// cut shortens a text to n characters.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	return strings.TrimSpace(string(r[:n-1])) + "…"
}
