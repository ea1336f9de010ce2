package main

import (
	"context"

	"github.com/seed-d8745b77/rag"
)

// Announced is a catalog that tells which documents have changed, once that is durable: for a cache of pages, or a
// message to other programs. All else is done by the catalog that it wraps.
type Announced struct {
	rag.Catalog

	Tell func(collection string, uris []string)
}

// Commit is the one way by which documents change.
func (a Announced) Commit(ctx context.Context, collection string, changes []rag.Change) error {
	if err := a.Catalog.Commit(ctx, collection, changes); err != nil {
		return err
	}
	var uris []string
	for _, c := range changes {
		switch {
		case c.Put != nil:
			uris = append(uris, c.Put.Entry.URI)
		case c.Remove != "":
			uris = append(uris, c.Remove)
		}
	}
	if len(uris) > 0 {
		a.Tell(collection, uris)
	}
	return nil
}
