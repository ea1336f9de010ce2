package domain

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// Paths is what the folders say that a document lies in.
type Paths struct {
	// Patterns are paths such as docs/<subject>/<type>/…: <name> is one element and the value of that field, * one element
	// of any name, … (or ...) at the end at least one further element. A pattern may begin at any folder of a path.
	Patterns []string `json:"patterns"`
	// Unknown is the value of the fields where no pattern fits; there is a warning too. Default "unknown".
	Unknown string `json:"unknown"`

	parsed []pattern
}

// pattern is a parsed pattern: what each element of a path must be.
type pattern struct {
	elems []string // a name, "*" or "<field>"
	open  bool     // more elements follow
}

func parsePattern(text string) (pattern, error) {
	p := pattern{elems: strings.Split(strings.Trim(text, "/"), "/")}
	if last := len(p.elems) - 1; p.elems[last] == "…" || p.elems[last] == "..." {
		p.elems, p.open = p.elems[:last], true
	}
	seen := map[string]bool{}
	for _, e := range p.elems {
		name, isField := fieldOf(e)
		switch {
		case e == "" || e == "..." || e == "…":
			return p, errors.New("an element is empty, or … is not at the end")
		case isField && (name == "" || seen[name]):
			return p, fmt.Errorf("<%s> has no name or comes twice", name)
		case !isField && strings.ContainsAny(e, "<>"):
			return p, fmt.Errorf("%q: < and > must stand around a whole element", e)
		}
		seen[name] = isField
	}
	if len(p.fields()) == 0 {
		return p, errors.New("no <field> in it")
	}
	return p, nil
}

// fieldOf returns the name between < and >.
func fieldOf(elem string) (string, bool) {
	if len(elem) >= 2 && elem[0] == '<' && elem[len(elem)-1] == '>' {
		return elem[1 : len(elem)-1], true
	}
	return "", false
}

// fields are the names in a pattern, in order.
func (p pattern) fields() []string {
	var names []string
	for _, e := range p.elems {
		if name, ok := fieldOf(e); ok {
			names = append(names, name)
		}
	}
	return names
}

// at returns the values of the fields if the pattern fits elements of a path from the first one on.
func (p pattern) at(elems []string) (map[string]string, bool) {
	if len(elems) < len(p.elems) || p.open != (len(elems) > len(p.elems)) {
		return nil, false
	}
	values := map[string]string{}
	for i, want := range p.elems {
		name, isField := fieldOf(want)
		switch {
		case isField:
			values[name] = elems[i]
		case want != "*" && want != elems[i]:
			return nil, false
		}
	}
	return values, true
}

// fields are the names in all patterns, each once.
func (p *Paths) fields() []string {
	var names []string
	for _, pat := range p.parsed {
		for _, name := range pat.fields() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// fromPath returns what a path says of a document, or why it says nothing. Of the places at which a pattern fits, the one
// nearest to the file counts whose values are all in their vocabularies.
func (d *Domain) fromPath(path string) (m rag.Meta, problem string) {
	elems := strings.Split(strings.Trim(path, "/"), "/")
	for _, p := range d.Paths.parsed {
		for start := len(elems) - len(p.elems); start >= 0; start-- {
			values, fits := p.at(elems[start:])
			if !fits {
				continue
			}
			m, err := d.words(p, values)
			if err == nil {
				return m, ""
			}
			if problem == "" {
				problem = err.Error()
			}
		}
	}
	if problem == "" {
		problem = "it does not lie in " + strings.Join(d.Paths.Patterns, " or ")
	}
	return nil, problem
}

// words turns the elements of a path into values of fields.
func (d *Domain) words(p pattern, values map[string]string) (rag.Meta, error) {
	m := rag.Meta{}
	for _, name := range p.fields() {
		f, _ := d.Field(name)
		word, err := f.Word(values[name])
		if err != nil {
			return nil, fmt.Errorf("the folder for %s: %s", name, reason(err))
		}
		m[name] = word
	}
	return m, nil
}

// reason is an error's text without its kind.
func reason(err error) string { return strings.TrimSuffix(err.Error(), ": "+rag.ErrInvalid.Error()) }
