package rag_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

const reindexDir = "RAG_TEST_REINDEX_DIR" // data folder of a child process that reindexes until it is killed

// reindexAsChild reindexes with another model, says "half" in the middle of it, and waits to be killed.
func reindexAsChild(dir string) error {
	e := otherModel()
	e.Before = func(context.Context, rag.EmbedRole, []string) error {
		if e.Calls() == 34 { // the first group of writes is in the new indexes
			fmt.Println("half")
			<-time.After(time.Hour)
		}
		return nil
	}
	eng, err := rag.Open(dir, rag.WithEmbedder(e))
	if err != nil {
		return err
	}
	_, err = eng.Reindex(context.Background(), rag.ReindexRequest{})
	return fmt.Errorf("the reindex ended: %w", err)
}

// otherModel makes other vectors, of another length, than the fixture's.
func otherModel() *ragtest.HashEmbedder {
	return &ragtest.HashEmbedder{Revision: "2", Dims: 512, MaxBatch: 16}
}

// reindexFixture has more passages than one group of writes holds.
func reindexFixture(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t)
	for i := range 40 {
		f.write(fmt.Sprintf("d%02d.md", i), "# Top\n\n"+strings.Repeat(fmt.Sprintf("## Part\n\nvalley%d has a river and words of its own.\n\n", i), 15))
	}
	f.ingest(nil)
	return f
}

// reopen closes the engine and opens it with another embedder.
func (f *fixture) reopen(e *ragtest.HashEmbedder, opts ...rag.Option) {
	f.t.Helper()
	if err := f.Close(); err != nil {
		f.t.Fatal(err)
	}
	f.embedder = e
	f.open(opts...)
}

func (f *fixture) reindex() *rag.ReindexReport {
	f.t.Helper()
	rep, err := f.Reindex(f.t.Context(), rag.ReindexRequest{})
	if err != nil {
		f.t.Fatal(err)
	}
	return rep
}

// generations counts the vectors under the names that generations of the collection have in the vector store. The
// engine must be closed.
func generations(t *testing.T, dir string) (counts []int) {
	t.Helper()
	store, err := rag.Default.VectorStores.New("flat", rag.Env{Dir: dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for g := range 4 {
		name, n := "default", 0
		if g > 0 {
			name = fmt.Sprintf("default␞%d", g)
		}
		for _, err := range store.(rag.IDLister).IDs(t.Context(), name) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		counts = append(counts, n)
	}
	if err := store.(interface{ Close() error }).Close(); err != nil {
		t.Fatal(err)
	}
	return counts
}

func TestReindexWithAnotherModel(t *testing.T) {
	f := reindexFixture(t)
	ids := f.chunkIDs()
	f.reopen(otherModel())
	_, err := f.Search(t.Context(), rag.Query{Text: "river"})
	if !errors.Is(err, rag.ErrFingerprint) || !strings.Contains(err.Error(), "`rag reindex --collection default`") {
		t.Fatalf("before: %v", err)
	}
	rep := f.reindex()
	if rep.Embedded != len(ids) || rep.Reused != 0 || rep.Chunks != len(ids) || rep.Documents != 40 || rep.Before.Embedder == rep.After.Embedder {
		t.Errorf("report: %+v", rep)
	}
	f.sound()
	if diff := cmp.Diff(ids, f.chunkIDs()); diff != "" {
		t.Errorf("chunks (-before +after):\n%s", diff)
	}
	for _, mode := range []rag.Mode{rag.Dense, rag.Sparse} {
		if res := f.search(rag.Query{Text: "valley7", Mode: mode, TopK: 5}); names(res)[0] != "d07.md" {
			t.Errorf("%s finds %v", mode, names(res))
		}
	}
	// The collection lives on: it takes changes, is built anew once more, and goes without a trace.
	f.write("d00.md", "# Other\n\nNow about glaciers.")
	if rep := f.ingest(nil); rep.Updated != 1 || rep.Unchanged != 39 {
		t.Errorf("ingest after it: %+v", rep)
	}
	f.sound()
	if rep := f.reindex(); rep.Embedded != 0 || rep.Reused != rep.Chunks {
		t.Errorf("with the same model: %+v", rep)
	}
	f.sound()
	n := len(f.chunkIDs())
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{0, 0, n, 0}, generations(t, f.dir)); diff != "" {
		t.Errorf("vectors by generation (-want +got):\n%s", diff)
	}
	f.open()
	if _, err := f.Delete(t.Context(), rag.DeleteRequest{All: true}); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if diff := cmp.Diff([]int{0, 0, 0, 0}, generations(t, f.dir)); diff != "" {
		t.Errorf("vectors after deleting all (-want +got):\n%s", diff)
	}
}

func TestSearchesReadTheOldIndexesUntilTheFlip(t *testing.T) {
	f := reindexFixture(t)
	e := otherModel()
	f.reopen(e)
	asked := 0
	e.Before = func(_ context.Context, role rag.EmbedRole, _ []string) error {
		if role == rag.AsPassage {
			asked++
			if res := f.search(rag.Query{Text: "valley3", Mode: rag.Sparse}); len(res.Hits) == 0 || names(res)[0] != "d03.md" {
				t.Errorf("during the reindex: %v", names(res))
			}
			if _, err := f.Search(t.Context(), rag.Query{Text: "valley3"}); !errors.Is(err, rag.ErrFingerprint) {
				t.Errorf("dense during the reindex: %v", err)
			}
		}
		return nil
	}
	f.reindex()
	if asked == 0 {
		t.Fatal("nothing was asked during the reindex")
	}
	f.sound()
}

func TestSearchesBesideReindexesFindEverything(t *testing.T) {
	f := reindexFixture(t)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for w := range 3 {
		wg.Go(func() {
			for n := w; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				for _, mode := range []rag.Mode{rag.Dense, rag.Sparse} {
					res, err := f.Search(t.Context(), rag.Query{Text: fmt.Sprintf("valley%d", n%40), Mode: mode, TopK: 3})
					if err != nil || len(res.Hits) != 3 || names(res)[0] != fmt.Sprintf("d%02d.md", n%40) {
						t.Errorf("%s for %d: %v, %v", mode, n%40, res, err)
						return
					}
				}
			}
		})
	}
	for range 4 {
		f.reindex()
	}
	close(stop)
	wg.Wait()
	f.sound()
}

