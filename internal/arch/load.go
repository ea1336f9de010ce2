package arch

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

// Build selects which files of a package count.
type Build struct {
	GOOS, GOARCH string
	Tags         string // comma-separated; "": none
	Overlay      string // file for go list's -overlay; "": none
}

// Load lists the packages that patterns name in the module at dir, without their test files.
func Load(ctx context.Context, dir string, b Build, patterns ...string) ([]Package, error) {
	return list(ctx, dir, b, patterns)
}

// LoadDeps is Load with everything that the named packages import, directly or not.
func LoadDeps(ctx context.Context, dir string, b Build, patterns ...string) ([]Package, error) {
	return list(ctx, dir, b, append([]string{"-deps"}, patterns...))
}

func list(ctx context.Context, dir string, b Build, args []string) ([]Package, error) {
	flags := []string{"list", "-json=ImportPath,Standard,Imports", "-tags=" + b.Tags}
	if b.Overlay != "" {
		flags = append(flags, "-overlay="+b.Overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(flags, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS="+b.GOOS, "GOARCH="+b.GOARCH, "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w: %s", dir, err, strings.TrimSpace(stderr.String()))
	}
	var pkgs []Package
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath string
			Standard   bool
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs, nil
		} else if err != nil {
			return nil, fmt.Errorf("read go list output: %w", err)
		}
		pkgs = append(pkgs, Package{Path: p.ImportPath, Standard: p.Standard, Imports: p.Imports})
	}
}
