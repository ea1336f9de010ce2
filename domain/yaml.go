package domain

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/strict"
)

// reader reads YAML nodes and notes what is wrong with them.
type reader struct{ list []Problem }

func (r *reader) errorf(n *yaml.Node, field, format string, args ...any) {
	r.list = append(r.list, Problem{Line: n.Line, Column: n.Column, Field: field, Message: fmt.Sprintf(format, args...)})
}

// root parses a file that holds one YAML document.
func (r *reader) root(data []byte) *yaml.Node {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		r.list = append(r.list, Problem{Message: "the file is empty"})
		return nil
	} else if err != nil {
		line, message := strict.YAMLError(err, data)
		r.list = append(r.list, Problem{Line: line, Message: message})
		return nil
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		r.list = append(r.list, Problem{Line: second.Line, Message: "a second document begins, or what follows cannot be read: one domain a file"})
	}
	return doc.Content[0]
}

// keys reads a mapping: each key by the function that is known for it. path names the mapping in messages.
func (r *reader) keys(n *yaml.Node, path string, known map[string]func(n *yaml.Node, path string)) {
	names := slices.Sorted(maps.Keys(known))
	r.each(n, path, func(key, value *yaml.Node, at string) {
		read, ok := known[key.Value]
		if !ok {
			r.errorf(key, at, "unknown key%s (known: %s)", rag.DidYouMean(key.Value, names), strings.Join(names, ", "))
			return
		}
		read(value, at)
	})
}

// each calls visit for the pairs of a mapping in their order; at is the path of the key.
func (r *reader) each(n *yaml.Node, path string, visit func(key, value *yaml.Node, at string)) {
	if n.Kind != yaml.MappingNode {
		r.errorf(n, path, "want keys and values, got %s", kindOf(n))
		return
	}
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode || k.ShortTag() == "!!merge" {
			r.errorf(k, path, "a key must be a plain name")
			continue
		}
		at := strings.TrimPrefix(path+"."+k.Value, ".")
		if line, twice := first[k.Value]; twice {
			r.errorf(k, at, "given twice, first in line %d", line)
			continue
		}
		first[k.Value] = k.Line
		if v.Kind == yaml.AliasNode || v.Anchor != "" {
			r.errorf(v, at, "anchors and aliases are not supported: write the value out")
			continue
		}
		visit(k, v, at)
	}
}

// text returns a function that reads a text into a variable.
func (r *reader) text(into *string) func(*yaml.Node, string) {
	return func(n *yaml.Node, path string) {
		if v, ok := r.scalar(n).(string); ok {
			*into = v
			return
		}
		r.errorf(n, path, "want a text, got %s", kindOf(n))
	}
}

// oneOf returns a function that reads one of some words.
func (r *reader) oneOf(into *string, words ...string) func(*yaml.Node, string) {
	return func(n *yaml.Node, path string) {
		v, ok := r.scalar(n).(string)
		if !ok || !slices.Contains(words, v) {
			r.errorf(n, path, "%q is not one of %s%s", n.Value, strings.Join(words, ", "), rag.DidYouMean(n.Value, words))
			return
		}
		*into = v
	}
}

// flag returns a function that reads true or false.
func (r *reader) flag(into *bool) func(*yaml.Node, string) {
	return func(n *yaml.Node, path string) {
		if v, ok := r.scalar(n).(bool); ok {
			*into = v
			return
		}
		r.errorf(n, path, "want true or false, got %s", kindOf(n))
	}
}

// texts returns the elements of a list of texts, with their nodes.
func (r *reader) texts(n *yaml.Node, path string) (values []string, nodes []*yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		r.errorf(n, path, "want a list, got %s", kindOf(n))
		return nil, nil
	}
	for _, e := range n.Content {
		v, ok := r.scalar(e).(string)
		if !ok || v == "" {
			r.errorf(e, path, "want a text, got %s: put it into quotes", kindOf(e))
			continue
		}
		values, nodes = append(values, v), append(nodes, e)
	}
	return values, nodes
}

// scalar returns a string, float64 or bool, or nil for anything else. A date without quotes is a string.
func (r *reader) scalar(n *yaml.Node) any {
	if n.Kind != yaml.ScalarNode {
		return nil
	}
	switch n.ShortTag() {
	case "!!str", "!!timestamp":
		return n.Value
	case "!!bool":
		var v bool
		if n.Decode(&v) == nil {
			return v
		}
	case "!!int", "!!float":
		var v float64
		if n.Decode(&v) == nil && v-v == 0 { // neither infinite nor NaN
			return v
		}
	}
	return nil
}

// kindOf names what a node is, for messages.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys and values"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	switch n.ShortTag() {
	case "!!str", "!!timestamp":
		return "a text"
	case "!!bool":
		return "true or false"
	case "!!int", "!!float":
		return "a number"
	case "!!null":
		return "nothing"
	}
	return "a value with the tag " + n.ShortTag()
}
