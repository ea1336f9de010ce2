package domain

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// listed is a pair of a set of sources.
type listed struct {
	src rag.Source
	err error
}

// match finds the file of each line among the files to ingest, and the line of each file.
func (m *manifest) match(manifestPath string, roots []string) []rag.Sources {
	byURI := map[string]*manifestLine{}
	for _, line := range m.lines {
		byURI[rag.FileURI(line.abs)] = line
	}
	whole := len(roots) > 0 // every file must have a line
	if !whole {
		roots = []string{filepath.Dir(manifestPath)}
	}
	sets := make([]rag.Sources, len(roots))
	for i, root := range roots {
		set := rag.Path(root)
		var pairs []listed
		for src, err := range set.All {
			line := byURI[src.URI]
			switch {
			case line == nil && (!whole || src.URI == rag.FileURI(manifestPath) || src.URI == m.d.record.File):
				continue
			case line == nil && err == nil:
				name := m.shown(src.URI, manifestPath)
				m.report(Problem{Kind: FileWithoutLine, Field: FieldPath, Value: name}, "no line names the file %s: add one, or move the file away", name)
			case line != nil:
				line.found = true
				if err != nil {
					m.reportPath(NotAFile, line, ": %s", reason(err))
				}
				src.Title, src.Meta = line.title, line.meta
			}
			pairs = append(pairs, listed{src, err})
		}
		if !whole { // a file that no line names may well be there
			set.Scope = ""
		}
		sets[i] = rag.Sources{Scope: set.Scope, Manifest: rag.FileURI(manifestPath), All: func(yield func(rag.Source, error) bool) {
			for _, p := range pairs {
				if !yield(p.src, p.err) {
					return
				}
			}
		}}
	}
	m.explainMissing(roots)
	return sets
}

// shown is a file's path for a message: from the manifest's folder, as a line would name it.
func (m *manifest) shown(uri, manifestPath string) string {
	path, ok := rag.FilePath(uri)
	if !ok {
		return uri
	}
	if rel, err := filepath.Rel(filepath.Dir(manifestPath), path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

// explainMissing says of each line whose file is not to be ingested why.
func (m *manifest) explainMissing(roots []string) {
	for _, line := range m.lines {
		if line.found {
			continue
		}
		kind, why := NotAFile, "is passed over: it is a link or its name begins with a dot"
		st, err := os.Lstat(line.abs)
		switch {
		case !slices.ContainsFunc(roots, func(root string) bool { return within(root, line.abs) }):
			kind, why = PathOutside, "lies outside of the files and folders to ingest"
		case errors.Is(err, os.ErrNotExist):
			kind, why = NoSuchFile, "there is no such file"
		case err != nil:
			why = "cannot be read"
		case st.IsDir():
			why = "is a folder"
		}
		m.reportPath(kind, line, ": %s", why)
	}
}

// within reports whether a path is root or lies below it.
func within(root, path string) bool {
	abs, err := filepath.Abs(root)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(abs, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
