package rag

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// ParseFilter reads the text form of a filter:
//
//	country = "UK" and valid_until >= 2026-01-01 and not tags in ["draft", "old"]
//
// "not" binds closer than "and", "and" closer than "or":
//
//	filter    = term { "or" term }
//	term      = factor { "and" factor }
//	factor    = "not" factor | "(" filter ")" | "everything" | "valid" "at" instant | field condition
//	condition = "=" value | "!=" value | bound { bound }
//	          | [ "not" ] ( "in" list | "between" value "and" value | "starts" "with" value | "exists" )
//	bound     = ( "<" | "<=" | ">" | ">=" ) value
//	list      = "[" [ value { "," value } ] "]"
//
// A value is a text in double or single quotes with the escapes of Go, or a bare word: a number, true, false, or a text
// without blanks and without any of ()[],"'=<>! (a path, a date). A field is a word or a quoted text, not one of the words
// of the grammar. These may be written in capitals.
//
// The error is a [*FilterError], which matches ErrInvalid. Text without a condition is an error: "everything" is the zero
// Filter. [Filter.String] is the way back.
func ParseFilter(text string) (Filter, error) {
	p := filterParser{text: text}
	f, err := p.parse()
	if err != nil {
		return Filter{}, err
	}
	return f, nil
}

// FilterError says what is wrong with the text form of a filter, and where.
type FilterError struct {
	Text   string // all of it
	Offset int    // byte offset of what is wrong; len(Text) where something is missing at the end
	Reason string
}

// Column returns the 1-based place of what is wrong, in characters.
func (e *FilterError) Column() int { return utf8.RuneCountInString(e.Text[:e.Offset]) + 1 }

// Error returns "column N: reason".
func (e *FilterError) Error() string { return fmt.Sprintf("column %d: %s", e.Column(), e.Reason) }

// Unwrap returns ErrInvalid.
func (e *FilterError) Unwrap() error { return ErrInvalid }

// filterWords are the words of the grammar that are neither field nor value unless they are quoted.
var filterWords = []string{"and", "or", "not", "in", "between", "starts", "exists", "everything"}

// filterOperators are what may follow a field.
var filterOperators = []string{"=", "!=", "<", "<=", ">", ">=", "in", "between", "starts with", "exists", "not"}

// filterHabits are what other languages write for words of the grammar.
var filterHabits = map[string]string{
	"==": "=", "is": "=", "eq": "=", ":": "=", "contains": "=", "has": "=", "<>": "!=", "ne": "!=", "=<": "<=", "=>": ">=",
	"gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "like": "starts with", "prefix": "starts with", "startswith": "starts with",
	"&&": "and", "&": "and", "||": "or", "|": "or", "!": "not",
}

// maxFilterDepth bounds parentheses and nots inside each other.
const maxFilterDepth = 100

// filterParser descends through the grammar. tok is the token under view.
type filterParser struct {
	text  string
	tok   filterToken
	depth int
}

// filterToken is a piece of the text. At the end of the text all but at is zero.
type filterToken struct {
	at, end int
	quoted  bool
	value   string // unquoted
}

func (t filterToken) none() bool { return t.end == 0 }

// is reports whether the token is a word or sign of the grammar.
func (t filterToken) is(word string) bool { return !t.quoted && strings.EqualFold(t.value, word) }

func (p *filterParser) parse() (Filter, error) {
	if err := p.next(); err != nil {
		return Filter{}, err
	}
	f, err := p.filter()
	if err != nil {
		return Filter{}, err
	}
	if !p.tok.none() {
		return Filter{}, p.unexpected("and, or, or the end")
	}
	return f, nil
}

func (p *filterParser) filter() (Filter, error) { return p.list("or", OpOr, p.term) }

func (p *filterParser) term() (Filter, error) { return p.list("and", OpAnd, p.factor) }

// list parses one part, or several with a word between them.
func (p *filterParser) list(word string, op FilterOp, part func() (Filter, error)) (Filter, error) {
	f, err := part()
	if err != nil || !p.tok.is(word) {
		return f, err
	}
	all := Filter{Op: op, Args: []Filter{f}}
	for p.tok.is(word) {
		if err := p.next(); err != nil {
			return f, err
		}
		if f, err = part(); err != nil {
			return f, err
		}
		all.Args = append(all.Args, f)
	}
	return all, nil
}

