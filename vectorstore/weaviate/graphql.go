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
	Chunk      string  `json:"chunk"`
	Meta       string  `json:"meta"`
	Length     float64 `json:"length"`
	Additional struct {
		Distance     float64    `json:"distance"`
		Score        scoreValue `json:"score"`
		ExplainScore string     `json:"explainScore"`
		Vector       []float32  `json:"vector"`
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

// judged are the fields by which a hit is judged under a filter.
func judged(f rag.Filter) string {
	if f.IsZero() {
		return "chunk"
	}
	return "chunk meta"
}

// graphReply is a reply, which is a success by its status whatever became of the query.
type graphReply struct {
	Data struct {
		Get       map[string][]hit   `json:"Get"`
		Aggregate map[string][]count `json:"Aggregate"`
	} `json:"data"`
	Errors []struct {
		Message string `json:"message"`
	} `json:"errors"`
}

// count is what an aggregation gives, of which each class has one.
type count struct {
	Meta struct {
		Count int `json:"count"`
	} `json:"meta"`
	Length struct {
		Mean float64 `json:"mean"` // of no records none
	} `json:"length"`
}

// Failed makes the query be asked again, as where a node is lost in the midst of it; but not if there is no such class.
func (r *graphReply) Failed() error {
	if len(r.Errors) > 0 && !isAbsence(r.Errors[0].Message) {
		return fmt.Errorf("query: %s", r.Errors[0].Message)
	}
	return nil
}

// query runs a query.
func (s *classes) query(ctx context.Context, query string) (*graphReply, error) {
	var reply graphReply
	if err := s.call(ctx, http.MethodPost, "/v1/graphql", object{"query": query}, &reply); err != nil {
		return nil, err
	}
	if len(reply.Errors) > 0 {
		return nil, s.service.Errorf("query: %s: %w", reply.Errors[0].Message, rag.ErrNotFound)
	}
	return &reply, nil
}

// get runs a query of one class: arguments are GraphQL, as are the fields that are asked for. One replica answers: all that
// live have what was written. To have several agree on what one of them found would find no more, and an object that
// another has not yet comes without its vector then.
func (s *classes) get(ctx context.Context, c class, arguments []string, fields string) ([]hit, error) {
	if c.replicated {
		arguments = append(arguments, "consistencyLevel:ONE")
	}
	reply, err := s.query(ctx, "{Get{"+c.name+"("+strings.Join(arguments, " ")+"){"+fields+"}}}")
	if err != nil {
		return nil, err
	}
	hits, ok := reply.Data.Get[c.name]
	if !ok {
		return nil, s.service.Errorf("query: the reply has nothing about %s: %w", c.name, rag.ErrUnavailable)
	}
	return hits, nil
}

// count runs aggregations, which have a name and a colon each before the class, and returns how to look at what they give.
func (s *classes) count(ctx context.Context, aggregations ...string) (func(name string) count, error) {
	reply, err := s.query(ctx, "{Aggregate{"+strings.Join(aggregations, " ")+"}}")
	if err != nil {
		return nil, err
	}
	return func(name string) count {
		if list := reply.Data.Aggregate[name]; len(list) > 0 {
			return list[0]
		}
		return count{}
	}, nil
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
