package userenv

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOfFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "10-keys.conf", "# OTHER=x\nKEY=first\nQUOTED=\"a b\"\n SINGLE='c=d'\nHALF=${KEY}-x\nEMPTY=\n")
	write(t, dir, "20-keys.conf", "KEY=second\n")
	write(t, dir, "30-keys.txt", "KEY=third\n")
	for name, want := range map[string]string{"KEY": "second", "QUOTED": "a b", "SINGLE": "c=d", "EMPTY": ""} {
		if got, ok := ofFiles(dir, name); got != want || !ok {
			t.Errorf("%s is %q, %v; want %q", name, got, ok, want)
		}
	}
	for _, name := range []string{"OTHER", "HALF", "KE"} {
		if got, ok := ofFiles(dir, name); ok {
			t.Errorf("%s is %q", name, got)
		}
	}
	if _, ok := ofFiles(filepath.Join(dir, "none"), "KEY"); ok {
		t.Error("a folder that is not there has a variable")
	}
}

func TestTheProcessGoesBeforeItsUser(t *testing.T) {
	const name = "RAG_TEST_USERENV"
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("skipped: there the user's environment is not a file of a test")
	}
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	if got, ok := Lookup(name); ok || Getenv(name) != "" {
		t.Errorf("set to %q before it is", got)
	}
	write(t, filepath.Join(dir, "environment.d"), "50-rag.conf", name+"=of the user\n")
	if got := Getenv(name); got != "of the user" {
		t.Errorf("got %q", got)
	}
	t.Setenv(name, "")
	if got, ok := Lookup(name); got != "" || !ok {
		t.Errorf("the process has it empty, got %q", got)
	}
}
