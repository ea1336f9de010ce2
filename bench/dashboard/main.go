// Dashboard measures how long the pages of the dashboard take over a large collection and many traces, and whether memory
// grows as they are loaded again and again.
//
//	go run ./bench/dashboard                     # 100,000 chunks, 10,000 traces, 1,000 loads
//	go run ./bench/dashboard -chunks 10000 -traces 1000
//
// The collection is ingested into a folder that is removed at the end; vectors come from a hash of the words, since no page
// asks a model. Pages are asked for over HTTP on the loopback, one after the other, and read to their end.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/dashboard"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/trace"
)

// chunksOfDocument is how many chunks a document is cut into.
const chunksOfDocument = 100

func main() {
	chunks := flag.Int("chunks", 100_000, "chunks of the collection")
	traces := flag.Int("traces", 10_000, "traces of searches")
	loads := flag.Int("loads", 1_000, "loads of pages between which memory is compared")
	each := flag.Int("each", 30, "loads of each page that are timed")
	flag.Parse()
	if err := run(context.Background(), *chunks, *traces, *loads, *each); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, chunks, traces, loads, each int) (err error) {
	dir, err := os.MkdirTemp("", "rag-bench-dashboard")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	config := rag.DefaultConfig()
	config.Splitter = rag.ProviderConfig{Provider: "recursive", Settings: json.RawMessage(`{"max_tokens": 32, "min_tokens": 1}`)}
	eng, err := rag.Open(dir, rag.WithConfig(config), rag.WithEmbedder(&ragtest.HashEmbedder{Dims: 64}))
	if err != nil {
		return err
	}
	defer eng.Close()
	start := time.Now()
	made, err := fill(ctx, eng, chunks)
	if err != nil {
		return err
	}
	id, err := record(ctx, eng, dir, traces)
	if err != nil {
		return err
	}
	fmt.Printf("%d documents, %d chunks, %d traces; made in %.0f s\n\n", chunks/chunksOfDocument, made, traces, time.Since(start).Seconds())

	dash, err := dashboard.New(eng, dashboard.Options{Traces: trace.NewIndex(dir), EvalDir: filepath.Join(dir, "eval"), UploadDir: filepath.Join(dir, "uploads")})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dash.Close()) }()
	begun := time.Now()
	dash.Warm(ctx)
	fmt.Printf("traces read after %.0f ms\n\n", ms(time.Since(begun)))
	server := httptest.NewServer(dash)
	defer server.Close()
	paths, err := pages(ctx, eng, id)
	if err != nil {
		return err
	}
	if err := times(server.URL, paths, each); err != nil {
		return err
	}
	return memory(server.URL, paths, loads)
}

// fill ingests documents until there are so many chunks, and returns how many there are.
func fill(ctx context.Context, eng *rag.Engine, chunks int) (int, error) {
	sources := rag.Sources{Scope: "papers/", All: func(yield func(rag.Source, error) bool) {
		for d := range chunks / chunksOfDocument {
			text := paper(d)
			src := rag.Source{URI: fmt.Sprintf("papers/%05d.md", d), Size: int64(len(text)), Open: func(context.Context) (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader(text)), nil
			}}
			if !yield(src, nil) {
				return
			}
		}
	}}
	report, err := eng.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{sources}})
	if err != nil {
		return 0, err
	}
	return report.Chunks.New, nil
}

// paper is a document of paragraphs that become a chunk each.
func paper(d int) string {
	topics := []string{"leave", "travel", "safety", "equipment", "calibration", "contracts", "security", "incidents"}
	var b strings.Builder
	fmt.Fprintf(&b, "---\ntitle: Paper %d\nyear: %d\n---\n", d, 2000+d%26)
	for p := range chunksOfDocument {
		topic := topics[(d+p)%len(topics)]
		fmt.Fprintf(&b, "Paragraph %d of paper %d is about %s: it says what holds in case %d, who decides it, and how long an answer takes.\n\n", p, d, topic, (d*31+p*17)%997)
	}
	return b.String()
}

