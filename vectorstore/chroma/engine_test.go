//go:build unix

package chroma_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/internal/testdata"
	"github.com/seed-d8745b77/rag/internal/testserver"
	"github.com/seed-d8745b77/rag/ragtest"
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

// version is a document, told from another version by a word of each passage.
func version(word string) rag.Sources {
	var text strings.Builder
	for i := range 6 {
		fmt.Fprintf(&text, "# Part %d\n\nThe %s leaves from pier %d. %s\n\n", i, word, i, strings.Repeat("Tickets are sold on board. ", 30))
	}
	return rag.Bytes("ships.md", []byte(text.String()))
}

// However the connection to the server breaks in the middle of an ingest, a search shows the old version or the new one,
// and a repair leaves nothing behind.
func TestConnectionCutAtEveryCall(t *testing.T) {
	cutter := testserver.NewCutter(t, address(t))
	for _, done := range []bool{false, true} {
		n := 1
		for ; ; n++ {
			dir := t.TempDir()
			start := func() *rag.Engine { // with a store that knows no collection yet
				store := open(t, chroma.Config{URL: cutter.URL, Prefix: prefix(dir), Tries: 1})
				return engine(t, dir, rag.WithEmbedder(&ragtest.HashEmbedder{Dims: 32}), rag.WithVectorStore(store))
			}
			ingest(t, start(), version("ferry"))
			eng := start()
			cutter.Arm(n, done)
			_, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{version("barge")}})
			cut := cutter.Cut()
			cutter.Arm(0, false)
			if !cut {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			t.Run(fmt.Sprintf("call %d, done %v", n, done), func(t *testing.T) { survives(t, eng, err) })
		}
		if n < 4 {
			t.Errorf("an ingest made only %d calls: the test shows little", n-1)
		}
	}
}

// survives checks an engine whose ingest ended with an error.
func survives(t *testing.T, eng *rag.Engine, failed error) {
	if failed != nil && !errors.Is(failed, rag.ErrUnavailable) && !errors.Is(failed, rag.ErrPartial) {
		t.Errorf("error %v, want one of ErrUnavailable or ErrPartial", failed)
	}
	whole := func() string {
		t.Helper()
		result, err := eng.Search(t.Context(), rag.Query{Text: "from which pier does it leave", Mode: rag.Dense, TopK: 20})
		if err != nil || len(result.Hits) == 0 {
			t.Fatalf("%d hits, error %v", len(result.Hits), err)
		}
		words := map[string]bool{}
		for _, h := range result.Hits {
			words[strings.Fields(h.Chunk.Text[strings.Index(h.Chunk.Text, "The "):])[1]] = true
		}
		if len(words) != 1 {
			t.Errorf("passages of both versions are shown")
		}
		for word := range words {
			return word
		}
		return ""
	}
	whole()
	if _, err := eng.Repair(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	verified(t, eng)
	ingest(t, eng, version("barge"))
	if word := whole(); word != "barge" {
		t.Errorf("after another ingest the version of the %s is shown", word)
	}
	verified(t, eng)
}
