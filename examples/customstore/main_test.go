package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

func TestVectors(t *testing.T) {
	ragtest.TestVectorStore(t, func(t *testing.T, dir string) rag.VectorStore {
		v, err := OpenVectors(dir)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}, ragtest.Slow())
}

func TestWords(t *testing.T) {
	ragtest.TestSparseIndex(t, func(t *testing.T, dir string) rag.SparseIndex {
		w, err := OpenWords(dir)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}, ragtest.Slow())
}

// A process that dies while it writes leaves half a line: what was stored before it is there, and what comes after it too.
func TestHalfALineIsLeftOut(t *testing.T) {
	dir := t.TempDir()
	write := func(id string) {
		w, err := OpenWords(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if err := w.Upsert(t.Context(), "c", []rag.TextRecord{{ID: id, Text: "harbour"}}); err != nil {
			t.Fatal(err)
		}
	}
	write("a")
	file := filepath.Join(dir, "words.jsonl")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, slices.Concat(whole, whole[:len(whole)/2]), 0o600); err != nil {
		t.Fatal(err)
	}
	write("b")
	w, err := OpenWords(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	got, err := w.Search(t.Context(), "c", rag.SparseQuery{Text: "harbour", K: 10})
	if err != nil || len(got) != 2 {
		t.Errorf("found %v, %v; want a and b", got, err)
	}
}

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "stored\nhybrid: ") || !strings.Contains(got, "22:40") {
		t.Errorf("printed %q", got)
	}
}