func (p *filterParser) factor() (f Filter, err error) {
	if p.depth++; p.depth > maxFilterDepth {
		return f, p.fail(p.tok.at, "more than %d conditions inside each other", maxFilterDepth)
	}
	defer func() { p.depth-- }()
	first := p.tok
	switch {
	case first.is("not"):
		if err = p.next(); err == nil {
			f, err = p.factor()
		}
		return Not(f), err
	case first.is("everything"):
		return f, p.next()
	case first.is("("):
		if err = p.next(); err != nil {
			return f, err
		}
		if f, err = p.filter(); err != nil {
			return f, err
		}
		return f, p.expect(")")
	case first.is("exists"):
		return f, p.fail(first.at, `"exists" stands behind its field: write field exists`)
	case first.none() || !first.quoted && (isFilterSign(first.value) || slices.ContainsFunc(filterWords, first.is)):
		return f, p.unexpected("a condition such as field = value")
	case first.value == "":
		return f, p.fail(first.at, "a field has a name")
	}
	if err = p.next(); err != nil {
		return f, err
	}
	if first.is("valid") && p.tok.is("at") {
		return p.validAt()
	}
	return p.condition(first.value)
}

func (p *filterParser) validAt() (Filter, error) {
	if err := p.next(); err != nil {
		return Filter{}, err
	}
	tok := p.tok
	at, ok := FirstInstant(tok.value, time.UTC)
	if tok.none() || !ok || at.IsZero() {
		return Filter{}, p.unexpected("a day like 2026-01-31 or an instant like 2026-01-31T12:00:00Z after \"valid at\"")
	}
	return ValidAt(at), p.next()
}

// condition parses what follows a field.
func (p *filterParser) condition(field string) (f Filter, err error) {
	op := p.tok
	if op.none() {
		return f, p.unexpected("an operator after " + strconv.Quote(field))
	}
	if op.is("<") || op.is("<=") || op.is(">") || op.is(">=") {
		return p.bounds(field)
	}
	words := op.is("in") || op.is("between") || op.is("starts") || op.is("exists")
	if !words && !op.is("=") && !op.is("!=") && !op.is("not") {
		return f, p.unexpected(fmt.Sprintf("an operator (%s) after %q", strings.Join(filterOperators, ", "), field))
	}
	if err = p.next(); err != nil {
		return f, err
	}
	switch {
	case op.is("not"):
		if !p.tok.is("in") && !p.tok.is("between") && !p.tok.is("starts") && !p.tok.is("exists") {
			return f, p.unexpected(fmt.Sprintf(`in, between, starts with or exists after "%s not"`, field))
		}
		f, err = p.condition(field)
		return Not(f), err
	case op.is("="), op.is("!="):
		v, err := p.value(op.value)
		if f = Eq(field, v); op.is("!=") {
			f = Not(f)
		}
		return f, err
	case op.is("in"):
		return p.in(field)
	case op.is("between"):
		return p.between(field)
	case op.is("starts"):
		if err := p.expect("with"); err != nil {
			return f, err
		}
		prefix := p.tok
		if _, err := p.value("starts with"); err != nil {
			return f, err
		}
		return Prefix(field, prefix.value), nil
	}
	return Exists(field), nil
}

// bounds parses comparisons, one behind the other: all hold for one value.
func (p *filterParser) bounds(field string) (Filter, error) {
	var b Bounds
	for op := p.tok; op.is("<") || op.is("<=") || op.is(">") || op.is(">="); op = p.tok {
		bound := map[string]*any{"<": &b.LT, "<=": &b.LTE, ">": &b.GT, ">=": &b.GTE}[op.value]
		if *bound != nil {
			return Filter{}, p.fail(op.at, "a second bound with %q", op.value)
		}
		if err := p.next(); err != nil {
			return Filter{}, err
		}
		if err := p.bound(op.value, bound, &b); err != nil {
			return Filter{}, err
		}
	}
	return Range(field, b), nil
}

func (p *filterParser) between(field string) (Filter, error) {
	var b Bounds
	if err := p.bound("between", &b.GTE, &b); err != nil {
		return Filter{}, err
	}
	if err := p.expect("and"); err != nil {
		return Filter{}, err
	}
	if err := p.bound("and", &b.LTE, &b); err != nil {
		return Filter{}, err
	}
	return Range(field, b), nil
}

// bound parses a value into one of the bounds, which are all numbers or all texts.
func (p *filterParser) bound(after string, to *any, all *Bounds) (err error) {
	at := p.tok.at
	if *to, err = p.value(after); err != nil {
		return err
	}
	if err := (Filter{Op: OpRange, Field: "x", Bounds: all}).Validate(); err != nil {
		return p.fail(at, "a bound is a number or a text, and both bounds are of one kind")
	}
	return nil
}

func (p *filterParser) in(field string) (f Filter, err error) {
	f = In(field)
	if err = p.expect("["); err != nil {
		return f, err
	}
	for !p.tok.is("]") {
		if len(f.Values) > 0 {
			if err = p.expect(","); err != nil {
				return f, err
			}
		}
		v, err := p.value("[")
		if err != nil {
			return f, err
		}
		f.Values = append(f.Values, v)
	}
	return f, p.next()
}

