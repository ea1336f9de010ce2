package mcpadapter

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/agent"
	"github.com/seed-d8745b77/rag/domain"
)

// maxWordsListed is the longest vocabulary that a schema lists; more would cost every conversation.
const maxWordsListed = 24

// domains are those that are offered.
type domains struct {
	list     []*domain.Domain
	standard string // collection of a domain that names none
}

// of returns the domain whose collection this is; nil if it is of none.
func (ds domains) of(collection string) *domain.Domain {
	for _, d := range ds.list {
		if d.Collection == collection || d.Collection == "" && collection == ds.standard {
			return d
		}
	}
	return nil
}

// filterable lists the fields of a domain that can be asked for, in the order of its file.
func filterable(d *domain.Domain) (names []string) {
	for _, f := range d.Fields {
		if f.Filterable {
			names = append(names, f.Name)
		}
	}
	return names
}

// DomainFields are the fields of a domain by which a question can name documents, as package agent wants them. A nil domain
// has none.
func DomainFields(d *domain.Domain) []agent.Field {
	if d == nil {
		return nil
	}
	var out []agent.Field
	for _, f := range d.Fields {
		switch {
		case f.Type == domain.Date:
			out = append(out, agent.Field{Name: f.Name, Days: true})
		case f.Filterable && len(f.Enum) > 0:
			field := agent.Field{Name: f.Name, Kind: agent.IsKind(f.Name)}
			for _, word := range f.Enum {
				field.Values = append(field.Values, agent.Value{Value: word, Names: f.Aliases[word]})
			}
			out = append(out, field)
		}
	}
	return out
}

// domainTool is the tool that a domain describes: a parameter for each field that may be asked for, its forced filter, its
// collection and its validity policy. The search underneath is the same as anybody's.
func (a *Adapter) domainTool(d *domain.Domain) *tool {
	about := d.Tool.Description
	if about == "" {
		about = d.Description
	}
	params := []param{question("question or keywords"), topK()}
	for _, name := range d.Tool.Parameters {
		if f, ok := d.Field(name); ok {
			params = append(params, fieldParam(f))
		}
	}
	if d.Validity != nil {
		params = append(params, param{name: "business_date", kind: textKind, about: "day on which it must hold, such as 2026-01-31; default today"})
	}
	return &tool{
		name: d.Tool.Name, title: strings.ReplaceAll(d.Tool.Name, "_", " "), about: about, params: params, out: found{},
		run: func(ctx context.Context, c *call) (*reply, error) { return runDomain(ctx, c, d) },
	}
}

func fieldParam(f *domain.Field) param {
	p := param{name: f.Name, kind: textKind, about: f.Description}
	switch f.Type {
	case domain.Number:
		p.kind = numberKind
	case domain.Bool:
		p.kind = flagKind
	}
	if len(f.Enum) > 0 && len(f.Enum) <= maxWordsListed {
		p.words = f.Enum
	}
	return p
}

func runDomain(ctx context.Context, c *call, d *domain.Domain) (*reply, error) {
	q := rag.Query{Text: c.args.text("query"), TopK: c.args.whole("top_k"), Progress: c.done}
	for _, name := range d.Tool.Parameters {
		v := c.args[name]
		if v == nil || v == "" {
			continue
		}
		q.Filter = rag.And(q.Filter, rag.Eq(name, v))
	}
	var err error
	if day := c.args.text("business_date"); day != "" {
		if q.AsOf, err = d.Instant(day); err != nil {
			return nil, fmt.Errorf("business_date: %w", err)
		}
	}
	if q, err = d.Query(q, c.adapter.options.Now()); err != nil {
		return nil, err
	}
	res, err := c.engine.Search(ctx, q)
	if errors.Is(err, rag.ErrNotFound) {
		return nil, fmt.Errorf("nothing has been ingested for %s: %w", d.Name, err)
	}
	if err != nil {
		return nil, err
	}
	return c.passages(ctx, res, "")
}
