package rag_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/catalog"
	"github.com/seed-d8745b77/rag/internal/racetest"
)

// TestCompactAfterTenRewrites: what ten full rewrites leave behind goes; what is searched stays, and what is written
// afterwards is counted.
func TestCompactAfterTenRewrites(t *testing.T) {
	racetest.Skip(t)
	f := newFixture(t)
	for version := range 10 {
		for i := range 30 {
			f.write(fmt.Sprintf("doc%02d.txt", i), prose(fmt.Sprintf("subject%dv%d", i, version), 8))
		}
		f.ingest(nil)
	}
	want := f.chunkIDs()
	before := dbSize(t, f.dir)
	rep, err := f.Compact(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	once := newFixture(t)
	once.docs = f.docs
	once.ingest(nil)
	if _, err := once.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	after, content := dbSize(t, f.dir), dbSize(t, once.dir)
	if before-after != rep.FreedBytes || after > content*11/10 {
		t.Errorf("%d bytes before, %d after, %d freed; the content alone takes %d", before, after, rep.FreedBytes, content)
	}
	if diff := cmp.Diff(want, f.chunkIDs()); diff != "" {
		t.Error(diff)
	}
	f.sound()
	if again, err := f.Compact(t.Context()); err != nil || again.FreedBytes != 0 {
		t.Errorf("compacting again: %+v, %v", again, err)
	}

	for i := range 12 { // more commits than the compacted file had: its transactions count anew
		f.write(fmt.Sprintf("later%d.txt", i), "A later text.")
		f.ingest(nil)
		if infos, err := f.Collections(t.Context()); err != nil || infos[0].Documents != 31+i {
			t.Fatalf("after %d more: %+v, %v", i+1, infos, err)
		}
	}
	f.sound()
}

func dbSize(t *testing.T, dir string) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, "rag.db"))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// TestBackupDuringAnIngest: a backup made at any commit of an ingest restores to whole documents, and the next ingest
// finishes the work.
func TestBackupDuringAnIngest(t *testing.T) {
	defer rag.SetGroupDocs(40)()
	f := newFixture(t)
	for i := range 150 {
		f.write(fmt.Sprintf("doc%03d.txt", i), prose(fmt.Sprintf("subject%d", i), 1))
	}
	var backups []string
	f.ingest(func(r *rag.IngestRequest) {
		r.Progress = func(p rag.Progress) {
			if p.Stage == rag.StageUpsert {
				file := filepath.Join(f.t.TempDir(), "backup")
				if err := f.Backup(t.Context(), file); err != nil {
					t.Error(err)
				}
				backups = append(backups, file)
			}
		}
	})
	if len(backups) < 2 {
		t.Fatalf("%d backups", len(backups))
	}
	if err := f.Backup(t.Context(), backups[0]); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("a backup over another: %v, want ErrInvalid", err)
	}
	want := f.chunkIDs()
	for i, file := range backups {
		g := &fixture{t: t, dir: t.TempDir(), docs: f.docs, embedder: f.embedder}
		if err := catalog.RestoreBolt(g.dir, file); err != nil {
			t.Fatal(err)
		}
		g.open()
		rep, err := g.Repair(t.Context(), "")
		if err != nil || !rep.Unfinished {
			t.Fatalf("backup %d: %+v, %v", i, rep, err)
		}
		g.sound()
		g.ingest(nil)
		if diff := cmp.Diff(want, g.chunkIDs()); diff != "" {
			t.Errorf("backup %d:\n%s", i, diff)
		}
	}
}

func TestBackupOfWhatCannotBeCopied(t *testing.T) {
	eng, err := rag.Open("", rag.WithEmbedder(newFixture(t).embedder))
	if err != nil {
		t.Fatal(err)
	}
	if err := eng.Backup(t.Context(), filepath.Join(t.TempDir(), "b")); !errors.Is(err, rag.ErrUnsupported) || !strings.Contains(err.Error(), "the catalog in use cannot be copied") {
		t.Errorf("in memory: %v, want ErrUnsupported, without the name of a type", err)
	}
	if rep, err := eng.Compact(t.Context()); err != nil || rep.FreedBytes != 0 {
		t.Errorf("compact in memory: %+v, %v", rep, err)
	}
	if err := eng.Close(); err != nil {
		t.Fatal(err)
	}
	if err := eng.Backup(t.Context(), "b"); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("closed: %v, want ErrInvalid", err)
	}
}

// After ten rewrites of everything a compacted folder is as large as one that was never rewritten, give or take.
func TestACompactedFileIsNoLargerThanItsContent(t *testing.T) {
	racetest.Skip(t)
	unsynced(t)
	size := func(rounds ...int) int64 {
		f := newFixture(t)
		for _, round := range rounds {
			for i := range 40 {
				f.write(fmt.Sprintf("d%02d.txt", i), prose(fmt.Sprintf("stone%dx%d", i, round), 8))
			}
			f.ingest(nil)
		}
		if _, err := f.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.sound()
		info, err := os.Stat(filepath.Join(f.dir, "rag.db"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	fresh, rewritten := size(10), size(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
	t.Logf("%d bytes, and %d after ten rewrites", fresh, rewritten)
	if rewritten > 2*fresh {
		t.Errorf("%d bytes after ten rewrites, %d without", rewritten, fresh)
	}
}
