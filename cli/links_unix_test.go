//go:build unix

package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLinksInADataFolderAreNotFollowed: a data folder that came from elsewhere changes no file elsewhere.
func TestLinksInADataFolderAreNotFollowed(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.rag("ingest", "docs").want(exitDone)
	s.rag("search", "annual", "leave").want(exitDone)
	data, elsewhere := filepath.Join(s.dir, ".rag"), t.TempDir()
	for _, name := range []string{"rag.db", "rag.db.new", "LOCK", "COMMIT", "traces.jsonl", "embeddings", "hnsw", "replies", "verdicts", "eval", "uploads"} {
		at, to := filepath.Join(data, name), filepath.Join(elsewhere, name)
		had := os.Rename(at, to) == nil
		if !had {
			if err := os.WriteFile(to, []byte("kept"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		before := contents(t, elsewhere)
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{"compact", "search annual leave", "ingest docs --force", "delete docs/leave.md"} {
			s.rag(strings.Fields(line)...).want(exitFailed).says(name + " is a link").says("put the file or folder itself in its place")
		}
		if err := os.Remove(at); err != nil { // it is the link still
			t.Fatal(err)
		}
		if after := contents(t, elsewhere); after != before {
			t.Errorf("%s: elsewhere is now %s, was %s", name, after, before)
		}
		if had {
			if err := os.Rename(to, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Rename(data, filepath.Join(elsewhere, "data")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(elsewhere, "data"), data); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"search annual leave", "compact", "verify"} { // the folder itself may be one
		s.rag(strings.Fields(line)...).want(exitDone)
	}
}

// TestRestoreIntoLinks: what lies in the folder to be made is not written through.
func TestRestoreIntoLinks(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.rag("ingest", "docs").want(exitDone)
	s.rag("backup", "b").want(exitDone)
	victim := s.write("victim", "kept")
	for _, name := range []string{"LOCK", "rag.db", "rag.db.new", "COMMIT"} {
		dir := filepath.Join(s.dir, "to-"+name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(victim, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		s.rag("restore", "b", "--dir", dir)
		if text, err := os.ReadFile(victim); err != nil || string(text) != "kept" {
			t.Fatalf("%s: the file elsewhere holds %q, %v", name, text, err)
		}
	}
}

// TestADataFolderIsItsOwnersAlone: documents, questions and answers stand in what is made.
func TestADataFolderIsItsOwnersAlone(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.write("q.jsonl", `{"id":"leave","question":"days of annual leave a year","answerable":true,"expected_sources":["docs/leave.md"]}`+"\n")
	for _, line := range []string{
		"init", "ingest docs", "search annual leave", "ask annual leave", "eval -t q.jsonl", "backup out/b", "export out/e.jsonl", "show docs/leave.md --images out/pictures", "restore out/b --dir out/restored",
	} {
		if line == "backup out/b" {
			if err := os.Mkdir(filepath.Join(s.dir, "out"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if o := s.rag(strings.Fields(line)...); o.code != exitDone && o.code != exitPartial {
			t.Fatalf("rag %s: %s", line, o.stderr)
		}
	}
	n := 0
	for _, dir := range []string{".rag", "out"} {
		err := filepath.WalkDir(filepath.Join(s.dir, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			n++
			info, err := d.Info()
			if err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has the rights %v", path, info.Mode())
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if n < 15 {
		t.Errorf("only %d files and folders were looked at", n)
	}
}

// TestARunThatCannotBeKeptNamesTheFlag: the folder of a snapshot may be one that is only read, or a link.
func TestARunThatCannotBeKeptNamesTheFlag(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.write("q.jsonl", `{"id":"leave","question":"days of annual leave a year","answerable":true,"expected_sources":["docs/leave.md"]}`+"\n")
	s.rag("ingest", "docs").want(exitDone)
	evaluate := []string{"eval", "-t", "q.jsonl", "--retrieval-only", "--snapshot"}
	at := s.write(".rag/eval", "no folder")
	s.rag(evaluate...).want(exitFailed).says("the run cannot be kept in .rag/eval", "name a folder that can be written with --results")
	elsewhere := t.TempDir()
	if err := os.Remove(at); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, at); err != nil {
		t.Fatal(err)
	}
	s.rag(evaluate...).want(exitFailed).says("eval is a link", "--results")
	if all := contents(t, elsewhere); all != "" {
		t.Errorf("elsewhere is now %s", all)
	}
	s.rag(append(evaluate, "--results", "runs")...).want(exitDone)
}

// contents are the names and bytes below a folder.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, path))
		all.WriteString(path + ": " + string(text) + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