// value takes a quoted text or a bare word; after is what stands before it.
func (p *filterParser) value(after string) (any, error) {
	tok := p.tok
	if tok.none() || !tok.quoted && (isFilterSign(tok.value) || slices.ContainsFunc(filterWords, tok.is)) {
		return nil, p.unexpected(fmt.Sprintf("a value after %q", after))
	}
	v, ok := tok.literal()
	if !ok {
		return nil, p.fail(tok.at, "%s is too large a number", tok.value)
	}
	return v, p.next()
}

// literal returns what a value stands for; ok is false if it is a number that float64 does not hold.
func (t filterToken) literal() (v any, ok bool) {
	switch {
	case t.quoted:
		return t.value, true
	case t.value == "true" || t.value == "false":
		return t.value == "true", true
	}
	if digits := strings.TrimLeft(t.value, "+-."); digits == "" || digits[0] < '0' || '9' < digits[0] {
		return t.value, true
	}
	x, err := strconv.ParseFloat(t.value, 64)
	if errors.Is(err, strconv.ErrSyntax) {
		return t.value, true
	}
	return x, err == nil
}

// expect takes a word or sign of the grammar.
func (p *filterParser) expect(word string) error {
	if !p.tok.is(word) {
		return p.unexpected(strconv.Quote(word))
	}
	return p.next()
}

// unexpected says what was expected in place of the token under view.
func (p *filterParser) unexpected(want string) error {
	if p.tok.none() {
		return p.fail(p.tok.at, "expected %s", want)
	}
	found, hint := p.tok.value, ""
	known := append([]string{"and", "or"}, filterOperators...)
	if !p.tok.quoted && !slices.ContainsFunc(known, p.tok.is) {
		if hint = DidYouMean(strings.ToLower(found), known); filterHabits[strings.ToLower(found)] != "" {
			hint = fmt.Sprintf(", did you mean %q?", filterHabits[strings.ToLower(found)])
		}
		if strings.HasPrefix(want, "and,") && hint == "" {
			hint = "; a value with blanks stands in quotes"
		}
	}
	return p.fail(p.tok.at, "expected %s, found %q%s", want, found, hint)
}

func (p *filterParser) fail(at int, format string, args ...any) error {
	return &FilterError{Text: p.text, Offset: at, Reason: fmt.Sprintf(format, args...)}
}

// next moves to the token behind the one under view.
func (p *filterParser) next() error {
	rest := strings.TrimLeftFunc(p.text[p.tok.end:], unicode.IsSpace)
	at := len(p.text) - len(rest)
	p.tok = filterToken{at: at}
	switch {
	case rest == "":
		return nil
	case rest[0] == '"' || rest[0] == '\'':
		return p.quoted()
	}
	size := 1
	switch {
	case isComparison(rune(rest[0])):
		size = len(rest) - len(strings.TrimLeftFunc(rest, isComparison))
	case isWordRune(rune(rest[0])) || rest[0] >= utf8.RuneSelf:
		size = len(rest) - len(strings.TrimLeftFunc(rest, isWordRune))
	}
	p.tok.end, p.tok.value = at+size, rest[:size]
	return nil
}

// quoted takes a text in quotes.
func (p *filterParser) quoted() error {
	rest, quote := p.text[p.tok.at+1:], p.text[p.tok.at]
	var value []byte
	for rest != "" && rest[0] != quote {
		r, wide, tail, err := strconv.UnquoteChar(rest, quote)
		if err != nil && rest[0] == '\\' {
			return p.fail(len(p.text)-len(rest), `unknown escape: the escapes of a quoted text are \%c \\ \n \t \r \xHH \uHHHH`, quote)
		}
		if err != nil || rest[0] != '\\' { // a line end stands for itself, which UnquoteChar refuses, and so do bytes that are no UTF-8
			_, size := utf8.DecodeRuneInString(rest)
			value, rest = append(value, rest[:size]...), rest[size:]
			continue
		}
		if rest = tail; wide {
			value = utf8.AppendRune(value, r)
		} else {
			value = append(value, byte(r))
		}
	}
	if rest == "" {
		return p.fail(p.tok.at, "the quote is not closed")
	}
	p.tok.quoted, p.tok.value, p.tok.end = true, string(value), len(p.text)-len(rest)+1
	return nil
}

func isComparison(r rune) bool { return strings.ContainsRune("=<>!", r) }

// isWordRune reports whether a rune may stand in a bare word.
func isWordRune(r rune) bool { return !strings.ContainsRune(`()[],"'=<>!`, r) && !unicode.IsSpace(r) }

// isFilterSign reports whether a token that is not quoted is no word.
func isFilterSign(value string) bool { return value == "" || !isWordRune(rune(value[0])) }
