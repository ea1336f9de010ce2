package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// module writes the files of a module and returns its directory.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example.org/m\n\ngo 1.26\n"
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRun(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		goos  string
		want  string // in the error; "": there is none
	}{
		"what is there on each platform": {map[string]string{
			"a.go":         "package m\n\nimport \"example.org/m/inner\"\n\nvar A = inner.B\n",
			"inner/b.go":   "package inner\n\nimport \"net/http\"\n\nvar B http.Handler = http.NotFoundHandler()\n",
			"inner/b_x.go": "//go:build cgo\n\npackage inner\n\nvar B = 1\n",
		}, "windows", ""},
		"a name that the platform lacks": {map[string]string{
			"a.go": "package m\n\nimport \"syscall\"\n\nfunc A() error { return syscall.Kill(1, 2) }\n",
		}, "windows", "a.go:5:33: undefined: syscall.Kill"},
		"a name that it has": {map[string]string{
			"a.go": "package m\n\nimport \"syscall\"\n\nfunc A() error { return syscall.Kill(1, 2) }\n",
		}, "darwin", ""},
		"a file of the platform": {map[string]string{
			"a_darwin.go": "package m\n\nvar A int = \"text\"\n", "a.go": "package m\n",
		}, "darwin", "a_darwin.go:3:13"},
		"a file of another": {map[string]string{
			"a_darwin.go": "package m\n\nvar A int = \"text\"\n", "a.go": "package m\n",
		}, "windows", ""},
		"a test": {map[string]string{
			"a.go": "package m\n", "a_test.go": "package m\n\nvar a = missing\n",
		}, "linux", "a_test.go:3:9: undefined: missing"},
		"a test outside the package, of what is only in its tests": {map[string]string{
			"a.go": "package m\n", "a_test.go": "package m\n\nvar A int\n", "b_test.go": "package m_test\n\nimport \"example.org/m\"\n\nvar _ string = m.A\n",
		}, "linux", "b_test.go:5:16"},
		"a package without files": {map[string]string{
			"a.go": "package m\n\nimport _ \"example.org/m/inner\"\n", "inner/b_linux.go": "package inner\n",
		}, "windows", "build constraints exclude all Go files"},
		"a package that is not there": {map[string]string{
			"a.go": "package m\n\nimport _ \"example.org/m/missing\"\n",
		}, "windows", "missing"},
		"a word that is none": {map[string]string{"a.go": "package m\n\nfunc ( {\n"}, "windows", "a.go:3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOOS", c.goos)
			t.Setenv("GOARCH", "arm64")
			t.Setenv("GOWORK", "off")
			t.Setenv("GOFLAGS", "")
			err := run(t.Context(), module(t, c.files), []string{"./..."})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
