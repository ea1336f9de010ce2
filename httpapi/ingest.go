package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/domain"
	"github.com/seed-d8745b77/rag/internal/remedy"
	"github.com/seed-d8745b77/rag/internal/roots"
	"github.com/seed-d8745b77/rag/jobs"
)

// ingesting is the body of ingest as JSON. An upload has the same fields in its form, besides its files.
type ingesting struct {
	Collection string `json:"collection,omitempty" jsonschema:"the server's own where it is missing"`
	Path       string `json:"path,omitempty" jsonschema:"file or folder of the server's machine, in a folder that was opened for it; a path that is not whole begins in that folder, or with its name"`
	Manifest   string `json:"manifest,omitempty" jsonschema:"file that describes the files of path, or names its own; needs a domain, named or the collection's own"`
	Domain     string `json:"domain,omitempty" jsonschema:"subject whose rules the documents follow, and the collection from now on; the collection's own where it is missing"`
	EndDomain  bool   `json:"end_domain,omitempty" jsonschema:"the collection has no domain any more, whoever uses it; not with domain or manifest"`
	NoManifest bool   `json:"no_manifest,omitempty" jsonschema:"drop what manifests said of these files before"`
	Force      bool   `json:"force,omitempty" jsonschema:"read again also what has not changed"`
	Prune      bool   `json:"prune,omitempty" jsonschema:"remove documents of the folder whose file is gone"`
	DryRun     bool   `json:"dry_run,omitempty" jsonschema:"find out what would be done, and do nothing"`
}

const (
	maxCollection = 80   // bytes of a collection's name
	maxFiles      = 2000 // of an upload
	uploadScheme  = "upload:///"
)

// ingest begins a job.
func ingest(c *call) (any, error) {
	if !c.principal.Filter.IsZero() {
		return nil, forbidden("who sees only a part of the data may not ingest: a file could take the place of somebody else's document under the same name")
	}
	kind, _, _ := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if kind == "multipart/form-data" {
		return c.ingestUpload()
	}
	var q ingesting
	if err := c.read(&q); err != nil {
		return nil, err
	}
	d, err := c.subject(&q)
	if err != nil {
		return nil, err
	}
	sets, err := c.pathSources(&q, d)
	if err != nil {
		return nil, err
	}
	title := q.Path
	if title == "" {
		title = q.Manifest
	}
	return c.start(&q, d, title, sets, func() error { return nil })
}

// subject returns the domain that a request names; nil if it names none, and the collection's own is to be followed.
func (c *call) subject(q *ingesting) (*domain.Domain, error) {
	name := q.Domain
	switch {
	case q.EndDomain && (name != "" || q.Manifest != ""):
		return nil, invalid("end_domain", "end_domain does not go with domain or manifest, which need one")
	case name == rag.None:
		return nil, invalid("domain", "an ingest follows the collection's domain: leave domain out, or end the domain for all who use the collection with end_domain")
	case name == "":
		return nil, nil
	}
	i := slices.IndexFunc(c.o.Domains, func(d *domain.Domain) bool { return d.Name == name })
	if i < 0 {
		return nil, invalid("domain", "there is no domain %q", cut(name))
	}
	return c.o.Domains[i], nil
}

// allowed resolves a path that a request gives: it must lie in a folder that was opened, also when links are followed.
func (c *call) allowed(field, path string) (string, error) {
	if p, ok := rag.FilePath(path); ok {
		path = p
	}
	if real, ok := roots.Resolve(c.o.Roots, path); ok {
		return real, nil
	}
	return "", invalid(field, "%q is nothing in the folders that may be read: %s; a path is whole, or begins in one of them", cut(path), roots.Names(c.o.Roots))
}

