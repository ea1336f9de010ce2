// Package chroma keeps vectors in a server of Chroma, which several processes may share. It speaks version 2 of Chroma's
// HTTP API and needs nothing but Go's library.
//
//	v, err := chroma.New(chroma.Config{URL: "http://127.0.0.1:8000"})
//	eng, err := rag.Open(dir, rag.WithVectorStore(v))
package chroma

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"regexp"
	"sync"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/vectorstore/internal/remote"
)

// Defaults of [Config]. Those of the graph are hnswlib's usual ones, with searches twice as wide as Chroma's.
const (
	DefaultURL            = "http://127.0.0.1:8000"
	DefaultTenant         = "default_tenant"
	DefaultDatabase       = "default_database"
	DefaultPrefix         = "rag"
	DefaultEf             = 200
	DefaultEfConstruction = 200
	DefaultM              = 16
)

// Config holds the settings of [New]. Ef, EfConstruction and M hold for collections that are made from now on.
type Config struct {
	URL       string            `json:"url"`                                      // address of the server; "": DefaultURL
	APIKey    string            `json:"api_key"`                                  // "": none is sent
	KeyHeader string            `json:"key_header"`                               // header that carries it; "": X-Chroma-Token. In Authorization it follows "Bearer"
	Headers   map[string]string `json:"headers"`                                  // sent with each request
	Tenant    string            `json:"tenant"`                                   // "": DefaultTenant
	Database  string            `json:"database"`                                 // "": DefaultDatabase. It must be there
	Prefix    string            `json:"prefix"`                                   // with which the names of collections begin, letters and digits; "": DefaultPrefix
	TimeoutMS int               `json:"timeout_ms,omitzero" range:"[1,86400000]"` // of one try; 0: 30,000
	Tries     int               `json:"tries,omitzero" range:"[1,1000]"`          // of a request; 0: 3

	Ef             int `json:"ef,omitzero" range:"[1,1000000]"`              // width of a search: more finds more, more slowly; 0: DefaultEf
	EfConstruction int `json:"ef_construction,omitzero" range:"[1,1000000]"` // likewise while the graph is made; 0: DefaultEfConstruction
	M              int `json:"m,omitzero" range:"[1,10000]"`                 // links of a vector; 0: DefaultM
}

// Store is a vector store in a server of Chroma. It is safe for concurrent use, also by several processes.
type Store struct {
	service *remote.Service
	config  Config
	base    string // path of the database's collections

	mu    sync.Mutex
	known map[string]collection // by the engine's name
}

// collection is what the server says of one.
type collection struct {
	ID       string `json:"id"`
	Metadata struct {
		Dims int `json:"rag_dims"`
	} `json:"metadata"`
}

var (
	_ rag.VectorStore  = (*Store)(nil)
	_ rag.IDLister     = (*Store)(nil)
	_ rag.Dropper      = (*Store)(nil)
	_ rag.VectorReader = (*Store)(nil)
)

