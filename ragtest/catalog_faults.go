package ragtest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
)

// lockPatience is how long a lock is waited for whose holder's connection broke: no longer than the server notices.
const lockPatience = 10 * time.Second

// TestCatalogFaults is [TestVectorStoreFaults] for a [rag.Catalog]: in addition, a commit is there as a whole or not at all.
func TestCatalogFaults(t *testing.T, address string, open func(t *testing.T, address string) rag.Catalog) {
	t.Helper()
	runFaults(t, address, open, catalogActs)
}

// faultyPapers are two documents, with a picture each, in a version.
func faultyPapers(version string) []rag.Change {
	changes := []rag.Change{paper("a", version, 2), paper("b", version, 2), {Header: &rag.Header{Embedder: version, Dims: 3}}}
	for i := range 2 {
		changes[i].Put.Document.Images = []rag.Image{picture(fmt.Sprint("picture ", i))}
	}
	return changes
}

func commitPapers(version string) func(context.Context, rag.Catalog, string) error {
	return func(ctx context.Context, c rag.Catalog, name string) error {
		return c.Commit(ctx, name, faultyPapers(version))
	}
}

// papersAre checks that of all documents there is the same version: had or, if the call is done, gets; "" is none.
func papersAre(had, gets string) func(context.Context, rag.Catalog, string, bool) error {
	return func(ctx context.Context, c rag.Catalog, name string, done bool) error {
		var seen []string
		for _, uri := range []string{"a", "b"} {
			version := ""
			chunks, err := c.Chunks(ctx, name, []string{uri + "#0", uri + "#1"})
			if err != nil {
				return err
			}
			for _, chunk := range chunks {
				version += chunk.Text
			}
			d, err := c.Document(ctx, name, uri)
			if err != nil && !errors.Is(err, rag.ErrNotFound) {
				return err
			}
			seen = append(seen, version, d.Text+d.Text) // two chunks
		}
		for _, version := range seen {
			if version != seen[0] || version != gets+gets && (done || version != had+had) {
				return fmt.Errorf("of chunks and documents there are the versions %q, want twice %q, or %q; done: %v", seen, gets, had, done)
			}
		}
		return nil
	}
}

// catalogActs are the calls of a catalog like c.
func catalogActs(c rag.Catalog) []act[rag.Catalog] {
	one := commitPapers("1")
	// reads is a call that must give as many as n, or an error.
	reads := func(name string, n int, do func(ctx context.Context, c rag.Catalog, name string) (int, error)) act[rag.Catalog] {
		return act[rag.Catalog]{name: name, prepare: one, holds: papersAre("1", "1"), do: func(ctx context.Context, c rag.Catalog, name string) error {
			got, err := do(ctx, c, name)
			if err == nil && got != n {
				return fmt.Errorf("%w: %d, want %d", errWrong, got, n)
			}
			return err
		}}
	}
	acts := []act[rag.Catalog]{
		{name: "first Commit", do: one, holds: papersAre("", "1")},
		{name: "Commit of other versions", prepare: one, do: commitPapers("2"), holds: papersAre("1", "2")},
		{
			name: "Commit that removes", prepare: one, holds: papersAre("1", ""),
			do: func(ctx context.Context, c rag.Catalog, name string) error {
				return c.Commit(ctx, name, []rag.Change{{Remove: "a"}, {Remove: "b"}})
			},
		},
		{name: "Drop", prepare: one, do: func(ctx context.Context, c rag.Catalog, name string) error { return c.Drop(ctx, name) }, holds: papersAre("1", "")},
		reads("Entry", 2, func(ctx context.Context, c rag.Catalog, name string) (int, error) {
			e, err := c.Entry(ctx, name, "a")
			return len(e.Chunks), err
		}),
		reads("Document", 1, func(ctx context.Context, c rag.Catalog, name string) (int, error) {
			d, err := c.Document(ctx, name, "a")
			return len(d.Images), err
		}),
		reads("Image", len("picture 1"), func(ctx context.Context, c rag.Catalog, name string) (int, error) {
			data, err := c.Image(ctx, name, picture("picture 1").ID)
			return len(data), err
		}),
		reads("Chunks", 3, func(ctx context.Context, c rag.Catalog, name string) (int, error) {
			chunks, err := c.Chunks(ctx, name, []string{"b#1", "none", "a#0", "a#1"})
			return len(chunks), err
		}),
		reads("Scan", 4, func(ctx context.Context, c rag.Catalog, name string) (n int, err error) {
			for _, err := range c.Scan(ctx, name, rag.Filter{}) {
				if err != nil {
					return n, err
				}
				n++
			}
			return n, nil
		}),
		reads("Entries", 2, func(ctx context.Context, c rag.Catalog, name string) (n int, err error) {
			for _, err := range c.Entries(ctx, name, "", "") {
				if err != nil {
					return n, err
				}
				n++
			}
			return n, nil
		}),
		reads("Collections", 4, func(ctx context.Context, c rag.Catalog, name string) (int, error) {
			all, err := c.Collections(ctx)
			for _, info := range all {
				if info.Name == name {
					return info.Chunks, err
				}
			}
			return 0, err
		}),
	}
	if _, ok := c.(rag.CollectionLocker); ok {
		acts = append(acts, act[rag.Catalog]{
			name: "LockCollection", prepare: one, do: func(ctx context.Context, c rag.Catalog, name string) error {
				unlock, err := c.(rag.CollectionLocker).LockCollection(ctx, name, lockPatience)
				if err == nil {
					unlock()
				}
				return err
			},
			holds: func(ctx context.Context, c rag.Catalog, name string, _ bool) error { // whoever lost it does not keep it
				unlock, err := c.(rag.CollectionLocker).LockCollection(ctx, name, lockPatience)
				if err == nil {
					unlock()
				}
				return err
			},
		})
	}
	return acts
}
