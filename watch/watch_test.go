package watch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/watch"
)

// watched is a folder with an engine that follows it.
type watched struct {
	*rag.Engine
	t      *testing.T
	docs   string
	passes chan watch.Pass
	stop   context.CancelFunc
	ended  chan error
}

// follow starts to follow a new folder with the files in it, and waits for the first pass.
func follow(t *testing.T, change func(*watch.Config), files ...string) *watched {
	t.Helper()
	c := rag.DefaultConfig()
	c.Ingest.WatchQuietMS, c.Ingest.WatchMaxMS = 20, 1000
	eng, err := rag.Open("", rag.WithConfig(c), rag.WithEmbedder(&ragtest.HashEmbedder{}))
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{Engine: eng, t: t, docs: filepath.Join(t.TempDir(), "above", "docs"), passes: make(chan watch.Pass), ended: make(chan error, 1)}
	if err := os.MkdirAll(w.docs, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		w.write(name, name)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w.stop = cancel
	conf := watch.Config{Paths: []string{w.docs}, Tell: func(p watch.Pass) {
		select {
		case w.passes <- p:
		case <-ctx.Done():
		}
	}}
	if change != nil {
		change(&conf)
	}
	go func() { w.ended <- watch.Run(ctx, eng, conf) }()
	t.Cleanup(func() {
		w.stop()
		if err := errors.Join(<-w.ended, eng.Close()); err != nil {
			t.Error(err)
		}
	})
	w.next()
	return w
}

// write makes or changes a file in place.
func (w *watched) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.docs, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *watched) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *watched) path(name string) string { return filepath.Join(w.docs, filepath.FromSlash(name)) }

// next waits for a pass that is told.
func (w *watched) next() watch.Pass {
	w.t.Helper()
	select {
	case p := <-w.passes:
		return p
	case err := <-w.ended:
		w.ended <- nil
		w.t.Fatalf("the watch ended: %v", err)
		return watch.Pass{}
	}
}

// until takes passes until the collection holds these texts, by name, and returns the passes.
func (w *watched) until(want map[string]string) (told []watch.Pass) {
	w.t.Helper()
	for {
		told = append(told, w.next())
		if cmp.Equal(want, w.texts()) {
			return told
		}
	}
}

// texts are the documents of the collection by their path below the folder.
func (w *watched) texts() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	for e, err := range w.Documents(w.t.Context(), "") {
		w.must(err)
		path, _ := rag.FilePath(e.URI)
		rel, err := filepath.Rel(w.docs, path)
		w.must(err)
		doc, err := w.Document(w.t.Context(), "", e.URI)
		if errors.Is(err, rag.ErrNotFound) { // the next pass has begun
			continue
		}
		w.must(err)
		all[filepath.ToSlash(rel)] = strings.TrimSpace(doc.Text)
	}
	return all
}

func TestFilesAreFollowed(t *testing.T) {
	w := follow(t, nil, "a.md", "b.md")
	w.write("c.md", "new")
	w.until(map[string]string{"a.md": "a.md", "b.md": "b.md", "c.md": "new"})

	// As editors save: into another file that takes the name.
	w.write(".a.md.swp", "swap")
	w.write("a.md~tmp.md", "saved")
	w.must(os.Rename(w.path("a.md~tmp.md"), w.path("a.md")))
	w.until(map[string]string{"a.md": "saved", "b.md": "b.md", "c.md": "new"})
	// And: the old one out of the way, then a new one.
	w.must(os.Rename(w.path("a.md"), w.path("a.md~")))
	w.write("a.md", "saved again")
	w.must(os.Remove(w.path("a.md~")))
	w.until(map[string]string{"a.md": "saved again", "b.md": "b.md", "c.md": "new"})

	w.must(os.Remove(w.path("c.md")))
	w.until(map[string]string{"a.md": "saved again", "b.md": "b.md"})

	w.must(os.Rename(w.path("b.md"), w.path("d.md")))
	told := w.until(map[string]string{"a.md": "saved again", "d.md": "b.md"})
	if r := told[len(told)-1].Report; r.Moved != 1 || r.Embedded != 0 {
		t.Errorf("a rename: %+v", r)
	}
}

