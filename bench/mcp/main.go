// Command mcp measures what the Model Context Protocol adds to a search, over standard input and output and over HTTP: the
// time of a call beside that of Engine.Search, many clients at once, the time to tools/list, and the memory of a server that
// nobody has asked yet.
//
//	go run ./bench/mcp -out bench/mcp.md
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
)

type options struct {
	calls, clients int
	load           time.Duration
	docs           string
}

func main() {
	var o options
	out := flag.String("out", "", "file to write the report to; empty: standard output")
	flag.IntVar(&o.calls, "calls", 1000, "calls of each kind")
	flag.IntVar(&o.clients, "clients", 50, "clients at once")
	flag.DurationVar(&o.load, "load", time.Minute, "how long they call")
	flag.StringVar(&o.docs, "docs", "examples/handbook", "folder to ingest")
	flag.Parse()
	report, err := run(context.Background(), o)
	if err == nil && *out != "" {
		err = os.WriteFile(*out, []byte(report), 0o644)
	} else if err == nil {
		fmt.Print(report)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// questions differ from call to call, so that nothing is answered from memory.
func questionOf(i int) string {
	about := []string{"annual leave", "notice period", "meal allowance abroad", "laser safety", "password rules", "sick leave", "laptop", "incident"}
	return fmt.Sprintf("what is the rule %d about %s?", i, about[i%len(about)])
}

func run(ctx context.Context, o options) (string, error) {
	work, err := os.MkdirTemp("", "bench-mcp")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	binary, kb := filepath.Join(work, "rag"), filepath.Join(work, "kb")
	for _, args := range [][]string{{"go", "build", "-o", binary, "./cmd/rag"}, {binary, "ingest", o.docs, "--dir", kb}} {
		if b, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%v: %w\n%s", args, err, b)
		}
	}
	var b strings.Builder
	b.WriteString("# What the protocol costs\n\nWritten by `go run ./bench/mcp -out bench/mcp.md`.\n\n")
	start := time.Now()
	stdio, pid, err := overStdio(ctx, binary, kb)
	if err != nil {
		return "", err
	}
	defer func() { _ = stdio.Close() }()
	if _, err := stdio.ListTools(ctx, nil); err != nil {
		return "", err
	}
	fmt.Fprintf(&b, "Start to tools/list: %.0f ms. Resident memory of a server that nobody has asked yet: %s.\n\n", ms(time.Since(start)), resident(pid))
	address, stop, err := serveHTTP(ctx, binary, kb)
	if err != nil {
		return "", err
	}
	defer stop()
	http, err := overHTTP(ctx, address)
	if err != nil {
		return "", err
	}
	defer func() { _ = http.Close() }()
	if err := overhead(ctx, &b, o, kb, stdio, http); err != nil {
		return "", err
	}
	err = underLoad(ctx, &b, o, address)
	return b.String(), err
}

func client() *mcp.Client {
	return mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
}

func overStdio(ctx context.Context, binary, kb string) (*mcp.ClientSession, int, error) {
	cmd := exec.CommandContext(ctx, binary, "serve", "mcp", "--dir", kb, "--tools", "docs")
	s, err := client().Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return nil, 0, err
	}
	return s, cmd.Process.Pid, nil
}

func overHTTP(ctx context.Context, address string) (*mcp.ClientSession, error) {
	return client().Connect(ctx, &mcp.StreamableClientTransport{Endpoint: address}, nil)
}

// serveHTTP starts a server and returns its address.
func serveHTTP(ctx context.Context, binary, kb string) (address string, stop func(), err error) {
	cmd := exec.CommandContext(ctx, binary, "serve", "mcp", "--dir", kb, "--tools", "docs", "--http", "127.0.0.1:0")
	errs, err := cmd.StderrPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	lines := bufio.NewScanner(errs)
	for lines.Scan() {
		if _, at, ok := strings.Cut(lines.Text(), "http://"); ok {
			u := url.URL{Scheme: "http", Host: strings.TrimSuffix(at, "/mcp"), Path: "/mcp"}
			go func() { // the log must not fill its pipe
				for lines.Scan() {
				}
			}()
			return u.String(), stop, nil
		}
	}
	stop()
	return "", nil, errors.New("the server does not say where it serves")
}

