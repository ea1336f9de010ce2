package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCompactBackupAndRestore(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.rag("ingest", "docs").want(exitDone)
	var saved backupJSON
	s.rag("backup", "one.backup", "--json").want(exitDone).into(&saved)
	if info, err := os.Stat(filepath.Join(s.dir, "one.backup")); err != nil || info.Size() != saved.Bytes || saved.Bytes == 0 {
		t.Errorf("the report says %+v, the file: %v, %v", saved, info, err)
	}
	s.rag("backup", "one.backup").want(exitFailed).says("is there already")

	s.rag("delete", "docs/leave.md").want(exitDone)
	s.rag("compact").want(exitDone).prints("freed in .rag")
	s.rag("verify").want(exitDone).prints("ok")
	s.rag("restore", "one.backup").want(exitFailed).says("is there already", "--dir", "move that file away")

	s.rag("restore", "one.backup", "--dir", "again").want(exitDone).prints("3 documents", "ok", "restored into again")
	s.rag("search", "how long is the notice period?", "--dir", "again").want(exitDone).prints("leave.md")
	s.write("half.backup", "half")
	s.rag("restore", "half.backup", "--dir", "third").want(exitFailed).says("half.backup is no backup")
	s.rag("restore", "none.backup", "--dir", "third").want(exitFailed).says("none.backup")
	if _, err := os.Stat(filepath.Join(s.dir, "third")); err == nil {
		t.Error("a restore that failed left a folder")
	}
}

// A backup has the data and not the settings: without those it was made with, it is told what is missing.
func TestRestoreUnderOtherSettings(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.rag("ingest", "docs").want(exitDone)
	s.rag("backup", "one.backup").want(exitDone)
	s.write("none.yaml", "embedder: none\n")
	o := s.rag("restore", "one.backup", "--dir", "again", "--config", "none.yaml").want(exitFailed)
	o.prints("made with other settings than those in force: use the rag.yaml that it was made with", "catalog: collection", "built with embedder")
	if strings.Contains(o.stdout, "--repair") {
		t.Errorf("a repair does not put this right:\n%s", o.stdout)
	}
	s.rag("verify", "--dir", "again").want(exitDone)
}

func TestRestoreOfADamagedBackup(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.rag("ingest", "docs").want(exitDone)
	s.rag("backup", "one.backup").want(exitDone)
	whole, err := os.ReadFile(filepath.Join(s.dir, "one.backup"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i, at := 0, bytes.Index(whole, []byte("three months")); at >= 0; n++ {
		i += at
		broken := bytes.Clone(whole)
		broken[i] ^= 1
		s.write("broken.backup", string(broken))
		s.rag("restore", "broken.backup", "--dir", fmt.Sprint("d", n)).want(exitFailed).prints("the backup is damaged")
		i++
		at = bytes.Index(whole[i:], []byte("three months"))
	}
	if n == 0 {
		t.Error("the text is not found in the backup: nothing was tried")
	}
}
