package arch_test

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag/internal/arch"
)

const (
	module = "github.com/seed-d8745b77/rag"
	root   = "../.." // the module's directory, seen from this package
)

// builds are those whose files must keep the rules: each can hide an import behind a constraint.
var builds = []arch.Build{
	{GOOS: "linux", GOARCH: "amd64"},
	{GOOS: "linux", GOARCH: "amd64", Tags: "purego"},
	{GOOS: "linux", GOARCH: "arm64"},
	{GOOS: "darwin", GOARCH: "arm64"},
	{GOOS: "windows", GOARCH: "amd64"},
}

func TestImportsPointDownwards(t *testing.T) {
	for _, b := range builds {
		pkgs, err := arch.Load(t.Context(), root, b, "./...")
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range arch.Imports(module, pkgs) {
			t.Errorf("%s/%s %s: %s", b.GOOS, b.GOARCH, b.Tags, v)
		}
	}
}

func TestRootStandsOnTheStandardLibrary(t *testing.T) {
	for _, b := range builds {
		pkgs, err := arch.LoadDeps(t.Context(), root, b, ".")
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range arch.Root(module, pkgs) {
			t.Errorf("%s/%s %s: %s", b.GOOS, b.GOARCH, b.Tags, v)
		}
	}
}

// A program carries the weights of the models that it imports and of no other.
func TestModelsComeAlone(t *testing.T) {
	const english = module + "/embed/local"
	pkgs, err := arch.LoadDeps(t.Context(), root, builds[0], "./embed/local/multilingual")
	if err != nil {
		t.Fatal(err)
	}
	if len(pkgs) < 10 {
		t.Fatalf("%d packages are too few to tell", len(pkgs))
	}
	for _, p := range pkgs {
		if p.Path == english {
			t.Errorf("the multilingual model brings %s, and its weights", english)
		}
	}
}

// The checks must fail on a planted fault, else they guard nothing.
func TestPlantedImports(t *testing.T) {
	const m = "example.com/planted"
	cases := []struct {
		name  string
		files map[string]string // file → what it imports, comma-separated
		want  []string          // "package import" of each violation, in order
	}{
		{"all arrows down", map[string]string{
			"rag.go": "internal/text", "internal/text/t.go": "internal/rune", "internal/rune/r.go": "",
			"loader/l.go": "., internal/text", "loader/pdf/p.go": "loader", "defaults/d.go": "loader, loader/pdf",
			"eval/e.go": "defaults", "cmd/tool/main.go": "eval, defaults, .",
		}, nil},
		{"a room imports a room", map[string]string{"splitter/s.go": "loader", "loader/l.go": ""}, []string{m + "/splitter " + m + "/loader"}},
		{"a provider of a room imports another room", map[string]string{"embed/local/l.go": "sparse", "sparse/s.go": ""}, []string{m + "/embed/local " + m + "/sparse"}},
		{"a room imports what stands on it", map[string]string{"sparse/s.go": "config", "config/c.go": ""}, []string{m + "/sparse " + m + "/config"}},
		{"internal imports the root", map[string]string{"rag.go": "", "internal/text/t.go": "."}, []string{m + "/internal/text " + m}},
		{"the root imports a room", map[string]string{"rag.go": "loader", "loader/l.go": ""}, []string{m + " " + m + "/loader"}},
		{"two of one floor", map[string]string{"config/c.go": "defaults", "defaults/d.go": ""}, []string{m + "/config " + m + "/defaults"}},
		{"somebody imports a front door", map[string]string{"eval/e.go": "bench/load", "bench/load/b.go": ""}, []string{m + "/eval " + m + "/bench/load"}},
		{"behind a build constraint", map[string]string{"splitter/s.go": "", "splitter/s_windows.go": "loader", "loader/l.go": ""}, []string{m + "/splitter " + m + "/loader"}},
		{"an unplaced directory", map[string]string{"helpers/h.go": ""}, []string{m + "/helpers "}},
		{"an unplaced directory is imported", map[string]string{"sparse/s.go": "helpers", "helpers/h.go": ""}, []string{m + "/helpers ", m + "/sparse " + m + "/helpers"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "go.mod"), "module "+m+"\n\ngo 1.26\n")
			for file, imports := range c.files {
				write(t, filepath.Join(dir, file), source(m, file, imports))
			}
			pkgs, err := arch.Load(t.Context(), dir, arch.Build{GOOS: "windows", GOARCH: "amd64"}, "./...")
			if err != nil {
				t.Fatal(err)
			}
			expect(t, arch.Imports(m, pkgs), c.want)
		})
	}
}

