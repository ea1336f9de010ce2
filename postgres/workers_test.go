package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/postgres"
	"github.com/seed-d8745b77/rag/ragtest"
)

// queuedEnv is how many documents the workers of TestWorkers share; unset: queuedPapers.
const (
	queuedEnv    = "RAG_TEST_QUEUED"
	queuedPapers = 300
)

// work drains the queue and says on its output when a source has ended, in few bytes: nobody may read them for long.
func (w *work) work(eng *rag.Engine) error {
	_, err := eng.Work(context.Background(), rag.WorkRequest{Drain: true, Lease: w.Lease, EachSource: func(s rag.SourceStep) {
		if s.Action != "" {
			fmt.Println("ended")
		}
	}})
	return err
}

// find looks up a document that may not be there yet: it is found whole, in one version and no part twice, or not at all.
func find(eng *rag.Engine, i int) error {
	res, err := eng.Search(context.Background(), rag.Query{Text: fmt.Sprintf("falcon%d", i), TopK: 10})
	if errors.Is(err, rag.ErrNotFound) { // no collection yet
		return nil
	}
	if err != nil {
		return err
	}
	versions, parts := map[string]bool{}, map[string]int{}
	for _, h := range res.Hits {
		if filepath.Base(h.Chunk.URI) != paperName(i) {
			continue
		}
		var of int
		var version, part string
		if n, _ := fmt.Sscanf(h.Chunk.Text, "The falcon%d has %s of part %s", &of, &version, &part); n == 3 && of == i {
			versions[version] = true
			parts[part]++
		}
	}
	if len(versions) == 0 {
		return nil
	}
	if len(versions) != 1 || len(parts) != 3 || slices.ContainsFunc([]string{"0.", "1.", "2."}, func(p string) bool { return parts[p] != 1 }) {
		return fmt.Errorf("%s is found in the versions %v, its parts %v times", paperName(i), versions, parts)
	}
	return nil
}

// enqueue puts the folder into the queue.
func enqueue(t *testing.T, eng *rag.Engine, folder string) {
	t.Helper()
	if _, err := eng.Enqueue(t.Context(), rag.EnqueueRequest{Sources: []rag.Sources{rag.Dir(folder)}}); err != nil {
		t.Fatal(err)
	}
}

// drained checks that all sources of the queue are done.
func drained(t *testing.T, eng *rag.Engine, sources int) {
	t.Helper()
	s, err := eng.Queue(t.Context(), "")
	if err != nil || s.Pending+s.Running+s.Failed+s.Unclean != 0 || s.Done != sources {
		t.Errorf("the queue has %+v, %v; want %d sources done", s, err, sources)
	}
}

// finishAll reads what the workers write while they go on to their end: none waits for another to be read.
func finishAll(t *testing.T, workers []*process) {
	t.Helper()
	var all sync.WaitGroup
	for _, p := range workers {
		all.Go(func() { p.finish(t) })
	}
	all.Wait()
}