func TestFoldersAreFollowed(t *testing.T) {
	w := follow(t, nil)
	w.write("x/y/deep.md", "deep") // two new folders
	w.until(map[string]string{"x/y/deep.md": "deep"})
	w.write("x/y/deep.md", "deeper")
	w.until(map[string]string{"x/y/deep.md": "deeper"})

	w.must(os.Rename(w.path("x"), w.path("z")))
	w.until(map[string]string{"z/y/deep.md": "deeper"})
	w.write("z/y/deep.md", "deepest") // below a folder that was renamed
	w.until(map[string]string{"z/y/deep.md": "deepest"})

	outside := filepath.Join(t.TempDir(), "z")
	w.must(os.Rename(w.path("z"), outside))
	w.until(map[string]string{})
	w.must(os.Rename(outside, w.path("z")))
	w.until(map[string]string{"z/y/deep.md": "deepest"})
	w.write("z/y/other.md", "other")
	w.until(map[string]string{"z/y/deep.md": "deepest", "z/y/other.md": "other"})

	w.must(os.RemoveAll(w.path("z")))
	w.until(map[string]string{})
}

func TestAThousandFilesAtOnce(t *testing.T) {
	w := follow(t, nil)
	want := map[string]string{}
	for i := range 1000 {
		name := fmt.Sprintf("%d/%d.txt", i%10, i)
		want[name] = fmt.Sprint("text ", i)
		w.write(name, want[name])
	}
	w.until(want)
}

func TestAFolderThatGoesAndComesBack(t *testing.T) {
	w := follow(t, nil, "a.md")
	w.must(os.RemoveAll(filepath.Dir(w.docs))) // and the one it lies in
	for {
		p := w.next()
		if len(p.Report.Failed) == 1 && errors.Is(p.Report.Failed[0].Err, rag.ErrNotFound) && p.Report.Failed[0].URI == rag.FileURI(w.docs) {
			break
		}
	}
	w.write("b.md", "back")
	w.until(map[string]string{"b.md": "back"})
	w.write("b.md", "and followed")
	w.until(map[string]string{"b.md": "and followed"})
}

func TestSingleFilesAreFollowed(t *testing.T) {
	w := follow(t, func(c *watch.Config) { c.Paths = []string{filepath.Join(c.Paths[0], "one.md")} }, "one.md", "other.md")
	w.write("other.md", "not asked for")
	w.write("tmp", "replaced")
	w.must(os.Rename(w.path("tmp"), w.path("one.md")))
	w.until(map[string]string{"one.md": "replaced"})
}

func TestAFailureIsToldOnceAndWhenItsFileChanges(t *testing.T) {
	w := follow(t, nil)
	w.write("bad.docx", "no zip")
	failed := func(p watch.Pass) bool { return p.Report != nil && len(p.Report.Failed) == 1 }
	for !failed(w.next()) {
	}
	w.write("a.md", "a")
	for _, p := range w.until(map[string]string{"a.md": "a"}) {
		if failed(p) {
			t.Errorf("told again: %+v", p.Report.Failed)
		}
	}
	w.write("bad.docx", "still no zip")
	for !failed(w.next()) {
	}
	w.must(os.Remove(w.path("bad.docx")))
	w.write("a.md", "b")
	w.until(map[string]string{"a.md": "b"})
}

