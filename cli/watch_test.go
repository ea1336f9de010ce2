package cli

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestWatch follows a folder with one process while others read snapshots, and interrupts it.
func TestWatch(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot send an interrupt here")
	}
	s := newShell(t)
	s.handbook()
	s.write("hash.yaml", "embedder: hash\ningest: {watch_quiet_ms: 20}\n")
	cmd := s.command("ingest", "docs", "--watch", "--json")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	passes := json.NewDecoder(stdout)
	type pass struct {
		ingestOutput
		Deleted int
	}
	next := func() (p pass) {
		t.Helper()
		if err := passes.Decode(&p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := next(); p.Added != 3 {
		t.Errorf("first pass: %+v", p)
	}
	s.write("docs/notes.txt", "The coffee machine moved to the third floor.\n")
	for next().Updated == 0 { // a pass may have found the file while it was written
	}
	s.rag("search", "third floor", "--snapshot", "-m", "sparse").want(exitDone).prints("third floor")
	s.write("docs/bad.docx", "no zip")
	for p := next(); p.failure("bad.docx") == ""; p = next() {
	}
	s.write("docs/new/more.md", "# More\n\nText about marmalade.\n")
	for p := next(); p.Added == 0; p = next() {
		if p.failure("bad.docx") != "" {
			t.Error("a failure is told twice")
		}
	}
	s.rag("search", "marmalade", "--snapshot", "-m", "sparse").want(exitDone).prints("more.md")
	if err := os.Remove(filepath.Join(s.dir, "docs", "travel.md")); err != nil {
		t.Fatal(err)
	}
	for next().Deleted == 0 {
	}
	s.rag("list").want(exitLocked)

	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := passes.Decode(&pass{}); !errors.Is(err, io.EOF) {
		t.Errorf("after the interrupt: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the end: %v", err)
	}
	s.rag("verify").want(exitDone)
	s.rag("list", "documents").want(exitDone).prints("leave.md", "notes.txt", "more.md")
}
