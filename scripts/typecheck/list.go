package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// pkg is a package as go list prints it, with its tests where it has some.
type pkg struct {
	ImportPath string // with " [p.test]" behind it where it was compiled for the tests of p
	Dir        string
	GoFiles    []string
	Imports    []string          // the import paths of other packages of the list
	ImportMap  map[string]string // from the path in the source to that in the list, where they differ
	DepOnly    bool              // nobody named it: others import it
	ForTest    string            // the package whose tests it was compiled for
	Module     *struct{ GoVersion string }
	Error      *struct{ Err string }
}

// fields are what go list is to find out: the fewer, the faster.
const fields = "ImportPath,Dir,GoFiles,Imports,ImportMap,DepOnly,ForTest,Module,Error"

// list returns the packages that patterns name in the module at dir, their tests, and all that they import; a package
// stands behind those that it imports.
func list(ctx context.Context, dir string, patterns []string) ([]pkg, error) {
	args := append([]string{"list", "-e", "-deps", "-test", "-json=" + fields}, patterns...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w: %s", dir, err, strings.TrimSpace(stderr.String()))
	}
	var pkgs []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs, nil
		} else if err != nil {
			return nil, fmt.Errorf("read what go list printed: %w", err)
		}
		pkgs = append(pkgs, p)
	}
}

// testMain reports whether p is the program that runs a package's tests, which the go command writes.
func (p *pkg) testMain() bool { return p.ForTest == "" && strings.HasSuffix(p.ImportPath, ".test") }
