// Package access is what servers of an engine have in common: who asks and what they may see, under which name a server may
// be called, how often, and the engine that a call is lent.
//
//	keys, err := access.NewKeys(tokens, nil)           // or tokens of an identity provider, see [JWT]
//	grant, err := keys.Check(ctx, access.Bearer(r))    // who asks; grant.Principal.Filter is all they may see
//	data := access.Folder("kb", false, nil)            // opened when first needed
//	engine, done, err := data.Lend(ctx)
//	view := views.Of(engine, grant.Principal)
//
// A principal without a filter sees everything, so a server without tokens makes everybody the owner of the data.
package access

import (
	"sync"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/recent"
)

// Principal is who makes calls.
type Principal struct {
	Name   string     // for logs; see ID
	Filter rag.Filter // all that may be seen; zero: everything
}

// Nobody is a principal that sees nothing.
func Nobody() Principal { return Principal{Name: "nobody", Filter: rag.Or()} }

// Tenant names those who share an allowance: all principals with the same filter. Who sees everything stands alone.
func (p Principal) Tenant() string {
	if p.Filter.IsZero() {
		return "name " + p.Name
	}
	return "filter " + p.Filter.String()
}

// ID tells a principal from all others. The name alone does not: identity providers may give it to people of two tenants.
func (p Principal) ID() string { return p.Name + "\x00" + p.Filter.String() }

// maxViews is how many principals are remembered. Who is forgotten waits at the next call as at the first.
const maxViews = 64

// Views keeps the views of the engine in use, since counting what a view sees takes time; see [rag.Engine.Scoped]. The
// zero value is ready; it is safe for concurrent use.
type Views struct {
	mu     sync.Mutex
	engine *rag.Engine
	of     *recent.Values[*rag.Engine] // by filter
}

// Of returns the engine as a principal sees it.
func (v *Views) Of(e *rag.Engine, p Principal) *rag.Engine {
	if p.Filter.IsZero() {
		return e
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.engine != e {
		v.engine, v.of = e, recent.New[*rag.Engine](maxViews)
	}
	return v.of.Get(p.Filter.String(), func() *rag.Engine { return e.Scoped(p.Filter) })
}
