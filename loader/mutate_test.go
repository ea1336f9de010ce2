package loader_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/testdata"
	"github.com/seed-d8745b77/rag/ragtest"
)

// TestMutatedFiles damages real files and loads them: each gives well-formed documents or an error of a kind.
// RAG_MUTATIONS sets how often each file is damaged (3 unless set); the shared documents join in where they are.
func TestMutatedFiles(t *testing.T) {
	rounds := 3
	if s := os.Getenv("RAG_MUTATIONS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("RAG_MUTATIONS is %q: give a number", s)
		}
		rounds = n
	}
	files := goldenFiles(t)
	t.Run("shared", func(t *testing.T) {
		dir := testdata.Shared(t, "data", "docs")
		for _, kind := range []string{"docx", "html", "md", "txt"} {
			more, err := filepath.Glob(filepath.Join(dir, kind, "*"))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, more...)
		}
	})
	ls := ourLoaders(t)
	for i, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for round := range rounds {
			r := rand.New(rand.NewPCG(uint64(i), uint64(round)))
			mutated, what := mutate(r, data)
			src := sourceOf(mutated)
			src.Name = filepath.Base(path)
			docs, _, err := ls.Load(t.Context(), src)
			if err != nil && !errors.Is(err, rag.ErrInvalid) && !errors.Is(err, rag.ErrUnsupported) {
				t.Errorf("%s, %s: an error of no kind: %v", src.Name, what, err)
			}
			for _, d := range docs {
				if err := ragtest.CheckDocument(d); err != nil {
					t.Errorf("%s, %s: %v", src.Name, what, err)
				}
			}
		}
	}
}

// mutate damages a file, and half of the archives in one of their parts, so that the damage is not found by a checksum.
func mutate(r *rand.Rand, data []byte) ([]byte, string) {
	if z, err := zip.NewReader(bytes.NewReader(data), int64(len(data))); err == nil && len(z.File) > 0 && r.IntN(2) == 0 {
		victim := r.IntN(len(z.File))
		out, what, err := damagePart(r, z, victim)
		if err == nil {
			return out, z.File[victim].Name + " " + what
		}
	}
	return damage(r, bytes.Clone(data))
}

// damagePart packs an archive anew with one part damaged.
func damagePart(r *rand.Rand, z *zip.Reader, victim int) (out []byte, what string, err error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i, f := range z.File {
		if i != victim {
			if err := w.Copy(f); err != nil {
				return nil, "", err
			}
			continue
		}
		part, err := f.Open()
		if err != nil {
			return nil, "", err
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return nil, "", err
		}
		content, what = damage(r, content)
		dst, err := w.Create(f.Name)
		if err != nil {
			return nil, "", err
		}
		if _, err := dst.Write(content); err != nil {
			return nil, "", err
		}
	}
	return b.Bytes(), what, w.Close()
}

// damage flips bytes, cuts the end off, zeroes or doubles a range.
func damage(r *rand.Rand, data []byte) ([]byte, string) {
	if len(data) < 2 {
		return data, "as it is"
	}
	at := r.IntN(len(data))
	end := min(len(data), at+1+r.IntN(1+len(data)/4))
	switch r.IntN(4) {
	case 0:
		n := 1 + r.IntN(50)
		for range n {
			data[r.IntN(len(data))] ^= byte(1 + r.IntN(255))
		}
		return data, fmt.Sprintf("%d bytes flipped", n)
	case 1:
		return data[:at], fmt.Sprintf("cut at %d", at)
	case 2:
		clear(data[at:end])
		return data, fmt.Sprintf("zeroed from %d to %d", at, end)
	}
	return append(data[:end:end], data[at:]...), fmt.Sprintf("doubled from %d to %d", at, end)
}

// FuzzFiles starts from the real files, and reads what becomes of them with whichever loader claims it.
func FuzzFiles(f *testing.F) {
	for _, path := range goldenFiles(f) {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(filepath.Base(path), data)
	}
	ls := ourLoaders(f)
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		src := sourceOf(data)
		src.Name = name
		docs, _, err := ls.Load(t.Context(), src)
		if err != nil && !errors.Is(err, rag.ErrInvalid) && !errors.Is(err, rag.ErrUnsupported) {
			t.Errorf("an error of no kind: %v", err)
		}
		for _, d := range docs {
			if err := ragtest.CheckDocument(d); err != nil {
				t.Error(err)
			}
		}
	})
}
