package rag

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"
)

// Source is something a [Loader] can read: a file, an object, a page.
type Source struct {
	URI       string     // stable identity; the same URI ingested again replaces the document; it must not end in # and a number
	Name      string     // file name, for choosing a loader by extension; "" means the last element of URI
	MediaType string     // "" means: decide from the first bytes, then the name
	Size      int64      // bytes; -1 if unknown
	ModTime   time.Time  // zero if unknown
	Title     string     // of the first document, over what the loader finds; "": the loader's
	Meta      Meta       // goes into the document's Meta, over what the loader finds. The ledger keeps it with Title, for ingests that give neither; empty and not nil: there is none any more
	Policy    MetaPolicy // what is made of the metadata; nil: what the collection's domain makes of it
	Open      func(context.Context) (io.ReadCloser, error)

	// Beside opens a file that the source refers to, such as a picture that a page shows, by a path with slashes relative
	// to the source's own folder; "/a.png" lies at the top of the set that the source is of. It never leaves that set.
	// nil: there is nothing beside it. The ledger keeps what a loader asked for, also in vain: when it changes, the source
	// is ingested again.
	Beside func(ctx context.Context, name string) (io.ReadCloser, error)

	stored *storedSource // set if the bytes are a document of an export: no loader reads them
}

// MetaPolicy is what a domain makes of the metadata of a source's documents. It must be safe for concurrent use.
type MetaPolicy interface {
	// Fingerprint names the rules: when it changes, the documents get their metadata anew.
	Fingerprint() string
	// Apply is given a document's metadata, what its loader found under what its source says, and returns what is kept
	// of it, when the text is in force, and what is wrong with it. It may change and return the map it is given.
	Apply(m Meta) (Meta, Validity, []Warning)
}

// metaDigest is a digest of all that is given with the source beside its bytes.
func (s Source) metaDigest() [32]byte {
	meta := canonical(s.Meta)
	if s.Title == "" && s.Policy == nil {
		return sha256Sum(meta)
	}
	policy := ""
	if s.Policy != nil {
		policy = s.Policy.Fingerprint()
	}
	return sha256Sum(fmt.Appendf(meta, "%q %q", s.Title, policy))
}

// BaseName returns Name, or the last element of URI.
func (s Source) BaseName() string {
	if s.Name != "" {
		return s.Name
	}
	return path.Base(s.URI)
}

// Sources is a set of sources and the part of the URI space it is complete for.
type Sources struct {
	// Scope is a URI prefix: every document under it that All does not yield is gone. "" means the set says
	// nothing about what it does not yield, so nothing is pruned.
	Scope string
	// All yields the sources in a fixed order. An error concerns the source in the pair (its URI says which) and
	// does not end the sequence.
	All iter.Seq2[Source, error]

	// Manifest is the URI of the file that says what the sources are: it is no document, also where a later ingest comes upon
	// it. "": there is none.
	Manifest string

	exported *exportHead // of the export that the sources are of; nil: of none
}

// ErrSkipped is wrapped by an error of a set's pair that is no failure: the file is passed over, and the report lists it.
var ErrSkipped = errors.New("passed over")

// ErrLinkOutside is wrapped by the error of a link that leads out of the folder it lies in.
var ErrLinkOutside = errors.New("the link leads out of the folder")

// Bytes is one source held in memory.
func Bytes(uri string, data []byte) Sources {
	return Sources{All: func(yield func(Source, error) bool) {
		yield(Source{URI: uri, Size: int64(len(data)), Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(data)), nil
		}}, nil)
	}}
}

// Path is Dir for a folder and Files for a file.
func Path(p string) Sources {
	if st, err := os.Stat(p); err == nil && st.IsDir() {
		return Dir(p)
	}
	return Files(p)
}

// Files are single files, in the order given. Their scope is each file itself, so nothing is pruned.
func Files(paths ...string) Sources {
	return Sources{All: func(yield func(Source, error) bool) {
		for _, p := range paths {
			src, err := fileSource(p)
			if !yield(src, err) {
				return
			}
		}
	}}
}

