package domain

import (
	"fmt"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // a domain names time zones, and not every machine knows them

	"go.yaml.in/yaml/v3"

	"github.com/seed-d8745b77/rag"
)

// Parse is [Load] for the content of a file; name is used in messages only.
func Parse(name string, data []byte) (*Domain, error) {
	p := parser{d: &Domain{}}
	if len(data) > maxFileBytes {
		return nil, problems(name, []Problem{{Message: fmt.Sprintf("larger than %d bytes", maxFileBytes)}})
	}
	if root := p.root(data); root != nil {
		p.domain(root)
	}
	if err := problems(name, p.list); err != nil {
		return nil, err
	}
	p.d.record = rag.DomainRecord{Name: p.d.Name, Text: string(data)}
	return p.d, p.d.seal()
}

// parser reads the parts of a domain. What names fields is checked when all fields are known.
type parser struct {
	reader
	d     *Domain
	later []func()
}

func (p *parser) domain(root *yaml.Node) {
	d := p.d
	p.keys(root, "", map[string]func(*yaml.Node, string){
		"name":          p.text(&d.Name),
		"description":   p.text(&d.Description),
		"collection":    p.text(&d.Collection),
		"forced_filter": p.forced,
		"fields":        p.fields,
		"validity":      p.validity,
		"paths":         p.paths,
		"tool":          p.tool,
	})
	switch d.Name {
	case "":
		p.errorf(root, "name", "missing")
	case rag.None:
		p.errorf(root, "name", "%q stands for no domain", d.Name)
	}
	for _, check := range p.later {
		check()
	}
}

func (p *parser) forced(n *yaml.Node, path string) {
	p.d.Forced = rag.Meta{}
	p.each(n, path, func(key, value *yaml.Node, at string) {
		v := p.scalar(value)
		if v == nil {
			p.errorf(value, at, "want a text, a number, true or false, got %s", kindOf(value))
			return
		}
		if slices.Contains(reserved, key.Value) || key.Value == FieldTitle {
			p.errorf(key, at, "the name is kept for the engine's own use")
		}
		p.d.Forced[key.Value] = v
		p.later = append(p.later, func() {
			if _, declared := p.d.Field(key.Value); declared {
				p.errorf(key, at, "is a field too: a forced value belongs to the domain, not to a document")
			}
		})
	})
}

// reserved are names that the engine gives values of its own.
var reserved = []string{rag.FieldURI, rag.FieldDocID, rag.FieldPage, FieldPath}

func (p *parser) fields(n *yaml.Node, path string) {
	p.each(n, path, func(key, value *yaml.Node, at string) {
		f := Field{Name: key.Value, Type: String}
		if slices.Contains(reserved, f.Name) {
			p.errorf(key, at, "the name is kept for the engine's own use")
		}
		kind := ""
		p.keys(value, at, map[string]func(*yaml.Node, string){
			"type":        p.oneOf(&kind, types...),
			"required":    p.flag(&f.Required),
			"enum":        func(n *yaml.Node, at string) { p.enum(n, at, &f) },
			"filterable":  p.flag(&f.Filterable),
			"description": p.text(&f.Description),
		})
		if kind != "" {
			f.Type = Type(kind)
		}
		if len(f.Enum) > 0 && f.Type != String && f.Type != List {
			p.errorf(value, at+".enum", "only fields of type string and list have a vocabulary, not %s", f.Type)
		}
		if (f.Name == FieldTitle || f.Name == rag.FieldLanguage) && (f.Type != String || len(f.Enum) > 0 && f.Name == FieldTitle) {
			p.errorf(value, at, "%s is a text without a vocabulary", f.Name)
		}
		p.d.Fields = append(p.d.Fields, f)
	})
}

// enum reads a vocabulary: a list of values, or values with the other names by which each is known.
func (p *parser) enum(n *yaml.Node, path string, f *Field) {
	f.names = map[string]string{}
	add := func(n *yaml.Node, name, value string) {
		if other, taken := f.names[foldName(name)]; taken {
			p.errorf(n, path, "%q is given twice, for %q and %q", name, other, value)
		}
		f.names[foldName(name)] = value
	}
	if n.Kind != yaml.MappingNode {
		values, nodes := p.texts(n, path)
		for i, v := range values {
			add(nodes[i], v, v)
		}
		f.Enum = values
	} else {
		f.Aliases = map[string][]string{}
		p.each(n, path, func(key, value *yaml.Node, at string) {
			add(key, key.Value, key.Value)
			f.Enum = append(f.Enum, key.Value)
			if value.ShortTag() == "!!null" {
				return
			}
			names, nodes := p.texts(value, at)
			for i, name := range names {
				add(nodes[i], name, key.Value)
			}
			f.Aliases[key.Value] = names
		})
	}
	if len(f.Enum) == 0 {
		p.errorf(n, path, "no values")
	}
}