// record makes one search and writes its trace again and again, a minute apart, up to now. It returns the ID of one.
func record(ctx context.Context, eng *rag.Engine, dir string, n int) (string, error) {
	res, err := eng.Search(ctx, rag.Query{Text: "how long does an answer about travel take?"})
	if err != nil {
		return "", err
	}
	t, err := trace.NewIndex(dir).Get(ctx, res.TraceID)
	if err != nil {
		return "", err
	}
	sink := trace.NewJSONL(dir, trace.JSONLConfig{})
	now := time.Now()
	for i := range n {
		t.ID, t.Timestamp = fmt.Sprintf("%016x", i+1), now.Add(time.Duration(i-n)*time.Minute)
		if err := sink.Record(ctx, &t); err != nil {
			return "", err
		}
	}
	return res.TraceID, nil
}

// page is a page with a name for the table.
type page struct{ name, path string }

func pages(ctx context.Context, eng *rag.Engine, id string) ([]page, error) {
	res, err := eng.Search(ctx, rag.Query{Text: "how long does an answer about travel take?"})
	if err != nil {
		return nil, err
	}
	hit := res.Hits[0].Chunk
	doc := "/browse/" + rag.DefaultConfig().Collection + "/doc?uri=" + url.QueryEscape(hit.URI)
	return []page{
		{"overview", "/"},
		{"overview, 30 days", "/?range=30d"},
		{"documents", "/browse"},
		{"documents, a later page", "/browse?after=" + url.QueryEscape("papers/00500.md")},
		{"documents by a filter", "/browse?filter=" + url.QueryEscape("year >= 2024")},
		{"documents by a filter that few pass", "/browse?filter=" + url.QueryEscape(`title = "Paper 3"`)},
		{"passages by words", "/browse?q=" + url.QueryEscape("answer about travel")},
		{"a document", doc},
		{"a document's chunks", doc + "&tab=chunks&chunk=" + hit.ID},
		{"a document's metadata", doc + "&tab=metadata"},
		{"ingestion manager", "/ingest"},
		{"ingests", "/traces/ingest"},
		{"queries", "/traces/query"},
		{"queries by words", "/traces/query?q=travel"},
		{"a query", "/traces/query/" + id},
		{"evaluation", "/evaluation"},
	}, nil
}

// load reads a page to its end.
func load(base string, p page) (size int, took time.Duration, err error) {
	start := time.Now()
	res, err := http.Get(base + p.path) //nolint:noctx // it is our own server
	if err != nil {
		return 0, 0, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.300s", p.path, res.Status, body)
	}
	return len(body), time.Since(start), err
}

// times prints a row for each page: its first load, and of those after it the median and the 95th percentile.
func times(base string, paths []page, each int) error {
	fmt.Println("| page | KiB | first, ms | p50 | p95 |\n|---|---|---|---|---|")
	for _, p := range paths {
		size, first, err := load(base, p)
		if err != nil {
			return err
		}
		took := make([]float64, each)
		for i := range took {
			_, d, err := load(base, p)
			if err != nil {
				return err
			}
			took[i] = ms(d)
		}
		slices.Sort(took)
		fmt.Printf("| %s | %d | %.1f | %.1f | %.1f |\n", p.name, size>>10, ms(first), took[len(took)/2], took[int(math.Ceil(0.95*float64(len(took))))-1])
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// memory prints what the process holds before and after so many loads, all pages in turn.
func memory(base string, paths []page, loads int) error {
	fmt.Println("\n| loads | heap, MiB | resident, MiB | goroutines | open files |\n|---|---|---|---|---|")
	const looks = 4
	for look := range looks + 1 {
		if look > 0 {
			for i := range loads / looks {
				if _, _, err := load(base, paths[i%len(paths)]); err != nil {
					return err
				}
			}
		}
		http.DefaultClient.CloseIdleConnections()
		runtime.GC()
		runtime.GC() // what finalizers let go of
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		files, _ := os.ReadDir("/proc/self/fd") // 0 where there is no such folder
		fmt.Printf("| %d | %.1f | %.0f | %d | %d |\n", look*(loads/looks), float64(m.HeapAlloc)/(1<<20), resident(), runtime.NumGoroutine(), len(files))
	}
	return nil
}

// resident is the memory of the process in MiB; 0 where Linux does not tell it.
func resident() float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		var kib float64
		if n, _ := fmt.Sscanf(line, "VmRSS: %f kB", &kib); n == 1 {
			return kib / 1024
		}
	}
	return 0
}
