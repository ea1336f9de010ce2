package dashboard

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/domain"
)

// browseForm is what of a collection is wanted, as the form says it.
type browseForm struct {
	Query  string       `json:"query"`  // words to look up; "": list documents
	Filter string       `json:"filter"` // text form of a filter
	Prefix string       `json:"prefix"` // path or beginning of a URI
	Status string       `json:"status"` // of validity; "": any
	AsOf   string       `json:"as_of"`  // day or instant that status is told for
	Fields []fieldInput `json:"fields,omitempty"`
	Any    bool         `json:"any"` // anything of this is given
}

// fieldInput is a field of the collection's domain that may be asked for.
type fieldInput struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Type        string   `json:"type"`
	Words       []string `json:"words,omitempty"` // its vocabulary; nil: any value
	Value       string   `json:"value"`
}

// fieldParam is the beginning of the parameters of the URL that ask for a field of the domain.
const fieldParam = "f."

// wanted is a form that was read.
type wanted struct {
	browseForm
	filter rag.Filter
	prefix string
	at     time.Time // status is told for; zero: there is none
}

// document reports whether a line of the ledger is wanted; its URI is known to have the prefix.
func (w *wanted) document(e *rag.Entry) bool {
	if w.Status != "" && e.Validity.Status(w.at) != w.Status {
		return false
	}
	if w.filter.IsZero() {
		return true
	}
	c := rag.Chunk{URI: e.URI, DocID: e.DocID, Title: e.Title, Language: e.Language, Meta: e.Meta}
	return w.filter.Match(c.Fields(), e.Validity)
}

// readForm reads what a request asks for. With an error it returns the form as it was filled in.
func (s *Server) readForm(r *request) (*wanted, error) {
	w := &wanted{browseForm: browseForm{Query: r.param("q"), Filter: r.param("filter"), Prefix: r.param("prefix"), Status: r.param("status"), AsOf: r.param("as_of")}}
	for _, value := range []string{w.Query, w.Filter, w.Prefix, w.Status, w.AsOf} {
		w.Any = w.Any || value != ""
	}
	switch w.Status {
	case "", rag.StatusCurrent, rag.StatusNeedsReview, rag.StatusExpired:
	default:
		return w, invalid(r.T("browse.bad_status", w.Status))
	}
	if err := s.readFields(r, w); err != nil {
		return w, err
	}
	var err error
	if w.at, err = r.asOf(); err != nil {
		return w, invalid(err.Error())
	}
	if w.at.IsZero() && w.Status != "" {
		w.at = s.now()
	}
	if w.Filter != "" {
		f, err := rag.ParseFilter(w.Filter)
		if err != nil {
			return w, invalid(r.T("browse.bad_filter", err))
		}
		w.filter = rag.And(w.filter, f)
	}
	if w.prefix = w.Prefix; strings.HasPrefix(w.prefix, "/") {
		w.prefix = rag.DocumentURI(w.prefix)
	}
	return w, nil
}

// readFields adds what is asked for by the fields of the collection's domain.
func (s *Server) readFields(r *request, w *wanted) error {
	d := s.domainOf(r.Context(), r.collection)
	if d == nil {
		return nil
	}
	for i := range d.Fields {
		f := &d.Fields[i]
		if !f.Filterable {
			continue
		}
		in := fieldInput{Name: f.Name, Description: f.Description, Type: string(f.Type), Words: f.Enum, Value: r.param(fieldParam + f.Name)}
		if f.Type == domain.Bool {
			in.Words = []string{"true", "false"}
		}
		w.Fields = append(w.Fields, in)
		if in.Value == "" {
			continue
		}
		w.Any = true
		value, err := fieldValue(f, in.Value)
		if err != nil {
			return invalid(r.T("browse.bad_field", f.Name, err))
		}
		w.filter = rag.And(w.filter, rag.Eq(f.Name, value))
	}
	return nil
}

// fieldValue reads a value of a field out of the text of a form.
func fieldValue(f *domain.Field, text string) (any, error) {
	switch f.Type {
	case domain.Number:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, errors.New("want a number")
		}
		return x, nil
	case domain.Bool:
		return strconv.ParseBool(text)
	}
	return f.Word(text)
}
