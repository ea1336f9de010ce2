package weaviate_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/vectorstore/weaviate"
)

// passages is how many a paper has.
const passages = 3

// shelf is a folder of papers, each in a version.
type shelf struct {
	folder string
	papers int
}

func (s shelf) file(i int) string { return filepath.Join(s.folder, fmt.Sprintf("paper%04d.txt", i)) }

func (s shelf) uri(i int) string { return rag.FileURI(s.file(i)) }

// write writes a version of the papers from one on.
func (s shelf) write(t *testing.T, from, version int) {
	t.Helper()
	for i := from; i < s.papers; i++ {
		var b strings.Builder
		for part := range passages {
			fmt.Fprintf(&b, "The falcon%d has version%d of part %d. %s\n\n", i, version, part, strings.Repeat(fmt.Sprintf("Word%d of it. ", part), 60))
		}
		if err := os.WriteFile(s.file(i), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// openEngine opens an engine of which the catalog is a folder and everything else in the cluster.
func openEngine(t *testing.T, dir string, at weaviate.Config) *rag.Engine {
	t.Helper()
	c := rag.DefaultConfig()
	c.EmbedCache.Provider, c.Transforms = rag.None, []rag.ProviderConfig{}
	eng, err := rag.Open(dir, rag.WithConfig(c), rag.WithEmbedder(&ragtest.HashEmbedder{}), rag.WithVectorStore(vectors(t, at)), rag.WithSparseIndex(texts(t, at)))
	if err != nil {
		t.Fatal(err)
	}
	return eng
}

// lookUp looks a paper up, which must be found whole and in one version, by both lanes.
func (s shelf) lookUp(ctx context.Context, eng *rag.Engine, i int) error {
	res, err := eng.Search(ctx, rag.Query{Text: fmt.Sprintf("falcon%d", i), TopK: 10})
	if err != nil {
		return err
	}
	if len(res.Notes) > 0 {
		return fmt.Errorf("paper %d: a lane was left out: %v", i, res.Notes)
	}
	versions, seen := map[string]int{}, map[string]bool{}
	for _, h := range res.Hits {
		if h.Chunk.URI != s.uri(i) {
			continue
		}
		if seen[h.Chunk.ID] {
			return fmt.Errorf("paper %d: passage %s is found twice", i, h.Chunk.ID)
		}
		seen[h.Chunk.ID] = true
		_, version, _ := strings.Cut(h.Chunk.Text, "version")
		versions[strings.Fields(version)[0]]++
	}
	if len(versions) != 1 || len(seen) != passages {
		return fmt.Errorf("paper %d: %d passages are found, of the versions %v", i, len(seen), versions)
	}
	return nil
}

// load searches for papers until it is stopped.
type load struct {
	wg       sync.WaitGroup
	stop     context.CancelFunc
	searches atomic.Int64
	slowest  atomic.Int64 // nanoseconds
	failures atomic.Int64
}

func (s shelf) search(t *testing.T, eng *rag.Engine, papers int) *load {
	ctx, stop := context.WithCancel(t.Context())
	l := &load{stop: stop}
	for first := range 2 {
		l.wg.Go(func() {
			for i := first; ctx.Err() == nil; i += 2 {
				start := time.Now()
				if err := s.lookUp(ctx, eng, i*31%papers); err != nil && ctx.Err() == nil { // the number of papers has no factor 31
					l.failures.Add(1)
					t.Errorf("%s: %v", time.Now().Format("15:04:05.000"), err)
				}
				l.searches.Add(1)
				l.slowest.Store(max(l.slowest.Load(), int64(time.Since(start)))) // a few may get lost: it is a figure
			}
		})
	}
	return l
}

func (l *load) end() {
	l.stop()
	l.wg.Wait()
}

// TestNodeLostOnACluster kills a node in the midst of an ingest and of searches, once that which is asked and once one that is
// not, and starts it again while they go on. No search fails, nothing is lost, half there or there twice; and the
// node, once it has caught up, holds by itself what the catalog says: nothing repairs it but the cluster.
func TestNodeLostOnACluster(t *testing.T) {
	c := onCluster(t)
	s := shelf{t.TempDir(), 90}
	rounds := []int{0, 2}
	if thorough() {
		s.papers, rounds = 2000, []int{0, 2, 1, 0, 1, 2}
	}
	dir, at := t.TempDir(), c.at(t.Name(), 0)
	eng := openEngine(t, dir, at)
	all := s.papers
	s.papers = all / 2
	s.write(t, 0, 1)
	if rep, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(s.folder)}}); err != nil || len(rep.Failed) > 0 {
		t.Fatalf("first ingest: %v, %v", err, rep.Failed)
	}
	old := s.papers
	for round, node := range rounds {
		s.papers = all
		s.write(t, 0, round+2)
		searches := s.search(t, eng, old)
		var start func()
		began := time.Now()
		rep, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(s.folder)}, Progress: func(p rag.Progress) {
			if p.Stage == rag.StageUpsert && p.Done > s.papers/3 && start == nil {
				start = c.kill(t, node)
			}
		}})
		ingested := time.Since(began)
		if err != nil || len(rep.Failed) > 0 || start == nil {
			t.Fatalf("ingest with node %d lost (%v): %v, %v", node, start != nil, err, rep.Failed)
		}
		without := searches.searches.Load()
		all-- // the last paper goes while the node is lost
		if rep, err := eng.Delete(t.Context(), rag.DeleteRequest{URIs: []string{s.uri(all)}}); err != nil || rep.Documents != 1 {
			t.Errorf("delete with node %d lost: %v, %+v", node, err, rep)
		}
		await(t, func() string {
			if searches.searches.Load() < without+20 {
				return "no searches without the node"
			}
			return ""
		})
		start()
		caught := await(t, func() string { return c.differs(t, eng, at, node) })
		searches.end()
		t.Logf("round %d, node %d: %d papers in %.1f s, %d searches, %d failed, the slowest took %.0f ms; the node had caught up %.1f s after it was ready", round, node,
			s.papers, ingested.Seconds(), searches.searches.Load(), searches.failures.Load(), float64(searches.slowest.Load())/1e6, caught.Seconds())
		if err := os.Remove(s.file(all)); err != nil {
			t.Fatal(err)
		}
		s.papers = all
	}
	t.Log(strings.ReplaceAll(c.do(t, "--memory"), "\n", "; "))
	if err := eng.Close(); err != nil {
		t.Fatal(err)
	}
	for node := range c.nodes {
		t.Run(fmt.Sprintf("asked of node %d", node), func(t *testing.T) {
			first := c.at(t.Name(), node)
			first.Prefix = at.Prefix
			eng := openEngine(t, dir, first)
			defer eng.Close()
			s.whole(t, eng, node, len(c.nodes))
		})
	}
}

