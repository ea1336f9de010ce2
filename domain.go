package rag

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Domain is what a subject knows of its documents; package domain makes them of YAML. A collection remembers the domain it
// was ingested with, in its [Header]: every later ingest and search follows that one, unless it names another or none. It
// must be safe for concurrent use.
type Domain interface {
	// Record is what a collection keeps of the domain: what [Providers] Domain makes it of again.
	Record() DomainRecord
	// Describe completes a source, of which Title and Meta are what was said of it: with what the domain knows of it besides,
	// and with the Policy for what stands in its bytes.
	Describe(src Source) Source
	// Query completes a question to the collection: with the domain's conditions, its words for values, and its policy for
	// dates, by which a question without AsOf is asked as of now. It sets NoDomain. A value that is none of the domain's is
	// ErrInvalid.
	Query(q Query, now time.Time) (Query, error)
}

// MetaChecker is implemented by domains that can tell which metadata they do not allow.
type MetaChecker interface {
	// CheckMeta looks through what was given with a source, by the names of its fields.
	CheckMeta(given Meta) []MetaProblem
}

// ManifestTeller is implemented by domains that can tell a manifest of theirs from a document.
type ManifestTeller interface {
	// LooksLikeManifest reports whether the bytes of a file of this name are lines of a manifest.
	LooksLikeManifest(name string, data []byte) bool
}

// MetaProblem is metadata that a domain does not allow.
type MetaProblem struct {
	Field   string
	Value   any
	NoField bool   // the domain has no such field; else it is the value that the field does not allow
	Message string // what is wrong with it
}

// UnfitMeta is what was given with a document, and is kept, though the collection's domain does not allow it, such as a word
// that the vocabulary has no more.
type UnfitMeta struct {
	URI     string `json:"uri"`
	Field   string `json:"field"`
	Value   any    `json:"value"`
	Message string `json:"message"` // what is wrong, and what to do
}

// DomainRecord is a domain as a collection remembers it.
type DomainRecord struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"` // URI of the file it was read from, which is no document; "": there is none
	Text string `json:"text"`           // its definition
}

// DomainUse says whose rules an ingest followed. Its JSON form is part of what `rag ingest --json` prints.
type DomainUse struct {
	Name       string `json:"name"`          // "": the collection's domain was dropped
	Remembered bool   `json:"remembered"`    // the request named none: it is the collection's own
	Was        string `json:"was,omitempty"` // name of the domain that the collection had before, if that was another

	// Export is the domain of an export, None for none, whose documents came into a collection with another: they have the
	// metadata of that one until their files are ingested here.
	Export string `json:"export,omitempty"`

	// Asked is the domain that the request named, None to have none, where the collection keeps the one it has: nothing was
	// ingested. Name is the one it has then, "" if it has none.
	Asked string `json:"asked,omitempty"`
}

// Given is what an ingest was given with a source beside its bytes, such as by a manifest.
type Given struct {
	Title string `json:"title,omitempty"`
	Meta  Meta   `json:"meta,omitzero"` // empty and not nil is something; see isZero
}

// isZero reports whether nothing was given. An empty Meta of a [Source] is something: it says that there is none.
func (g Given) isZero() bool { return g.Title == "" && g.Meta == nil }

// empty reports whether nothing was said of the source.
func (g Given) empty() bool { return g.Title == "" && len(g.Meta) == 0 }

// Domain returns the domain that a collection remembers; nil if it has none, or there is no such collection. "" means the
// configured collection. ErrUnsupported: this program does not link package domain.
func (e *Engine) Domain(ctx context.Context, collection string) (_ Domain, err error) {
	defer e.hide(&err)
	name := e.collection(collection)
	h, _, err := e.readHeader(ctx, name)
	if err != nil {
		return nil, err
	}
	return e.domainOf(name, &h)
}

// Ruled returns a query with the rules of the domain that its collection remembers, as [Engine.Search] follows them: for
// callers that look at Filter, AsOf and Expired themselves.
func (e *Engine) Ruled(ctx context.Context, q Query) (_ Query, err error) {
	defer e.hide(&err)
	name := e.collection(q.Collection)
	h, _, err := e.readHeader(ctx, name)
	if err != nil {
		return q, err
	}
	return e.ruled(q, name, &h)
}

// ruled is Ruled for who has the header of the query's collection.
func (e *Engine) ruled(q Query, name string, h *Header) (Query, error) {
	if q.NoDomain {
		return q, nil
	}
	d, err := e.domainOf(name, h)
	if err != nil || d == nil {
		return q, err
	}
	q.Collection = name // a domain may have another in mind
	if q, err = d.Query(q, e.now()); err != nil {
		return q, fmt.Errorf("domain %s of the collection: %w", h.Domain.Name, err)
	}
	return q, nil
}

// domainOf reads the domain that a header remembers.
func (e *Engine) domainOf(collection string, h *Header) (Domain, error) {
	if h.Domain == nil {
		return nil, nil
	}
	d, err := e.domains.of(*h.Domain)
	if err != nil {
		return nil, fmt.Errorf("collection %q was ingested with the domain %q: %w", collection, h.Domain.Name, err)
	}
	return d, nil
}

// domains reads what collections remember, each domain once.
type domains struct {
	read func(DomainRecord) (Domain, error) // of [Providers]; nil: this program cannot

	mu   sync.Mutex
	made map[DomainRecord]Domain
}

// maxDomains is how many domains are kept as read. Beyond, which takes as many collections of their own, all are read anew.
const maxDomains = 256

func (ds *domains) of(rec DomainRecord) (Domain, error) {
	if ds.read == nil {
		return nil, fmt.Errorf("this program cannot read domains: import github.com/seed-d8745b77/rag/domain, or leave its rules out (NoDomain): %w", ErrUnsupported)
	}
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if d := ds.made[rec]; d != nil {
		return d, nil
	}
	d, err := ds.read(rec)
	if err != nil {
		return nil, err
	}
	if len(ds.made) >= maxDomains || ds.made == nil {
		ds.made = map[DomainRecord]Domain{}
	}
	ds.made[rec] = d
	return d, nil
}
