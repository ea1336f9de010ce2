package rag_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

// twoTenants holds a document of each of two tenants, and a collection that only the second has something in.
func twoTenants(t *testing.T) (f *fixture, mine *rag.Engine, other string) {
	f = newFixture(t)
	f.write("red.md", "---\ntenant: red\n---\n# Red\n\nThe secret of red is a heron.\n")
	f.write("blue.md", "---\ntenant: blue\n---\n# Blue\n\nThe secret of blue is a badger.\n")
	f.ingest(nil)
	f.ingest(func(r *rag.IngestRequest) {
		r.Collection = "blueprints"
		r.Sources = []rag.Sources{rag.Path(filepath.Join(f.docs, "blue.md"))}
	})
	return f, f.Scoped(rag.Eq("tenant", "red")), rag.FileURI(filepath.Join(f.docs, "blue.md"))
}

func TestScopedSeesNothingOutside(t *testing.T) {
	f, mine, other := twoTenants(t)
	ctx := t.Context()
	for name, q := range map[string]rag.Query{
		"a question":            {Text: "secret badger"},
		"a forged filter":       {Text: "secret badger", Filter: rag.Or(rag.Eq("tenant", "blue"), rag.Eq("tenant", "red"))},
		"all but":               {Text: "secret badger", Filter: rag.Not(rag.Eq("tenant", "green"))},
		"beside and around":     {Text: "secret", Also: []rag.SubQuery{{Text: "badger"}}, Neighbours: new(3), Parent: new(true)},
		"only the words":        {Text: "badger", Mode: rag.Sparse},
		"the filter of another": {Text: "badger", Filter: rag.Eq("tenant", "blue")},
	} {
		q.Explain = true
		res, err := mine.Search(ctx, q)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, h := range res.Hits {
			if h.Chunk.Meta["tenant"] != "red" {
				t.Errorf("%s: found %s", name, h.Chunk.URI)
			}
		}
		for _, s := range res.Trace.Stages {
			for _, c := range s.Candidates {
				if _, err := mine.Chunk(ctx, "", c.ChunkID); err != nil {
					t.Errorf("%s: the trace of %s names a passage of another", name, s.Stage)
				}
			}
		}
		for _, n := range res.Notes {
			if strings.Contains(n.Reason, "blue") && !strings.Contains(name, "another") {
				t.Errorf("%s: note %q", name, n.Reason)
			}
		}
	}
	var theirs []rag.Chunk
	for c := range f.Chunks(ctx, "", rag.Eq("tenant", "blue")) {
		theirs = append(theirs, c)
	}
	if len(theirs) != 1 {
		t.Fatal(theirs)
	}
	for name, read := range map[string]func() error{
		"entry":    func() error { _, err := mine.Entry(ctx, "", other); return err },
		"document": func() error { _, err := mine.Document(ctx, "", other); return err },
		"chunk":    func() error { _, err := mine.Chunk(ctx, "", theirs[0].ID); return err },
		"explain": func() error {
			_, err := mine.Explain(ctx, rag.Query{Text: "badger"}, rag.ExplainTarget{ChunkID: theirs[0].ID})
			return err
		},
		"explain words": func() error {
			_, err := mine.Explain(ctx, rag.Query{Text: "badger"}, rag.ExplainTarget{Text: theirs[0].Text})
			return err
		},
		"explain document": func() error {
			_, err := mine.Explain(ctx, rag.Query{Text: "badger"}, rag.ExplainTarget{URI: other})
			return err
		},
		"collection":        func() error { _, err := mine.Search(ctx, rag.Query{Text: "x", Collection: "blueprints"}); return err },
		"a near collection": func() error { _, err := mine.Search(ctx, rag.Query{Text: "x", Collection: "blueprint"}); return err },
	} {
		if err := read(); !errors.Is(err, rag.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		} else if name == "a near collection" && strings.Contains(err.Error(), "blueprints") {
			t.Errorf("the error names a collection of another: %v", err)
		}
	}
	infos, err := mine.Collections(ctx)
	if err != nil || len(infos) != 1 || infos[0].Name != "default" || infos[0].Documents != 1 || infos[0].Chunks != 1 {
		t.Errorf("collections %+v, %v", infos, err)
	}
	var uris []string
	for e, err := range mine.Documents(ctx, "") {
		if err != nil {
			t.Fatal(err)
		}
		uris = append(uris, filepath.Base(e.URI))
	}
	if !cmp.Equal(uris, []string{"red.md"}) {
		t.Errorf("documents %v", uris)
	}
	for c := range mine.Scoped(rag.Eq("tenant", "blue")).Chunks(ctx, "", rag.Filter{}) {
		t.Errorf("a view of a view sees %s", c.URI)
	}
}

