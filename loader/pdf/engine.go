package pdf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	pdfium "github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/seed-d8745b77/rag"
)

// instance is one PDFium with memory of its own.
type instance = pdfium.Pdfium

// maxMemoryPages bounds the memory of one instance: 1 GiB in WebAssembly pages of 64 KiB. A file that asks for more
// is refused instead of taking the process down. While it grows there is half as much again: see memory.
const maxMemoryPages = 1 << 14

// How an instance can be lost over a file.
var (
	errTimeout     = errors.New("time limit of the file")
	errPageTimeout = errors.New("time limit of a page")
	errLost        = errors.New("the PDF engine gave up")
	errRenew       = errors.New("it holds much")
)

// engine hands out instances of the compiled PDFium.
type engine struct {
	pool pdfium.Pool
}

// shared is the process's only engine: compiling takes seconds of CPU and 300 MB, so it happens once, on the first
// PDF, and never in init.
var shared struct {
	mu     sync.Mutex
	engine *engine
	err    error
}

// sharedEngine returns the engine, compiled by the first call. cacheDir counts on that call only.
func sharedEngine(cacheDir string) (*engine, error) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.engine == nil && shared.err == nil {
		shared.engine, shared.err = newEngine(cacheDir)
	}
	return shared.engine, shared.err
}

// newEngine compiles PDFium, or loads what an earlier process compiled. A cache that cannot be used is done without.
func newEngine(cacheDir string) (*engine, error) {
	if cache := openCache(cacheDir); cache != nil {
		if pool, err := compile(runtimeConfig().WithCompilationCache(cache)); err == nil {
			return &engine{pool}, nil
		}
	}
	pool, err := compile(runtimeConfig())
	if err != nil {
		return nil, fmt.Errorf("start the PDF engine: %w", err)
	}
	return &engine{pool}, nil
}

// openCache returns nil where no cache is wanted or possible.
func openCache(dir string) wazero.CompilationCache {
	if dir == "none" {
		return nil
	}
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return nil
		}
		dir = filepath.Join(base, "rag", "wazero")
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil
	}
	return cache
}

// runtimeConfig makes running code stoppable. It doubles the cost of a page (12 ms against 5), but without it a loop
// in the engine could not be ended and, since compiled code has no preemption points, would stop Go's collector
// and with it the whole process.
func runtimeConfig() wazero.RuntimeConfig {
	return wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithMemoryLimitPages(maxMemoryPages).
		WithCloseOnContextDone(true)
}

func compile(rc wazero.RuntimeConfig) (pdfium.Pool, error) {
	workers := runtime.GOMAXPROCS(0)
	return webassembly.Init(webassembly.Config{
		Context:       withMemory(experimental.WithCompilationWorkers(context.Background(), workers)),
		MaxTotal:      workers,
		FSConfig:      wazero.NewFSConfig(), // the default would mount the root directory
		Stdout:        io.Discard,
		Stderr:        io.Discard,
		RuntimeConfig: rc,
	})
}

// task is what is done with an instance.
type task func(ctx context.Context, p instance, c *clock) error

// run calls f with a fresh instance, waiting for one if all are busy. The instance is thrown away afterwards, since its
// memory never shrinks and may be damaged by a broken file; a new one costs some 5 ms. When ctx ends, or what is left
// of the file's time, or the time of a page, the instance is stopped in the middle of what it does.
func (e *engine) run(ctx context.Context, left *time.Duration, page time.Duration, f task) error {
	p, err := e.pool.GetInstanceWithContext(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("start a PDF engine instance: %w", err)
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	c := startClock(left, page, end)
	defer c.stop()
	killed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(killed)
		_ = p.Kill() // fails only if closed, which stop below rules out
	})
	err = guard(func() error { return f(ctx, p, c) })
	if stop() {
		if cerr := p.Close(); cerr != nil && err == nil {
			err = fmt.Errorf("close the PDF engine: %w", cerr)
		}
		return err
	}
	<-killed
	return context.Cause(ctx)
}

// clock ends the work on a file when its time, or that of a page, is over.
type clock struct {
	left       *time.Duration // of the file's time, when the clock was started
	limit      time.Duration  // of a page
	since      time.Time
	file, page *time.Timer
}

func startClock(left *time.Duration, page time.Duration, end context.CancelCauseFunc) *clock {
	return &clock{
		left: left, limit: page, since: time.Now(),
		file: time.AfterFunc(*left, func() { end(errTimeout) }),
		page: time.AfterFunc(page, func() { end(errPageTimeout) }),
	}
}

// next begins the time of another page.
func (c *clock) next() { c.page.Reset(c.limit) }

// pause lets f take time that is not the file's.
func (c *clock) pause(f func()) {
	c.stop()
	f()
	c.since = time.Now()
	c.file.Reset(*c.left)
	c.page.Reset(c.limit)
}

func (c *clock) stop() {
	c.file.Stop()
	c.page.Stop()
	*c.left -= time.Since(c.since)
}

// guard turns a panic over a malformed file into an error: the file is at fault, and others follow.
func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w (%v): %w", errLost, r, rag.ErrInvalid)
		}
	}()
	return f()
}
