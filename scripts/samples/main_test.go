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
	if err := write(dir); err != nil {
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

func TestPackBits(t *testing.T) {
	for _, text := range []string{"", "a", "ab", "aab", "abb", "aaaa", "abcabc", string(bytes.Repeat([]byte{7}, 300)), string(bytes.Repeat([]byte("xyz"), 100))} {
		packed := packBits([]byte(text))
		var got []byte
		for i := 0; packed[i] != 128; {
			if n := int(packed[i]); n < 128 {
				got = append(got, packed[i+1:i+2+n]...)
				i += n + 2
			} else {
				got = append(got, bytes.Repeat(packed[i+1:i+2], 257-n)...)
				i += 2
			}
		}
		if string(got) != text {
			t.Errorf("%q comes back as %q", text, got)
		}
	}
}