func TestScopedChangesOnlyWhatItSees(t *testing.T) {
	f, mine, other := twoTenants(t)
	ctx := t.Context()
	for name, call := range map[string]func() error{
		"ingest": func() error {
			_, err := mine.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{rag.Bytes("mem:x", []byte("x"))}})
			return err
		},
		"verify":  func() error { _, err := mine.Verify(ctx, ""); return err },
		"repair":  func() error { _, err := mine.Repair(ctx, ""); return err },
		"reindex": func() error { _, err := mine.Reindex(ctx, rag.ReindexRequest{}); return err },
		"backup":  func() error { return mine.Backup(ctx, filepath.Join(t.TempDir(), "b")) },
		"recall":  func() error { _, err := mine.Recall(ctx, ""); return err },
	} {
		if err := call(); !errors.Is(err, rag.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	rep, err := mine.Delete(ctx, rag.DeleteRequest{URIs: []string{other}})
	if err != nil || rep.Documents != 0 || !cmp.Equal(rep.NotFound, []string{other}) {
		t.Errorf("delete of another's: %+v, %v", rep, err)
	}
	if rep, err = mine.Delete(ctx, rag.DeleteRequest{All: true}); err != nil || rep.Documents != 1 {
		t.Errorf("delete of all: %+v, %v", rep, err)
	}
	if _, err := f.Entry(ctx, "", other); err != nil {
		t.Errorf("the other's document: %v", err)
	}
	if infos, err := mine.Collections(ctx); err != nil || len(infos) != 0 {
		t.Errorf("what is left to see: %+v, %v", infos, err)
	}
	if err := mine.Close(); err != nil {
		t.Error(err)
	}
	f.sound() // the engine is open still
}

func TestSearchTellsItsStages(t *testing.T) {
	f, _, _ := twoTenants(t)
	var mu sync.Mutex
	var stages []string
	_, err := f.Search(t.Context(), rag.Query{Text: "secret", Progress: func(d rag.StageDone) {
		if !mu.TryLock() {
			t.Error("two stages at once")
		}
		defer mu.Unlock()
		if d.Elapsed < 0 || d.Stage != rag.StageQuery && d.Stage != rag.StageRerank && d.Hits == 0 {
			t.Errorf("%+v", d)
		}
		stages = append(stages, d.Stage)
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{rag.StageQuery, rag.StageDense, rag.StageSparse, rag.StageFusion, rag.StageShape} {
		if !slices.Contains(stages, want) {
			t.Errorf("no %s among %v", want, stages)
		}
	}
}

// panics is a sparse index that panics when it is asked.
type panics struct{ rag.SparseIndex }

func (panics) Search(context.Context, string, rag.SparseQuery) ([]rag.Match, error) {
	panic("at 3 o'clock")
}

func TestAProviderThatPanicsIsALaneThatFailed(t *testing.T) {
	index, err := rag.Default.SparseIndexes.New("bm25", rag.Env{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	eng := memoryEngine(t, nil, []string{"An opal."}, rag.WithSparseIndex(panics{index}))
	res, err := eng.Search(t.Context(), rag.Query{Text: "opal"})
	if err != nil || res.Mode != rag.Dense || len(res.Notes) != 1 || !strings.Contains(res.Notes[0].Reason, "at 3 o'clock") {
		t.Errorf("%+v, %v", res, err)
	}
}

// lockedCatalog is one that several processes write to.
type lockedCatalog struct {
	rag.Catalog
	taken, held int
}

func (c *lockedCatalog) LockCollection(context.Context, string, time.Duration) (func(), error) {
	c.taken++
	c.held++
	return func() { c.held-- }, nil
}

func (c *lockedCatalog) Commit(ctx context.Context, collection string, changes []rag.Change) error {
	if c.held != 1 {
		return errors.New("a commit without the lock")
	}
	return c.Catalog.Commit(ctx, collection, changes)
}

// What a view deletes, it deletes in its engine's turn, also among processes.
func TestAViewWritesInItsTurn(t *testing.T) {
	memory, err := rag.Default.Catalogs.New("memory", rag.Env{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &lockedCatalog{Catalog: memory}
	f := newFixture(t, rag.WithCatalog(c))
	f.write("red.md", "---\ntenant: red\n---\nA heron.\n")
	f.ingest(nil)
	before := c.taken
	if rep, err := f.Scoped(rag.Eq("tenant", "red")).Scoped(rag.Filter{}).Delete(t.Context(), rag.DeleteRequest{All: true}); err != nil || rep.Documents != 1 {
		t.Errorf("%+v, %v", rep, err)
	}
	if c.taken == before || c.held != 0 {
		t.Errorf("locks taken %d, held %d", c.taken-before, c.held)
	}
}
