package main

import (
	"context"
	"iter"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/agent"
	"github.com/seed-d8745b77/rag/domain"
)

// asker answers a question: [agent.Agent.AskStream] or its kin.
type asker func(context.Context, rag.AskRequest) iter.Seq2[rag.AnswerEvent, error]

// newAgent makes the agent of an engine by the section agent of the configuration. The names that a domain gives its values
// are names that a question can use; d may be nil.
func newAgent(eng *rag.Engine, d *domain.Domain) (*agent.Agent, error) {
	c, err := agent.ParseConfig(eng.Config().Agent)
	if err != nil {
		return nil, err
	}
	c.Fields = agent.Merge(domainFields(d), c.Fields)
	return agent.New(eng, c)
}

// agentAsker returns what `rag ask` and `rag chat` ask: the router, or with searching the agent that searches by itself.
func agentAsker(a *agent.Agent, searching bool) asker {
	if searching {
		return a.AskAgentStream
	}
	return a.AskStream
}

// domainFields are the fields of a domain by which a question can name documents.
func domainFields(d *domain.Domain) []agent.Field {
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