func fileSource(p string) (Source, error) {
	abs, err := filepath.Abs(p)
	if err != nil {
		return Source{URI: p}, fmt.Errorf("resolve %s: %w", p, err)
	}
	src := Source{URI: FileURI(abs), Name: filepath.Base(abs), Size: -1}
	st, err := os.Stat(abs)
	if err != nil {
		return src, readable(err)
	}
	if st.IsDir() {
		return src, fmt.Errorf("is a folder, not a file: %w", ErrInvalid)
	}
	if !st.Mode().IsRegular() {
		return src, fmt.Errorf("not a regular file (%s): %w", st.Mode().Type(), ErrInvalid)
	}
	src.Size, src.ModTime = st.Size(), st.ModTime()
	src.Open = func(context.Context) (io.ReadCloser, error) {
		f, err := os.OpenFile(abs, os.O_RDONLY|dontWait, 0)
		if err != nil {
			return nil, readable(err)
		}
		return regular(f)
	}
	src.Beside = func(_ context.Context, name string) (io.ReadCloser, error) { return besideFile(abs, name) }
	return src, nil
}

// regular returns the file if it still is one: a pipe that took its name meanwhile would never end.
func regular(f fs.File) (io.ReadCloser, error) {
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("not a regular file (%s): %w", st.Mode().Type(), ErrInvalid)
	}
	if err != nil {
		return nil, errors.Join(readable(err), f.Close())
	}
	return f, nil
}

// readable takes the machine's path out of an error, since the URI says it, and adds the kind.
func readable(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no such file or folder: %w", ErrNotFound)
	}
	return err
}

// Dir is every regular file below a folder, in lexical order, except names that begin with a dot, data folders, and what an
// engine keeps in the folder itself where that is one. A link is not
// followed: one to a place inside the folder is skipped, since its target is read where it lies, and so is one that leads
// out of the folder; one that leads in a circle or nowhere is an error for that URI. Pipes, sockets and devices are skipped. Files are opened through [os.Root], so a link swapped in
// later cannot lead out either.
func Dir(dir string) Sources {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return failing(dir, err)
	}
	s := Sources{Scope: strings.TrimSuffix(FileURI(abs), "/") + "/"}
	s.All = func(yield func(Source, error) bool) {
		root, err := os.OpenRoot(abs)
		if err != nil {
			yield(Source{URI: FileURI(abs)}, readable(err))
			return
		}
		// Sources are opened after the walk ended, by which time root must still be open: its life ends with the
		// last source, through the finalizer os.Root has.
		walk(rootFS{root}, func(rel string) string { return FileURI(filepath.Join(abs, filepath.FromSlash(rel))) },
			func(rel string) error { return linkError(abs, rel) }, yield)
	}
	return s
}

// rootFS is root's file system for names that are not valid UTF-8 too, which os.Root.FS refuses.
type rootFS struct{ root *os.Root }

func (r rootFS) Open(name string) (fs.File, error) {
	return r.root.OpenFile(name, os.O_RDONLY|dontWait, 0)
}

// Stat opens nothing, as fs.Stat would without it.
func (r rootFS) Stat(name string) (fs.FileInfo, error) { return r.root.Stat(name) }

// linkError says why a symbolic link is not followed.
func linkError(root, rel string) error {
	target, err := filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(rel)))
	if err != nil {
		return linkCircle(err)
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return fmt.Errorf("follow link: %w", readable(err))
	}
	if r, err := filepath.Rel(real, target); err != nil || r == ".." || strings.HasPrefix(r, ".."+string(filepath.Separator)) {
		return fmt.Errorf("%w: ingest its target by name if you want it: %w", ErrLinkOutside, ErrSkipped)
	} else if under(filepath.ToSlash(filepath.Join(real, filepath.FromSlash(path.Dir(rel)))), filepath.ToSlash(target)) {
		return fmt.Errorf("the link leads back to a folder that it lies in: %w", ErrInvalid)
	}
	return fmt.Errorf("a link to a place inside the folder, which is read there: %w", ErrSkipped)
}

// linkCircle makes the error of a link that cannot be resolved readable.
func linkCircle(err error) error {
	if strings.Contains(err.Error(), "too many links") { // what filepath.EvalSymlinks says; it has no error value for it
		return fmt.Errorf("the link leads in a circle: %w", ErrInvalid)
	}
	return fmt.Errorf("follow link: %w", readable(err))
}

// FS is every regular file of a file system, in lexical order, except names that begin with a dot. Each URI is
// base + "/" + the file's path.
func FS(fsys fs.FS, base string) Sources {
	base = strings.TrimSuffix(base, "/") + "/"
	return Sources{Scope: base, All: func(yield func(Source, error) bool) {
		walk(fsys, func(rel string) string { return base + (&url.URL{Path: rel}).EscapedPath() },
			func(string) error { return fmt.Errorf("links are not followed here: %w", ErrUnsupported) }, yield)
	}}
}

