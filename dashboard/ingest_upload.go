package dashboard

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"github.com/seed-d8745b77/rag"
)

// uploadView is a batch of uploaded files to be decided on.
type uploadView struct {
	Collection  string    `json:"collection"`
	Collections []string  `json:"collections"`
	Batch       *batch    `json:"batch"`   // nil if nothing was taken
	Refused     []refusal `json:"refused"` // of this request
	Domains     []string  `json:"domains"`
	Domain      string    `json:"domain"`
	Next        string    `json:"next"` // URL of the page to decide on
}

// refusal is a file that was not taken.
type refusal struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// takeUpload takes files into a new batch, or into that of the path. The form is read as it comes: no more of it is in memory
// than a part of one file.
func (s *Server) takeUpload(r *request) (any, error) {
	form, err := r.MultipartReader()
	if err != nil {
		return nil, invalid(r.T("ingest_error.form"))
	}
	t := &taking{s: s, r: r, refused: []refusal{}}
	if id := r.PathValue("batch"); id != "" {
		if t.batch, err = s.uploads.batch(id); err != nil {
			return nil, err
		}
	}
	if err := t.all(form); err != nil {
		if t.made { // nobody knows of it
			err = errors.Join(err, s.uploads.discard(t.batch.ID))
		}
		return nil, err
	}
	if t.batch == nil && len(t.refused) == 0 {
		return nil, invalid(r.T("ingest_error.nothing"))
	}
	v, err := s.uploadView(r, t.batch)
	if err != nil {
		return nil, err
	}
	if v.Refused = t.refused; len(t.refused) == 0 && !r.wantsJSON() {
		return redirect(v.Next), nil
	}
	return v, nil
}

// taking is a form with files as it is read.
type taking struct {
	s       *Server
	r       *request
	batch   *batch // nil until there is a file
	made    bool   // by this form
	refused []refusal
}

// all reads the form to its end. A file that cannot be kept is noted, and the rest goes on.
func (t *taking) all(form *multipart.Reader) error {
	for {
		part, err := form.NextRawPart() // its file name is not shortened, and its bytes are as they were sent
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return formError(err)
		}
		name := fileName(part)
		if name == "" { // a field, or a choice of no file
			continue
		}
		if err := t.one(part, part.FormName(), name); err != nil {
			return err
		}
	}
}

// formError is the error of a form that broke off, or became too large.
func formError(err error) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return err
	}
	return fmt.Errorf("the form cannot be read: %w: %w", err, rag.ErrInvalid)
}

// one takes a file.
func (t *taking) one(part io.Reader, field, name string) error {
	stored, err := cleanName(name)
	if field == "manifest" {
		stored, err = manifestName, nil
	}
	if err == nil && t.batch != nil && len(t.batch.Files) >= maxUploadFiles {
		err = fmt.Errorf("the most that is uploaded at once is %d files: %w", maxUploadFiles, rag.ErrInvalid)
	}
	if err != nil {
		t.refused = append(t.refused, refusal{name, reasonOf(err)})
		return nil
	}
	if t.batch == nil {
		id, err := t.s.uploads.begin()
		if err != nil {
			return err
		}
		t.batch, t.made = &batch{ID: id}, true
	}
	most := min(t.s.eng.Config().Ingest.MaxSourceBytes, maxUploadBytes-t.batch.Bytes)
	size, err := t.s.uploads.add(t.batch.ID, stored, part, most)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return err
	case errors.Is(err, rag.ErrInvalid):
		t.refused = append(t.refused, refusal{name, reasonOf(err)})
		return nil
	case errors.As(err, new(*fs.PathError)):
		return fmt.Errorf("keep the file: %w", err)
	case err != nil:
		return formError(err)
	}
	if stored != manifestName {
		t.batch.Files = append(t.batch.Files, uploadedFile{stored, size})
	}
	t.batch.Bytes += size
	return nil
}

// reasonOf is the text of an error without its kind, which a page need not tell.
func reasonOf(err error) string {
	return strings.TrimSuffix(err.Error(), ": "+rag.ErrInvalid.Error())
}

// fileName returns the name under which a part was sent, with its folders, or "" if it is no file. Browsers write three
// characters in their own way; see the HTML standard, "multipart form data".
func fileName(part *multipart.Part) string {
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil {
		return ""
	}
	return strings.NewReplacer("%22", `"`, "%0D", "\r", "%0A", "\n").Replace(params["filename"])
}

func (s *Server) uploadView(r *request, b *batch) (*uploadView, error) {
	v := &uploadView{Collection: r.collection, Refused: []refusal{}, Domains: []string{}, Next: s.link("/ingest", "collection", s.named(r.collection))}
	var err error
	if b != nil {
		v.Next = s.link("/ingest/uploads/"+b.ID, "collection", s.named(r.collection))
		if v.Batch, err = s.uploads.batch(b.ID); err != nil {
			return nil, err
		}
	}
	if v.Collections, err = s.collectionNames(r); err != nil {
		return nil, err
	}
	for _, d := range s.o.Domains {
		v.Domains = append(v.Domains, d.Name)
	}
	if d := s.domainOf(r.Context(), r.collection); d != nil {
		v.Domain = d.Name
	}
	return v, nil
}

func (s *Server) uploadPage(r *request) (any, error) {
	b, err := s.uploads.batch(r.PathValue("batch"))
	if err != nil {
		return nil, err
	}
	return s.uploadView(r, b)
}

func (s *Server) discardUpload(r *request) (any, error) {
	if err := s.uploads.discard(r.PathValue("batch")); err != nil {
		return nil, err
	}
	return redirect(s.link("/ingest", "collection", s.named(r.collection))), nil
}