// A fault in this very module is found too: go list is shown files that are not on disk.
func TestPlantedInThisModule(t *testing.T) {
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	plant := func(t *testing.T, files map[string]string) arch.Build {
		dir := t.TempDir()
		replace := map[string]string{}
		for file, text := range files {
			disk := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
			write(t, disk, text)
			replace[filepath.Join(here, filepath.FromSlash(file))] = disk
		}
		overlay, err := json.Marshal(map[string]any{"Replace": replace})
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "overlay.json")
		write(t, file, string(overlay))
		return arch.Build{GOOS: "linux", GOARCH: "amd64", Overlay: file}
	}
	t.Run("a room imports a room", func(t *testing.T) {
		b := plant(t, map[string]string{
			"splitter/planted/p.go": source(module, "splitter/planted/p.go", "loader/planted"),
			"loader/planted/p.go":   source(module, "loader/planted/p.go", ""),
		})
		pkgs, err := arch.Load(t.Context(), root, b, "./splitter/planted", "./loader/planted")
		if err != nil {
			t.Fatal(err)
		}
		expect(t, arch.Imports(module, pkgs), []string{module + "/splitter/planted " + module + "/loader/planted"})
	})
	t.Run("the root imports another module", func(t *testing.T) {
		b := plant(t, map[string]string{"planted.go": "package rag\n\nimport _ \"go.yaml.in/yaml/v3\"\n"})
		pkgs, err := arch.LoadDeps(t.Context(), root, b, ".")
		if err != nil {
			t.Fatal(err)
		}
		expect(t, arch.Root(module, pkgs), []string{module + " go.yaml.in/yaml/v3"})
	})
	t.Run("an internal package of the root imports another module", func(t *testing.T) {
		b := plant(t, map[string]string{
			"planted.go":            "package rag\n\nimport _ \"" + module + "/internal/planted\"\n",
			"internal/planted/p.go": "package planted\n\nimport _ \"go.yaml.in/yaml/v3\"\n",
		})
		pkgs, err := arch.LoadDeps(t.Context(), root, b, ".")
		if err != nil {
			t.Fatal(err)
		}
		expect(t, arch.Root(module, pkgs), []string{module + "/internal/planted go.yaml.in/yaml/v3"})
	})
}

func expect(t *testing.T, got []arch.Violation, want []string) {
	t.Helper()
	var names []string
	for _, v := range got {
		names = append(names, v.Package+" "+v.Import)
		if !strings.Contains(v.String(), v.Package) || !strings.Contains(v.String(), v.Import) || v.Rule == "" {
			t.Errorf("%q does not say which package, which import and which rule", v)
		}
	}
	if strings.Join(names, "\n") != strings.Join(want, "\n") {
		t.Errorf("got violations %q, want %q", names, want)
	}
}

// source is a Go file that imports packages of the module m, "." being its root.
func source(m, file, imports string) string {
	name := filepath.Base(filepath.Dir(file))
	if name == "." {
		name = "root"
	}
	if filepath.Base(file) == "main.go" {
		name = "main"
	}
	text := "package " + name + "\n"
	if imports == "" {
		return text
	}
	for imp := range strings.SplitSeq(imports, ",") {
		text += "import _ \"" + path.Join(m, strings.TrimSpace(imp)) + "\"\n"
	}
	return text
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
