package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// The files of the examples are those that this makes.
func TestFilesAreAsMade(t *testing.T) {
	dir := t.TempDir()
	if err := writeFiles(dir); err != nil {
		t.Fatal(err)
	}
	made := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		made++
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		want, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if have, err := os.ReadFile(filepath.Join("..", "..", name)); err != nil || !bytes.Equal(have, want) {
			t.Errorf("%s is another file, %v: run go run ./scripts/samples", name, err)
		}
		return nil
	})
	if err != nil || made != 2 {
		t.Errorf("%d files, %v", made, err)
	}
}
