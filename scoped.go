package rag

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"
)

// Scoped returns a view of the engine for somebody who may see only what the filter matches: texts, documents, pictures,
// counts and names of collections, in results, traces and errors. A view of a view sees what both filters match. A document
// is seen if its own fields match, as in [DeleteRequest].
//
// A view reads, and deletes what it sees: All of a [DeleteRequest] means all of that. What concerns whole collections is
// ErrUnsupported: Ingest except for a dry run, Verify, Repair, Reindex, Compact, Backup, Recall, Calibrate. A view is
// closed with its engine. A filter that cannot be right matches nothing.
func (e *Engine) Scoped(f Filter) *Engine {
	view := *e
	view.scope = And(e.scope, f)
	view.catalog = &scopedCatalog{Catalog: e.catalog, scope: f, counts: map[string]scopedCount{}}
	return &view
}

// IsView reports whether the engine sees a part of its data only: see [Engine.Scoped].
func (e *Engine) IsView() bool {
	_, ok := e.catalog.(*scopedCatalog)
	return ok
}

// whole reports why a verb that concerns whole collections cannot be done.
func (e *Engine) whole(verb string) error {
	if e.IsView() {
		return fmt.Errorf("%s: only a part of the data may be seen here: %w", verb, ErrUnsupported)
	}
	return nil
}

// scopedCatalog is a catalog that knows nothing of what its scope does not match. Whatever an index finds, the engine
// shows only what the catalog lists, so this alone keeps a view inside its scope.
type scopedCatalog struct {
	Catalog
	scope Filter

	mu     sync.Mutex
	counts map[string]scopedCount // by collection
}

// scopedCount is what is seen of a collection as long as that stays as it was.
type scopedCount struct {
	documents, chunks, images int // of the whole
	updated, created          time.Time
	seen                      CollectionInfo
}

// sees reports whether a document is in scope. One of which nothing can be read any more is not.
func (c *scopedCatalog) sees(e *Entry) bool {
	return (e.State != StateDamaged || e.DocID != "") && c.scope.Match(e.fields(), e.Validity)
}

func (c *scopedCatalog) Entry(ctx context.Context, collection, uri string) (Entry, error) {
	e, err := c.Catalog.Entry(ctx, collection, uri)
	if errors.Is(err, ErrNotFound) || err == nil && !c.sees(&e) { // in the same words, or they would tell what is there
		return Entry{}, fmt.Errorf("no document %q in collection %q: %w", uri, collection, ErrNotFound)
	}
	return e, err
}

func (c *scopedCatalog) Document(ctx context.Context, collection, uri string) (Document, error) {
	if _, err := c.Entry(ctx, collection, uri); err != nil {
		return Document{}, err
	}
	return c.Catalog.Document(ctx, collection, uri)
}

// Image gives a picture that stands in a text that is seen: the same picture may stand in another that is not.
func (c *scopedCatalog) Image(ctx context.Context, collection, id string) ([]byte, error) {
	for chunk, err := range c.Scan(ctx, collection, Filter{}) {
		if isDamage(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, img := range chunk.Images {
			if img.ID == id {
				return c.Catalog.Image(ctx, collection, id)
			}
		}
	}
	return nil, fmt.Errorf("no picture %q in collection %q: %w", id, collection, ErrNotFound)
}

func (c *scopedCatalog) Chunks(ctx context.Context, collection string, ids []string) ([]Chunk, error) {
	all, err := c.Catalog.Chunks(ctx, collection, ids)
	var seen []Chunk
	for _, chunk := range all {
		if c.scope.Match(chunk.Fields(), chunk.Validity) {
			seen = append(seen, chunk)
		}
	}
	if isDamage(err) { // it may be of a document that is not seen
		err = &DamageError{URIs: []string{""}, Reason: "of which document is not told here"}
	}
	return seen, err
}

func (c *scopedCatalog) Scan(ctx context.Context, collection string, f Filter) iter.Seq2[Chunk, error] {
	return c.Catalog.Scan(ctx, collection, And(c.scope, f))
}

func (c *scopedCatalog) Entries(ctx context.Context, collection, prefix, after string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for e, err := range c.Catalog.Entries(ctx, collection, prefix, after) {
			if err == nil && !c.sees(&e) {
				continue
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Collections lists those that something is seen of, with what is seen counted.
func (c *scopedCatalog) Collections(ctx context.Context) ([]CollectionInfo, error) {
	all, err := c.Catalog.Collections(ctx)
	if err != nil {
		return nil, err
	}
	var seen []CollectionInfo
	for _, whole := range all {
		info, err := c.count(ctx, whole)
		if err != nil {
			return nil, err
		}
		if info.Documents > 0 {
			seen = append(seen, info)
		}
	}
	return seen, nil
}

// count counts what is seen of a collection, and remembers it until the collection changes. A picture that stands in
// several documents is counted in each.
func (c *scopedCatalog) count(ctx context.Context, whole CollectionInfo) (CollectionInfo, error) {
	now := scopedCount{documents: whole.Documents, chunks: whole.Chunks, images: whole.Images, updated: whole.Updated, created: whole.Header.Created}
	c.mu.Lock()
	kept, ok := c.counts[whole.Name]
	c.mu.Unlock()
	if ok {
		now.seen = kept.seen
		if now.same(&kept) {
			now.seen.Header = whole.Header
			return now.seen, nil
		}
	}
	now.seen = CollectionInfo{Name: whole.Name, Header: whole.Header}
	for e, err := range c.Entries(ctx, whole.Name, "", "") {
		if err != nil {
			return now.seen, err
		}
		now.seen.Documents++
		now.seen.Chunks += len(e.Chunks)
		now.seen.Images += e.Images
		if e.Ingested.After(now.seen.Updated) {
			now.seen.Updated = e.Ingested
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[whole.Name] = now
	return now.seen, nil
}

func (n *scopedCount) same(o *scopedCount) bool {
	return n.documents == o.documents && n.chunks == o.chunks && n.images == o.images && n.updated.Equal(o.updated) && n.created.Equal(o.created)
}

// Commit lets a delete through, of documents that are seen.
func (c *scopedCatalog) Commit(ctx context.Context, collection string, changes []Change) error {
	for _, change := range changes {
		if change.Put != nil {
			return fmt.Errorf("a document is written where only a part of the data may be seen: %w", ErrUnsupported)
		}
		if change.Remove != "" {
			if _, err := c.Entry(ctx, collection, change.Remove); err != nil {
				return err
			}
		}
	}
	return c.Catalog.Commit(ctx, collection, changes)
}

func (c *scopedCatalog) Drop(context.Context, string) error {
	return fmt.Errorf("a collection is dropped where only a part of it may be seen: %w", ErrUnsupported)
}
