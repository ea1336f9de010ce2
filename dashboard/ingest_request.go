package dashboard

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/domain"
	"github.com/seed-d8745b77/rag/internal/roots"
	"github.com/seed-d8745b77/rag/jobs"
)

// ingestRequest is what a form asks to ingest: a path, a batch of uploads, or files that were uploaded before.
type ingestRequest struct {
	Collection string   `json:"collection"`
	Path       string   `json:"path,omitempty"`
	Batch      string   `json:"batch,omitempty"`
	Names      []string `json:"names,omitempty"`
	Domain     string   `json:"domain,omitempty"`   // "": the collection's own; none: it has none any more
	Manifest   string   `json:"manifest,omitempty"` // path; that of a batch lies in it
	Force      bool     `json:"force"`
	Prune      bool     `json:"prune"`
	DryRun     bool     `json:"dry_run"`
}

// maxCollection bounds the name of a collection, in bytes: it is the name of a folder as well.
const maxCollection = 80

// readIngest reads the form. With "from" it is what an earlier job was asked, once more.
func (s *Server) readIngest(r *request) (*ingestRequest, error) {
	field := func(name string) string { return strings.TrimSpace(r.PostFormValue(name)) }
	if from := field("from"); from != "" {
		j, err := s.jobs.Get("", from)
		if err != nil {
			return nil, err
		}
		asked, ok := j.Detail().(*ingestRequest)
		if !ok {
			return nil, invalid(r.T("ingest_error.no_ingest"))
		}
		again := *asked
		again.DryRun = field("action") == "dry_run"
		return &again, nil
	}
	q := &ingestRequest{
		Collection: field("new_collection"), Path: r.PostFormValue("path"), Batch: field("batch"), Domain: field("domain"), Manifest: r.PostFormValue("manifest"),
		Force: field("force") != "", Prune: field("prune") != "", DryRun: field("action") == "dry_run",
	}
	if q.Collection == "" {
		q.Collection = field("collection")
	}
	if q.Collection == "" {
		q.Collection = r.collection
	}
	if len(q.Collection) > maxCollection || strings.ContainsFunc(q.Collection, unicode.IsControl) || q.Collection == "." || q.Collection == ".." {
		return nil, invalid(r.T("ingest_error.collection", maxCollection))
	}
	if field("uploaded") != "" {
		var err error
		if q.Names, err = s.uploads.names(q.Collection); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// requestDomain returns the subject that the request names; nil if it names none, and the collection's own is to be followed.
func (s *Server) requestDomain(r *request, q *ingestRequest) (*domain.Domain, error) {
	i := slices.IndexFunc(s.o.Domains, func(d *domain.Domain) bool { return d.Name == q.Domain })
	switch {
	case q.Domain == "", q.Domain == rag.None:
		return nil, nil
	case i < 0:
		return nil, invalid(r.T("ingest_error.domain", q.Domain))
	}
	return s.o.Domains[i], nil
}

// allowed resolves a path that a form gives.
func (s *Server) allowed(r *request, p string) (string, error) {
	if file, ok := rag.FilePath(p); ok {
		p = file
	}
	if real, ok := roots.Resolve(s.o.Roots, p); ok {
		return real, nil
	}
	return "", invalid(r.T("ingest_error.path", p, strings.Join(s.o.Roots, ", ")))
}

// sources finds what the request names. Files of a batch become files of the collection, unless it is a dry run. d reads a
// manifest; nil: there is no domain.
func (s *Server) sources(r *request, q *ingestRequest, d *domain.Domain) ([]rag.Sources, error) {
	switch {
	case q.Path != "" || q.Manifest != "":
		return s.pathSources(r, q, d)
	case q.Batch != "":
		return s.batchSources(r, q, d)
	case len(q.Names) > 0:
		set, err := s.uploadedSources(q, nil, nil)
		return []rag.Sources{set}, err
	}
	return nil, invalid(r.T("ingest_error.nothing"))
}

func (s *Server) pathSources(r *request, q *ingestRequest, d *domain.Domain) ([]rag.Sources, error) {
	var paths []string
	if q.Path != "" {
		real, err := s.allowed(r, q.Path)
		if err != nil {
			return nil, err
		}
		paths = []string{real}
	}
	switch {
	case q.Manifest != "" && d == nil:
		return nil, invalid(r.T("ingest_error.manifest_domain"))
	case q.Manifest != "":
		file, err := s.allowed(r, q.Manifest)
		if err != nil {
			return nil, err
		}
		return d.Manifest(file, paths...)
	}
	return []rag.Sources{rag.Path(paths[0])}, nil
}

func (s *Server) batchSources(r *request, q *ingestRequest, d *domain.Domain) ([]rag.Sources, error) {
	s.uploads.deciding.Lock()
	defer s.uploads.deciding.Unlock()
	b, err := s.uploads.batch(q.Batch)
	if err != nil {
		return nil, err
	}
	if len(b.Files) == 0 {
		return nil, invalid(r.T("ingest_error.nothing"))
	}
	q.Names = make([]string, len(b.Files))
	said := map[string]description{}
	for i, f := range b.Files {
		q.Names[i] = f.Name
	}
	if b.Manifest && d == nil {
		return nil, invalid(r.T("ingest_error.manifest_domain"))
	}
	if b.Manifest {
		if said, err = s.uploads.manifest(b, d); err != nil {
			return nil, err
		}
	}
	if q.DryRun {
		set, err := s.uploadedSources(q, b, said)
		return []rag.Sources{set}, err
	}
	if err := errors.Join(s.uploads.keep(b, q.Collection), s.uploads.say(q.Collection, said)); err != nil {
		return nil, err
	}
	q.Batch = ""
	set, err := s.uploadedSources(q, nil, nil)
	return []rag.Sources{set}, err
}

// uploadedSources are uploaded files with what was said of them, now or before.
func (s *Server) uploadedSources(q *ingestRequest, over *batch, now map[string]description) (rag.Sources, error) {
	said, err := s.uploads.said(q.Collection)
	if err != nil {
		return rag.Sources{}, err
	}
	for name, d := range now {
		said[name] = d
	}
	return s.uploads.sources(q.Collection, q.Names, over, said)
}

// manifestProblems is what is wrong with a manifest: everything, and nothing was written.
type manifestProblems struct {
	Problems []manifestProblem `json:"problems"`
	Back     string            `json:"-"`
}

type manifestProblem struct {
	Line    int    `json:"line"` // 1-based; 0: of the whole file
	Column  int    `json:"column"`
	Field   string `json:"field"`
	Message string `json:"message"`
}

func (*manifestProblems) status() int { return http.StatusUnprocessableEntity }

// startIngest begins a job, and shows it.
func (s *Server) startIngest(r *request) (any, error) {
	q, err := s.readIngest(r)
	if err != nil {
		return nil, err
	}
	back := s.link("/ingest", "collection", s.named(q.Collection))
	if q.Batch != "" {
		back = s.link("/ingest/uploads/"+path.Base(q.Batch), "collection", s.named(q.Collection))
	}
	d, err := s.requestDomain(r, q)
	if err != nil {
		return nil, err
	}
	req := rag.IngestRequest{Collection: q.Collection, NoDomain: q.Domain == rag.None, Force: q.Force, Prune: q.Prune, DryRun: q.DryRun}
	switch {
	case d != nil:
		req.Domain = d
	case !req.NoDomain:
		d = s.domainOf(r.Context(), q.Collection)
	}
	req.Sources, err = s.sources(r, q, d)
	var wrong *domain.FileError
	if errors.As(err, &wrong) {
		v := &manifestProblems{Back: back}
		for _, p := range wrong.List {
			v.Problems = append(v.Problems, manifestProblem{p.Line, p.Column, p.Field, p.Message})
		}
		return v, nil
	}
	if err != nil {
		return nil, err
	}
	j, err := s.jobs.Start(jobs.Spec{
		Kind: jobs.KindIngest, Title: q.title(), Target: q.Collection, Detail: q,
		Work: jobs.Ingest(s.lend, req),
	})
	if err != nil {
		return nil, err
	}
	return redirect(s.jobURL(j.ID(), q.Collection)), nil
}

func (s *Server) jobURL(id, collection string) string {
	return s.link("/ingest/jobs/"+id, "collection", s.named(collection))
}

// title says what is ingested.
func (q *ingestRequest) title() string {
	switch {
	case q.Path != "":
		return q.Path
	case q.Manifest != "":
		return q.Manifest
	case len(q.Names) > 1:
		return fmt.Sprintf("%s (+%d)", q.Names[0], len(q.Names)-1)
	}
	return q.Names[0]
}
