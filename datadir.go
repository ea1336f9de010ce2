package rag

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag/internal/datafile"
)

// What lies in a data folder besides what its user puts there, see docs/formats.md. By the marks it is known; other programs
// may well have folders with the names of the rest.
var (
	dataMarks = []string{"rag.db", "rag.db.new", "LOCK", "COMMIT", "rag.yaml", "traces.jsonl"}
	dataRest  = []string{"hnsw", "embeddings", "replies", "verdicts", "eval", "uploads"}
)

// CheckDataDir reports ErrInvalid for a folder that is no data folder and not empty either, such as one of documents: what an
// engine keeps would be strewn among them. Names that begin with a dot do not count. One that is not there is fine. [Open] does
// not ask: a program may know better.
func CheckDataDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	var other string
	for _, e := range entries {
		switch name := e.Name(); {
		case slices.Contains(dataMarks, name):
			return nil
		case strings.HasPrefix(name, "."), slices.Contains(dataRest, name):
		case other == "":
			other = name
		}
	}
	if other != "" {
		return fmt.Errorf("%s is no data folder and not empty, %s is in it: name another folder, which may not exist yet: %w", dir, other, ErrInvalid)
	}
	return nil
}

// withoutLinks is ErrInvalid for a data folder in which something that an engine keeps is a link, so that no store or cache
// changes what lies elsewhere. rag.yaml is only read.
func withoutLinks(dir string) error {
	for _, name := range append(dataMarks[:len(dataMarks):len(dataMarks)], dataRest...) {
		if name == "rag.yaml" {
			continue
		}
		if err := datafile.NoLink(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("data folder: %w: %w", err, ErrInvalid)
		}
	}
	return nil
}

// isData reports whether a folder is the data folder of an engine: it holds a database and its lock, by the names that
// the catalog "bolt" gives them.
func isData(fsys fs.FS, dir string) bool {
	for _, name := range []string{"rag.db", "LOCK"} {
		if info, err := fs.Stat(fsys, path.Join(dir, name)); err != nil || !info.Mode().IsRegular() {
			return false
		}
	}
	return true
}

// isDataFile reports whether a name in a data folder is that of something an engine keeps there. Uploads are documents.
func isDataFile(name string) bool {
	old := strings.HasPrefix(name, "traces-") && strings.HasSuffix(name, ".jsonl")
	return old || slices.Contains(dataMarks, name) || slices.Contains(dataRest, name) && name != "uploads"
}
