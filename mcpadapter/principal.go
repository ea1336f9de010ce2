package mcpadapter

import (
	"sync"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/agent"
)

// Principal is who makes calls.
type Principal struct {
	Name   string     // for logs, and to tell sessions and jobs of different principals apart
	Filter rag.Filter // all that may be seen; zero: everything
}

// principalKey is where a token's principal stands in TokenInfo.Extra.
const principalKey = "rag.principal"

// principalOf returns who makes a request. Without tokens everybody is the owner of the data; a token that names nobody
// sees nothing.
func principalOf(extra *mcp.RequestExtra) Principal {
	if extra == nil || extra.TokenInfo == nil {
		return Principal{}
	}
	if p, ok := extra.TokenInfo.Extra[principalKey].(Principal); ok {
		return p
	}
	return Principal{Name: "nobody", Filter: rag.Or()}
}

// tokenInfo is what the SDK is told about a token.
func (p Principal) tokenInfo() *auth.TokenInfo {
	return &auth.TokenInfo{UserID: p.Name, Extra: map[string]any{principalKey: p}}
}

// view is the engine as one principal sees it, with agents over it.
type view struct {
	engine *rag.Engine
	hub    func() (*agent.Agent, error) // made when first asked for
	course func() (*agent.Agent, error)
}

// views keeps those of the engine in use: agents know the vocabulary of the data, which takes time to collect.
type views struct {
	mu     sync.Mutex
	engine *rag.Engine
	of     map[string]*view // by name and filter of the principal
}

// get returns the view of a principal.
func (v *views) get(e *rag.Engine, p Principal) *view {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.engine != e {
		v.engine, v.of = e, map[string]*view{}
	}
	key := p.Name + "\x00" + p.Filter.String()
	if v.of[key] == nil {
		v.of[key] = newView(e, p)
	}
	return v.of[key]
}

func newView(e *rag.Engine, p Principal) *view {
	if !p.Filter.IsZero() {
		e = e.Scoped(p.Filter)
	}
	labelled := func(labels string) func() (*agent.Agent, error) {
		return sync.OnceValues(func() (*agent.Agent, error) {
			config, err := agent.ParseConfig(e.Config().Agent)
			if err != nil {
				return nil, err
			}
			config.Labels, config.CustomLabels = labels, nil
			return agent.New(e, config)
		})
	}
	return &view{engine: e, hub: labelled(agent.Hub), course: labelled(agent.Course)}
}
