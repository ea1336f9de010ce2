// Reingest writes all documents of a collection anew, again and again, and tells after each round how much memory the
// process holds and how large the files are; in the end it compacts them.
//
//	go run ./bench/reingest -docs 2000 -rounds 10
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/ragtest"
)

func main() {
	docs := flag.Int("docs", 2000, "documents")
	rounds := flag.Int("rounds", 10, "rounds")
	flag.Parse()
	if err := run(*docs, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "reingest:", err)
		os.Exit(1)
	}
}

func run(docs, rounds int) error {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "rag-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c := rag.DefaultConfig()
	c.EmbedCache.Provider = rag.None // it grows up to its limit: that is what it is for
	eng, err := rag.Open(dir, rag.WithConfig(c), rag.WithEmbedder(&ragtest.HashEmbedder{Dims: 384}))
	if err != nil {
		return err
	}
	defer eng.Close()
	fmt.Println("| round | live heap, MB | resident, MB | rag.db, MB |\n|---|---|---|---|")
	for round := range rounds + 1 {
		if _, err := eng.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{texts(docs, round)}}); err != nil {
			return err
		}
		if err := report(fmt.Sprint(round), dir); err != nil {
			return err
		}
	}
	if _, err := eng.Compact(ctx); err != nil {
		return err
	}
	return report("compact", dir)
}

// texts are documents of about 2 kB, all of whose text differs from round to round.
func texts(docs, round int) rag.Sources {
	return rag.Sources{All: func(yield func(rag.Source, error) bool) {
		for i := range docs {
			var b bytes.Buffer
			for n := range 300 {
				fmt.Fprintf(&b, "w%d ", (i*31+n*7+round*13)%5003)
			}
			src := rag.Source{URI: fmt.Sprintf("mem:///%d.txt", i), Size: int64(b.Len()), Open: func(context.Context) (io.ReadCloser, error) {
				return io.NopCloser(bytes.NewReader(b.Bytes())), nil
			}}
			if !yield(src, nil) {
				return
			}
		}
	}}
}

// report prints a line of the table.
func report(round, dir string) error {
	info, err := os.Stat(filepath.Join(dir, "rag.db"))
	if err != nil {
		return err
	}
	debug.FreeOSMemory() // what is held, not what may be given back
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Printf("| %s | %.1f | %s | %.1f |\n", round, float64(m.HeapAlloc)/1e6, resident(), float64(info.Size())/1e6)
	return nil
}

// resident is the anonymous memory of the process, without the pages of mapped files; "-" where the system does not tell.
func resident() string {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "-"
	}
	for line := range strings.Lines(string(status)) {
		var kb float64
		if n, _ := fmt.Sscanf(line, "RssAnon: %f kB", &kb); n == 1 {
			return fmt.Sprintf("%.1f", kb/1000)
		}
	}
	return "-"
}
