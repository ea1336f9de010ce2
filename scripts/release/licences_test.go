package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/licensecheck"
)

// allowed are licences under which what is linked may be passed on in a binary.
var allowed = map[string]bool{"Apache-2.0": true, "MIT": true, "BSD-2-Clause": true, "BSD-3-Clause": true, "ISC": true, "MIT-0": true}

// row is a line of THIRD_PARTY.md: module, use, licence, holder.
var row = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [^|]* \\| ([^|]+) \\|")

// The licence that THIRD_PARTY.md gives for a module is the one that lies in it, and is one that is allowed.
func TestLicences(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "THIRD_PARTY.md"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		listed[m[1]] = m[2]
	}
	if len(listed) < 10 {
		t.Fatalf("THIRD_PARTY.md lists %d modules: its form is another", len(listed))
	}
	for _, p := range programs {
		modules := modulesOf(t, filepath.Join(root, p.module), p.pkg)
		if len(modules) < 5 {
			t.Errorf("%s links %d modules: too few to be true", p.name, len(modules))
		}
		for path, dir := range modules {
			found := licences(t, dir)
			if len(found) == 0 {
				t.Errorf("%s has no licence that is recognised", path)
			}
			for _, id := range found {
				if !allowed[id] {
					t.Errorf("%s is under %s, which is not among those allowed", path, id)
				}
				if said := listed[path]; !strings.Contains(said, id) {
					t.Errorf("%s is under %s, THIRD_PARTY.md says %s", path, id, said)
				}
			}
		}
	}
}

// modulesOf returns the modules of others that a program links, with their folders.
func modulesOf(t *testing.T, dir, pkg string) map[string]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=Module", pkg)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string]string{}
	for in := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct{ Module *struct{ Path, Dir string } }
		if err := in.Decode(&p); errors.Is(err, io.EOF) {
			return modules
		} else if err != nil {
			t.Fatal(err)
		}
		if p.Module != nil && !strings.HasPrefix(p.Module.Path, "github.com/seed-d8745b77/rag") {
			modules[p.Module.Path] = p.Module.Dir
		}
	}
}

// licences recognises the licence files of a module.
func licences(t *testing.T, dir string) []string {
	t.Helper()
	var ids []string
	for _, pattern := range []string{"LICENSE*", "LICENCE*", "COPYING*", "License*", "license*"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				continue // a folder
			}
			for _, m := range licensecheck.Scan(text).Match {
				if !m.IsURL {
					ids = append(ids, m.ID)
				}
			}
		}
	}
	return ids
}
