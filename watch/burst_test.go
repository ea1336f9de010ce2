package watch

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/seed-d8745b77/rag"
)

// pass lets time go by, which in a bubble of synctest takes none.
func pass(d time.Duration) { <-time.After(d) }

// fed is a follower of /docs whose changes the test makes.
func fed() *follower {
	return &follower{
		watcher: &fsnotify.Watcher{Events: make(chan fsnotify.Event), Errors: make(chan error)},
		roots:   []string{filepath.FromSlash("/home/docs"), filepath.FromSlash("/home/notes.md")},
		ignored: []string{filepath.FromSlash("/home/docs/kb")},
		quiet:   500 * time.Millisecond, longest: 5 * time.Second,
		log: slog.New(slog.DiscardHandler),
	}
}

func TestBurstEndsWithAPauseOrWhenItIsLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f, out := fed(), make(chan burst)
		ended := make(chan struct{})
		go func() { f.collect(ctx, out); close(ended) }()
		change := func(name string) {
			f.watcher.Events <- fsnotify.Event{Name: filepath.FromSlash(name), Op: fsnotify.Write}
		}

		change("/home/docs/.git/index") // is passed over
		pass(time.Hour)
		start := time.Now()
		change("/home/docs/a.md")
		pass(400 * time.Millisecond)
		change("/home/docs/b.md")
		b := <-out
		if took := time.Since(start); took != 900*time.Millisecond || len(b.paths) != 2 {
			t.Errorf("%v after %v, want both half a second after the second", b.paths, took)
		}

		start = time.Now()
		stop := make(chan struct{})
		go func() {
			defer close(stop)
			for range 20 {
				change("/home/docs/a.md")
				pass(400 * time.Millisecond)
			}
		}()
		<-out
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("handed over after %v of changes without a pause", took)
		}
		<-stop
		pass(time.Minute) // nobody takes the next one
		change("/home/docs/c.md")
		if b = <-out; !b.paths[filepath.FromSlash("/home/docs/a.md")] || !b.paths[filepath.FromSlash("/home/docs/c.md")] {
			t.Errorf("got %v, want what came before and after", b.paths)
		}

		f.watcher.Errors <- fsnotify.ErrEventOverflow
		if b = <-out; b.empty() || len(b.paths) != 0 {
			t.Errorf("after an overflow: %+v", b)
		}
		cancel()
		<-ended
	})
}

func TestWhichChangesCount(t *testing.T) {
	f := fed()
	for path, want := range map[string]bool{
		"/home/docs":              true,
		"/home/docs/a.md":         true,
		"/home/docs/sub/x/a.md":   true,
		"/home/docs/.hidden":      false,
		"/home/docs/sub/.git/x":   false,
		"/home/docs/a.md~":        true, // it may be a name of the user's
		"/home/docs/kb":           false,
		"/home/docs/kb/rag.db":    false,
		"/home/docs/kb2/a.md":     true,
		"/home/docs2/a.md":        false,
		"/home/other.md":          false,
		"/home/notes.md":          true,
		"/home/notes.md.tmp":      false,
		"/home":                   true, // the folder that the roots lie in
		"/":                       true,
		"/elsewhere":              false,
		"/home/docs/sub/..a/b.md": false,
	} {
		if got := f.counts(filepath.FromSlash(path)); got != want {
			t.Errorf("%s: %t, want %t", path, got, want)
		}
	}
}

func TestNewsAreToldOnceAndWhenTheyChange(t *testing.T) {
	uri := func(name string) string { return rag.FileURI(filepath.FromSlash("/home/docs/" + name)) }
	n := news{failed: map[string]string{}, skipped: map[string]string{}} // what is nil was never told
	told := func(changed string, failures ...rag.SourceFailure) int {
		var b burst
		if changed != "" {
			b.add(filepath.FromSlash(changed), time.Now())
		}
		r := rag.IngestReport{Failed: failures, Skipped: []rag.SourceNote{{URI: uri("x.bin"), Message: "no loader"}}, Warnings: []rag.SourceNote{{URI: uri("b.md"), Message: "no country"}}}
		n.filter(&r, b)
		return 100*len(r.Warnings) + 10*len(r.Skipped) + len(r.Failed)
	}
	a, b := rag.SourceFailure{URI: uri("sub/a.md"), Error: "no text"}, rag.SourceFailure{URI: uri("b.md"), Error: "no text"}
	other := a
	other.Error = "cut short"
	for i, step := range []struct {
		changed  string
		failures []rag.SourceFailure
		want     int
	}{
		{"", []rag.SourceFailure{a}, 111},
		{"", []rag.SourceFailure{a}, 0},
		{"/home/docs/b.md", []rag.SourceFailure{a, b}, 101},
		{"/home/docs/sub/a.md", []rag.SourceFailure{a, b}, 1}, // it was written again, and is no better
		{"/home/docs/sub", []rag.SourceFailure{a, b}, 1},
		{"", []rag.SourceFailure{other, b}, 1},
		{"", []rag.SourceFailure{b}, 0}, // a is well
		{"", []rag.SourceFailure{other, b}, 1},
	} {
		if got := told(step.changed, step.failures...); got != step.want {
			t.Errorf("step %d: %d, want %d", i, got, step.want)
		}
	}
}
