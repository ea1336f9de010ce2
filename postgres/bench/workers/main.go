// Workers measures how much faster several processes ingest into one PostgreSQL than one does, while another process searches
// all the time and looks whether what it finds is whole; then it verifies the collection.
//
//	scripts/with-postgres go run -C postgres ./bench/workers -docs 5000 -workers 1,2,3
//
// -procs gives each worker so many processors (GOMAXPROCS) and readers; without it, each takes what the machine has. With
// -service the vectors come from a stand-in for a service, which takes so long for a batch and no processor of this machine.
// -kill kills a worker in the middle; the others take its sources over.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/postgres"
	"github.com/seed-d8745b77/rag/ragtest"
)

// roleEnv is what a process of the measurement does, as JSON.
const roleEnv = "RAG_BENCH_WORKERS"

// parts is how many paragraphs a document has, each a passage or more.
const parts = 3

type options struct {
	Docs, Words  int
	Procs        int
	Dense        bool
	Lease, Every time.Duration
	Service      time.Duration
	Kill         bool
}

// role is what one process does.
type role struct {
	options
	Task string // "work" or "search"
	At   postgres.Config
}

func main() {
	if text := os.Getenv(roleEnv); text != "" {
		exit(play(text))
		return
	}
	var o options
	dsn := flag.String("dsn", os.Getenv("RAG_DSN"), "the database; empty: RAG_DSN")
	flag.IntVar(&o.Docs, "docs", 5000, "documents")
	flag.IntVar(&o.Words, "words", 60, "words of each of the three parts of a document")
	flag.IntVar(&o.Procs, "procs", 0, "processors and readers of each worker; 0: all of the machine")
	flag.BoolVar(&o.Dense, "dense", true, "with the built-in model; else only words are indexed")
	flag.DurationVar(&o.Service, "service", 0, "a stand-in embeds, and takes so long for a batch of 64; 0: the built-in model")
	flag.DurationVar(&o.Lease, "lease", 5*time.Second, "lease of a source")
	flag.DurationVar(&o.Every, "search", 100*time.Millisecond, "pause between two searches of the process that searches; 0: it does not")
	flag.BoolVar(&o.Kill, "kill", false, "kill a worker in the middle")
	workers := flag.String("workers", "1,2,3", "numbers of workers to measure")
	rounds := flag.Int("rounds", 1, "rounds; their medians are shown at the end")
	flag.Parse()
	exit(run(*dsn, o, *workers, *rounds))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "workers:", err)
		os.Exit(1)
	}
}

func run(dsn string, o options, workers string, rounds int) error {
	var counts []int
	for text := range strings.SplitSeq(workers, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("-workers %s: give numbers such as 1,2,3", workers)
		}
		counts = append(counts, n)
	}
	folder, err := os.MkdirTemp("", "rag-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := writeDocs(folder, o); err != nil {
		return err
	}
	fmt.Printf("%d documents of %d parts of %d words, %d processors of the machine, %d of each worker (0: all)\n", o.Docs, parts, o.Words, runtime.NumCPU(), o.Procs)
	rates := map[int][]float64{}
	for round := range rounds {
		for _, n := range counts {
			at := postgres.Config{DSN: dsn, Schema: fmt.Sprintf("bench_%d_%d_%d", os.Getpid(), round, n)}
			rate, err := measure(at, folder, n, o)
			if err != nil {
				return err
			}
			rates[n] = append(rates[n], rate)
		}
	}
	for _, n := range counts {
		fmt.Printf("workers %d: median %.1f documents/s, %.2f times those of %d\n", n, median(rates[n]), median(rates[n])/median(rates[counts[0]]), counts[0])
	}
	return nil
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// measure lets n workers ingest the folder into an empty schema, and returns documents per second.
func measure(at postgres.Config, folder string, n int, o options) (rate float64, err error) {
	ctx := context.Background()
	eng, err := open(at, o)
	if err != nil {
		return 0, err
	}
	defer eng.Close()
	if _, err := eng.Enqueue(ctx, rag.EnqueueRequest{Sources: []rag.Sources{rag.Dir(folder)}}); err != nil {
		return 0, err
	}
	var search *process
	if o.Every > 0 {
		if search, err = start(role{o, "search", at}); err != nil {
			return 0, err
		}
	}
	began := time.Now()
	workers := make([]*process, n)
	for i := range workers {
		if workers[i], err = start(role{o, "work", at}); err != nil {
			return 0, err
		}
	}
	killed := ""
	if o.Kill && n > 1 {
		if killed, err = kill(ctx, eng, workers[0], o.Docs); err != nil {
			return 0, err
		}
		workers = workers[1:]
	}
	for _, w := range workers {
		if _, err := w.end(); err != nil {
			return 0, err
		}
	}
	took := time.Since(began).Seconds()
	searched := "nobody"
	if search != nil {
		if searched, err = search.end(); err != nil {
			return 0, err
		}
	}
	rate = float64(o.Docs) / took
	fmt.Printf("workers %d: %6.1f documents/s in %5.1f s%s; searched meanwhile: %s\n", n, rate, took, killed, searched)
	if err := check(ctx, eng, o.Docs); err != nil {
		return 0, err
	}
	_, err = eng.Delete(ctx, rag.DeleteRequest{All: true})
	return rate, err
}

// kill kills a worker when a third of the documents are done, and says what it held.
func kill(ctx context.Context, eng *rag.Engine, w *process, docs int) (string, error) {
	for {
		s, err := eng.Queue(ctx, "")
		if err != nil {
			return "", err
		}
		if s.Done >= docs/3 {
			break
		}
		<-time.After(50 * time.Millisecond)
	}
	if err := w.Process.Kill(); err != nil {
		return "", err
	}
	_ = w.Wait() // killed
	s, err := eng.Queue(ctx, "")
	if err != nil {
		return "", err
	}
	for _, held := range s.Workers {
		if strings.HasPrefix(held.Name, fmt.Sprintf("process %d ", w.Process.Pid)) {
			return fmt.Sprintf(", one killed with %d sources", held.Sources), nil
		}
	}
	return ", one killed with no source", nil
}

