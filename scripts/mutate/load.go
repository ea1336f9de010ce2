package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// pkg is a package to be mutated, with its types.
type pkg struct {
	dir   string // from the current directory
	path  string // import path
	name  string
	fset  *token.FileSet
	files []*ast.File
	types *types.Package
	info  *types.Info
	pick  []string // base names of the files to be mutated
}

// load reads the package in a directory. Types of what it imports come from the go command's build cache.
func load(ctx context.Context, dir string, pick []string) (*pkg, error) {
	list, err := goCommand(ctx, dir, "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}\t{{.Name}}\t{{.GoFiles}}", ".")
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	var last []string // the package itself stands behind what it imports
	for lines := bufio.NewScanner(bytes.NewReader(list)); lines.Scan(); {
		last = strings.Split(lines.Text(), "\t")
		exports[last[0]] = last[1]
	}
	if len(last) != 4 {
		return nil, errors.New("the go command lists no package")
	}
	names := strings.Fields(strings.Trim(last[3], "[]"))
	p := &pkg{dir: dir, path: last[0], name: last[2], fset: token.NewFileSet(), pick: pick, info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
	}}
	if p.pick == nil {
		p.pick = names
	}
	for _, want := range p.pick {
		if !slices.Contains(names, want) {
			return nil, fmt.Errorf("there is no file %s in %s", want, dir)
		}
	}
	for _, name := range names {
		f, err := parser.ParseFile(p.fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, f)
	}
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	p.types, err = (&types.Config{Importer: importer.ForCompiler(p.fset, "gc", lookup)}).Check(p.path, p.fset, p.files, p.info)
	return p, err
}

// goCommand returns what the go command prints.
func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, problems.Bytes())
	}
	return out, nil
}