func failing(uri string, err error) Sources {
	return Sources{All: func(yield func(Source, error) bool) { yield(Source{URI: uri}, err) }}
}

// walk yields the regular files of fsys.
func walk(fsys fs.FS, uri func(rel string) string, link func(rel string) error, yield func(Source, error) bool) {
	stop := errors.New("stop")
	data := isData(fsys, ".")
	_ = fs.WalkDir(fsys, ".", func(rel string, d fs.DirEntry, err error) error {
		if err != nil {
			if !yield(Source{URI: uri(rel)}, readable(err)) {
				return stop
			}
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		switch {
		case rel == ".":
			return nil
		case data && isDataFile(rel): // never below the folder: a path has a slash
			err = fmt.Errorf("a part of the data folder that is here too: %w", ErrSkipped)
		case d.IsDir() && !strings.HasPrefix(d.Name(), ".") && !isData(fsys, rel):
			return nil
		case strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			err = fmt.Errorf("a data folder, with no documents in it: %w", ErrSkipped)
		case d.Type()&fs.ModeSymlink != 0:
			err = link(rel)
		case !d.Type().IsRegular():
			err = fmt.Errorf("neither a file nor a folder: %w", ErrSkipped)
		}
		if err != nil {
			if !yield(Source{URI: uri(rel)}, err) {
				return stop
			}
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		src := sourceIn(fsys, rel, uri(rel))
		if info, err := d.Info(); err == nil {
			src.Size, src.ModTime = info.Size(), info.ModTime()
		}
		if !yield(src, nil) {
			return stop
		}
		return nil
	})
}

// sourceIn is a file of a file system as a source.
func sourceIn(fsys fs.FS, rel, uri string) Source {
	return Source{
		URI: uri, Name: path.Base(rel), Size: -1,
		Open: func(context.Context) (io.ReadCloser, error) {
			f, err := fsys.Open(rel)
			if err != nil {
				return nil, readable(err)
			}
			return regular(f)
		},
		Beside: func(_ context.Context, name string) (io.ReadCloser, error) { return besideFS(fsys, rel, name) },
	}
}

// fileIn is a file below a folder as [Dir] yields it, by their URIs.
func fileIn(scope, uri string) (Source, error) {
	dir, isDir := FilePath(scope)
	file, isFile := FilePath(uri)
	rel, err := filepath.Rel(dir, file)
	if err != nil || !isDir || !isFile || !filepath.IsLocal(rel) {
		return Source{}, fmt.Errorf("it is no file below %s: %w", scope, ErrInvalid)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Source{}, readable(err)
	}
	info, err := root.Lstat(rel)
	if err != nil {
		return Source{}, errors.Join(readable(err), root.Close())
	}
	if !info.Mode().IsRegular() {
		return Source{}, errors.Join(fmt.Errorf("not a regular file (%s): %w", info.Mode().Type(), ErrInvalid), root.Close())
	}
	src := sourceIn(rootFS{root}, filepath.ToSlash(rel), uri) // root's life ends with it, as in Dir
	src.Size, src.ModTime = info.Size(), info.ModTime()
	return src, nil
}

// FileURI returns the file URI of an absolute path: bytes that are not printable ASCII are percent-encoded, so a
// name with a line break or invalid UTF-8 has a URI as well.
func FileURI(abs string) string {
	p := filepath.ToSlash(abs)
	if runtime.GOOS == "windows" && !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}

// FilePath returns the path of a file URI; ok is false for any other URI.
func FilePath(uri string) (p string, ok bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return "", false
	}
	p = u.Path
	if runtime.GOOS == "windows" {
		p = strings.TrimPrefix(p, "/")
	}
	return filepath.FromSlash(p), true
}

// DocumentURI returns the URI of a document that is named by the absolute path of its file, behind which the further
// documents of a file have their number: mail.eml#2. DocumentPath writes such names. Of a file whose own name ends in #
// and a number it is FileURI.
func DocumentURI(abs string) string {
	file := SourceURI(abs)
	return FileURI(file) + abs[len(file):]
}

// DocumentPath returns the name that DocumentURI takes. ok is false for a URI of no file, and of one whose own name
// ends in # and a number: only the URI tells it from a further document of another file.
func DocumentPath(uri string) (p string, ok bool) {
	file := SourceURI(uri)
	if p, ok = FilePath(file); !ok || SourceURI(p) != p || strings.Contains(file, "#") {
		return "", false
	}
	return p + uri[len(file):], true
}

// oddName reports whether a file name could not be shown as it is.
func oddName(name string) bool {
	return !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f })
}