func search(ctx context.Context, s *mcp.ClientSession, question string) (time.Duration, error) {
	start := time.Now()
	res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"query": question}})
	took := time.Since(start)
	if err == nil && res.IsError {
		err = fmt.Errorf("%s: %v", question, res.Content)
	}
	return took, err
}

// overhead asks each question directly and over both transports, one after the other, and reports the differences.
func overhead(ctx context.Context, b *strings.Builder, o options, kb string, stdio, http *mcp.ClientSession) error {
	eng, err := rag.Open(kb, rag.WithSnapshot())
	if err != nil {
		return err
	}
	defer eng.Close()
	var direct, in, over, dIn, dOver []time.Duration
	const warm = 20 // calls that are not counted: the first ones load models
	for i := range o.calls + warm {
		q := questionOf(i)
		start := time.Now()
		if _, err := eng.Search(ctx, rag.Query{Text: q, TopK: 5}); err != nil {
			return err
		}
		d := time.Since(start)
		s, err := search(ctx, stdio, q)
		if err != nil {
			return err
		}
		h, err := search(ctx, http, q)
		if err != nil {
			return err
		}
		if i >= warm {
			direct, in, over, dIn, dOver = append(direct, d), append(in, s), append(over, h), append(dIn, s-d), append(dOver, h-d)
		}
	}
	fmt.Fprintf(b, "%d questions, each asked three times in turn; what a transport adds is the difference of the same question.\n\n", o.calls)
	b.WriteString("| way | p50 ms | p99 ms | added p50 ms | added p99 ms |\n|---|---|---|---|---|\n")
	fmt.Fprintf(b, "| Engine.Search | %.2f | %.2f | | |\n", at(direct, 50), at(direct, 99))
	fmt.Fprintf(b, "| stdio | %.2f | %.2f | %.2f | %.2f |\n", at(in, 50), at(in, 99), at(dIn, 50), at(dIn, 99))
	fmt.Fprintf(b, "| HTTP | %.2f | %.2f | %.2f | %.2f |\n\n", at(over, 50), at(over, 99), at(dOver, 50), at(dOver, 99))
	return nil
}

// rest is what a client does between two calls: all together stay below what the server grants one address.
const rest = 200 * time.Millisecond

// underLoad has many clients call at once.
func underLoad(ctx context.Context, b *strings.Builder, o options, address string) error {
	ctx, cancel := context.WithTimeout(ctx, o.load+time.Minute)
	defer cancel()
	end := time.Now().Add(o.load)
	var mu sync.Mutex
	var failed []error
	var all []time.Duration
	var wg sync.WaitGroup
	for c := range o.clients {
		wg.Go(func() {
			s, err := overHTTP(ctx, address)
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, err)
				return
			}
			defer func() { _ = s.Close() }()
			for i := c; time.Now().Before(end); i += o.clients {
				took, err := search(ctx, s, questionOf(i))
				mu.Lock()
				if err != nil {
					failed = append(failed, err)
				}
				all = append(all, took)
				mu.Unlock()
				<-time.After(rest)
			}
		})
	}
	wg.Wait()
	fmt.Fprintf(b, "%d clients for %v over HTTP: %d calls, %d failed, p50 %.1f ms, p99 %.1f ms.\n", o.clients, o.load, len(all), len(failed), at(all, 50), at(all, 99))
	return errors.Join(failed...)
}

// at is a percentile in milliseconds.
func at(list []time.Duration, percent int) float64 {
	if len(list) == 0 {
		return 0
	}
	list = slices.Sorted(slices.Values(list))
	return ms(list[min(len(list)-1, len(list)*percent/100)])
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// resident is the memory of a process, where the system tells it in files.
func resident(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return "not known here"
	}
	for line := range strings.Lines(string(data)) {
		if kb, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return strings.TrimSpace(kb)
		}
	}
	return "not known here"
}
