package boltkv_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag/internal/boltkv"
)

// TestLinksAreNotOpened: a database that is a link, sound as it is, is neither written nor replaced by a file.
func TestLinksAreNotOpened(t *testing.T) {
	elsewhere, dir := t.TempDir(), t.TempDir()
	db, err := boltkv.Open(elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{boltkv.FileName, boltkv.LockName, boltkv.GateName} {
		at, to := filepath.Join(dir, name), filepath.Join(elsewhere, name)
		before, err := os.ReadFile(to)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, at); err != nil {
			t.Skip(err)
		}
		if db, err := boltkv.Open(dir); err == nil || !strings.Contains(err.Error(), name+" is a link") {
			t.Errorf("%s: got %v, want an error that names the link", name, err)
			if err == nil {
				_ = db.Close()
			}
		}
		if after, err := os.ReadFile(to); err != nil || string(after) != string(before) {
			t.Errorf("%s was changed elsewhere: %v", name, err)
		}
		if name == boltkv.FileName {
			if err := boltkv.Snapshot(dir, t.TempDir()); err == nil || !strings.Contains(err.Error(), "is a link") {
				t.Errorf("snapshot: %v, want an error that names the link", err)
			}
		}
		if err := os.Remove(at); err != nil {
			t.Fatal(err)
		}
	}
}
