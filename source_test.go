package rag_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

// listing reads a set: base names of the sources, and of those that failed with their errors.
func listing(t *testing.T, set rag.Sources) (files []string, failed map[string]error) {
	t.Helper()
	failed = map[string]error{}
	for src, err := range set.All {
		name := src.URI[strings.LastIndexByte(src.URI, '/')+1:]
		if err != nil {
			failed[name] = err
			continue
		}
		files = append(files, name)
		r, err := src.Open(t.Context())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := io.ReadAll(r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		r.Close()
	}
	return files, failed
}

func put(t *testing.T, parts ...string) string {
	t.Helper()
	p := filepath.Join(parts...)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDirYieldsFilesInOrderWithoutHiddenOnes(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.md", "a.md", "sub/c.md", ".hidden.md", ".git/config", "with space.txt"} {
		put(t, dir, filepath.FromSlash(name))
	}
	files, failed := listing(t, rag.Dir(dir))
	if diff := cmp.Diff([]string{"a.md", "b.md", "c.md", "with%20space.txt"}, files); diff != "" || len(failed) != 0 {
		t.Errorf("%s failed: %v", diff, failed)
	}
}

func TestDirPassesOverDataFolders(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.md", "kb/rag.db", "kb/LOCK", "kb/traces.jsonl", "kb/replies/00/x.json", "notes/rag.db", "notes/b.md"} {
		put(t, dir, filepath.FromSlash(name))
	}
	files, failed := listing(t, rag.Dir(dir))
	if diff := cmp.Diff([]string{"a.md", "b.md", "rag.db"}, files); diff != "" {
		t.Error(diff)
	}
	if len(failed) != 1 || !errors.Is(failed["kb"], rag.ErrSkipped) {
		t.Errorf("failed: %v, want the data folder, passed over", failed)
	}
}

// A folder of documents that a data folder was made in has still its documents to give, and nothing else.
func TestDirPassesOverWhatAnEngineKeepsInIt(t *testing.T) {
	dir := t.TempDir()
	own := []string{"rag.db", "LOCK", "COMMIT", "rag.yaml", "traces.jsonl", "traces-20260101T000000.jsonl", "embeddings/00/x", "eval/latest.json"}
	for _, name := range append(own, "a.md", "sub/LOCK", "sub/eval/b.md", "uploads/c.md") {
		put(t, dir, filepath.FromSlash(name))
	}
	files, failed := listing(t, rag.Dir(dir))
	if diff := cmp.Diff([]string{"a.md", "LOCK", "b.md", "c.md"}, files); diff != "" {
		t.Error(diff)
	}
	for _, name := range own {
		name, _, _ = strings.Cut(name, "/")
		if !errors.Is(failed[name], rag.ErrSkipped) {
			t.Errorf("%s: %v, want it passed over", name, failed[name])
		}
	}
}

func TestCheckDataDir(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files []string
		ok    bool
	}{
		{"not there", nil, true},
		{"data", []string{"rag.db", "LOCK", "mine.txt"}, true},
		{"a configuration", []string{"rag.yaml"}, true},
		{"caches only", []string{"embeddings/00/x", ".env"}, true},
		{"hidden files only", []string{".gitignore"}, true},
		{"documents", []string{"a.md"}, false},
		{"documents beside a folder of a known name", []string{"eval/x.md", "z.md"}, false},
	} {
		dir := filepath.Join(t.TempDir(), "d")
		for _, name := range tt.files {
			put(t, dir, filepath.FromSlash(name))
		}
		if err := rag.CheckDataDir(dir); (err == nil) != tt.ok || err != nil && !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%s: error %v, want ok %v", tt.name, err, tt.ok)
		}
	}
}

func TestDirFollowsNoLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: links need a privilege on Windows")
	}
	dir, outside := t.TempDir(), t.TempDir()
	put(t, dir, "a.md")
	secret := put(t, outside, "secret.md")
	link := func(target, name string) {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	link(".", "loop")
	link("a.md", "inside.md")
	link(secret, "absolute.md")
	link(filepath.Join("..", filepath.Base(outside), "secret.md"), "relative.md")
	link(outside, "folder")
	link("nowhere", "broken.md")
	link("circle2", "circle1")
	link("circle1", "circle2")
	files, failed := listing(t, rag.Dir(dir))
	if diff := cmp.Diff([]string{"a.md"}, files); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]error{"absolute.md": rag.ErrLinkOutside, "relative.md": rag.ErrLinkOutside, "folder": rag.ErrLinkOutside, "broken.md": rag.ErrNotFound, "loop": rag.ErrInvalid, "circle1": rag.ErrInvalid, "circle2": rag.ErrInvalid, "inside.md": rag.ErrSkipped} {
		if !errors.Is(failed[name], want) {
			t.Errorf("%s: %v", name, failed[name])
		}
	}
	for _, outside := range []string{"absolute.md", "relative.md", "folder"} {
		if !errors.Is(failed[outside], rag.ErrSkipped) {
			t.Errorf("%s: %v, want ErrSkipped", outside, failed[outside])
		}
	}
	if len(failed) != 8 || errors.Is(failed["loop"], rag.ErrSkipped) {
		t.Errorf("failed: %v", failed)
	}
}

func TestDirCannotBeLedOutBySwappingALinkIn(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: links need a privilege on Windows")
	}
	dir, outside := t.TempDir(), t.TempDir()
	file := put(t, dir, "a.md")
	secret := put(t, outside, "secret.md")
	for src, err := range rag.Dir(dir).All {
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Remove(file), os.Symlink(secret, file)); err != nil {
			t.Fatal(err)
		}
		if r, err := src.Open(t.Context()); err == nil {
			r.Close()
			t.Error("the file outside was opened")
		}
	}
}

func TestOddNamesHaveURIs(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("skipped: this system does not allow such names")
	}
	dir := t.TempDir()
	put(t, dir, "line\nbreak.md")
	put(t, dir, "bad\xffutf8.md")
	files, failed := listing(t, rag.Dir(dir))
	if diff := cmp.Diff([]string{"bad%FFutf8.md", "line%0Abreak.md"}, files); diff != "" || len(failed) != 0 {
		t.Errorf("%s failed: %v", diff, failed)
	}
	for src := range rag.Dir(dir).All {
		p, ok := rag.FilePath(src.URI)
		if _, err := os.Stat(p); !ok || err != nil {
			t.Errorf("FilePath(%q) = %q, %v: %v", src.URI, p, ok, err)
		}
	}
}

func TestMissingFolderAndFileAreErrorsOfTheirURI(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for name, set := range map[string]rag.Sources{"dir": rag.Dir(missing), "file": rag.Files(missing), "path": rag.Path(missing)} {
		_, failed := listing(t, set)
		if err := failed["missing"]; !errors.Is(err, rag.ErrNotFound) {
			t.Errorf("%s: %v", name, failed)
		}
	}
}

func TestUnreadableFolderIsAnErrorAndTheRestIsListed(t *testing.T) {
	if os.Getuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("skipped: this user may read everything")
	}
	dir := t.TempDir()
	put(t, dir, "a.md")
	locked := put(t, dir, "locked", "b.md")
	if err := os.Chmod(filepath.Dir(locked), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Dir(locked), 0o755) })
	files, failed := listing(t, rag.Dir(dir))
	if len(files) != 1 || !errors.Is(failed["locked"], os.ErrPermission) {
		t.Errorf("files %v, failed %v", files, failed)
	}
}

func TestFSAndFiles(t *testing.T) {
	fsys := fstest.MapFS{"x/a.md": {Data: []byte("a")}, "b c.md": {Data: []byte("b")}}
	set := rag.FS(fsys, "mem:///base")
	var uris []string
	for src, err := range set.All {
		if err != nil {
			t.Fatal(err)
		}
		uris = append(uris, src.URI)
	}
	if diff := cmp.Diff([]string{"mem:///base/b%20c.md", "mem:///base/x/a.md"}, uris); diff != "" {
		t.Error(diff)
	}
	dir := t.TempDir()
	put(t, dir, "one.md")
	if _, failed := listing(t, rag.Files(dir)); len(failed) != 1 {
		t.Error("a folder was taken for a file")
	}
	if files, _ := listing(t, rag.Path(dir)); len(files) != 1 {
		t.Errorf("Path of a folder: %v", files)
	}
}
