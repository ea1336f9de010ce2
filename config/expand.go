package config

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expand replaces ${NAME} and ${NAME:-default} in a text; the default also stands for an empty variable. $${ gives ${.
// env is the first variable whose value went into the text, "" if none did; values are those of all that did.
func expand(text string, lookup func(string) (string, bool)) (expanded, env string, values []string, err error) {
	var b strings.Builder
	for {
		i := strings.Index(text, "${")
		if i < 0 {
			b.WriteString(text)
			return b.String(), env, values, nil
		}
		if i > 0 && text[i-1] == '$' {
			b.WriteString(text[:i-1] + "${")
			text = text[i+2:]
			continue
		}
		b.WriteString(text[:i])
		inside, rest, closed := strings.Cut(text[i+2:], "}")
		if !closed {
			return "", "", nil, errors.New("${ is not closed: write ${NAME}, or $${ for the characters themselves")
		}
		name, byDefault, hasDefault := strings.Cut(inside, ":-")
		if !variableName.MatchString(name) {
			return "", "", nil, errors.New("${…} holds no name of a variable: write ${NAME} or ${NAME:-default}, or $${ for the characters themselves")
		}
		value, set := lookup(name)
		switch {
		case hasDefault && value == "":
			b.WriteString(byDefault)
		case set:
			b.WriteString(value)
			values = append(values, value)
			if env == "" {
				env = name
			}
		default:
			return "", "", nil, fmt.Errorf("the environment variable %s is not set: set it, or write ${%s:-default}", name, name)
		}
		text = rest
	}
}
