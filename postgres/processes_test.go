package postgres_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/fusion"
	_ "github.com/seed-d8745b77/rag/loader"
	"github.com/seed-d8745b77/rag/postgres"
	"github.com/seed-d8745b77/rag/ragtest"
	_ "github.com/seed-d8745b77/rag/splitter"
)

// workEnv is what a process of a test with several does, as JSON.
const workEnv = "RAG_TEST_POSTGRES_WORK"

type work struct {
	Task   string // "ingest", "search" until the input ends, "find" likewise what may not be there yet, "work" until the queue is empty
	At     postgres.Config
	Folder string
	Papers int           // "find": how many there are
	Lease  time.Duration // "work"
}

// workAs does the work and returns the exit code. An ingest says on its output when documents are committed.
func workAs(text string) int {
	var w work
	err := json.Unmarshal([]byte(text), &w)
	if err == nil {
		err = w.do()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func (w *work) do() error {
	eng, err := openEngine(w.At, time.Minute)
	if err != nil {
		return err
	}
	defer eng.Close()
	switch w.Task {
	case "search":
		return w.search(func() error { return lookUp(eng, rand.IntN(papers)) }) //nolint:gosec // any of them
	case "find":
		return w.search(func() error { return find(eng, rand.IntN(w.Papers)) }) //nolint:gosec // any of them
	case "work":
		return w.work(eng)
	}
	if do := crashTasks[w.Task]; do != nil {
		return do(context.Background(), eng, w.Folder)
	}
	_, err = eng.Ingest(context.Background(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(w.Folder)}, Progress: func(p rag.Progress) {
		if p.Stage == rag.StageUpsert {
			fmt.Println("committed")
			_, _ = bufio.NewReader(os.Stdin).ReadByte() // goes on when it is told, or nobody is there to tell
		}
	}})
	return err
}

// search looks documents up until its input ends: each must be found at any time, in one version.
func (w *work) search(lookUp func() error) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(io.Discard, os.Stdin)
	}()
	for n := 0; ; n++ {
		select {
		case <-done:
			fmt.Println("searches:", n)
			return nil
		default:
		}
		if err := lookUp(); err != nil {
			return err
		}
	}
}

func lookUp(eng *rag.Engine, i int) error {
	res, err := eng.Search(context.Background(), rag.Query{Text: fmt.Sprintf("falcon%d", i), TopK: 10})
	if err != nil {
		return err
	}
	versions, seen := map[string]int{}, map[string]bool{}
	for _, h := range res.Hits {
		if filepath.Base(h.Chunk.URI) != paperName(i) {
			continue
		}
		if seen[h.Chunk.ID] {
			return fmt.Errorf("passage %s is found twice", h.Chunk.ID)
		}
		seen[h.Chunk.ID] = true
		_, version, _ := strings.Cut(h.Chunk.Text, "version")
		versions[strings.Fields(version)[0]]++
	}
	if len(versions) != 1 {
		return fmt.Errorf("%s is found in the versions %v of %d hits, notes %v", paperName(i), versions, len(res.Hits), res.Notes)
	}
	return nil
}

// papers is how many documents the processes work on.
const papers = 40

func paperName(i int) string { return fmt.Sprintf("paper%02d.txt", i) }

// writePapers writes a version of all documents, of three passages each.
func writePapers(t *testing.T, folder string, version int) {
	t.Helper()
	writeSome(t, folder, version, papers)
}

