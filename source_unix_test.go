//go:build unix

package rag_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

// Pipes and sockets in a folder are passed over with a word, and named ones refused; none is waited for.
func TestPipesAndSocketsAreNotRead(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir) // a socket's path must be short
	put(t, dir, "a.md")
	if err := errors.Join(syscall.Mkfifo("pipe", 0o600), os.Symlink("pipe", "link"), os.Symlink("/dev/zero", "device")); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	files, failed := listing(t, rag.Dir(dir))
	if diff := cmp.Diff([]string{"a.md"}, files); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]error{"pipe": rag.ErrSkipped, "socket": rag.ErrSkipped, "link": rag.ErrSkipped, "device": rag.ErrLinkOutside} {
		if !errors.Is(failed[name], want) {
			t.Errorf("%s: %v, want %v", name, failed[name], want)
		}
	}
	for _, path := range []string{"pipe", "socket", "link", "device", "/dev/null"} {
		if files, failed := listing(t, rag.Path(path)); len(files) > 0 || !errors.Is(failed[filepath.Base(path)], rag.ErrInvalid) {
			t.Errorf("%s by name: %v %v", path, files, failed)
		}
	}
}

// A pipe that takes a file's name between listing and reading is not waited for either.
func TestAPipeInPlaceOfAFileIsNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	file := put(t, dir, "a.md")
	for name, set := range map[string]rag.Sources{"folder": rag.Dir(dir), "file": rag.Files(file)} {
		if err := errors.Join(os.RemoveAll(file), os.WriteFile(file, []byte("text"), 0o600)); err != nil {
			t.Fatal(err)
		}
		for src, err := range set.All {
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o600)); err != nil {
				t.Fatal(err)
			}
			if r, err := src.Open(t.Context()); !errors.Is(err, rag.ErrInvalid) {
				t.Errorf("%s: opened %v, %v", name, r, err)
			}
		}
	}
}

// An export is read twice, which a pipe cannot be, and nobody may write into it.
func TestAPipeIsNoExport(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := rag.Exported(pipe); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}
