package domain

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/seed-d8745b77/rag"
)

// listed is a pair of a set of sources.
type listed struct {
	src rag.Source
	err error
}

// match finds the file of each line among the files to ingest, and the line of each file.
func (m *manifest) match(manifestPath string, roots []string) []rag.Sources {
	byPlace := map[string]*manifestLine{}
	for _, line := range m.lines {
		byPlace[line.place] = line
	}
	whole := len(roots) > 0 // every file must have a line
	if !whole {
		roots = []string{filepath.Dir(manifestPath)}
	}
	own, rules := m.places.of(manifestPath), m.placeOf(m.d.record.File)
	uri := rag.FileURI(manifestPath) // of the manifest, as the roots name it if it lies among their files
	var bare []string                // URIs of files that no line names
	sets := make([]rag.Sources, len(roots))
	pairs := make([][]listed, len(roots))
	for i, root := range roots {
		sets[i] = rag.Path(root)
		for src, err := range sets[i].All {
			place := m.placeOf(src.URI)
			line := byPlace[place]
			if place == own {
				uri = src.URI
			}
			switch {
			case line == nil && (place == own || place == rules):
				continue
			case line == nil && err == nil:
				bare = append(bare, src.URI)
				continue
			case line == nil && !whole:
				continue
			case line != nil:
				line.found = true
				if err != nil {
					m.reportPath(NotAFile, line, ": %s", reason(err))
				}
				src.Title, src.Meta = line.title, line.meta
			}
			pairs[i] = append(pairs[i], listed{src, err})
		}
		if !whole { // a file that no line names may well be there
			sets[i].Scope = ""
		}
	}
	bare = m.explainMissing(roots, bare)
	for i := range sets {
		sets[i] = rag.Sources{Scope: sets[i].Scope, Manifest: uri, All: func(yield func(rag.Source, error) bool) {
			for _, p := range pairs[i] {
				if !yield(p.src, p.err) {
					return
				}
			}
		}}
	}
	if whole {
		m.reportBare(bare, manifestPath)
	}
	return sets
}

// reportBare adds a problem for each file that no line names.
func (m *manifest) reportBare(uris []string, manifestPath string) {
	for _, uri := range uris {
		name := m.shown(uri, manifestPath)
		m.report(Problem{Kind: FileWithoutLine, Field: FieldPath, Value: name}, "no line names the file %s: add one, or move the file away", name)
	}
}

// shown is a file's path for a message: from the manifest's folder, as a line would name it.
func (m *manifest) shown(uri, manifestPath string) string {
	path, ok := rag.FilePath(uri)
	if !ok {
		return uri
	}
	if folder := m.places.folder(filepath.Dir(manifestPath)); within(folder, m.places.of(path)) {
		path, manifestPath = m.places.of(path), filepath.Join(folder, filepath.Base(manifestPath))
	}
	if rel, err := filepath.Rel(filepath.Dir(manifestPath), path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

// explainMissing says of each line whose file is not to be ingested why. It returns the files that no line names, without
// those of which a line is said to mean them.
func (m *manifest) explainMissing(roots, bare []string) []string {
	meant := map[string]string{} // by the name in one Unicode form
	for _, uri := range bare {
		meant[norm.NFC.String(m.placeOf(uri))] = uri
	}
	for _, line := range m.lines {
		if line.found {
			continue
		}
		kind, why := NotAFile, "is passed over: it is a link or its name begins with a dot"
		st, err := os.Lstat(line.abs)
		uri, otherForm := meant[norm.NFC.String(line.place)]
		switch {
		case otherForm:
			bare = slices.DeleteFunc(bare, func(b string) bool { return b == uri })
			kind, why = NoSuchFile, "there is a file whose name differs in Unicode form only, as é does that is one character or two: write it as the folder has it"
		case !slices.ContainsFunc(roots, func(root string) bool { return m.places.within(root, line.place) }):
			kind, why = PathOutside, "lies outside of the files and folders to ingest"
			if line.place != line.abs {
				why += ": links lead to " + line.place
			}
		case errors.Is(err, os.ErrNotExist):
			kind, why = NoSuchFile, "there is no such file"
		case err != nil:
			why = "cannot be read"
		case st.IsDir():
			why = "is a folder"
		}
		m.reportPath(kind, line, ": %s", why)
	}
	return bare
}

// placeOf is the place of a source, or its URI if it is no file.
func (m *manifest) placeOf(uri string) string {
	if path, ok := rag.FilePath(uri); ok {
		return m.places.of(path)
	}
	return uri
}

// places are folders without links on the way to them, by their absolute paths. A file is looked for by its place: the same
// folder may be reached by one path for the manifest, and by another for the ingest.
type places map[string]string

// of returns where a file lies. Its own name is not followed: a link is passed over.
func (p places) of(path string) string {
	return filepath.Join(p.folder(filepath.Dir(path)), filepath.Base(path))
}

// folder returns where a folder lies, as far as it is there.
func (p places) folder(dir string) string {
	place, known := p[dir]
	if known {
		return place
	}
	place, err := filepath.EvalSymlinks(dir)
	switch {
	case err == nil:
	case filepath.Dir(dir) == dir:
		place = dir
	default:
		place = p.of(dir)
	}
	p[dir] = place
	return place
}

// within reports whether a place is that of a root, or lies below it.
func (p places) within(root, place string) bool {
	abs, err := filepath.Abs(root)
	return err == nil && (within(p.folder(abs), place) || within(p.of(abs), place))
}

// within reports whether a path is root or lies below it.
func within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