func writeSome(t *testing.T, folder string, version, papers int) {
	t.Helper()
	for i := range papers {
		var b strings.Builder
		for part := range 3 {
			fmt.Fprintf(&b, "The falcon%d has version%d of part %d. %s\n\n", i, version, part, strings.Repeat(fmt.Sprintf("Word%d of it. ", part), 60))
		}
		if err := os.WriteFile(filepath.Join(folder, paperName(i)), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// openEngine opens an engine over the database. It is deterministic, and small enough to be opened by many.
func openEngine(at postgres.Config, wait time.Duration, opts ...rag.Option) (*rag.Engine, error) {
	settings, err := json.Marshal(at)
	if err != nil {
		return nil, err
	}
	c := rag.DefaultConfig()
	c.Catalog = rag.ProviderConfig{Provider: "postgres", Settings: settings}
	c.VectorStore, c.SparseIndex = c.Catalog, c.Catalog
	c.EmbedCache.Provider, c.Transforms = rag.None, []rag.ProviderConfig{}
	opts = append([]rag.Option{rag.WithConfig(c), rag.WithEmbedder(&ragtest.HashEmbedder{}), rag.WithLockWait(wait)}, opts...)
	return rag.Open("", opts...)
}

// process is another process of the test binary.
type process struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
	err strings.Builder
}

func start(t *testing.T, w work) *process {
	t.Helper()
	text, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.CommandContext(t.Context(), os.Args[0])}
	p.Env = append(os.Environ(), workEnv+"="+string(text))
	p.Stderr = &p.err
	if p.in, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewScanner(out)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// finish lets the process go on to its end, and returns the last line it wrote.
func (p *process) finish(t *testing.T) (last string) {
	t.Helper()
	p.in.Close()
	for p.out.Scan() {
		last = p.out.Text()
	}
	if err := p.Wait(); err != nil {
		t.Errorf("process: %v: %s", err, p.err.String())
	}
	return last
}

func TestProcesses(t *testing.T) {
	at, folder := database(t, ""), t.TempDir()
	eng, err := openEngine(at, 30*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	ingest := func() {
		t.Helper()
		if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(folder)}}); err != nil {
			t.Fatal(err)
		}
	}
	writePapers(t, folder, 1)
	ingest()
	searching := start(t, work{Task: "search", At: at, Folder: folder})

	t.Run("two ingest the same folder", func(t *testing.T) {
		writePapers(t, folder, 2)
		one, two := start(t, work{Task: "ingest", At: at, Folder: folder}), start(t, work{Task: "ingest", At: at, Folder: folder})
		one.in.Close() // one of them waits for the other
		two.in.Close()
		one.finish(t)
		two.finish(t)
		whole(t, eng, "version2")
	})
	t.Run("who writes is named", func(t *testing.T) {
		writePapers(t, folder, 3)
		p := start(t, work{Task: "ingest", At: at, Folder: folder})
		p.out.Scan() // it has committed something, and waits
		hasty, err := openEngine(at, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer hasty.Close()
		_, err = hasty.Delete(t.Context(), rag.DeleteRequest{All: true})
		if want := fmt.Sprintf("(process %d on ", p.Process.Pid); !errors.Is(err, rag.ErrLocked) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want ErrLocked that names %q", err, want)
		}
		other := rag.IngestRequest{Collection: "other", Sources: []rag.Sources{rag.Dir(folder)}}
		if _, err := hasty.Ingest(t.Context(), other); err != nil {
			t.Errorf("another collection: %v", err)
		}
		p.finish(t)
		whole(t, eng, "version3")
	})
	t.Run("one that is killed is followed by the next", func(t *testing.T) {
		for version := 4; version < 7; version++ {
			writePapers(t, folder, version)
			p := start(t, work{Task: "ingest", At: at, Folder: folder})
			p.out.Scan()
			if err := p.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = p.Wait() // killed
			ingest()
			whole(t, eng, fmt.Sprintf("version%d", version))
		}
	})
	t.Run("indexes are built anew", func(t *testing.T) {
		for range 20 {
			if _, err := eng.Reindex(t.Context(), rag.ReindexRequest{}); err != nil {
				t.Fatal(err)
			}
		}
		whole(t, eng, "version6")
	})
	t.Log(searching.finish(t))
}

// whole checks that every document is there once, in one version, and that the indexes hold what the catalog says.
func whole(t *testing.T, eng *rag.Engine, version string) {
	t.Helper()
	wholeOf(t, eng, version, papers)
}

func wholeOf(t *testing.T, eng *rag.Engine, version string, papers int) {
	t.Helper()
	n := 0
	for e, err := range eng.Documents(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		d, err := eng.Document(t.Context(), "", e.URI)
		if err != nil || strings.Count(d.Text, version+" ") != 3 {
			t.Errorf("%s has not %s in every part: %v", e.URI, version, err)
		}
		n++
	}
	if n != papers {
		t.Errorf("there are %d documents, want %d", n, papers)
	}
	rep, err := eng.Verify(t.Context(), "")
	if err != nil || !rep.OK || rep.Vectors != rep.Chunks || rep.Postings != rep.Chunks {
		t.Errorf("verify: %+v, %v", rep, err)
	}
}