// check looks whether everything is there once, and the indexes agree.
func check(ctx context.Context, eng *rag.Engine, docs int) error {
	s, err := eng.Queue(ctx, "")
	if err != nil {
		return err
	}
	rep, err := eng.Verify(ctx, "")
	if err != nil {
		return err
	}
	if s.Done != docs || s.Failed+s.Pending+s.Running+s.Unclean != 0 || rep.Documents != docs || !rep.OK {
		return fmt.Errorf("the queue has %+v, verify says ok %v with %d documents, %d orphans, %d missing", s, rep.OK, rep.Documents, len(rep.Orphans), len(rep.Missing))
	}
	return nil
}

func open(at postgres.Config, o options) (*rag.Engine, error) {
	settings, err := json.Marshal(at)
	if err != nil {
		return nil, err
	}
	c := rag.DefaultConfig()
	c.Catalog = rag.ProviderConfig{Provider: "postgres", Settings: settings}
	c.VectorStore, c.SparseIndex = c.Catalog, c.Catalog
	c.EmbedCache.Provider = rag.None
	if !o.Dense {
		c.Embedder.Provider = rag.None
	}
	if o.Procs > 0 {
		c.Ingest.Workers = o.Procs
	}
	opts := []rag.Option{rag.WithConfig(c), rag.WithLockWait(time.Minute)}
	if o.Service > 0 {
		opts = append(opts, rag.WithEmbedder(&ragtest.HashEmbedder{Before: func(_ context.Context, role rag.EmbedRole, _ []string) error {
			if role == rag.AsPassage {
				<-time.After(o.Service)
			}
			return nil
		}}))
	}
	return rag.Open("", opts...)
}

// process is a process of the measurement; its last line says what it did.
type process struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func start(r role) (*process, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	p := &process{Cmd: exec.CommandContext(context.Background(), os.Args[0])}
	p.Env = append(os.Environ(), roleEnv+"="+string(text))
	if r.Procs > 0 {
		p.Env = append(p.Env, fmt.Sprintf("GOMAXPROCS=%d", r.Procs))
	}
	p.Stderr = os.Stderr
	if p.in, err = p.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewScanner(out)
	return p, p.Start()
}

func (p *process) end() (last string, err error) {
	p.in.Close()
	for p.out.Scan() {
		last = p.out.Text()
	}
	return last, p.Wait()
}

// play does what a process is for.
func play(text string) error {
	var r role
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return err
	}
	eng, err := open(r.At, r.options)
	if err != nil {
		return err
	}
	defer eng.Close()
	if r.Task == "work" {
		_, err := eng.Work(context.Background(), rag.WorkRequest{Drain: true, Lease: r.Lease})
		return err
	}
	return r.search(eng)
}

// search looks documents up until its input ends, and prints how long that took.
func (r *role) search(eng *rag.Engine) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(io.Discard, os.Stdin)
	}()
	var times []float64
	found := 0
	for {
		select {
		case <-done:
			slices.Sort(times)
			n := max(len(times), 1)
			times = append(times, 0)
			fmt.Printf("%d searches, %d found, p50 %.0f ms, p99 %.0f ms\n", len(times)-1, found, times[n/2], times[n*99/100])
			return nil
		case <-time.After(r.Every):
		}
		began := time.Now()
		i := rand.IntN(r.Docs) //nolint:gosec // any of them
		there, err := find(eng, i)
		if err != nil {
			return err
		}
		times = append(times, time.Since(began).Seconds()*1000)
		if there {
			found++
		}
	}
}

// find looks a document up: it is there with all its parts, each once, or not at all.
func find(eng *rag.Engine, i int) (bool, error) {
	res, err := eng.Search(context.Background(), rag.Query{Text: fmt.Sprintf("falcon%d", i), TopK: 10})
	if errors.Is(err, rag.ErrNotFound) { // no collection yet
		return false, nil
	}
	if err != nil {
		return false, err
	}
	seen := map[string]int{}
	for _, h := range res.Hits {
		for part := range parts {
			if mark := mark(i, part); filepath.Base(h.Chunk.URI) == docName(i) && strings.Contains(h.Chunk.Text, mark) {
				seen[mark]++
			}
		}
	}
	for mark, n := range seen {
		if n != 1 || len(seen) != parts {
			return false, fmt.Errorf("%s is found in %d of %d parts, %q %d times", docName(i), len(seen), parts, mark, n)
		}
	}
	return len(seen) > 0, nil
}

func docName(i int) string { return fmt.Sprintf("%06d.txt", i) }

func mark(i, part int) string { return fmt.Sprintf("The falcon%d has part%d.", i, part) }

// writeDocs makes up texts whose words are as unevenly spread as those of a language.
func writeDocs(folder string, o options) error {
	rnd := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same texts each time
	zipf := rand.NewZipf(rnd, 1.2, 4, 20_000)
	for i := range o.Docs {
		var b strings.Builder
		for part := range parts {
			fmt.Fprintf(&b, "# Part %d\n\n%s", part, mark(i, part))
			for range o.Words {
				fmt.Fprintf(&b, " w%d", zipf.Uint64())
			}
			b.WriteString("\n\n")
		}
		if err := os.WriteFile(filepath.Join(folder, docName(i)), []byte(b.String()), 0o600); err != nil {
			return err
		}
	}
	return nil
}