// Three workers share an ingest while another process searches; then again, and any of them is killed at any moment.
func TestWorkers(t *testing.T) {
	n := queuedPapers
	if text := os.Getenv(queuedEnv); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	at, folder := database(t, ""), t.TempDir()
	eng, err := openEngine(at, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	worker := func() *process { return start(t, work{Task: "work", At: at, Lease: time.Second}) }
	searching := start(t, work{Task: "find", At: at, Papers: n})

	t.Run("new documents", func(t *testing.T) {
		writeSome(t, folder, 1, n)
		enqueue(t, eng, folder)
		workers := []*process{worker(), worker(), worker()}
		finishAll(t, workers)
		drained(t, eng, n)
		wholeOf(t, eng, "version1", n)
	})
	t.Run("workers that are killed", func(t *testing.T) {
		writeSome(t, folder, 2, n)
		enqueue(t, eng, folder)
		workers := []*process{worker(), worker(), worker()}
		for range 4 {
			i := rand.IntN(len(workers))  //nolint:gosec // any of them
			for range rand.IntN(n / 10) { //nolint:gosec // at any moment
				workers[i].out.Scan()
			}
			if err := workers[i].Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = workers[i].Wait() // killed
			workers[i] = worker()
		}
		finishAll(t, workers)
		drained(t, eng, n)
		wholeOf(t, eng, "version2", n)
	})
	t.Run("all are killed, and the next finishes their work", func(t *testing.T) {
		writeSome(t, folder, 3, n)
		enqueue(t, eng, folder)
		for range 3 {
			p := worker()
			for range rand.IntN(n / 10) { //nolint:gosec // at any moment
				p.out.Scan()
			}
			if err := p.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = p.Wait() // killed
		}
		worker().finish(t)
		drained(t, eng, n)
		wholeOf(t, eng, "version3", n)
	})
	t.Log(searching.finish(t))
}

// stalled is the catalog of a worker that stands still until its lease runs out, and does not know.
type stalled struct {
	*postgres.Catalog
	unaware atomic.Bool
}

func (s *stalled) Renew(ctx context.Context, collection string, claims []rag.QueueClaim, lease time.Duration) (held []string, err error) {
	if !s.unaware.Load() {
		return s.Catalog.Renew(ctx, collection, claims, lease)
	}
	for _, c := range claims {
		held = append(held, c.URI)
	}
	return held, nil
}

func (s *stalled) CommitClaimed(ctx context.Context, collection string, claims []rag.QueueClaim, changes []rag.Change) error {
	s.unaware.Store(false)
	return s.Catalog.CommitClaimed(ctx, collection, claims, changes)
}

// slow is an embedder that waits at its first text until it is told to go on.
type slow struct {
	ragtest.HashEmbedder
	reached, goOn chan struct{}
	waited        atomic.Bool
}

func (s *slow) Embed(ctx context.Context, role rag.EmbedRole, texts []string) ([][]float32, error) {
	if s.waited.CompareAndSwap(false, true) {
		close(s.reached)
		<-s.goOn
	}
	return s.HashEmbedder.Embed(ctx, role, texts)
}

// A worker that stood still while others took its sources over writes into the indexes what it read long ago, but cannot
// commit it, and what it wrote is cleaned.
func TestStalledWorker(t *testing.T) {
	at, folder := database(t, ""), t.TempDir()
	catalog, err := postgres.OpenCatalog(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer catalog.Close()
	stall, embedder := &stalled{Catalog: catalog}, &slow{reached: make(chan struct{}), goOn: make(chan struct{})}
	stall.unaware.Store(true)
	one, err := openEngine(at, 0, rag.WithCatalog(stall), rag.WithEmbedder(embedder))
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	two, err := openEngine(at, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer two.Close()

	writeSome(t, folder, 1, 5)
	enqueue(t, two, folder)
	ended := make(chan *rag.WorkReport)
	go func() {
		rep, err := one.Work(t.Context(), rag.WorkRequest{Drain: true, Lease: time.Second})
		if err != nil {
			t.Error(err)
		}
		ended <- rep
	}()
	<-embedder.reached // it has read version 1
	writeSome(t, folder, 2, 5)
	if _, err := two.Work(t.Context(), rag.WorkRequest{Drain: true, Lease: time.Minute}); err != nil {
		t.Fatal(err)
	}
	close(embedder.goOn)
	if rep := <-ended; rep.Lost == 0 || rep.Added != 0 {
		t.Errorf("the worker that stood still reports %+v, want sources lost and none added", rep)
	}
	drained(t, two, 5)
	wholeOf(t, two, "version2", 5)
}

// Sources that fail are tried again, or given up at once where their bytes are at fault; the others are not held up.
func TestFailingSources(t *testing.T) {
	at, folder := database(t, ""), t.TempDir()
	eng, err := openEngine(at, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	writeSome(t, folder, 1, 3)
	late, never := filepath.Join(folder, "late.txt"), filepath.Join(folder, "never.txt")
	for path, text := range map[string]string{late: "It came late.", never: "It never came.", filepath.Join(folder, "torn.json"): `{"half":`, filepath.Join(folder, "tool.bin"): "\x00\x01\x02"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	enqueue(t, eng, folder)
	enqueue(t, eng, folder) // twice is once
	for _, path := range []string{late, never} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	failures := map[string]int{}
	rep, err := eng.Work(t.Context(), rag.WorkRequest{Drain: true, Pause: time.Millisecond, Poll: time.Millisecond, EachSource: func(s rag.SourceStep) {
		if s.Action != rag.ActionFailed {
			return
		}
		failures[filepath.Base(s.URI)]++
		if filepath.Base(s.URI) == "late.txt" {
			if err := os.WriteFile(late, []byte("It came late."), 0o600); err != nil {
				t.Error(err)
			}
		}
	}})
	if !errors.Is(err, rag.ErrPartial) {
		t.Errorf("error %v, want ErrPartial", err)
	}
	if rep.Added != 4 || rep.Skipped != 1 || rep.Failed != 2 || rep.Retried != 3 {
		t.Errorf("report %+v, want 4 added, 1 skipped, 2 failed, 3 retried", rep)
	}
	if failures["late.txt"] != 1 || failures["never.txt"] != 3 || failures["torn.json"] != 1 || len(failures) != 3 {
		t.Errorf("failures %v", failures)
	}
	s, err := eng.Queue(t.Context(), "")
	if err != nil || s.Done != 5 || s.Failed != 2 || s.Pending+s.Running+s.Unclean != 0 || len(s.Failures) != 2 ||
		!strings.HasSuffix(s.Failures[0].URI, "never.txt") || s.Failures[0].Tries != 3 || !strings.Contains(s.Failures[0].Error, "no such file") {
		t.Errorf("the queue has %+v, %v", s, err)
	}
	verifyClean(t, eng)
}

func verifyClean(t *testing.T, eng *rag.Engine) {
	t.Helper()
	if rep, err := eng.Verify(t.Context(), ""); err != nil || !rep.OK {
		t.Errorf("verify: %+v, %v", rep, err)
	}
}

// The queue makes of a folder what an ingest makes of it: also pictures beside a page, and metadata.
func TestQueueIngestsAsIngest(t *testing.T) {
	at, folder := database(t, ""), t.TempDir()
	eng, err := openEngine(at, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\nIDATx\x9cc\x00\x01\x00\x00\x05\x00\x01\r\n-\xb4\x00\x00\x00\x00IEND\xaeB`\x82"
	for name, text := range map[string]string{
		"sub/page.md": "# Page\n\nThe falcon sits here. ![a falcon](falcon.png)\n\n![top](/top.png)\n", "sub/falcon.png": png, "top.png": png, "plain.txt": "Plain words.",
	} {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tagged := rag.Sources{Scope: rag.Dir(folder).Scope, All: func(yield func(rag.Source, error) bool) {
		for src, err := range rag.Dir(folder).All {
			src.Meta = rag.Meta{"kind": "note"}
			if !yield(src, err) {
				return
			}
		}
	}}
	if _, err := eng.Enqueue(t.Context(), rag.EnqueueRequest{Sources: []rag.Sources{tagged}}); err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Work(t.Context(), rag.WorkRequest{Drain: true}); err != nil {
		t.Fatal(err)
	}
	rep, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{tagged}})
	if err != nil || rep.Unchanged != 2 || rep.Added+rep.Updated != 0 {
		t.Errorf("an ingest of the same finds %+v, %v; want both unchanged", rep, err)
	}
	doc, err := eng.Document(t.Context(), "", rag.FileURI(filepath.Join(folder, "sub", "page.md")))
	if err != nil || len(doc.Images) != 2 || len(doc.Images[0].Data) == 0 || doc.Meta["kind"] != "note" {
		t.Errorf("the page has %d pictures and %v, %v", len(doc.Images), doc.Meta, err)
	}
}

// A worker that serves lets those who need the collection alone have their turn, and gives back what it holds when it ends.
func TestServingWorker(t *testing.T) {
	at, folder := database(t, ""), t.TempDir()
	eng, err := openEngine(at, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	embedder := &slow{reached: make(chan struct{}), goOn: make(chan struct{})}
	serving, err := openEngine(at, 0, rag.WithEmbedder(embedder))
	if err != nil {
		t.Fatal(err)
	}
	defer serving.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error)
	go func() {
		_, err := serving.Work(ctx, rag.WorkRequest{Poll: time.Millisecond})
		ended <- err
	}()
	writeSome(t, folder, 1, 3)
	enqueue(t, eng, folder)
	<-embedder.reached
	if s, err := eng.Queue(t.Context(), ""); err != nil || s.Running != 3 || len(s.Workers) != 1 || s.Workers[0].Sources != 3 {
		t.Errorf("the queue has %+v, %v; want 3 sources of one worker", s, err)
	}
	hasty, err := openEngine(at, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer hasty.Close()
	if _, err := hasty.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(folder)}}); !errors.Is(err, rag.ErrLocked) {
		t.Errorf("an ingest beside a worker: %v, want ErrLocked", err)
	}
	close(embedder.goOn)
	verifyClean(t, eng) // it waits for its turn
	stop()
	if err := <-ended; err != nil {
		t.Errorf("a worker that is told to end: %v", err)
	}

	// One that is interrupted at work gives back what it has begun.
	writeSome(t, folder, 2, 3)
	enqueue(t, eng, folder)
	embedder = &slow{reached: make(chan struct{}), goOn: make(chan struct{})}
	second, err := openEngine(at, 0, rag.WithEmbedder(embedder))
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	ctx, stop = context.WithCancel(t.Context())
	defer stop()
	go func() {
		_, err := second.Work(ctx, rag.WorkRequest{Drain: true})
		ended <- err
	}()
	<-embedder.reached
	stop()
	close(embedder.goOn)
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("a worker that was to drain the queue: %v, want context.Canceled", err)
	}
	if s, err := eng.Queue(t.Context(), ""); err != nil || s.Pending != 3 || s.Running != 0 {
		t.Errorf("the queue has %+v, %v; want all given back", s, err)
	}
	if _, err := eng.Work(t.Context(), rag.WorkRequest{Drain: true}); err != nil {
		t.Error(err)
	}
	wholeOf(t, eng, "version2", 3)
}
