package madedir_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-d8745b77/rag/internal/madedir"
)

func TestUndo(t *testing.T) {
	root := t.TempDir()
	inner := filepath.Join(root, "a", "b", "c")
	missing := madedir.Look(inner)
	fill(t, filepath.Join(inner, "file"))
	fill(t, filepath.Join(root, "a", "other"))
	missing.UndoEmpty()
	exists(t, filepath.Join(inner, "file"), true)
	if err := missing.Undo(); err != nil {
		t.Fatal(err)
	}
	exists(t, filepath.Join(root, "a", "b"), false)
	exists(t, filepath.Join(root, "a", "other"), true)
	there := madedir.Look(filepath.Join(root, "a"))
	if err := there.Undo(); err != nil {
		t.Fatal(err)
	}
	exists(t, filepath.Join(root, "a", "other"), true)
}

func fill(t *testing.T, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

func exists(t *testing.T, name string, want bool) {
	t.Helper()
	if _, err := os.Lstat(name); (err == nil) != want {
		t.Errorf("%s: %v, want it there: %v", name, err, want)
	}
}
