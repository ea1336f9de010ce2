package dashboard

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/remedy"
)

// uploads keeps files that were uploaded, so that they can be ingested again and compared with what comes next: the engine
// itself keeps no files. Below its folder lie
//
//	<collection>/<name>   files that were ingested, or are to be; their URI is upload:///<name>
//	<collection>.json     what manifests said of them
//	.new/<batch>/<name>   files that were uploaded and nobody has decided on yet
//
// A file that is uploaded under the name of another takes its place. Everything goes through one os.Root, so no name and
// no link leads out of the folder. It is safe for concurrent use.
type uploads struct {
	dir string
	now func() time.Time

	deciding sync.Mutex // a batch is kept or discarded once, also where it is asked for twice

	mu   sync.Mutex // guards root, and writing of descriptions
	root *os.Root   // nil until something is uploaded
}

// What is uploaded at once, and how long it waits for a decision.
const (
	maxUploadFiles = 2000
	maxUploadBytes = 4 << 30 // of all files together; each has at most ingest.max_source_bytes
	maxBatches     = 50
	batchAge       = 24 * time.Hour
)

const (
	newDir       = ".new"
	manifestName = ".manifest.jsonl" // of a batch: names that begin with a dot are not ingested
	partialName  = ".partial-"       // begins the name of a file that is being uploaded
	uploadScheme = "upload://"
)

// uploadedFile is a file of a batch.
type uploadedFile struct {
	Name string `json:"name"` // with slashes
	Size int64  `json:"size"`
}

// batch is what was uploaded to be decided on.
type batch struct {
	ID       string         `json:"id"`
	Files    []uploadedFile `json:"files"` // by name
	Bytes    int64          `json:"bytes"`
	Manifest bool           `json:"manifest"` // one was uploaded with them
}

// open returns the folder, made if need be.
func (u *uploads) open() (*os.Root, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.root != nil {
		return u.root, nil
	}
	if u.dir == "" {
		return nil, fmt.Errorf("there is no folder for uploads: %w", rag.ErrUnsupported)
	}
	if err := os.MkdirAll(u.dir, 0o700); err != nil {
		return nil, fmt.Errorf("folder for uploads: %w", err)
	}
	root, err := os.OpenRoot(u.dir)
	if err != nil {
		return nil, fmt.Errorf("folder for uploads: %w", err)
	}
	u.root = root
	return root, nil
}

func (u *uploads) close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.root == nil {
		return nil
	}
	return u.root.Close()
}

// collectionDir is the folder of a collection: its name with everything escaped that a path would not hold as it is.
func collectionDir(collection string) string {
	return strings.ReplaceAll(url.PathEscape(collection), ".", "%2E")
}

func batchDir(id string) string { return path.Join(newDir, id) }

// uploadURI is the URI of an uploaded file.
func uploadURI(name string) string {
	return uploadScheme + "/" + (&url.URL{Path: name}).EscapedPath()
}

// uploadName returns the name of an uploaded file from its URI.
func uploadName(uri string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(uri, uploadScheme+"/")
	if !ok {
		return "", false
	}
	name, err := url.PathUnescape(rest)
	return name, err == nil
}

// begin makes an empty batch, after those that waited too long were thrown away.
func (u *uploads) begin() (id string, err error) {
	root, err := u.open()
	if err != nil {
		return "", err
	}
	waiting, err := u.sweep(root)
	if err != nil {
		return "", err
	}
	if waiting >= maxBatches {
		return "", fmt.Errorf("%d uploads wait to be ingested or discarded: %w", waiting, rag.ErrUnavailable)
	}
	id = rand.Text()[:16]
	return id, root.MkdirAll(batchDir(id), 0o700)
}

// sweep throws away what waited too long, and returns how many batches wait.
func (u *uploads) sweep(root *os.Root) (waiting int, err error) {
	entries, err := fs.ReadDir(root.FS(), newDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || u.now().Sub(info.ModTime()) < batchAge {
			waiting++
			continue
		}
		if err := root.RemoveAll(batchDir(e.Name())); err != nil {
			return waiting, err
		}
	}
	return waiting, nil
}

