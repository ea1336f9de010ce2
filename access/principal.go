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
)

// Principal is who makes calls.
type Principal struct {
	Name   string     // for logs, and to tell sessions and jobs of different principals apart
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

// maxViews is how many principals are remembered. Who is forgotten waits at the next call as at the first.
const maxViews = 64

// Views keeps the views of the engine in use, since counting what a view sees takes time; see [rag.Engine.Scoped]. The
// zero value is ready; it is safe for concurrent use.
type Views struct {
	mu     sync.Mutex
	engine *rag.Engine
	of     map[string]*view // by filter
	uses   uint64
}

type view struct {
	engine *rag.Engine
	used   uint64 // higher is later
}

// Of returns the engine as a principal sees it.
func (v *Views) Of(e *rag.Engine, p Principal) *rag.Engine {
	if p.Filter.IsZero() {
		return e
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.engine != e {
		v.engine, v.of = e, map[string]*view{}
	}
	key := p.Filter.String()
	one := v.of[key]
	if one == nil {
		v.forget()
		one = &view{engine: e.Scoped(p.Filter)}
		v.of[key] = one
	}
	v.uses++
	one.used = v.uses
	return one.engine
}

// forget makes room for a view: the one that was not used for longest goes.
func (v *Views) forget() {
	if len(v.of) < maxViews {
		return
	}
	oldest := ""
	for key, one := range v.of {
		if oldest == "" || one.used < v.of[oldest].used {
			oldest = key
		}
	}
	delete(v.of, oldest)
}
