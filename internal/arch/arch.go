// Package arch holds the project to the layout of docs/ARCHITECTURE.md: which way imports may point, and what the
// root package may stand on. Its tests run it over the module, and over modules with planted faults:
//
//	pkgs, err := arch.Load(ctx, dir, arch.Build{GOOS: "linux", GOARCH: "amd64"}, "./...")
//	for _, v := range arch.Imports(module, pkgs) {
//		t.Error(v)
//	}
package arch

import (
	"fmt"
	"slices"
	"strings"
)

// Package is one package of a build.
type Package struct {
	Path     string   // import path
	Standard bool     // part of the Go distribution
	Imports  []string // what its non-test files import, sorted
}

// Violation is an import, or a package, that the layout does not allow.
type Violation struct {
	Package string // import path of the offender
	Import  string // what it imports; "" if the package itself is out of place
	Rule    string // what is broken, and what to do
}

// String returns "package imports import: rule".
func (v Violation) String() string {
	if v.Import == "" {
		return v.Package + ": " + v.Rule
	}
	return v.Package + " imports " + v.Import + ": " + v.Rule
}

// floors gives each directory under the module's root its floor; a package may import only from lower ones.
// A new directory must be placed here and in section 3 of docs/ARCHITECTURE.md.
var floors = map[string]int{
	"internal": -1, // algorithms on plain types

	"": 0, // the root package: types, contracts, registries, engine

	// Rooms: each implements a contract of the root.
	"catalog": 1, "domain": 1, "embed": 1, "fusion": 1, "llm": 1, "loader": 1, "postgres": 1, "rerank": 1, "rewrite": 1, "sparse": 1, "splitter": 1,
	"trace": 1, "transform": 1, "vectorstore": 1, "verify": 1,

	// These use the engine, link the rooms, or test them.
	"access": 2, "agent": 2, "config": 2, "defaults": 2, "jobs": 2, "ragtest": 2, "watch": 2,

	"eval": 3, // measures an engine

	"dashboard": 4, "httpapi": 4, "mcpadapter": 4, // serve an engine

	"cli":   5,                                        // the command, for programs with providers of their own
	"bench": 6, "cmd": 6, "examples": 6, "scripts": 6, // front doors: programs, imported by nobody
}

// room is the floor of the provider packages.
const room = 1

// Imports returns the imports within the module that do not point to a lower floor, in the order of pkgs. Packages
// under one top-level directory belong together: a room and its heavy providers, the internal packages.
// Packages of other modules are left alone.
func Imports(module string, pkgs []Package) []Violation {
	var bad []Violation
	for _, p := range pkgs {
		dir, ours := topDir(module, p.Path)
		if !ours {
			continue
		}
		floor, placed := floors[dir]
		if !placed {
			bad = append(bad, Violation{Package: p.Path, Rule: fmt.Sprintf(
				"the directory %s/ has no floor: place it in internal/arch and in docs/ARCHITECTURE.md", dir)})
			continue
		}
		for _, imp := range p.Imports {
			to, ours := topDir(module, imp)
			if !ours || to == dir {
				continue
			}
			target, placed := floors[to]
			if placed && target < floor {
				continue
			}
			bad = append(bad, Violation{Package: p.Path, Import: imp, Rule: ruleFor(floor, target, placed)})
		}
	}
	return bad
}

// ruleFor words the rule that an import from one floor to another breaks.
func ruleFor(floor, target int, placed bool) string {
	switch {
	case !placed:
		return "its directory has no floor"
	case floor == room && target == room:
		return "rooms do not import each other: ask for the other's work through a contract of the root"
	case floor < 0:
		return "internal packages work on plain types and import nothing above them"
	}
	return fmt.Sprintf("floor %d may import only from below, not from floor %d", floor, target)
}

// Root returns what of pkgs, the closure of the root package's non-test imports, is neither in the standard library
// nor the root itself or one of its internal packages. Each package outside is reported once, with who imports it.
func Root(module string, pkgs []Package) []Violation {
	allowed := func(p Package) bool {
		return p.Standard || p.Path == module || strings.HasPrefix(p.Path, module+"/internal/")
	}
	var bad []Violation
	for _, p := range pkgs {
		if allowed(p) {
			continue
		}
		v := Violation{Package: module, Import: p.Path, Rule: "the root package stands on the standard library and stdlib-only internal packages alone"}
		for _, by := range pkgs {
			if allowed(by) && slices.Contains(by.Imports, p.Path) {
				v.Package = by.Path
				break
			}
		}
		bad = append(bad, v)
	}
	return bad
}

// topDir returns the first directory of an import path below the module, "" for the root package; ours is false
// for a package of another module.
func topDir(module, path string) (dir string, ours bool) {
	if path == module {
		return "", true
	}
	rest, ours := strings.CutPrefix(path, module+"/")
	dir, _, _ = strings.Cut(rest, "/")
	return dir, ours
}
