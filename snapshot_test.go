package rag_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/catalog"
	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/ragtest"
)

// rewriteDir is the data folder of a child process that ingests two versions of all documents in turn until it is killed.
const rewriteDir = "RAG_TEST_REWRITE_DIR"

// rewriteDocs is the folder of its documents.
const rewriteDocs = "RAG_TEST_REWRITE_DOCS"

// rewriteFiles is how many documents there are.
const rewriteFiles = 200

func rewriteAsChild(dir, docs string) error {
	eng, err := rag.Open(dir, rag.WithEmbedder(&ragtest.HashEmbedder{}))
	if err != nil {
		return err
	}
	for version := 0; ; version = 1 - version {
		var sets []rag.Sources
		for i := range rewriteFiles {
			uri := rag.FileURI(filepath.Join(docs, fmt.Sprintf("f%03d.md", i)))
			sets = append(sets, rag.Bytes(uri, []byte(rewriteText(i, version))))
		}
		if _, err := eng.Ingest(context.Background(), rag.IngestRequest{Sources: sets}); err != nil {
			return err
		}
		fmt.Println("ready")
	}
}

// snapshotsTaken is how many snapshots are taken beside a process that writes without pause.
const snapshotsTaken = 100

// TestSnapshotsBesideAProcessThatWrites: each shows whole documents, of which the indexes miss nothing; what a run under way
// has not committed yet is all that they have too much, and a repair of a copy takes it away.
func TestSnapshotsBesideAProcessThatWrites(t *testing.T) {
	racetest.Skip(t)
	dir, docs := t.TempDir(), t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), rewriteDir+"="+dir, rewriteDocs+"="+docs)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed: that is its error
	})
	ready := make([]byte, len("ready\n"))
	if _, err := out.Read(ready); err != nil {
		t.Fatal(err)
	}
	go func() { // until the child is killed
		for {
			if _, err := out.Read(ready); err != nil {
				return
			}
		}
	}()

	states := map[string]bool{}
	mixed := 0
	for n := range snapshotsTaken {
		f := &fixture{t: t, dir: dir, docs: docs, embedder: &ragtest.HashEmbedder{}}
		f.open(rag.WithSnapshot())
		if fresh := checkWhole(t, f); fresh > 0 && fresh < rewriteFiles {
			mixed++
		}
		rep, err := f.Verify(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if len(rep.Missing) > 0 || !rep.OK && !rep.Unfinished {
			t.Errorf("snapshot %d: %+v", n, rep)
		}
		states[strings.Join(f.chunkIDs(), " ")] = true
		if n%20 == 0 {
			repairedCopy(t, f)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(states) < 2 || mixed == 0 {
		t.Errorf("%d states, %d of them in the middle of a run: the test shows nothing", len(states), mixed)
	}
}

// repairedCopy restores a backup of a snapshot, repairs it, and asserts that it is sound and says the same.
func repairedCopy(t *testing.T, f *fixture) {
	t.Helper()
	file, dir := filepath.Join(t.TempDir(), "backup"), t.TempDir()
	if err := errors.Join(f.Backup(t.Context(), file), catalog.RestoreBolt(dir, file)); err != nil {
		t.Fatal(err)
	}
	restored := &fixture{t: t, dir: dir, docs: f.docs, embedder: &ragtest.HashEmbedder{}}
	restored.open()
	if _, err := restored.Repair(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	restored.sound()
	if diff := cmp.Diff(f.chunkIDs(), restored.chunkIDs()); diff != "" {
		t.Error(diff)
	}
}

func TestSnapshotIsOfItsMomentAndIsOnlyRead(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	f := newFixture(t)
	f.write("a.md", "Copper and tin make bronze.")
	f.ingest(nil)
	before := tree(t, f.dir)
	s := &fixture{t: t, dir: f.dir, docs: f.docs, embedder: f.embedder}
	s.open(rag.WithSnapshot()) // beside an engine of the same process, too
	f.write("b.md", "Copper and zinc make brass.")

	for verb, do := range map[string]func() error{
		"ingest": func() error {
			_, err := s.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(f.docs)}})
			return err
		},
		"delete":  func() error { _, err := s.Delete(t.Context(), rag.DeleteRequest{All: true}); return err },
		"repair":  func() error { _, err := s.Repair(t.Context(), ""); return err },
		"reindex": func() error { _, err := s.Reindex(t.Context(), rag.ReindexRequest{}); return err },
		"compact": func() error { _, err := s.Compact(t.Context()); return err },
	} {
		if err := do(); !errors.Is(err, rag.ErrUnsupported) || !strings.HasPrefix(err.Error(), verb+": the data is open as a snapshot") {
			t.Errorf("%s: %v", verb, err)
		}
	}
	if rep := s.ingest(func(r *rag.IngestRequest) { r.DryRun = true }); rep.Added != 1 || rep.Unchanged != 1 {
		t.Errorf("dry run: %+v", rep)
	}
	s.search(rag.Query{Text: "bronze"})
	if diff := cmp.Diff(before, tree(t, f.dir)); diff != "" {
		t.Errorf("the data folder was changed:\n%s", diff)
	}

	f.ingest(nil)
	if got := names(s.search(rag.Query{Text: "copper"})); len(got) != 1 || got[0] != "a.md" {
		t.Errorf("got %v: what was written later is seen", got)
	}
	s.sound()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left := tree(t, temp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// tree lists the files below a folder with size and time.
func tree(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		files = append(files, fmt.Sprint(path, info.Size(), info.ModTime()))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestSnapshotNeedsData(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for name, tt := range map[string]struct {
		dir  string
		opts []rag.Option
		want error
	}{
		"no folder":        {missing, nil, rag.ErrNotFound},
		"an empty folder":  {t.TempDir(), nil, rag.ErrNotFound},
		"memory":           {"", nil, rag.ErrInvalid},
		"a catalog beside": {t.TempDir(), []rag.Option{rag.WithCatalog(catalog.NewMemory())}, rag.ErrInvalid},
	} {
		if _, err := rag.Open(tt.dir, append(tt.opts, rag.WithSnapshot(), rag.WithEmbedder(&ragtest.HashEmbedder{}))...); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	if _, err := os.Stat(missing); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder was made: %v", err)
	}
}

// lockedCatalogs opens a catalog in memory after a number of tries at which another process has it.
func lockedCatalogs(tries int) *rag.Providers {
	p := &rag.Providers{}
	p.Catalogs.Register("busy", rag.Typed(func(rag.Env, struct{}) (rag.Catalog, error) {
		if tries--; tries >= 0 {
			return nil, fmt.Errorf("process 7: %w", rag.ErrLocked)
		}
		return catalog.NewMemory(), nil
	}))
	return p
}

func TestOpenWaitsForAnotherProcessIfAsked(t *testing.T) {
	c := rag.DefaultConfig()
	c.Catalog.Provider, c.Embedder.Provider = "busy", rag.None
	opened := errors.New("the catalog was opened, and the next provider is missing")
	open := func(opts ...rag.Option) error {
		_, err := rag.Open("", append(opts, rag.WithConfig(c), rag.WithProviders(lockedCatalogs(2)))...)
		if errors.Is(err, rag.ErrUnknownProvider) {
			return opened
		}
		return err
	}
	if err := open(); !errors.Is(err, rag.ErrLocked) {
		t.Errorf("without a wait: %v", err)
	}
	if err := open(rag.WithLockWait(1 << 40)); !errors.Is(err, opened) {
		t.Errorf("with a wait: %v", err)
	}
}

// rewriteText is one of two versions of a file: some paragraphs stay, some change, the number of paragraphs differs.
func rewriteText(file, version int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# File %d\n\n", file)
	for p := range 5 + version*(file%3) {
		v := version
		if p%2 == 0 {
			v = 0 // unchanged between the versions
		}
		fmt.Fprintf(&b, "## Part %d\n\nfile%dpart%d version%d. %s\n\n", p, file, p, v, prose(fmt.Sprintf("topic%d", file), 1))
	}
	return b.String()
}

// checkWhole asserts that each document is wholly its old or wholly its new version, in the catalog and in what both
// lanes answer, and returns how many are new.
func checkWhole(t *testing.T, f *fixture) (fresh int) {
	t.Helper()
	chunks := map[string][]rag.Chunk{}
	for c, err := range f.Chunks(t.Context(), "", rag.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		chunks[c.URI] = append(chunks[c.URI], c)
	}
	for i := range rewriteFiles {
		uri := rag.FileURI(filepath.Join(f.docs, fmt.Sprintf("f%03d.md", i)))
		doc, err := f.Document(t.Context(), "", uri)
		if err != nil {
			t.Fatal(err)
		}
		version := 0
		if doc.Text == rewriteText(i, 1) {
			version = 1
		} else if doc.Text != rewriteText(i, 0) {
			t.Errorf("%s is neither its old nor its new version", uri)
		}
		fresh += version
		covered := 0
		for _, c := range chunks[uri] {
			if c.Text != doc.Text[c.Start:c.End] {
				t.Errorf("%s: chunk %d is of another version", uri, c.Ordinal)
			}
			covered = max(covered, c.End)
		}
		if strings.TrimSpace(doc.Text[covered:]) != "" {
			t.Errorf("%s: chunks end at %d of %d", uri, covered, len(doc.Text))
		}
		if i%10 != 0 { // every tenth is asked, in both lanes
			continue
		}
		for _, mode := range []rag.Mode{rag.Dense, rag.Sparse} {
			for _, h := range f.search(rag.Query{Text: fmt.Sprintf("file%dpart1 version%d", i, version), Mode: mode, TopK: 50, Filter: rag.Eq(rag.FieldURI, uri)}).Hits {
				if h.Chunk.Text != doc.Text[h.Chunk.Start:h.Chunk.End] {
					t.Errorf("%s: %s answers with another version", uri, mode)
				}
			}
		}
	}
	return fresh
}
