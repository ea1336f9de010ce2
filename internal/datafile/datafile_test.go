package datafile_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag/internal/datafile"
)

// link makes a link, or skips the test where the system lets nobody.
func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Skip(err)
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	victim := filepath.Join(elsewhere, "victim")
	if err := os.WriteFile(victim, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"there": victim, "dangling": filepath.Join(elsewhere, "none"), "beside": "other", "folder": elsewhere} {
		path := filepath.Join(dir, name)
		link(t, to, path)
		for _, flag := range []int{os.O_RDONLY, os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_CREATE | os.O_APPEND, os.O_WRONLY | os.O_CREATE | os.O_TRUNC} {
			f, err := datafile.OpenFile(path, flag)
			var is *datafile.LinkError
			if !errors.As(err, &is) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s opened with %x: %v, want a LinkError that names it", name, flag, err)
			}
			if f != nil {
				f.Close()
			}
		}
		if err := datafile.MakeFolder(path); err == nil {
			t.Errorf("%s was taken for a folder", name)
		}
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "kept" {
		t.Errorf("the file elsewhere is now %q, %v", text, err)
	}
	if all, err := os.ReadDir(elsewhere); err != nil || len(all) != 1 {
		t.Errorf("elsewhere are now %v, %v", all, err)
	}
}

func TestALinkedDataFolderIsOne(t *testing.T) {
	linked := filepath.Join(t.TempDir(), "linked")
	link(t, t.TempDir(), linked)
	if err := datafile.MakeFolder(filepath.Join(linked, "a", "b")); err != nil {
		t.Fatal(err)
	}
	f, err := datafile.OpenFile(filepath.Join(linked, "a", "b", "file"), os.O_CREATE|os.O_WRONLY)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if runtime.GOOS == "windows" {
		return // rights are no bits there
	}
	for name, want := range map[string]os.FileMode{"a": datafile.DirMode, "a/b": datafile.DirMode, "a/b/file": datafile.FileMode} {
		if info, err := os.Stat(filepath.Join(linked, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
}