func (c *call) pathSources(q *ingesting, d *domain.Domain) ([]rag.Sources, error) {
	var paths []string
	if q.Path != "" {
		real, err := c.allowed("path", q.Path)
		if err != nil {
			return nil, err
		}
		paths = []string{real}
	}
	if q.Manifest != "" && q.Domain == "" {
		engine, done, err := c.data.Lend(c.r.Context())
		if err != nil {
			return nil, err
		}
		defer done()
		if d, err = domain.Of(c.r.Context(), engine, c.collection(q.Collection)); err != nil {
			return nil, err
		}
	}
	switch {
	case q.Manifest != "" && d == nil:
		return nil, invalid("domain", "a manifest needs the domain that says what its fields mean")
	case q.Manifest != "":
		file, err := c.allowed("manifest", q.Manifest)
		if err != nil {
			return nil, err
		}
		sets, err := d.Manifest(file, paths...)
		if err != nil {
			return nil, invalid("manifest", "%s", sentence(err))
		}
		return sets, nil
	case paths == nil:
		return nil, invalid("path", "give path or manifest, or send files as multipart/form-data")
	}
	return []rag.Sources{rag.Path(paths[0])}, nil
}

// start begins the job under a domain, nil for the collection's own; after is called when it has ended, or could not begin.
func (c *call) start(q *ingesting, d *domain.Domain, title string, sets []rag.Sources, after func() error) (any, error) {
	if len(q.Collection) > maxCollection || strings.ContainsFunc(q.Collection, unicode.IsControl) {
		return nil, errors.Join(invalid("collection", "the name of a collection has at most %d bytes and no control characters", maxCollection), after())
	}
	collection := c.collection(q.Collection)
	req := rag.IngestRequest{
		Collection: collection, Sources: c.charged(sets), NoDomain: q.EndDomain, Forget: q.NoManifest, Force: q.Force, Prune: q.Prune, DryRun: q.DryRun,
	}
	if d != nil {
		req.Domain = d
	}
	j, err := c.jobs.Start(jobs.Spec{
		Owner: c.principal.ID(), Kind: jobs.KindIngest, Title: title, Target: collection,
		Work: jobs.Ingest(c.data.Lend, req),
	})
	if err != nil {
		return nil, errors.Join(err, after())
	}
	c.metrics.jobBegan()
	c.watchers.Go(func() {
		<-j.Done()
		c.metrics.jobEnded(string(j.Status().State))
		if err := after(); err != nil {
			c.o.Logger.Warn("files of an upload stay", "job", j.ID(), "err", err)
		}
	})
	c.w.Header().Set("Location", "/v1/jobs/"+j.ID())
	return jobOf(j.Since(0)), nil
}

// charged takes the bytes of a source from the tenant's allowance when it is opened. One that exceeds it fails, and is
// not taken for gone.
func (c *call) charged(sets []rag.Sources) []rag.Sources {
	if c.o.Quota.IngestBytes == 0 {
		return sets
	}
	tenant := c.tenant
	out := make([]rag.Sources, len(sets))
	for i, set := range sets {
		out[i] = set
		out[i].All = func(yield func(rag.Source, error) bool) {
			for src, err := range set.All {
				if open := src.Open; err == nil && open != nil {
					src.Open = func(ctx context.Context) (io.ReadCloser, error) {
						if err := c.quotas.spend(tenant, src.Size, c.o.Now()); err != nil {
							return nil, err
						}
						return open(ctx)
					}
				}
				if !yield(src, err) {
					return
				}
			}
		}
	}
	return out
}

// ingestUpload takes files into a folder of their own and ingests them from there. Their URIs are upload:///<name>: the
// same name again replaces the document.
func (c *call) ingestUpload() (any, error) {
	c.r.Body = http.MaxBytesReader(c.w, c.r.Body, c.o.MaxUpload)
	form, err := c.r.MultipartReader()
	if err != nil {
		return nil, badRequest("the form cannot be read")
	}
	dir, err := os.MkdirTemp("", "rag-upload-")
	if err != nil {
		return nil, err
	}
	drop := func() error { return os.RemoveAll(dir) }
	q, names, err := takeForm(form, dir)
	if err != nil {
		return nil, errors.Join(err, drop())
	}
	if len(names) == 0 {
		return nil, errors.Join(invalid("file", "there is no file in the form"), drop())
	}
	d, err := c.subject(q)
	if err != nil {
		return nil, errors.Join(err, drop())
	}
	sets := []rag.Sources{uploadedSources(dir, names)}
	title := names[0]
	if len(names) > 1 {
		title += fmt.Sprintf(" (+%d)", len(names)-1)
	}
	return c.start(q, d, title, sets, drop)
}

