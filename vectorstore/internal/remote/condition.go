package remote

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/seed-d8745b77/rag"
)

// Op is the operator of a [Condition].
type Op int

// The operators. Every service has them, under other names.
const (
	Any      Op = iota // every record
	None               // no record
	Has                // Token is among the record's
	HasNot             // it is not
	Begins             // one of the record's tokens begins with Token
	InForce            // From <= At and Until >= At
	NotForce           // From >= At or Until <= At
	All                // all Args
	OneOf              // one of Args
)

// Condition is what a service is asked to look for: less strict than a filter, never stricter, since a filter can ask for
// what no service can (ranges of texts, say). What is found is judged by the filter itself.
type Condition struct {
	Op    Op
	Token string
	Field string // of Begins: the token that a record has if it has the field
	At    int64  // microseconds since 1970
	Args  []Condition
}

// Narrow returns the condition that every match of a valid filter fulfils.
func Narrow(f rag.Filter) Condition { return narrow(f, false) }

// narrow takes the filter's contrary if not is true: services have no general one, so that it goes down to the leaves.
func narrow(f rag.Filter, not bool) Condition {
	switch f.Op {
	case rag.OpAll:
		return either(not, Condition{Op: None}, Condition{Op: Any})
	case rag.OpEq:
		return has(valueToken(f.Field, f.Value), not)
	case rag.OpExists:
		return has(fieldToken(f.Field), not)
	case rag.OpIn:
		args := make([]Condition, len(f.Values))
		for i, v := range f.Values {
			args[i] = has(valueToken(f.Field, v), not)
		}
		return join(args, not)
	case rag.OpValidAt:
		return Condition{Op: either(not, NotForce, InForce), At: f.At.UnixMicro()}
	case rag.OpNot:
		return narrow(f.Args[0], !not)
	case rag.OpAnd, rag.OpOr:
		args := make([]Condition, len(f.Args))
		for i, a := range f.Args {
			args[i] = narrow(a, not)
		}
		return join(args, (f.Op == rag.OpAnd) != not)
	}
	if not { // of a range or a prefix: too many have the field to look for those that have not
		return Condition{Op: Any}
	}
	if text, ok := f.Value.(string); f.Op == rag.OpPrefix && ok && utf8.ValidString(text) {
		return Condition{Op: Begins, Token: strings.TrimSuffix(valueToken(f.Field, text), `"`), Field: fieldToken(f.Field)}
	}
	return has(fieldToken(f.Field), false)
}

// join makes one condition of several.
func join(args []Condition, all bool) Condition {
	neutral, final := either(all, Any, None), either(all, None, Any)
	var kept []Condition
	for _, a := range args {
		if a.Op == final {
			return a
		}
		if a.Op != neutral {
			kept = append(kept, a)
		}
	}
	switch len(kept) {
	case 0:
		return Condition{Op: neutral}
	case 1:
		return kept[0]
	}
	return Condition{Op: either(all, All, OneOf), Args: kept}
}

func has(token string, not bool) Condition {
	return Condition{Op: either(not, HasNot, Has), Token: token}
}

func either[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// everyone is a token that all records have: a service may take an empty list for none, and keep the old one.
const everyone = "*"

// fieldToken says that a record has a field. Names and texts are quoted, so that no two tokens are the same by chance.
func fieldToken(field string) string { return quoted(field) }

// valueToken says that a field, or an element of its list, has a value: "lang"="de", "page"=3, "draft"=true.
func valueToken(field string, value any) string {
	if x, ok := value.(float64); ok {
		value = x + 0 // of the two zeros, which are equal, the one without a sign
	}
	return fieldToken(field) + "=" + quoted(value)
}

func quoted(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return "null" // no filter that is valid asks for it
	}
	return string(text)
}