func TestARequestThatFailsIsTriedAgain(t *testing.T) {
	var docs string
	w := follow(t, func(c *watch.Config) {
		docs = c.Paths[0]
		c.Request = func() (rag.IngestRequest, error) {
			if _, err := os.Stat(filepath.Join(docs, "mistake")); err == nil {
				return rag.IngestRequest{}, fmt.Errorf("a mistake: %w", rag.ErrInvalid)
			}
			return rag.IngestRequest{Sources: []rag.Sources{rag.Dir(docs)}}, nil
		}
	})
	w.write("mistake", "")
	if p := w.next(); p.Report != nil || !errors.Is(p.Err, rag.ErrInvalid) {
		t.Errorf("%+v", p)
	}
	w.write("a.md", "a")
	w.must(os.Remove(w.path("mistake")))
	w.until(map[string]string{"a.md": "a"})
}

func TestRunReportsWhatCannotBeFollowed(t *testing.T) {
	eng, err := rag.Open("", rag.WithEmbedder(&ragtest.HashEmbedder{}))
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	mistake := func() (rag.IngestRequest, error) { return rag.IngestRequest{}, rag.ErrFingerprint }
	for name, tt := range map[string]struct {
		c    watch.Config
		want error
	}{
		"nothing":         {watch.Config{}, rag.ErrInvalid},
		"a missing path":  {watch.Config{Paths: []string{filepath.Join(t.TempDir(), "missing")}}, rag.ErrNotFound},
		"the first error": {watch.Config{Paths: []string{t.TempDir()}, Request: mistake}, rag.ErrFingerprint},
	} {
		if err := watch.Run(t.Context(), eng, tt.c); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := watch.Run(ctx, eng, watch.Config{Paths: []string{t.TempDir()}}); err != nil {
		t.Errorf("a context that is done: %v", err)
	}
}

// TestEndInTheMiddleOfAPass: the documents committed so far are whole, and the next run finishes the work.
func TestEndInTheMiddleOfAPass(t *testing.T) {
	docs := t.TempDir()
	for i := range 20 {
		if err := os.WriteFile(filepath.Join(docs, fmt.Sprintf("%02d.md", i)), []byte("some text"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	embedder := &ragtest.HashEmbedder{Before: func(context.Context, rag.EmbedRole, []string) error { cancel(); return ctx.Err() }}
	eng, err := rag.Open("", rag.WithEmbedder(embedder))
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	if err := watch.Run(ctx, eng, watch.Config{Paths: []string{docs}, Tell: func(p watch.Pass) { t.Errorf("told %+v", p) }}); err != nil {
		t.Fatal(err)
	}
	embedder.Before = nil
	rep, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(docs)}})
	if err != nil || rep.Added+rep.Unchanged != 20 {
		t.Errorf("%+v, %v", rep, err)
	}
	if v, err := eng.Verify(t.Context(), ""); err != nil || !v.OK {
		t.Errorf("%+v, %v", v, err)
	}
}

// A file that is away when a pass looks, and comes back, has what was said of it.
func TestAFileThatComesBackIsTheOneItWas(t *testing.T) {
	first := true
	w := follow(t, func(c *watch.Config) {
		docs := c.Paths[0]
		c.Request = func() (rag.IngestRequest, error) {
			set := rag.Dir(docs)
			all, said := set.All, first
			first = false
			set.All = func(yield func(rag.Source, error) bool) {
				for src, err := range all {
					if said {
						src.Title = "What was said of it"
					}
					if !yield(src, err) {
						return
					}
				}
			}
			return rag.IngestRequest{Sources: []rag.Sources{set}, Prune: true}, nil
		}
	}, "a.md", "b.md")
	away := filepath.Join(t.TempDir(), "a.md")
	w.must(os.Rename(w.path("a.md"), away))
	told := w.until(map[string]string{"b.md": "b.md"})
	if rep := told[len(told)-1].Report; len(rep.Warnings) != 1 || rep.Deleted != 1 {
		t.Errorf("%+v", rep)
	}
	w.must(os.Rename(away, w.path("a.md")))
	w.until(map[string]string{"a.md": "a.md", "b.md": "b.md"})
	e, err := w.Entry(t.Context(), "", rag.FileURI(w.path("a.md")))
	if w.must(err); e.Title != "What was said of it" {
		t.Errorf("its title is %q", e.Title)
	}
}
