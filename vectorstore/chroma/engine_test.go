//go:build unix

package chroma_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/internal/testdata"
	"github.com/seed-d8745b77/rag/vectorstore/chroma"
)

// engine opens one that is closed with the test.
func engine(t *testing.T, dir string, opts ...rag.Option) *rag.Engine {
	t.Helper()
	eng, err := rag.Open(dir, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	return eng
}

func ingest(t *testing.T, eng *rag.Engine, from rag.Sources) {
	t.Helper()
	if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{from}}); err != nil {
		t.Fatal(err)
	}
}

// verified fails the test unless the collection is as it should be.
func verified(t *testing.T, eng *rag.Engine) {
	t.Helper()
	rep, err := eng.Verify(t.Context(), "")
	if err != nil || !rep.OK {
		t.Errorf("verify: %v, %+v", err, rep)
	}
}

// questions are about the handbook, with and without conditions.
var questions = []rag.Query{
	{Text: "How many days of annual leave do I have?"},
	{Text: "Who is called when a laptop is stolen?"},
	{Text: "taxi receipts of a journey"},
	{Text: "eye protection in the laboratory", Filter: rag.Prefix(rag.FieldURI, "handbook/calibration")},
	{Text: "How many days of annual leave do I have?", Filter: rag.Not(rag.Eq(rag.FieldURI, "handbook/leave-policy-2024.md"))},
	{Text: "badge", Filter: rag.In(rag.FieldURI, "handbook/security-and-access.md", "handbook/onboarding-checklist.md")},
}

// chunks are the IDs of what a question finds by its meaning.
func chunks(t *testing.T, eng *rag.Engine, q rag.Query) (ids []string) {
	t.Helper()
	q.Mode = rag.Dense
	result, err := eng.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range result.Hits {
		ids = append(ids, h.Chunk.ID)
	}
	if len(ids) == 0 {
		t.Errorf("nothing was found for %q", q.Text)
	}
	return ids
}

// The handbook is ingested, searched, changed, deleted from, verified and repaired as with vectors in a file.
func TestHandbook(t *testing.T) {
	racetest.Skip(t)
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(filepath.Join(testdata.ModuleRoot(t), "examples", "handbook"))); err != nil {
		t.Fatal(err)
	}
	config := rag.DefaultConfig()
	config.VectorStore = rag.ProviderConfig{Provider: "flat"}
	flat := engine(t, t.TempDir(), rag.WithConfig(config))
	dir := t.TempDir()
	config.VectorStore = rag.ProviderConfig{Provider: "chroma", Settings: fmt.Appendf(nil, `{"url":%q,"prefix":%q}`, address(t), prefix(dir))}
	remote := engine(t, dir, rag.WithConfig(config))
	same := func(step string) {
		t.Helper()
		for _, q := range questions {
			if diff := cmp.Diff(chunks(t, flat, q), chunks(t, remote, q)); diff != "" {
				t.Errorf("%s: %q finds others than in a file (-file +chroma):\n%s", step, q.Text, diff)
			}
		}
		verified(t, remote)
	}
	both := func(do func(eng *rag.Engine)) { do(flat); do(remote) }

	both(func(eng *rag.Engine) { ingest(t, eng, rag.FS(os.DirFS(folder), "handbook")) })
	same("ingested")

	path := filepath.Join(folder, "expenses-and-travel.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "taxi", "hired boat")+"\n\nBoats are paid for in advance.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	both(func(eng *rag.Engine) { ingest(t, eng, rag.FS(os.DirFS(folder), "handbook")) })
	same("changed")

	both(func(eng *rag.Engine) {
		if _, err := eng.Delete(t.Context(), rag.DeleteRequest{URIs: []string{"handbook/code-of-conduct.docx"}}); err != nil {
			t.Fatal(err)
		}
	})
	same("deleted")

	store := open(t, chroma.Config{URL: address(t), Prefix: prefix(dir)})
	var ids []string
	for id, err := range store.IDs(t.Context(), rag.DefaultConfig().Collection) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if err := store.Delete(t.Context(), rag.DefaultConfig().Collection, ids[:len(ids)/2]); err != nil {
		t.Fatal(err)
	}
	if rep, err := remote.Repair(t.Context(), ""); err != nil || !rep.Repaired || len(rep.Missing) != len(ids)/2 {
		t.Errorf("repair of %d records that somebody deleted: %v, %+v", len(ids)/2, err, rep)
	}
	same("repaired")
}
