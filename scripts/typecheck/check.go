package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"runtime"
	"sync"
)

// checked is the outcome for one package.
type checked struct {
	done  chan struct{} // closed when the rest is there
	types *types.Package
	errs  []error // of a package that was named, or of one that could not be listed
}

// check type-checks each package once those that it imports have been, and returns what is wrong, in the order of pkgs.
func check(pkgs []pkg, arch string) []error {
	fset := token.NewFileSet()
	results := make(map[string]*checked, len(pkgs))
	for i := range pkgs {
		results[pkgs[i].ImportPath] = &checked{done: make(chan struct{})}
	}
	var running sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range pkgs {
		p := &pkgs[i]
		running.Go(func() {
			result := results[p.ImportPath]
			defer close(result.done)
			for _, path := range p.Imports {
				if imported := results[path]; imported != nil {
					<-imported.done
				}
			}
			slots <- struct{}{}
			defer func() { <-slots }()
			result.types, result.errs = checkOne(fset, p, arch, results)
		})
	}
	running.Wait()
	var errs []error
	for i := range pkgs {
		errs = append(errs, results[pkgs[i].ImportPath].errs...)
	}
	return errs
}

// checkOne type-checks one package whose imports have been checked. Of a package that nobody named it leaves the bodies of
// functions unread, and what is wrong there unsaid: it concerns nobody until a name is missing that somebody uses.
func checkOne(fset *token.FileSet, p *pkg, arch string, results map[string]*checked) (*types.Package, []error) {
	if p.ImportPath == "unsafe" {
		return types.Unsafe, nil
	}
	if p.testMain() {
		return nil, nil
	}
	var errs []error
	if p.Error != nil {
		errs = append(errs, errors.New(p.Error.Err))
	}
	var syntax []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			errs = append(errs, err)
		}
		if file != nil {
			syntax = append(syntax, file)
		}
	}
	config := types.Config{
		IgnoreFuncBodies: p.DepOnly,
		Sizes:            types.SizesFor("gc", arch),
		Importer:         importer{p.ImportMap, results},
		Error: func(err error) {
			if !p.DepOnly {
				errs = append(errs, err)
			}
		},
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	typed, _ := config.Check(p.ImportPath, fset, syntax, nil) // Error got each error
	return typed, errs
}

// importer finds the packages that one package imports among those that were checked before it.
type importer struct {
	mapped  map[string]string
	results map[string]*checked
}

// Import implements types.Importer.
func (i importer) Import(path string) (*types.Package, error) {
	if mapped, ok := i.mapped[path]; ok {
		path = mapped
	}
	if result := i.results[path]; result != nil && result.types != nil {
		return result.types, nil
	}
	return nil, fmt.Errorf("package %s is not there", path)
}
