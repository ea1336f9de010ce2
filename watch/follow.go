package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/seed-d8745b77/rag"
)

// follower turns what the system tells of changes into bursts.
type follower struct {
	watcher        *fsnotify.Watcher
	roots, ignored []string // absolute
	quiet, longest time.Duration
	log            *slog.Logger
}

func newFollower(c Config, limits rag.IngestConfig) (*follower, error) {
	f := &follower{
		quiet:   time.Duration(limits.WatchQuietMS) * time.Millisecond,
		longest: time.Duration(limits.WatchMaxMS) * time.Millisecond,
		log:     c.Logger,
	}
	if f.log == nil {
		f.log = slog.New(slog.DiscardHandler)
	}
	if len(c.Paths) == 0 {
		return nil, fmt.Errorf("watch: no paths given: %w", rag.ErrInvalid)
	}
	var err error
	if f.roots, err = absolute(c.Paths); err != nil {
		return nil, err
	}
	if f.ignored, err = absolute(c.Ignore); err != nil {
		return nil, err
	}
	if err := present(f.roots); err != nil {
		return nil, err
	}
	if f.watcher, err = fsnotify.NewWatcher(); err != nil {
		return nil, fmt.Errorf("follow folders: %w", err)
	}
	return f, nil
}

// collect hands over bursts of changes until the context is done. What comes while nobody takes one is added to it. It must
// not use the watcher otherwise, which may wait for an event to be taken.
func (f *follower) collect(ctx context.Context, out chan<- burst) {
	var b burst
	timer := time.NewTimer(f.longest)
	defer timer.Stop()
	for {
		var ready chan<- burst
		if !b.empty() {
			if wait := time.Until(b.due(f.quiet, f.longest)); wait > 0 {
				timer.Reset(wait)
			} else {
				ready = out
			}
		}
		select {
		case <-ctx.Done():
			return
		case e := <-f.watcher.Events:
			if f.counts(e.Name) {
				b.add(e.Name, time.Now())
			}
		case err := <-f.watcher.Errors:
			// An overflow means that changes were lost. A pass looks at everything, so any change will do; another
			// error may mean it, too.
			f.log.Warn("changes of followed folders may have been lost", "error", err)
			b.add("", time.Now())
		case <-timer.C:
		case ready <- b:
			b = burst{}
		}
	}
}

// counts reports whether a change of the path may change what an ingest finds.
func (f *follower) counts(path string) bool {
	for _, folder := range f.ignored {
		if under(path, folder) {
			return false
		}
	}
	for _, root := range f.roots {
		switch {
		case under(root, path): // the root itself, or a folder it lies in, which came or went
			return true
		case under(path, root) && !hidden(path[len(root):]):
			return true
		}
	}
	return false
}

// hidden reports whether one of a path's names begins with a dot: an ingest passes it over.
func hidden(path string) bool {
	return strings.Contains(filepath.ToSlash(path), "/.")
}

// sync follows the folders that are there now and no others. It is what makes the follower right whatever it was told: after
// lost changes, and when folders were renamed, or came back. The system goes on telling of a folder that was moved
// under its old name.
func (f *follower) sync() error {
	for _, path := range f.watcher.WatchList() {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			_ = f.watcher.Remove(path) // it may know by now
		}
	}
	for _, root := range f.roots {
		if err := f.addAbove(root); err != nil {
			return err
		}
		if err := f.addBelow(root); err != nil {
			return err
		}
	}
	return nil
}

// addAbove follows the nearest folder above a root that there is: it tells when the root comes or goes, and, of a root
// that is a file, when it is replaced.
func (f *follower) addAbove(root string) error {
	for {
		near := nearest(filepath.Dir(root))
		if err := f.add(near); err != nil {
			return err
		}
		if nearest(filepath.Dir(root)) == near { // no nearer one was made meanwhile, unseen
			return nil
		}
	}
}

// nearest returns the path, or the nearest one above that is there.
func nearest(path string) string {
	for {
		up := filepath.Dir(path)
		if _, err := os.Stat(path); err == nil || up == path {
			return path
		}
		path = up
	}
}

// addBelow follows a folder and those below it, unless it is a file. Each is followed before it is listed, so no folder is
// missed.
func (f *follower) addBelow(root string) error {
	if !isFolder(root) {
		return nil
	}
	return fs.WalkDir(os.DirFS(root), ".", func(rel string, d fs.DirEntry, err error) error {
		path := filepath.Join(root, filepath.FromSlash(rel))
		if err != nil { // the ingest tells of it
			f.log.Debug("folder is not followed", "folder", path, "error", err)
			return fs.SkipDir
		}
		switch {
		case !d.IsDir():
			return nil
		case !f.counts(path):
			return fs.SkipDir
		}
		return f.add(path)
	})
}

// isFolder reports whether the path is a folder, or a link to one.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// add follows one folder. One that is gone again, or may not be read, is passed over: the ingest tells of it.
func (f *follower) add(folder string) error {
	err := f.watcher.Add(folder)
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return fmt.Errorf("follow folder %s: %w: on Linux, fs.inotify.max_user_watches is the most folders that can be followed", folder, err)
}
