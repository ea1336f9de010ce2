package watch

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
)

// maxPaths is how many changed paths a burst names; of more it only knows that there were some.
const maxPaths = 1 << 16

// burst is a number of changes shortly after one another. The zero value has none.
type burst struct {
	paths       map[string]bool
	first, last time.Time
}

func (b *burst) empty() bool { return b.first.IsZero() }

// add notes a change; path is "" if it is not known what changed.
func (b *burst) add(path string, now time.Time) {
	if b.empty() {
		b.first, b.paths = now, map[string]bool{}
	}
	b.last = now
	if path != "" && len(b.paths) < maxPaths {
		b.paths[path] = true
	}
}

// due returns when the burst is over: when nothing came for a while, or it lasts for long enough.
func (b *burst) due(quiet, longest time.Duration) time.Time {
	end := b.last.Add(quiet)
	if most := b.first.Add(longest); most.Before(end) {
		return most
	}
	return end
}

// touches reports whether the file of a URI, or a folder it lies in, is among what changed.
func (b *burst) touches(uri string) bool {
	path, ok := rag.FilePath(uri)
	if !ok {
		return false
	}
	for {
		if b.paths[path] {
			return true
		}
		up := filepath.Dir(path)
		if up == path {
			return false
		}
		path = up
	}
}

// under reports whether a path is a folder or lies below it.
func under(path, folder string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator)))
	return ok && (rest == "" || rest[0] == filepath.Separator)
}
