// Package roots keeps who may name paths of this machine to the folders that were opened to them.
package roots

import "path/filepath"

// Resolve returns what a path leads to, links followed, if it lies in one of the folders, links followed too. A path that
// is not absolute is looked for in each folder, in order.
func Resolve(folders []string, path string) (real string, ok bool) {
	for _, folder := range folders {
		full := path
		if !filepath.IsAbs(full) {
			full = filepath.Join(folder, full)
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
