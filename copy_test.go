package rag_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/catalog"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/vectorstore"
)

// shelfOf makes an engine with n documents, two passages or so each, and a metadata field.
func shelfOf(t *testing.T, n int, opts ...rag.Option) *rag.Engine {
	t.Helper()
	eng := openAt(t, t.TempDir(), opts...)
	var sets []rag.Sources
	for i := range n {
		text := fmt.Sprintf("---\nnumber: %d\n---\n# Bird %d\n\nBird number %d eats seed %d in month %d.\n\n## Nest\n\nThe nest of bird %d lies at place %d.\n", i, i, i, i*7%13, i%12, i, i*3)
		sets = append(sets, rag.Bytes(fmt.Sprintf("mem:%03d.md", i), []byte(text)))
	}
	if n > 0 {
		if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: sets}); err != nil {
			t.Fatal(err)
		}
	}
	return eng
}

func openAt(t *testing.T, dir string, opts ...rag.Option) *rag.Engine {
	t.Helper()
	eng, err := rag.Open(dir, append([]rag.Option{rag.WithEmbedder(&ragtest.HashEmbedder{})}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { eng.Close() })
	return eng
}

// elsewhere are other providers than the default ones: a catalog in memory and an exact search.
func elsewhere(t *testing.T) []rag.Option {
	t.Helper()
	config := rag.DefaultConfig()
	config.Catalog.Provider, config.VectorStore.Provider = "memory", "flat"
	return []rag.Option{rag.WithConfig(config)}
}

func TestCopyTakesEverythingOver(t *testing.T) {
	from := shelfOf(t, 40)
	embedder := &ragtest.HashEmbedder{Before: func(_ context.Context, role rag.EmbedRole, _ []string) error {
		if role == rag.AsPassage {
			return errors.New("a passage is embedded")
		}
		return nil
	}}
	to := openAt(t, t.TempDir(), append(elsewhere(t), rag.WithEmbedder(embedder))...)
	rep, err := to.Copy(t.Context(), rag.CopyRequest{From: from, Compare: &rag.CompareRequest{K: 10}})
	if err != nil {
		t.Fatal(err)
	}
	if rep.Copied != 40 || rep.Vectors != rep.Chunks || !rep.Check.OK || rep.Check.Overlap != 1 || rep.Check.Asked < 40 {
		t.Errorf("report %+v, check %+v", rep, rep.Check)
	}
	for _, q := range []string{"which bird eats seed 3", "nest of bird 12"} {
		a, b := search(t, from, rag.Query{Text: q}), search(t, to, rag.Query{Text: q})
		for i := range a.Hits {
			if d := cmp.Diff(a.Hits[i].Chunk, b.Hits[i].Chunk); d != "" {
				t.Errorf("%s: hit %d (-from +to):\n%s", q, i, d)
			}
		}
	}
	if v, err := to.Verify(t.Context(), ""); err != nil || !v.OK || v.Vectors != rep.Chunks || v.Postings != rep.Chunks {
		t.Errorf("verify %+v, %v", v, err)
	}
	again, err := to.Copy(t.Context(), rag.CopyRequest{From: from})
	if err != nil || again.Copied != 0 || again.Unchanged != 40 {
		t.Errorf("a second copy: %+v, %v", again, err)
	}
}

// A copy is cut short at each write in turn; each time the next goes on, and what is seen meanwhile is whole documents.
func TestCopyGoesOnWhereItWasCutShort(t *testing.T) {
	from := shelfOf(t, 600) // three groups
	dir := t.TempDir()
	tried := 0
	for at := 1; ; at++ {
		to := openAt(t, dir)
		ctx, cancel := context.WithCancel(t.Context())
		writes := 0
		rep, err := to.Copy(ctx, rag.CopyRequest{From: from, Progress: func(rag.Progress) {
			if writes++; writes == at {
				cancel()
			}
		}, Compare: &rag.CompareRequest{Samples: 5}})
		cancel()
		tried++
		if err == nil {
			if !rep.Check.OK || rep.Copied+rep.Unchanged != 600 {
				t.Errorf("in the end: %+v, %+v", rep, rep.Check)
			}
			if v, err := to.Verify(t.Context(), ""); err != nil || !v.OK {
				t.Errorf("verify %+v, %v", v, err)
			}
			break
		}
		if v, err := to.Verify(t.Context(), ""); err != nil || !v.Unfinished || v.Run != rag.RunCopy || len(v.Missing) > 0 {
			t.Errorf("cut short at %d: %+v, %v", at, v, err)
		}
		if err := to.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if tried < 3 {
		t.Errorf("only %d runs", tried)
	}
}

func TestCopyBringsChangesAfter(t *testing.T) {
	from, to := shelfOf(t, 5), openAt(t, t.TempDir())
	ctx := t.Context()
	if _, err := to.Copy(ctx, rag.CopyRequest{From: from}); err != nil {
		t.Fatal(err)
	}
	if _, err := from.Delete(ctx, rag.DeleteRequest{URIs: []string{"mem:001.md"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := from.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{rag.Bytes("mem:002.md", []byte("# Bird 2\n\nIt has flown.\n"))}}); err != nil {
		t.Fatal(err)
	}
	rep, err := to.Compare(ctx, rag.CompareRequest{With: from})
	if err != nil || rep.OK || !slices.Equal(rep.Extra, []string{"mem:001.md"}) || !slices.Equal(rep.Different, []string{"mem:002.md"}) || rep.Differing != 2 {
		t.Errorf("comparison %+v, %v", rep, err)
	}
	if c, err := to.Copy(ctx, rag.CopyRequest{From: from}); err != nil || c.Check.OK || c.Copied != 1 {
		t.Errorf("without prune: %+v, %v", c, err)
	}
	if c, err := to.Copy(ctx, rag.CopyRequest{From: from, Prune: true}); err != nil || !c.Check.OK || c.Removed != 1 {
		t.Errorf("with prune: %+v, %v", c, err)
	}
	if v, err := to.Verify(ctx, ""); err != nil || !v.OK {
		t.Errorf("verify %+v, %v", v, err)
	}
}

// What a copy and a comparison ask is no question of a user.
func TestProbesLeaveNoTraces(t *testing.T) {
	kept := [2]traces{}
	from, to := shelfOf(t, 5, rag.WithTraceSink(&kept[0])), openAt(t, t.TempDir(), rag.WithTraceSink(&kept[1]))
	if r, err := to.Copy(t.Context(), rag.CopyRequest{From: from, Compare: &rag.CompareRequest{}}); err != nil || r.Check.Asked == 0 {
		t.Fatalf("copy %+v, %v", r, err)
	}
	if r, err := to.Compare(t.Context(), rag.CompareRequest{With: from}); err != nil || !r.OK || r.Asked == 0 {
		t.Fatalf("comparison %+v, %v", r, err)
	}
	for _, side := range kept {
		for _, trace := range side.all {
			if trace.Type == rag.TraceQuery {
				t.Errorf("a trace of %q", trace.UserQuery)
			}
		}
	}
}

func TestCopyRefuses(t *testing.T) {
	ctx := t.Context()
	dir := filepath.Join(t.TempDir(), "kb")
	from := openAt(t, dir)
	if _, err := from.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{rag.Bytes("mem:a.md", []byte("# A\n\nText.\n"))}}); err != nil {
		t.Fatal(err)
	}
	words := rag.DefaultConfig()
	words.SparseIndex.Settings = json.RawMessage(`{"fields":{"title":2}}`)
	for name, tt := range map[string]struct {
		to   *rag.Engine
		req  rag.CopyRequest
		want error
	}{
		"nothing":          {openAt(t, t.TempDir()), rag.CopyRequest{}, rag.ErrInvalid},
		"itself":           {from, rag.CopyRequest{From: from}, rag.ErrInvalid},
		"the same folder":  {openAt(t, dir), rag.CopyRequest{From: from}, rag.ErrInvalid},
		"another model":    {openAt(t, t.TempDir(), rag.WithEmbedder(&ragtest.HashEmbedder{Revision: "2"})), rag.CopyRequest{From: from}, rag.ErrFingerprint},
		"another analyzer": {openAt(t, t.TempDir(), rag.WithConfig(words)), rag.CopyRequest{From: from}, rag.ErrFingerprint},
		"an unknown one":   {openAt(t, t.TempDir()), rag.CopyRequest{From: from, Collection: "none"}, rag.ErrNotFound},
		"a view":           {openAt(t, t.TempDir()), rag.CopyRequest{From: from.Scoped(rag.Eq("x", "y"))}, rag.ErrUnsupported},
		"into a view":      {openAt(t, t.TempDir()).Scoped(rag.Eq("x", "y")), rag.CopyRequest{From: from}, rag.ErrUnsupported},
	} {
		if _, err := tt.to.Copy(ctx, tt.req); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v; want %v", name, err, tt.want)
		}
	}
	if rep, err := openAt(t, t.TempDir(), rag.WithConfig(words)).Copy(ctx, rag.CopyRequest{From: from, OtherWords: true}); err != nil || rep.Words == rep.WordsFrom || rep.Copied != 1 {
		t.Errorf("another analyzer that is allowed: %+v, %v", rep, err)
	}
}

