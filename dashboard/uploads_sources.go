package dashboard

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/domain"
	"github.com/seed-d8745b77/rag/internal/strict"
)

// description is what a manifest said of an uploaded file. It is kept, so that the file can be ingested again, also a newer
// one of its name, without the manifest.
type description struct {
	Title string   `json:"title,omitempty"`
	Meta  rag.Meta `json:"meta,omitempty"`
}

// sources are uploaded files of a collection by name, with what is said of them. Those of a batch that has not been kept yet
// (nil: none) lie over those that were kept before.
func (u *uploads) sources(collection string, names []string, over *batch, said map[string]description) (rag.Sources, error) {
	root, err := u.open()
	if err != nil {
		return rag.Sources{}, err
	}
	kept, err := fs.Sub(root.FS(), collectionDir(collection))
	if err != nil {
		return rag.Sources{}, err
	}
	files := kept
	if over != nil {
		fresh, err := fs.Sub(root.FS(), batchDir(over.ID))
		if err != nil {
			return rag.Sources{}, err
		}
		files = overlay{fresh, kept}
	}
	wanted := map[string]string{} // name by URI
	for _, name := range names {
		wanted[uploadURI(name)] = name
	}
	return rag.Sources{All: func(yield func(rag.Source, error) bool) {
		for src, err := range rag.FS(files, uploadScheme+"/").All {
			name, ok := wanted[src.URI]
			if !ok {
				continue
			}
			if d, ok := said[name]; ok && err == nil {
				src.Title, src.Meta = d.Title, d.Meta
			}
			if !yield(src, err) {
				return
			}
		}
	}}, nil
}

// overlay shows the files of two trees as one; where both have one, that of the first.
type overlay struct{ over, under fs.FS }

// Open opens a file; folders are read by ReadDir.
func (o overlay) Open(name string) (fs.File, error) {
	f, err := o.over.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return o.under.Open(name)
	}
	return f, err
}

// ReadDir lists a folder of both trees, by name.
func (o overlay) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(o.over, name)
	more, errUnder := fs.ReadDir(o.under, name)
	if err != nil && errUnder != nil {
		return nil, err
	}
	there := make(map[string]bool, len(list))
	for _, e := range list {
		there[e.Name()] = true
	}
	for _, e := range more {
		if !there[e.Name()] {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

// said reads what manifests said of the files of a collection, by name.
func (u *uploads) said(collection string) (map[string]description, error) {
	root, err := u.open()
	if err != nil {
		return nil, err
	}
	said := map[string]description{}
	data, err := root.ReadFile(collectionDir(collection) + ".json")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return said, nil
	case err != nil:
		return nil, err
	}
	if err := strict.Unmarshal(data, &said); err != nil {
		return nil, fmt.Errorf("what manifests said of uploaded files: %w", err)
	}
	return said, nil
}

// say keeps what a manifest said, over what was said before.
func (u *uploads) say(collection string, more map[string]description) error {
	if len(more) == 0 {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	file := collectionDir(collection) + ".json"
	said := map[string]description{}
	if data, err := u.root.ReadFile(file); err == nil {
		if err := strict.Unmarshal(data, &said); err != nil {
			return fmt.Errorf("what manifests said of uploaded files: %w", err)
		}
	}
	for name, d := range more {
		said[name] = d
	}
	data, err := json.MarshalIndent(said, "", " ")
	if err != nil {
		return err
	}
	if err := u.root.WriteFile(file+".tmp", data, 0o600); err != nil {
		return err
	}
	return u.root.Rename(file+".tmp", file)
}

// manifest checks the manifest of a batch against its files, and returns what it says of each. What is wrong with it is a
// *domain.FileError.
func (u *uploads) manifest(b *batch, d *domain.Domain) (map[string]description, error) {
	dir, err := filepath.Abs(filepath.Join(u.dir, filepath.FromSlash(batchDir(b.ID))))
	if err != nil {
		return nil, err
	}
	sets, err := d.Manifest(filepath.Join(dir, manifestName), dir)
	if err != nil {
		return nil, err
	}
	said := map[string]description{}
	for _, set := range sets {
		for src, err := range set.All {
			file, ok := rag.FilePath(src.URI)
			if err != nil || !ok {
				return nil, fmt.Errorf("%s: %w", src.BaseName(), errors.Join(err, rag.ErrInvalid))
			}
			name, err := filepath.Rel(dir, file)
			if err != nil {
				return nil, err
			}
			said[filepath.ToSlash(name)] = description{src.Title, src.Meta}
		}
	}
	return said, nil
}
