package dashboard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
)

// request is a request with what every page wants to know of it.
type request struct {
	*http.Request
	w          http.ResponseWriter
	s          *Server
	lang       string // one of languages
	collection string // that the URL names, in its path or as ?collection=, or the first that is shown
}

func (s *Server) request(w http.ResponseWriter, r *http.Request) *request {
	req := &request{Request: r, w: w, s: s, lang: chooseLanguage(r), collection: r.PathValue("collection")}
	if req.collection == "" {
		req.collection = r.URL.Query().Get("collection")
	}
	if req.collection == "" {
		req.collection = s.o.Collection
		if s.o.Token == "" || s.loggedIn(r) { // names of collections are for those who may see them
			req.collection = s.firstShown(r.Context())
		}
	}
	return req
}

// firstShown returns the collection that is shown where none is named: the configured one, or if there is no such the first.
func (s *Server) firstShown(ctx context.Context) string {
	infos, err := s.eng.Collections(ctx)
	if err != nil || len(infos) == 0 || slices.ContainsFunc(infos, func(c rag.CollectionInfo) bool { return c.Name == s.o.Collection }) {
		return s.o.Collection
	}
	return infos[0].Name
}

// T returns a text in the reader's language; see [catalogue.text].
func (r *request) T(key string, args ...any) string { return r.s.texts[r.lang].text(key, args...) }

// param returns a parameter of the URL without blanks around it.
func (r *request) param(name string) string { return strings.TrimSpace(r.URL.Query().Get(name)) }

// readForm reads the form of a change, of either of the kinds that browsers send, so that PostForm has it.
func (r *request) readForm() error {
	r.Body = http.MaxBytesReader(r.w, r.Body, maxForm)
	err := r.ParseForm()
	if err == nil {
		err = r.ParseMultipartForm(maxForm)
	}
	switch {
	case err == nil, errors.Is(err, http.ErrNotMultipart):
		return nil
	case errors.As(err, new(*http.MaxBytesError)):
		return err
	}
	return fmt.Errorf("the form cannot be read: %w: %w", err, rag.ErrInvalid)
}

// wantsJSON reports whether the answer is for a program.
func (r *request) wantsJSON() bool { return r.URL.Query().Get("format") == "json" }

// here returns the URL of the page asked for with a parameter set, or left out where the value is "".
func (r *request) here(name, value string) string {
	q := r.URL.Query()
	q.Del("format")
	if q.Set(name, value); value == "" {
		q.Del(name)
	}
	return withQuery(r.s.o.BasePath+r.URL.EscapedPath(), q)
}

// asOf reads the day or instant of ?as_of=. Without one it is now where a domain of the collection has dates, else the zero
// time, which stands for no validity policy.
func (r *request) asOf() (time.Time, error) {
	text, d := r.param("as_of"), r.s.domainOf(r.Context(), r.collection)
	switch {
	case text == "" && d != nil && d.Validity != nil:
		return r.s.now(), nil
	case text == "":
		return time.Time{}, nil
	case d != nil:
		return d.Instant(text)
	}
	at, ok := rag.FirstInstant(text, time.UTC)
	if !ok || at.IsZero() {
		return at, invalid(r.T("error.day", text))
	}
	return at, nil
}

// link makes the URL of a page: a path below BasePath, and pairs of name and value, of which empty values are left out.
func (s *Server) link(path string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return withQuery(s.o.BasePath+path, q)
}

func withQuery(path string, q url.Values) string {
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}