// cutter fails one call of those it is asked about: before the call does anything, or after it has done it.
type cutter struct {
	calls, at int
	after     bool
}

var errCut = errors.New("the connection is cut")

func (c *cutter) call(do func() error) error {
	if c.calls++; c.calls != c.at {
		return do()
	}
	if c.after {
		return errors.Join(do(), errCut)
	}
	return errCut
}

type cutCatalog struct {
	*catalog.Memory
	*cutter
}

func (c cutCatalog) Commit(ctx context.Context, collection string, changes []rag.Change) error {
	return c.call(func() error { return c.Memory.Commit(ctx, collection, changes) })
}

type cutVectors struct {
	*vectorstore.Flat
	*cutter
}

func (c cutVectors) Upsert(ctx context.Context, collection string, recs []rag.VectorRecord) error {
	return c.call(func() error { return c.Flat.Upsert(ctx, collection, recs) })
}

func (c cutVectors) Delete(ctx context.Context, collection string, ids []string) error {
	return c.call(func() error { return c.Flat.Delete(ctx, collection, ids) })
}

// The connection to the store that is written to is cut at each write in turn, before and after it is done. The next copy
// always ends well, and what was seen in between are whole documents.
func TestCopyWhereEveryWriteFails(t *testing.T) {
	from := shelfOf(t, 8)
	for _, after := range []bool{false, true} {
		for at := 1; ; at++ {
			cut := &cutter{after: after}
			vectors, err := vectorstore.OpenFlat("", vectorstore.FlatConfig{})
			if err != nil {
				t.Fatal(err)
			}
			to := openAt(t, "", rag.WithCatalog(cutCatalog{catalog.NewMemory(), cut}), rag.WithVectorStore(cutVectors{vectors, cut}))
			old := rag.Bytes("mem:003.md", []byte("# Bird 3\n\nBird number 3 has flown.\n\n## Nest\n\nThe nest of bird 3 lies at place 9.\n"))
			if _, err := to.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{old}}); err != nil { // a document to be replaced
				t.Fatal(err)
			}
			cut.calls, cut.at = 0, at
			_, failed := to.Copy(t.Context(), rag.CopyRequest{From: from})
			if failed != nil && !errors.Is(failed, errCut) {
				t.Fatal(failed)
			}
			cut.at = 0
			for entry, err := range to.Documents(t.Context(), "") {
				if err != nil {
					t.Fatal(err)
				}
				if chunks, err := to.DocumentChunks(t.Context(), "", entry.URI, 0, 0); err != nil || len(chunks) != len(entry.Chunks) {
					t.Errorf("call %d: %s has %d of %d passages, %v", at, entry.URI, len(chunks), len(entry.Chunks), err)
				}
			}
			rep, err := to.Copy(t.Context(), rag.CopyRequest{From: from})
			if err != nil || !rep.Check.OK {
				t.Fatalf("call %d, after %v: the next copy: %+v, %v", at, after, rep, err)
			}
			if v, err := to.Verify(t.Context(), ""); err != nil || !v.OK {
				t.Errorf("call %d, after %v: %+v, %v", at, after, v, err)
			}
			if failed == nil {
				if at < 5 {
					t.Errorf("only %d writes", at-1)
				}
				break
			}
		}
	}
}
