// Package roots keeps who may name paths of this machine to the folders that were opened to them.
package roots

import (
	"path/filepath"
	"strings"
)

// Resolve returns what a path leads to, links followed, if it lies in one of the folders, links followed too. A path that
// is not absolute is looked for in each folder, in order, and then as one that begins with the folder's own name.
func Resolve(folders []string, path string) (real string, ok bool) {
	if filepath.IsAbs(path) {
		return inside(folders, func(string) string { return path })
	}
	if real, ok = inside(folders, func(folder string) string { return filepath.Join(folder, path) }); ok {
		return real, true
	}
	first, _, _ := strings.Cut(filepath.ToSlash(path), "/")
	return inside(folders, func(folder string) string {
		if name(folder) != first {
			return ""
		}
		return filepath.Join(folder, path[len(first):])
	})
}

// Names returns the folders' own names, without where they lie, for a message.
func Names(folders []string) string {
	names := make([]string, len(folders))
	for i, folder := range folders {
		names[i] = name(folder)
	}
	return strings.Join(names, ", ")
}

func name(folder string) string {
	if abs, err := filepath.Abs(folder); err == nil {
		folder = abs
	}
	return filepath.Base(folder)
}

// inside returns the first place that is there and lies in its folder, both with links followed. "" is no place.
func inside(folders []string, place func(folder string) string) (real string, ok bool) {
	for _, folder := range folders {
		full := place(folder)
		if full == "" {
			continue
		}
		real, err := filepath.EvalSymlinks(full)
		base, errBase := filepath.EvalSymlinks(folder)
		if err != nil || errBase != nil {
			continue
		}
		if rel, err := filepath.Rel(base, real); err == nil && filepath.IsLocal(rel) {
			return real, true
		}
	}
	return "", false
}
