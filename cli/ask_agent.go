package cli

import (
	"context"
	"iter"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/agent"
	"github.com/seed-d8745b77/rag/domain"
	"github.com/seed-d8745b77/rag/mcpadapter"
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
	c.Fields = agent.Merge(mcpadapter.DomainFields(d), c.Fields)
	return agent.New(eng, c)
}

// agentAsker returns what `rag ask` and `rag chat` ask: the router, or with searching the agent that searches by itself.
func agentAsker(a *agent.Agent, searching bool) asker {
	if searching {
		return a.AskAgentStream
	}
	return a.AskStream
}