// batch returns what was uploaded under an ID; rag.ErrNotFound if there is nothing.
func (u *uploads) batch(id string) (*batch, error) {
	root, err := u.open()
	if err != nil {
		return nil, err
	}
	b := &batch{ID: id, Files: []uploadedFile{}}
	if strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" || id == "" {
		return nil, errNoBatch
	}
	err = fs.WalkDir(root.FS(), batchDir(id), func(p string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(p, batchDir(id)+"/")
		switch {
		case err != nil:
			return err
		case name == manifestName:
			b.Manifest = true
		case !d.IsDir() && !strings.HasPrefix(d.Name(), "."):
			info, err := d.Info()
			if err != nil {
				return err
			}
			b.Files = append(b.Files, uploadedFile{name, info.Size()})
			b.Bytes += info.Size()
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoBatch
	}
	slices.SortFunc(b.Files, func(x, y uploadedFile) int { return strings.Compare(x.Name, y.Name) })
	return b, err
}

var errNoBatch = fmt.Errorf("there is no such upload, or it was ingested or discarded: %w", rag.ErrNotFound)

// add takes one file into a batch. It is there whole or not at all.
func (u *uploads) add(id, name string, from io.Reader, most int64) (size int64, err error) {
	root, err := u.open()
	if err != nil {
		return 0, err
	}
	target := path.Join(batchDir(id), name)
	partial := path.Join(batchDir(id), partialName+rand.Text())
	f, err := root.OpenFile(partial, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	size, err = io.Copy(f, io.LimitReader(from, most+1))
	if err == nil && size > most {
		err = fmt.Errorf("it is larger than %s: ingest.max_source_bytes and %s for an upload are the most: %w", byteSize(most), byteSize(maxUploadBytes), rag.ErrInvalid)
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = moveFile(root, partial, target)
	}
	if err != nil {
		return 0, errors.Join(err, root.Remove(partial))
	}
	return size, nil
}

// moveFile moves a file to where its folders may not be yet.
func moveFile(root *os.Root, from, to string) error {
	if err := root.MkdirAll(path.Dir(to), 0o700); remedy.Short(err) {
		return err
	} else if err != nil {
		return fmt.Errorf("a file has the name of one of its folders: %w", rag.ErrInvalid)
	}
	if st, err := root.Lstat(to); err == nil && !st.Mode().IsRegular() {
		return fmt.Errorf("a folder has its name: %w", rag.ErrInvalid)
	}
	return root.Rename(from, to)
}

// discard throws a batch away.
func (u *uploads) discard(id string) error {
	u.deciding.Lock()
	defer u.deciding.Unlock()
	if _, err := u.batch(id); err != nil {
		return err
	}
	return u.root.RemoveAll(batchDir(id))
}

// keep moves the files of a batch to those of a collection, where they take the place of files of the same names.
func (u *uploads) keep(b *batch, collection string) error {
	for _, f := range b.Files {
		if err := moveFile(u.root, path.Join(batchDir(b.ID), f.Name), path.Join(collectionDir(collection), f.Name)); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return u.root.RemoveAll(batchDir(b.ID))
}

// remove deletes the files of documents that were deleted, by URI. Other URIs are left alone.
func (u *uploads) remove(collection string, uris []string) error {
	if u.dir == "" {
		return nil
	}
	var errs []error
	for _, uri := range uris {
		name, ok := uploadName(uri)
		if _, err := cleanName(name); !ok || err != nil { // such as one that a program made up
			continue
		}
		root, err := u.open()
		if err != nil {
			return err
		}
		if err := root.Remove(path.Join(collectionDir(collection), name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// removeAll deletes the files of a collection.
func (u *uploads) removeAll(collection string) error {
	if u.dir == "" {
		return nil
	}
	root, err := u.open()
	if err != nil {
		return err
	}
	return errors.Join(root.RemoveAll(collectionDir(collection)), root.RemoveAll(collectionDir(collection)+".json"))
}

// has reports whether files of a collection are kept.
func (u *uploads) has(collection string) bool {
	if u.dir == "" {
		return false
	}
	st, err := os.Stat(filepath.Join(u.dir, collectionDir(collection)))
	return err == nil && st.IsDir()
}

// names lists the files of a collection.
func (u *uploads) names(collection string) ([]string, error) {
	root, err := u.open()
	if err != nil {
		return nil, err
	}
	var names []string
	dir := collectionDir(collection)
	err = fs.WalkDir(root.FS(), dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasPrefix(d.Name(), ".") {
			names = append(names, strings.TrimPrefix(p, dir+"/"))
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return names, err
}
