package weaviate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/vectorstore/internal/remote"
)

// hit is an object as a query gives it; what was not asked for is missing.
type hit struct {
	Chunk      string `json:"chunk"`
	Meta       string `json:"meta"`
	Additional struct {
		Distance float64    `json:"distance"`
		Score    scoreValue `json:"score"`
		Vector   []float32  `json:"vector"`
	} `json:"_additional"`
}

// scoreValue is a number, which the score of words is although it stands in quotes.
type scoreValue float64

// UnmarshalJSON reads a number with or without quotes.
func (s *scoreValue) UnmarshalJSON(b []byte) error {
	x, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	if err != nil {
		return fmt.Errorf("score %s is no number", b)
	}
	*s = scoreValue(x)
	return nil
}

var _ json.Unmarshaler = (*scoreValue)(nil)

// get runs a query of one class: arguments are GraphQL, as are the fields that are asked for.
func (s *classes) get(ctx context.Context, c class, arguments []string, fields string) ([]hit, error) {
	var reply struct {
		Data struct {
			Get map[string][]hit `json:"Get"`
		} `json:"data"`
		Errors []struct {
			Message string `json:"message"`
		} `json:"errors"`
	}
	if c.replicated {
		arguments = append(arguments, "consistencyLevel:"+s.config.Consistency)
	}
	query := "{Get{" + c.name + "(" + strings.Join(arguments, " ") + "){" + fields + "}}}"
	if err := s.service.Call(ctx, http.MethodPost, "/v1/graphql", object{"query": query}, &reply); err != nil {
		return nil, err
	}
	if len(reply.Errors) > 0 {
		kind, text := rag.ErrUnavailable, reply.Errors[0].Message
		if strings.Contains(text, "Cannot query field") && strings.Contains(text, c.name) { // the class is gone
			kind = rag.ErrNotFound
		}
		return nil, s.service.Errorf("query: %s: %w", text, kind)
	}
	hits, ok := reply.Data.Get[c.name]
	if !ok {
		return nil, s.service.Errorf("query: the reply has nothing about %s: %w", c.name, rag.ErrUnavailable)
	}
	return hits, nil
}

// filtered appends the argument for a condition, if there is one.
func filtered(arguments []string, c remote.Condition) []string {
	if c.Op == remote.Any {
		return arguments
	}
	return append(arguments, "where:"+where(c))
}

// where is a condition in GraphQL.
func where(c remote.Condition) string {
	switch c.Op {
	case remote.Has:
		return `{path:["has"] operator:Equal valueText:` + quote(c.Token) + "}"
	case remote.HasNot:
		return "{operator:Not operands:[" + where(remote.Condition{Op: remote.Has, Token: c.Token}) + "]}"
	case remote.Begins: // a star or question mark in the text stands for anything, which finds more
		return `{path:["has"] operator:Like valueText:` + quote(c.Token+"*") + "}"
	case remote.InForce:
		return "{operator:And operands:[" + bound("from", "LessThanEqual", c.At) + " " + bound("until", "GreaterThanEqual", c.At) + "]}"
	case remote.NotForce:
		return "{operator:Or operands:[" + bound("from", "GreaterThanEqual", c.At) + " " + bound("until", "LessThanEqual", c.At) + "]}"
	}
	args := make([]string, len(c.Args))
	for i, a := range c.Args {
		args[i] = where(a)
	}
	operator := "And"
	if c.Op == remote.OneOf {
		operator = "Or"
	}
	return "{operator:" + operator + " operands:[" + strings.Join(args, " ") + "]}"
}

func bound(property, operator string, at int64) string {
	return `{path:["` + property + `"] operator:` + operator + " valueNumber:" + strconv.FormatFloat(float64(at), 'f', -1, 64) + "}"
}

// quote writes a text as GraphQL has it, which is as JSON does.
func quote(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return `""` // a text or a list of texts: it cannot fail
	}
	return string(text)
}
