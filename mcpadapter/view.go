package mcpadapter

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/access"
	"github.com/seed-d8745b77/rag/agent"
	"github.com/seed-d8745b77/rag/domain"
	"github.com/seed-d8745b77/rag/internal/recent"
)

// view is the engine as one principal sees it, with what was collected of that part of the data.
type view struct {
	engine  *rag.Engine
	shared  *shared
	domains domains

	topics     remembered[topicList]
	conditions remembered[[]string] // filters that fit, for completion
	ledger     remembered[[]document]

	mu     sync.Mutex
	agents map[string]*agent.Agent // made when first asked for; by labels and domain
}

// document is one of a collection.
type document struct{ id, uri string }

// documents are those of a collection that are seen, by URI.
func (v *view) documents(ctx context.Context, collection string) ([]document, error) {
	return v.ledger.get(ctx, v.engine, collection, func() (all []document, err error) {
		for e, err := range v.engine.Documents(ctx, collection) {
			if err != nil {
				return nil, err
			}
			all = append(all, document{e.DocID, e.URI})
		}
		return all, nil
	})
}

// shared is what the views of an engine have together.
type shared struct {
	engine *rag.Engine
	known  remembered[map[string][]string] // URIs by ID and by digest
}

// views keeps those of the engine in use: what they have collected took time.
type views struct {
	domains domains

	mu     sync.Mutex
	shared *shared
	of     *recent.Values[*view] // by ID of the principal
}

// maxViews is how many principals are remembered. Who is forgotten waits at the next call as at the first.
const maxViews = 64

// get returns the view of a principal.
func (v *views) get(e *rag.Engine, p access.Principal) *view {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.shared == nil || v.shared.engine != e {
		v.shared, v.of = &shared{engine: e}, recent.New[*view](maxViews)
	}
	return v.of.Get(p.ID(), func() *view {
		one := &view{engine: e, shared: v.shared, domains: v.domains, agents: map[string]*agent.Agent{}}
		if !p.Filter.IsZero() {
			one.engine = e.Scoped(p.Filter)
		}
		return one
	})
}

// agent returns the agent with a set of labels for the questions to a collection: it knows the fields of its domain.
func (v *view) agent(ctx context.Context, labels, collection string) (*agent.Agent, error) {
	key := labels
	d := v.domains.of(collection)
	if d == nil {
		var err error
		if d, err = domain.Of(ctx, v.engine, collection); err != nil {
			return nil, err
		}
	}
	if d != nil {
		key += "\x00" + d.Name + "\x00" + d.Record().Text
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if a := v.agents[key]; a != nil {
		return a, nil
	}
	config, err := agent.ParseConfig(v.engine.Config().Agent)
	if err != nil {
		return nil, err
	}
	config.Labels, config.CustomLabels = labels, nil
	config.Fields = agent.Merge(DomainFields(d), config.Fields)
	a, err := agent.New(v.engine, config)
	if err != nil {
		return nil, err
	}
	v.agents[key] = a
	return a, nil
}

// ruled completes a question. In the collection of a domain that is offered its rules hold, whichever tool asks; elsewhere
// the engine follows the domain that the collection remembers.
func (v *view) ruled(q rag.Query, now time.Time) (rag.Query, error) {
	if d := v.domains.of(q.Collection); d != nil {
		return d.Query(q, now)
	}
	return q, nil
}

// named reads the name of a document. The URI of a resource names its collection too, which counts before the one given.
func named(collection, name string) (string, string) {
	of, id, ok := strings.Cut(strings.TrimPrefix(name, resourceScheme), "/")
	if !ok || !strings.HasPrefix(name, resourceScheme) {
		return collection, name
	}
	if plain, err := url.PathUnescape(of); err == nil {
		of = plain
	}
	return of, id
}

// entry finds a document by its URI, its path, its ID or the digest of its source.
func (v *view) entry(ctx context.Context, collection, name string) (rag.Entry, error) {
	e, err := v.firstEntry(ctx, collection, name, rag.DocumentURI(name))
	if !errors.Is(err, rag.ErrNotFound) {
		return e, err
	}
	known, err := v.shared.uris(ctx, collection)
	if err != nil {
		return rag.Entry{}, err
	}
	e, err = v.firstEntry(ctx, collection, known[strings.ToLower(strings.TrimSpace(name))]...)
	if errors.Is(err, rag.ErrNotFound) {
		err = fmt.Errorf("no document %q in the collection %q: %w", cut(name, 80), collection, rag.ErrNotFound)
	}
	return e, err
}

// firstEntry returns the first document that is seen among these; ErrNotFound if there is none.
func (v *view) firstEntry(ctx context.Context, collection string, uris ...string) (rag.Entry, error) {
	for _, uri := range uris {
		e, err := v.engine.Entry(ctx, collection, uri)
		if !errors.Is(err, rag.ErrNotFound) {
			return e, err
		}
	}
	return rag.Entry{}, rag.ErrNotFound
}

// uris are those of all documents by ID and by digest. Whether one may be seen is for the view to say.
func (s *shared) uris(ctx context.Context, collection string) (map[string][]string, error) {
	known, err := s.known.get(ctx, s.engine, collection, func() (map[string][]string, error) {
		known := map[string][]string{}
		for e, err := range s.engine.Documents(ctx, collection) {
			if err != nil {
				return nil, err
			}
			digest := hex.EncodeToString(e.Digest[:])
			known[e.DocID], known[digest] = append(known[e.DocID], e.URI), append(known[digest], e.URI)
		}
		return known, nil
	})
	if errors.Is(err, rag.ErrNotFound) {
		return nil, nil // there is no such collection, or it may not be seen: the same to whoever asks
	}
	return known, err
}

// count returns "1 passage", "2 passages", and so on.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
