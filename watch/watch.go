// Package watch keeps a collection up to date with files and folders while they change.
//
//	err := watch.Run(ctx, eng, watch.Config{
//		Paths: []string{"docs"},
//		Tell:  func(p watch.Pass) { log.Println(p.Report, p.Err) },
//	})
//
// Each pass is an ordinary incremental ingest of all paths. So nothing depends on which changes the system tells, only
// when a pass is made does; what a program does to a file in between (write another one and rename it, write in parts) is
// of no matter.
package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-d8745b77/rag"
)

// Config says what [Run] follows. Only Paths must be given.
type Config struct {
	Paths  []string // files and folders to follow, with all below them; each must be there at the start
	Ignore []string // folders whose changes do not count, such as the engine's data folder. What begins with a dot never does
	// Request returns what a pass ingests; it is asked before each. nil: Paths, into the engine's collection, without the
	// documents whose file is gone. An error of it is told, except for the first, which ends Run.
	Request func() (rag.IngestRequest, error)
	Tell    func(Pass)   // told of each pass that has something to tell, and of the first, before the next begins
	Logger  *slog.Logger // nil: silent
}

// Pass is the outcome of one ingest.
type Pass struct {
	// Report is that of the ingest, in which Failed, Skipped and Warnings hold only what is new: a source that fails is told once,
	// and again when it, or its error, has changed. nil if Err is set.
	Report *rag.IngestReport
	Err    error // why there was no ingest, or no whole one; it is tried again. Told once until it changes
}

// retryAfter is how long after an ingest that a service was not there for it is tried again.
const retryAfter = 30 * time.Second

// Run ingests the paths, and then again whenever something below them has changed: once nothing more did for
// [rag.IngestConfig].WatchQuietMS, or after WatchMaxMS while changes go on. A folder that is removed fails as in any
// ingest, and its documents stay; it is followed again when it comes back.
//
// Run returns nil when the context is done; a pass under way ends first, with each document whole. Errors: those of the
// first request; ErrNotFound for a path that is not there at the start; errors of Ingest but for ErrPartial and
// ErrUnavailable, and what keeps folders from being followed.
func Run(ctx context.Context, eng *rag.Engine, c Config) error {
	f, err := newFollower(c, eng.Config().Ingest)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	changes := make(chan burst)
	var collecting sync.WaitGroup
	collecting.Go(func() { f.collect(ctx, changes) })
	defer func() {
		cancel()
		collecting.Wait()
		_ = f.watcher.Close() // nothing is lost by it
	}()

	p := passes{Config: c, engine: eng}
	var since burst
	for {
		if err := f.sync(); err != nil { // before the ingest lists the folders: what changes after it is seen
			return err
		}
		again, err := p.pass(ctx, since)
		select {
		case <-ctx.Done(): // the ordinary end, also in the middle of a pass
			return nil
		default:
		}
		if err != nil {
			return err
		}
		var retry <-chan time.Time
		if again {
			retry = time.After(retryAfter)
		}
		select {
		case <-ctx.Done():
			return nil
		case since = <-changes:
		case <-retry:
			since = burst{}
		}
	}
}

// absolute returns the paths made absolute.
func absolute(paths []string) ([]string, error) {
	all := make([]string, len(paths))
	for i, p := range paths {
		abs, err := filepath.Abs(p)
		if err != nil {
			return nil, fmt.Errorf("follow %s: %w", p, err)
		}
		all[i] = abs
	}
	return all, nil
}

// present reports the first path that is not there.
func present(paths []string) error {
	for _, p := range paths {
		if _, err := os.Stat(p); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("follow %s: no such file or folder: %w", p, rag.ErrNotFound)
		} else if err != nil {
			return fmt.Errorf("follow: %w", err)
		}
	}
	return nil
}
