package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestGather(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	day := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\nSee `changelog/unreleased`.\n")
	if err := gather(root, "v0.1.0", day); err == nil {
		t.Error("nothing to release is no error")
	}
	write("changelog/unreleased/a.md", "added: one thing.\n\nSomebody wanted it.\n\nfixed: another.\n\nIt was broken:\n\n- here\n")
	write("changelog/unreleased/b.md", "added: two things.\n\nWhy.\n")
	if err := gather(root, "v0.1.0", day); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	want := "# Changelog\n\n## Unreleased\n\nSee `changelog/unreleased`.\n\n## v0.1.0 (2026-12-01)\n\n### Added\n\n- One thing.\n\n  Somebody wanted it.\n" +
		"- Two things.\n\n  Why.\n\n### Fixed\n\n- Another.\n\n  It was broken:\n\n  - here\n"
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	if left, _ := filepath.Glob(filepath.Join(root, "changelog", "unreleased", "*")); len(left) != 0 {
		t.Errorf("entries stay: %q", left)
	}
	write("changelog/unreleased/c.md", "added: three.\n\nWhy.\n")
	if err := gather(root, "v0.1.0", day); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("the same version twice: %v", err)
	}
	write("changelog/unreleased/c.md", "no kind.\n")
	if err := gather(root, "v0.2.0", day); err == nil {
		t.Error("an entry without a kind is no error")
	}
}