var prefixes = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,19}$`)

// New returns a store; it asks the server nothing yet. Settings out of range are ErrInvalid.
func New(c Config) (*Store, error) {
	c.Prefix = cmp.Or(c.Prefix, DefaultPrefix)
	if !prefixes.MatchString(c.Prefix) {
		return nil, fmt.Errorf("chroma: prefix must be a letter and up to 19 letters and digits: %w", rag.ErrInvalid)
	}
	if c.Ef < 0 || c.EfConstruction < 0 || c.M < 0 {
		return nil, fmt.Errorf("chroma: ef, ef_construction and m must not be below 0: %w", rag.ErrInvalid)
	}
	service, err := remote.NewService(remote.Settings{
		Name: "chroma", URL: cmp.Or(c.URL, DefaultURL), KeyHeader: cmp.Or(c.KeyHeader, "X-Chroma-Token"), Key: c.APIKey,
		Headers: c.Headers, Timeout: time.Duration(c.TimeoutMS) * time.Millisecond, Tries: c.Tries,
	})
	if err != nil {
		return nil, err
	}
	base := "/api/v2/tenants/" + url.PathEscape(cmp.Or(c.Tenant, DefaultTenant)) + "/databases/" + url.PathEscape(cmp.Or(c.Database, DefaultDatabase)) + "/collections"
	return &Store{service: service, config: c, base: base, known: map[string]collection{}}, nil
}

func (s *Store) name(of string) string { return remote.Name(s.config.Prefix, of, "-") }

// find returns a collection, or ErrNotFound.
func (s *Store) find(ctx context.Context, name string) (collection, error) {
	s.mu.Lock()
	c, ok := s.known[name]
	s.mu.Unlock()
	if ok {
		return c, nil
	}
	if err := s.service.Call(ctx, http.MethodGet, s.base+"/"+s.name(name), nil, &c); err != nil {
		return c, err
	}
	return s.keep(name, c)
}

// make returns a collection that holds vectors of a length, and makes it if it is not there. Of several that make it at
// once the first decides; the others find its.
func (s *Store) make(ctx context.Context, name string, dims int) (collection, error) {
	c, err := s.find(ctx, name)
	if !errors.Is(err, rag.ErrNotFound) {
		return c, err
	}
	request := map[string]any{
		"name": s.name(name), "get_or_create": true,
		"metadata": map[string]any{"rag_dims": dims, "rag_collection": name},
		// Vectors have unit length, so the inner product is the cosine, and Chroma keeps them as they are: for its cosine
		// it would scale them, and give back others.
		"configuration": map[string]any{"hnsw": map[string]any{
			"space": "ip", "ef_search": cmp.Or(s.config.Ef, DefaultEf),
			"ef_construction": cmp.Or(s.config.EfConstruction, DefaultEfConstruction), "max_neighbors": cmp.Or(s.config.M, DefaultM),
		}},
	}
	if err := s.service.Call(ctx, http.MethodPost, s.base, request, &c); err != nil {
		return c, err
	}
	return s.keep(name, c)
}

func (s *Store) keep(name string, c collection) (collection, error) {
	if c.ID == "" || c.Metadata.Dims < 1 {
		return c, s.service.Errorf("collection %q (%s) was not made by rag: set another prefix: %w", name, s.name(name), rag.ErrInvalid)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[name] = c
	return c, nil
}

// with does something with a collection, of which get tells which it is. Another process may have dropped it and made it
// anew since it was asked for, so that it is asked for once more when it is not found.
func (s *Store) with(name string, get func() (collection, error), do func(c collection) error) error {
	for try := 0; ; try++ {
		c, err := get()
		if err != nil {
			return err
		}
		if err = do(c); try > 0 || !errors.Is(err, rag.ErrNotFound) {
			return err
		}
		s.mu.Lock()
		delete(s.known, name)
		s.mu.Unlock()
	}
}

// read does something with a collection; there is nothing to be done with one that is not there.
func (s *Store) read(ctx context.Context, name string, do func(c collection) error) error {
	err := s.with(name, func() (collection, error) { return s.find(ctx, name) }, do)
	if errors.Is(err, rag.ErrNotFound) {
		return nil
	}
	return err
}

// Drop removes a collection.
func (s *Store) Drop(ctx context.Context, name string) error {
	s.mu.Lock()
	delete(s.known, name)
	s.mu.Unlock()
	err := s.service.Call(ctx, http.MethodDelete, s.base+"/"+s.name(name), nil, nil)
	if errors.Is(err, rag.ErrNotFound) {
		return nil
	}
	return err
}

// IDs yields the IDs in the order in which records were first written. Records that are deleted meanwhile may hide others
// from it.
func (s *Store) IDs(ctx context.Context, name string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		seen := map[string]bool{} // a page begins further on than the last one ended where records were deleted and written
		more := true
		err := s.read(ctx, name, func(c collection) error {
			return s.pages(ctx, c, rowsOfIDs, getRequest{Include: []string{}}, func(r rows) error {
				for _, id := range r.IDs {
					if more && !seen[id] {
						seen[id] = true
						if more = yield(id, nil); !more {
							return errStop
						}
					}
				}
				return nil
			})
		})
		if err != nil && more && !errors.Is(err, errStop) {
			yield("", err)
		}
	}
}

// errStop ends pages early.
var errStop = errors.New("enough")
