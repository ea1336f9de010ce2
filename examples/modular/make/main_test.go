package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The files in docs are those that the program makes.
func TestFilesAreThoseOfTheProgram(t *testing.T) {
	dir := t.TempDir()
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	made, err := os.ReadDir(dir)
	if err != nil || len(made) != 4 {
		t.Fatalf("%d files, %v", len(made), err)
	}
	for _, f := range made {
		got, err1 := os.ReadFile(filepath.Join(dir, f.Name()))
		want, err2 := os.ReadFile(filepath.Join("../docs", f.Name()))
		if err1 != nil || err2 != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs: run go run ./make in examples/modular (%v, %v)", f.Name(), err1, err2)
		}
	}
}