func TestAReindexThatFailsLeavesEverythingAsItWas(t *testing.T) {
	f := reindexFixture(t)
	e := otherModel()
	e.Before = func(context.Context, rag.EmbedRole, []string) error {
		if e.Calls() == 10 {
			return errors.New("out of memory")
		}
		return nil
	}
	f.reopen(e)
	if _, err := f.Reindex(t.Context(), rag.ReindexRequest{}); err == nil || !strings.Contains(err.Error(), "out of memory") {
		t.Fatalf("error %v", err)
	}
	f.reopen(&ragtest.HashEmbedder{})
	f.sound()
	if res := f.search(rag.Query{Text: "valley9"}); names(res)[0] != "d09.md" {
		t.Errorf("found %v", names(res))
	}
	n := len(f.chunkIDs())
	f.Close()
	if diff := cmp.Diff([]int{n, 0, 0, 0}, generations(t, f.dir)); diff != "" {
		t.Errorf("vectors by generation (-want +got):\n%s", diff)
	}
	f.open()
	if _, err := f.Reindex(t.Context(), rag.ReindexRequest{Collection: "nix"}); !errors.Is(err, rag.ErrNotFound) {
		t.Errorf("unknown collection: %v", err)
	}
	if _, err := f.Ingest(t.Context(), rag.IngestRequest{Collection: "a␞1", Sources: []rag.Sources{rag.Dir(f.docs)}}); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("a collection named like a generation: %v", err)
	}
}

func TestAKilledReindexLeavesTheOldIndexes(t *testing.T) {
	f := reindexFixture(t)
	n := len(f.chunkIDs())
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), reindexDir+"="+f.dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, readErr := bufio.NewReader(out).ReadString('\n')
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // it was killed
	if readErr != nil || line != "half\n" {
		t.Fatalf("child said %q, %v", line, readErr)
	}
	f.open()
	rep, err := f.Verify(t.Context(), "")
	if err != nil || !rep.Unfinished || rep.Run != rag.RunReindex || len(rep.Missing)+len(rep.Orphans) != 0 {
		t.Fatalf("verify: %+v, %v", rep, err)
	}
	if res := f.search(rag.Query{Text: "valley9"}); names(res)[0] != "d09.md" || res.Mode != rag.Hybrid {
		t.Errorf("found %v, mode %s", names(res), res.Mode)
	}
	f.ingest(nil) // cleans up
	f.sound()
	f.reopen(otherModel())
	f.reindex()
	f.sound()
	f.Close()
	if diff := cmp.Diff([]int{0, n, 0, 0}, generations(t, f.dir)); diff != "" {
		t.Errorf("vectors by generation (-want +got):\n%s", diff)
	}
}