func (p *parser) validity(n *yaml.Node, path string) {
	v := &Validity{TimeZone: "UTC", Missing: NeedsReview, Unparsable: NeedsReview, Expired: Exclude}
	p.d.Validity = v
	p.keys(n, path, map[string]func(*yaml.Node, string){
		"from":  p.dateField(&v.From),
		"until": p.dateField(&v.Until),
		"time_zone": func(n *yaml.Node, at string) {
			p.text(&v.TimeZone)(n, at)
			zone, err := time.LoadLocation(v.TimeZone)
			if err != nil || v.TimeZone == "Local" || v.TimeZone == "" {
				p.errorf(n, at, "%q is no time zone such as UTC or Europe/Berlin", v.TimeZone)
			}
			v.zone = zone
		},
		"missing":    p.oneOf(&v.Missing, NeedsReview, Current),
		"unparsable": p.oneOf(&v.Unparsable, NeedsReview, Reject),
		"expired":    p.oneOf(&v.Expired, Exclude, Flag),
	})
	if v.From == "" && v.Until == "" {
		p.errorf(n, path, "neither from nor until names a field")
	}
}

// dateField reads the name of a declared field of type date.
func (p *parser) dateField(into *string) func(*yaml.Node, string) {
	return func(n *yaml.Node, at string) {
		p.text(into)(n, at)
		p.later = append(p.later, func() { p.declared(n, at, *into, Date) })
	}
}

// declared reports a name that is no field of this type.
func (p *parser) declared(n *yaml.Node, at, name string, want Type) *Field {
	f, ok := p.d.Field(name)
	switch {
	case !ok:
		p.errorf(n, at, "no field is called %q%s", name, rag.DidYouMean(name, p.d.names()))
	case f.Type != want:
		p.errorf(n, at, "the field %s has the type %s, not %s", name, f.Type, want)
	}
	return f
}

func (p *parser) paths(n *yaml.Node, path string) {
	rules := &Paths{Unknown: "unknown"}
	p.d.Paths = rules
	p.keys(n, path, map[string]func(*yaml.Node, string){
		"unknown": p.text(&rules.Unknown),
		"patterns": func(n *yaml.Node, at string) {
			values, nodes := p.texts(n, at)
			for i, text := range values {
				pattern, err := parsePattern(text)
				if err != nil {
					p.errorf(nodes[i], at, "%s: %v", text, err)
					continue
				}
				rules.Patterns = append(rules.Patterns, text)
				rules.parsed = append(rules.parsed, pattern)
				for _, name := range pattern.fields() {
					p.later = append(p.later, func() { p.declared(nodes[i], at, name, String) })
				}
			}
		},
	})
	if len(rules.parsed) == 0 {
		p.errorf(n, path, "no patterns")
	}
}

func (p *parser) tool(n *yaml.Node, path string) {
	tool := &Tool{}
	p.d.Tool = tool
	p.keys(n, path, map[string]func(*yaml.Node, string){
		"name":        p.text(&tool.Name),
		"description": p.text(&tool.Description),
		"parameters": func(n *yaml.Node, at string) {
			names, nodes := p.texts(n, at)
			tool.Parameters = names
			p.later = append(p.later, func() {
				for i, name := range names {
					if f, ok := p.d.Field(name); !ok {
						p.errorf(nodes[i], at, "no field is called %q%s", name, rag.DidYouMean(name, p.d.names()))
					} else if !f.Filterable {
						p.errorf(nodes[i], at, "the field %s is not filterable", name)
					}
				}
			})
		},
	})
	if !isToolName(tool.Name) {
		p.errorf(n, path+".name", "%q is no name of a tool: letters, digits, _ and -, at most %d", tool.Name, maxToolName)
	}
	p.later = append(p.later, func() {
		if tool.Parameters != nil {
			return
		}
		for _, f := range p.d.Fields {
			if f.Filterable {
				tool.Parameters = append(tool.Parameters, f.Name)
			}
		}
	})
}

// maxToolName is what the programs that call tools agree on.
const maxToolName = 64

func isToolName(s string) bool {
	return s != "" && len(s) <= maxToolName && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// names are those of the declared fields, in order.
func (d *Domain) names() []string {
	names := make([]string, len(d.Fields))
	for i, f := range d.Fields {
		names[i] = f.Name
	}
	return names
}