// takeForm reads a form to its end; files go into the folder as they come.
func takeForm(form *multipart.Reader, dir string) (*ingesting, []string, error) {
	q, names := &ingesting{}, []string{}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return q, names, nil
		}
		if err != nil {
			return nil, nil, formError(err)
		}
		_, params, _ := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
		name, isFile := params["filename"]
		if !isFile {
			if err := q.set(part); err != nil {
				return nil, nil, err
			}
			continue
		}
		switch err := roots.CheckName(name); {
		case err != nil:
			return nil, nil, invalid("file", "%q: %v", cut(name), err)
		case len(names) == maxFiles:
			return nil, nil, invalid("file", "there are more than %d files", maxFiles)
		case slices.Contains(names, name):
			return nil, nil, invalid("file", "%q comes twice", cut(name))
		}
		if err := keep(root, name, part); err != nil {
			return nil, nil, err
		}
		names = append(names, name)
	}
}

// maxField bounds a field of a form that is no file, in bytes.
const maxField = 4096

// set takes a field of a form.
func (q *ingesting) set(part *multipart.Part) error {
	b, err := io.ReadAll(io.LimitReader(part, maxField+1))
	if err != nil {
		return formError(err)
	}
	name, value := part.FormName(), string(b)
	flags := map[string]*bool{"force": &q.Force, "dry_run": &q.DryRun, "no_manifest": &q.NoManifest, "end_domain": &q.EndDomain}
	texts := map[string]*string{"collection": &q.Collection, "domain": &q.Domain}
	switch {
	case len(b) > maxField:
		return invalid(cut(name), "the field is too long")
	case texts[name] != nil:
		*texts[name] = value
	case flags[name] != nil:
		if *flags[name], err = strconv.ParseBool(value); err != nil {
			return invalid(name, "%s is %q: want true or false", name, cut(value))
		}
	default:
		return &Error{Status: http.StatusBadRequest, Code: codeBadRequest, Field: cut(name), Message: fmt.Sprintf("a form has no field %q: files, collection, domain, end_domain, no_manifest, force, dry_run", cut(name))}
	}
	return nil
}

// keep writes a file. What cannot be read is the client's, what cannot be written is not.
func keep(root *os.Root, name string, from io.Reader) error {
	path := filepath.FromSlash(name)
	if err := root.MkdirAll(filepath.Dir(path), 0o700); remedy.Short(err) {
		return err
	} else if err != nil {
		return invalid("file", "%q: a file has the name of one of its folders", cut(name))
	}
	f, err := root.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if remedy.Short(err) {
		return err
	}
	if err != nil {
		return invalid("file", "%q: a folder has its name", cut(name))
	}
	_, err = io.Copy(f, from)
	if closed := f.Close(); err == nil {
		err = closed
	}
	var disk *os.PathError
	if err != nil && !errors.As(err, &disk) {
		return formError(err)
	}
	return err
}

// formError is the error of a form that broke off, or became too large.
func formError(err error) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return err
	}
	return badRequest("the form breaks off")
}

// uploadedSources are the files of an upload, by name.
func uploadedSources(dir string, names []string) rag.Sources {
	slices.Sort(names)
	return rag.Sources{All: func(yield func(rag.Source, error) bool) {
		for _, name := range names {
			path := filepath.Join(dir, filepath.FromSlash(name))
			src := rag.Source{URI: uploadScheme + (&url.URL{Path: name}).EscapedPath(), Name: filepath.Base(path), Size: -1}
			st, err := os.Stat(path)
			if err == nil {
				src.Size = st.Size()
				src.Open = func(context.Context) (io.ReadCloser, error) { return os.Open(path) }
			}
			if !yield(src, err) {
				return
			}
		}
	}}
}
