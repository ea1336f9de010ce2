package docscheck

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// platform is an operating system and a processor for which programs are released.
type platform struct{ os, arch string }

// platforms differ in the modules they link: the Windows build has one of its own.
var platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "arm64"}, {"windows", "amd64"}}

// LinkedModules returns the paths of the modules, other than the main one, that a package and its imports come from
// on any platform of a release, sorted. dir is the module's directory.
func LinkedModules(ctx context.Context, dir, pkg string) ([]string, error) {
	var mods []string
	for _, p := range platforms {
		cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", pkg)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOOS="+p.os, "GOARCH="+p.arch, "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list %s for %s/%s: %w: %s", pkg, p.os, p.arch, err, strings.TrimSpace(stderr.String()))
		}
		mods = append(mods, strings.Fields(string(out))...)
	}
	slices.Sort(mods)
	return slices.Compact(mods), nil
}

// moduleRow is a table row whose first cell is a module path in code marks.
var moduleRow = regexp.MustCompile("(?m)^\\| *`([^`]+\\.[^`]+/[^`]+)` *\\|")

// ListedModules returns the module paths that stand in the first column of the tables of a Markdown text, sorted.
func ListedModules(text string) []string {
	var mods []string
	for _, m := range moduleRow.FindAllStringSubmatch(text, -1) {
		mods = append(mods, m[1])
	}
	slices.Sort(mods)
	return mods
}
