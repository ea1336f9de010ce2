package roots_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-d8745b77/rag/internal/roots"
)

func TestResolve(t *testing.T) {
	a, b, outside := t.TempDir(), t.TempDir(), t.TempDir()
	for _, p := range []string{filepath.Join(a, "sub", "x.md"), filepath.Join(b, "y.md"), filepath.Join(outside, "secret.md")} {
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"out.md": filepath.Join(outside, "secret.md"), "over.md": filepath.Join(b, "y.md")} {
		if err := os.Symlink(target, filepath.Join(a, link)); err != nil {
			t.Skip(err)
		}
	}
	for path, want := range map[string]string{
		"":                             "sub/..",
		"sub/x.md":                     "sub/x.md",
		"sub/../sub/x.md":              "sub/x.md",
		filepath.Join(a, "sub"):        "sub",
		filepath.Base(a):               "sub/..",
		filepath.Base(a) + "/sub/x.md": "sub/x.md",
		filepath.Base(a) + "/../" + filepath.Base(outside): "",
		filepath.Base(outside) + "/secret.md":              "",
		"y.md":                                             filepath.Join(b, "y.md"),
		"over.md":                                          "", // its target is read by its own name
		"out.md":                                           "",
		"none.md":                                          "",
		"../" + filepath.Base(outside):                     "",
		filepath.Join(outside, "x/../.."):                  "",
		"sub/x.md\x00":                                     "",
	} {
		got, ok := roots.Resolve([]string{a, b}, path)
		if want != "" && !filepath.IsAbs(want) {
			want = filepath.Join(a, want)
		}
		if want != "" {
			want, _ = filepath.EvalSymlinks(want)
		}
		if got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v; want %q", path, got, ok, want)
		}
	}
	if got, ok := roots.Resolve(nil, "/"); ok {
		t.Errorf("without folders: %q", got)
	}
}
