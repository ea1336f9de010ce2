package cli

import (
	"os"
	"path/filepath"
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
	s.rag("restore", "one.backup").want(exitFailed).says("is there already")

	s.rag("restore", "one.backup", "--dir", "again").want(exitDone).prints("3 documents", "ok", "restored into again")
	s.rag("search", "how long is the notice period?", "--dir", "again").want(exitDone).prints("leave.md")
	s.write("half.backup", "half")
	s.rag("restore", "half.backup", "--dir", "third").want(exitFailed).says("half.backup is no backup")
	s.rag("restore", "none.backup", "--dir", "third").want(exitFailed).says("none.backup")
	if _, err := os.Stat(filepath.Join(s.dir, "third")); err == nil {
		t.Error("a restore that failed left a folder")
	}
}