// differs tells in what the lists of a node by itself differ from the catalog's; "" if they do not.
func (c *cluster) differs(t *testing.T, eng *rag.Engine, at weaviate.Config, node int) string {
	t.Helper()
	at.URL, at.Others = c.nodes[node], nil
	want := collect(t, func(yield func(string, error) bool) {
		for chunk, err := range eng.Chunks(t.Context(), "", rag.Filter{}) {
			if !yield(chunk.ID, err) {
				return
			}
		}
	})
	for _, index := range []rag.IDLister{vectors(t, at), texts(t, at)} {
		got := collect(t, index.IDs(t.Context(), "default"))
		if lacks, spare := beside(want, got), beside(got, want); len(lacks)+len(spare) > 0 {
			return fmt.Sprintf("node %d: %T lacks %d passages, %.5v, and has %d that the catalog has not, %.5v", node, index, len(lacks), lacks, len(spare), spare)
		}
	}
	return ""
}

// beside are those of a list that another has not.
func beside(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(id string) bool { return slices.Contains(other, id) })
}

func collect(t *testing.T, ids iter.Seq2[string, error]) (list []string) {
	t.Helper()
	for id, err := range ids {
		if errors.Is(err, rag.ErrUnavailable) {
			return nil // it is ready, and not yet quite there
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, id)
	}
	slices.Sort(list)
	return list
}

// whole checks that papers are found, one in each few from the given on, and that the indexes hold what the catalog says.
func (s shelf) whole(t *testing.T, eng *rag.Engine, from, few int) {
	t.Helper()
	for i := from; i < s.papers; i += few {
		if err := s.lookUp(t.Context(), eng, i); err != nil {
			t.Error(err)
		}
	}
	rep, err := eng.Verify(t.Context(), "")
	if err != nil || !rep.OK || rep.Documents != s.papers || rep.Vectors != rep.Chunks || rep.Postings != rep.Chunks || rep.Chunks != passages*s.papers {
		t.Errorf("verify: %v, %+v", err, rep)
	}
}
