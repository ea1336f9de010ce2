package docscheck_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// withoutExample are packages that a program does not call: one is imported for what it links, one is a command, and one is
// what two embedders have in common.
var withoutExample = []string{"defaults", "cli", "embed/local/run"}

// Every package that a program can import shows its use by an example that is compiled.
func TestEveryPackageHasAnExample(t *testing.T) {
	found := 0
	err := filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, dir)
		if err != nil {
			return err
		}
		if name != "." && isApart(dir, filepath.ToSlash(name)) {
			return filepath.SkipDir
		}
		library, example := lookAt(t, dir)
		if library {
			found++
		}
		if library && !example && !slices.Contains(withoutExample, filepath.ToSlash(name)) {
			t.Errorf("package %s has no example: write %s/example_test.go", name, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 20 {
		t.Errorf("only %d packages were looked at", found)
	}
}

// isApart reports whether a folder holds nothing that a program imports from this module: programs, what is internal, data,
// modules of their own.
func isApart(dir, name string) bool {
	base := filepath.Base(name)
	if strings.HasPrefix(base, ".") || slices.Contains([]string{"internal", "testdata", "examples", "bench", "scripts", "cmd", "docs", "bin", "dist", "changelog"}, base) {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// lookAt tells whether a folder has a package that is no program, and whether its tests have an example.
func lookAt(t *testing.T, dir string) (library, example bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(file, "_test.go") {
			library = library || f.Name.Name != "main"
			continue
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			example = example || ok && strings.HasPrefix(fn.Name.Name, "Example")
		}
	}
	return library, example
}
