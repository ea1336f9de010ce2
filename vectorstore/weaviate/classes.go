package weaviate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/httpjson"
	"github.com/seed-d8745b77/rag/vectorstore/internal/remote"
)

// kind is what a class holds. Vectors and words of a collection have a class each, since a write replaces a whole object.
type kind string

const (
	vectors kind = "Vectors"
	words   kind = "Words"
)

// classes are the classes of one kind of records.
type classes struct {
	service *remote.Service
	once    *remote.Service // makes a single try
	brisk   *remote.Service // makes a single try, and soon gives up
	config  Config
	kind    kind

	mu    sync.Mutex
	known map[string]class // by the engine's name of the collection
}

// class is one that is there.
type class struct {
	name string
	made
	replicated bool // only then queries may name a consistency level
}

// made is what the description of a class tells of it.
type made struct {
	Collection string `json:"rag_collection"`
	Dims       int    `json:"rag_dims"` // of words 0
}

func (s *classes) name(collection string) string {
	return remote.Name(s.config.Prefix+string(s.kind), collection, "_")
}

// find returns the class of a collection, or ErrNotFound.
func (s *classes) find(ctx context.Context, collection string) (class, error) {
	s.mu.Lock()
	c, ok := s.known[collection]
	s.mu.Unlock()
	if ok {
		return c, nil
	}
	c.name = s.name(collection)
	var reply struct {
		Description string `json:"description"`
		Replication struct {
			Factor int `json:"factor"`
		} `json:"replicationConfig"`
	}
	if err := s.describe(ctx, c.name, &reply); err != nil {
		return c, err
	}
	if err := json.Unmarshal([]byte(reply.Description), &c.made); err != nil || c.Collection != collection {
		return c, s.service.Errorf("class %s was not made by rag for collection %q: set another prefix: %w", c.name, collection, rag.ErrInvalid)
	}
	c.replicated = reply.Replication.Factor > 1
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[collection] = c
	return c, nil
}

// make returns the class of a collection, and makes it if it is not there. Of several that make it at once the first
// decides the length of the vectors; the others are refused, and find its.
func (s *classes) make(ctx context.Context, collection string, dims int) (class, error) {
	c, err := s.find(ctx, collection)
	if !errors.Is(err, rag.ErrNotFound) {
		return c, err
	}
	description, err := json.Marshal(made{collection, dims})
	if err != nil {
		return c, fmt.Errorf("encode class: %w", err)
	}
	refused := s.change(ctx, http.MethodPost, "/v1/schema", s.definition(s.name(collection), string(description)), nil)
	if c, err = s.find(ctx, collection); errors.Is(err, rag.ErrNotFound) && refused != nil {
		return c, refused
	}
	return c, err
}

type object = map[string]any

// definition is a class as it is made.
func (s *classes) definition(name, description string) object {
	stored := func(name string) object {
		return object{"name": name, "dataType": []string{"text"}, "tokenization": "field", "indexFilterable": false, "indexSearchable": false}
	}
	number := func(name string) object {
		return object{"name": name, "dataType": []string{"number"}, "indexFilterable": false, "indexRangeFilters": true}
	}
	properties := []object{
		stored("chunk"), stored("doc"), stored("meta"), number("from"), number("until"),
		{"name": "has", "dataType": []string{"text[]"}, "tokenization": "field", "indexFilterable": true, "indexSearchable": false},
	}
	index := object{"distance": "cosine", "ef": s.config.Ef, "efConstruction": s.config.EfConstruction, "maxConnections": s.config.M}
	if s.kind == words {
		index = object{"skip": true}
		properties = append(properties, object{
			// The words are the analyzer's terms, which hold points and signs: only blanks tell them apart.
			"name": "terms", "dataType": []string{"text"}, "tokenization": "whitespace", "indexFilterable": true, "indexSearchable": true,
		}, object{"name": "length", "dataType": []string{"number"}, "indexFilterable": true}) // both filterable, to be counted
	}
	return object{
		"class": name, "description": description, "vectorizer": "none", "vectorIndexType": "hnsw", "vectorIndexConfig": index,
		"replicationConfig": object{"factor": s.config.Replicas, "asyncEnabled": s.config.Replicas > 1, "deletionStrategy": "TimeBasedResolution"},
		"shardingConfig":    object{"desiredCount": s.config.Shards},
		"invertedIndexConfig": object{
			"bm25":      object{"k1": s.config.K1, "b": s.config.B},
			"stopwords": object{"preset": "none"}, // the analyzer has left them out
		},
		"properties": properties,
	}
}

// read does something with the class of a collection; there is nothing to be done with one that is not there. Another
// process may have dropped it since it was asked for, and made it anew; and a node may not have heard of one that is there.
func (s *classes) read(ctx context.Context, collection string, do func(class) error) error {
	for again := false; ; again = true {
		c, err := s.find(ctx, collection)
		if errors.Is(err, rag.ErrNotFound) {
			return nil
		}
		if err == nil {
			err = do(c)
		}
		if again || !errors.Is(err, rag.ErrNotFound) {
			return err
		}
		s.forget(collection)
	}
}

// write does something with the class of a collection, which is made if it is not there, also if another process drops it
// meanwhile.
func (s *classes) write(ctx context.Context, collection string, dims int, do func(class) error) error {
	for again := false; ; again = true {
		c, err := s.make(ctx, collection, dims)
		if err == nil {
			err = do(c)
		}
		if again || !errors.Is(err, rag.ErrNotFound) {
			return err
		}
		s.forget(collection)
	}
}

func (s *classes) forget(collection string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, collection)
}

// Drop removes a collection.
func (s *classes) Drop(ctx context.Context, collection string) error {
	s.forget(collection)
	err := s.change(ctx, http.MethodDelete, "/v1/schema/"+s.name(collection), nil, nil)
	if errors.Is(err, rag.ErrNotFound) {
		return nil
	}
	return err
}

// absences are what servers say, in replies of several kinds, of a class that is not there.
var absences = []string{"no graphql provider present", "Cannot query field", "failed to get class", "not present in schema"}

func isAbsence(text string) bool {
	return slices.ContainsFunc(absences, func(a string) bool { return strings.Contains(text, a) })
}

// call asks the server as [remote.Service.Call] does. That a class is not there is always ErrNotFound.
func (s *classes) call(ctx context.Context, method, path string, in, out any) error {
	return s.ask(ctx, s.service, method, path, in, out)
}

// ask is call with other tries.
func (s *classes) ask(ctx context.Context, service *remote.Service, method, path string, in, out any) error {
	err := service.Call(ctx, method, path, in, out)
	if status, ok := errors.AsType[*httpjson.StatusError](err); ok && isAbsence(status.Body) {
		return s.service.Errorf("%s: %w", status.Body, rag.ErrNotFound)
	}
	return err
}
