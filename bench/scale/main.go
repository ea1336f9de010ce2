// Command scale draws the cost curve of the vector store hnsw: for collections of growing size what building, opening
// and searching them takes in time, memory and disk.
//
//	go run ./bench/scale -n 10000,100000,1000000 -out bench/scale.md
//
// Vectors are synthetic and written straight into the store. Building and searching run in processes of their own, so
// that memory is that of one of them alone.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag/vectorstore"
)

// options are what a run is made with; they travel to the processes that do the work.
type options struct {
	N, Dims, Questions int
	Exact              bool // compare with a flat store
	Store              vectorstore.HNSWConfig
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var o options
	sizes := flag.String("n", "10000,100000", "numbers of records")
	dir := flag.String("dir", "", "folder for the data; a temporary one if empty")
	out := flag.String("out", "", "file for the table; standard output if empty")
	work := flag.String("work", "", "for the program itself: build or search")
	flag.IntVar(&o.Dims, "dims", 384, "dimensions")
	flag.IntVar(&o.Questions, "questions", 1000, "questions asked of each collection")
	flag.BoolVar(&o.Exact, "exact", true, "measure recall against a flat store, which takes 1.5 kB of memory a record")
	flag.StringVar(&o.Store.Quantization, "quantization", "", "int8 or none")
	flag.IntVar(&o.Store.Ef, "ef", 0, "width of a search")
	flag.IntVar(&o.Store.M, "m", 0, "links of a node")
	flag.IntVar(&o.Store.ExactBelow, "exact-below", 0, "records below which there is no graph")
	flag.Parse()
	ctx := context.Background()
	if *work != "" {
		if err := json.Unmarshal([]byte(flag.Arg(0)), &o); err != nil {
			return err
		}
		return perform(ctx, *work, *dir, o)
	}
	if *dir == "" {
		temp, err := os.MkdirTemp("", "scale")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp)
		*dir = temp
	}
	var rows []result
	for size := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(size)
		if err != nil {
			return err
		}
		o.N = n
		r, err := measure(ctx, filepath.Join(*dir, size), o)
		if err != nil {
			return err
		}
		rows = append(rows, r)
		fmt.Fprintf(os.Stderr, "%d: %+v\n", n, r)
	}
	table := report(rows, o)
	if *out == "" {
		fmt.Print(table)
		return nil
	}
	return os.WriteFile(*out, []byte(table), 0o644)
}

// result is what was measured of one collection.
type result struct {
	Built
	Searched
	Disk int64 // bytes of the folder
}

// measure builds a collection and searches it, each in a process of its own.
func measure(ctx context.Context, dir string, o options) (r result, err error) {
	if err := inProcess(ctx, "build", dir, o, &r.Built); err != nil {
		return r, err
	}
	if err := inProcess(ctx, "search", dir, o, &r.Searched); err != nil {
		return r, err
	}
	r.Disk, err = size(dir)
	return r, err
}

// inProcess starts the program again and reads what it prints.
func inProcess(ctx context.Context, work, dir string, o options, into any) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, exe, "-work", work, "-dir", dir, string(raw))
	cmd.Stderr = os.Stderr
	printed, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", work, err)
	}
	return json.Unmarshal(printed, into)
}

// perform is what such a process does.
func perform(ctx context.Context, work, dir string, o options) error {
	var r any
	var err error
	switch work {
	case "build":
		r, err = build(ctx, dir, o)
	case "search":
		r, err = search(ctx, dir, o)
	default:
		err = fmt.Errorf("unknown work %q", work)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

func size(dir string) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}

// memory returns the resident memory of the process in bytes, now and at most, where the system tells.
func memory() (now, most int64) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, 0
	}
	for line := range bytes.Lines(status) {
		key, rest, _ := bytes.Cut(line, []byte(":"))
		fields := bytes.Fields(rest)
		if len(fields) == 0 {
			continue
		}
		kB, err := strconv.ParseInt(string(fields[0]), 10, 64)
		if err != nil {
			continue
		}
		switch string(key) {
		case "RssAnon": // without the file, whose pages the system takes back when it needs them
			now = kB << 10
		case "VmHWM":
			most = kB << 10
		}
	}
	return now, most
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()*1000) }

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f", d.Seconds()) }

func mib(bytes int64) string { return strconv.FormatInt(bytes>>20, 10) }

// report writes the table.
func report(rows []result, o options) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# The cost of size\n\nThe vector store `hnsw` with %d dimensions on %d processors (%s/%s), synthetic vectors written straight into the store. Made by\n`go run ./bench/scale`, which says how.\n\n", o.Dims, runtime.GOMAXPROCS(0), runtime.GOOS, runtime.GOARCH)
	b.WriteString("| records | build s | records/s | snapshot s | reopen and first answer s | disk MiB | anonymous memory MiB | bytes a record | most memory, building MiB |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %d | %s | %.0f | %s | %s | %s | %s | %d | %s |\n", r.N, seconds(r.Build), float64(r.N)/r.Build.Seconds(), seconds(r.Close),
			fmt.Sprintf("%.2f", r.First.Seconds()), mib(r.Disk), mib(r.Memory), r.Memory/int64(r.N), mib(r.MostBuilding))
	}
	b.WriteString("\nQueries, one after the other; recall against exact search.\n\n| records | question | p50 ms | p99 ms | recall |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		for _, q := range r.Queries {
			recall := "not measured"
			if q.Recall >= 0 {
				recall = fmt.Sprintf("%.4f", q.Recall)
			}
			fmt.Fprintf(&b, "| %d | %s | %s | %s | %s |\n", r.N, q.Name, ms(q.P50), ms(q.P99), recall)
		}
	}
	return b.String()
}
