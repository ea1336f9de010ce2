package dashboard

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
)

func (s *Server) browseRoutes(on router) {
	on.view("/browse", "browse", s.browse)
	on.view("/browse/{collection}/doc", "document", s.document)
	on.handle("GET /browse/{collection}/image/{id}", s.image)
}

// browseView is a page of the documents of a collection, or the passages found in it.
type browseView struct {
	Collection string        `json:"collection"`
	Total      int           `json:"total"` // documents of the collection
	Form       browseForm    `json:"form"`
	Problem    *problem      `json:"problem,omitempty"`  // with the form
	Documents  []documentRow `json:"documents"`          // none where words are looked up
	Found      []foundRow    `json:"found,omitempty"`    // best first; where words are looked up
	Looked     int           `json:"looked,omitempty"`   // documents that were looked at, where the page ends before it is full
	Notes      []rag.Note    `json:"notes,omitempty"`    // where the look-up did less than was asked
	TraceID    string        `json:"trace_id,omitempty"` // of the look-up
	Pager      pager         `json:"pager"`
}

func (v *browseView) status() int {
	if v.Problem != nil {
		return v.Problem.Status
	}
	return http.StatusOK
}

// documentRow is a document in a list.
type documentRow struct {
	URI      string    `json:"uri"`
	Title    string    `json:"title"`
	State    string    `json:"state"`
	Language string    `json:"language"`
	Chunks   int       `json:"chunks"`
	Images   int       `json:"images"`
	Size     int64     `json:"size"` // bytes of the source
	Warnings int       `json:"warnings"`
	Status   string    `json:"status"` // of validity, "" without a policy
	Ingested time.Time `json:"ingested"`
	URL      string    `json:"url"`
}

// foundRow is a passage that words were found in.
type foundRow struct {
	Rank     int      `json:"rank"`
	ChunkID  string   `json:"chunk_id"`
	URI      string   `json:"uri"`
	Title    string   `json:"title"`
	Headings []string `json:"headings"`
	Page     int      `json:"page,omitempty"`
	Score    float64  `json:"score"` // of the word index
	Status   string   `json:"status"`
	Snippet  []piece  `json:"snippet"`
	URL      string   `json:"url"`
}

const (
	// lookLimit is the most documents that a page looks at for those that a filter lets through. A page that ends there says so,
	// and the next goes on behind.
	lookLimit = 2000
	// foundLimit is the number of passages that a look-up shows.
	foundLimit = 50
)

func (s *Server) browse(r *request) (any, error) {
	v := &browseView{Collection: r.collection, Documents: []documentRow{}}
	info, err := s.info(r)
	if errors.Is(err, rag.ErrNotFound) && r.param("collection") == "" {
		return v, nil // nothing has been ingested yet
	}
	if err != nil {
		return nil, err
	}
	v.Total = info.Documents
	want, err := s.readForm(r)
	v.Form = want.browseForm
	if errors.Is(err, rag.ErrInvalid) {
		v.Problem = problemOf(r, err) // the form stays, to be put right
		return v, nil
	}
	if err != nil {
		return nil, err
	}
	if v.Form.Query != "" {
		return v, s.lookUp(r, v, want)
	}
	return v, s.listDocuments(r, v, want)
}

// listDocuments fills in a page of the documents that are wanted. It reads no more than a page of the ledger where there is no
// filter, and no more than lookLimit lines of it where there is one.
func (s *Server) listDocuments(r *request, v *browseView, want *wanted) error {
	last, looked := "", 0
	for e, err := range s.eng.DocumentsAfter(r.Context(), r.collection, want.prefix, r.param("after")) {
		if err != nil {
			return err
		}
		if len(v.Documents) == pageSize || looked == lookLimit {
			if v.Pager = r.pagerAfter(last, true); looked == lookLimit {
				v.Looked = looked
			}
			return nil
		}
		looked, last = looked+1, e.URI
		if want.document(&e) {
			v.Documents = append(v.Documents, s.documentRow(r, &e, want.at))
		}
	}
	v.Pager = r.pagerAfter("", false)
	return nil
}

func (s *Server) documentRow(r *request, e *rag.Entry, at time.Time) documentRow {
	row := documentRow{URI: e.URI, Title: e.Title, State: e.State, Language: e.Language, Chunks: len(e.Chunks), Images: e.Images, Size: e.Size,
		Warnings: len(e.Warnings), Status: e.Validity.Status(at), Ingested: e.Ingested, URL: s.documentURL(r.collection, e.URI)}
	if row.State == "" {
		row.State = rag.StateOK
	}
	return row
}

// documentURL is the page of a document; pairs say what of it is shown.
func (s *Server) documentURL(collection, uri string, pairs ...string) string {
	return s.link("/browse/"+url.PathEscape(collection)+"/doc", append(pairs, "uri", uri)...)
}

// lookUp fills in the passages that the words of a question stand in.
func (s *Server) lookUp(r *request, v *browseView, want *wanted) error {
	filter := want.filter
	if want.prefix != "" {
		filter = rag.And(filter, rag.Prefix(rag.FieldURI, want.prefix))
	}
	res, err := s.eng.Search(r.Context(), rag.Query{Text: v.Form.Query, Collection: r.collection, Mode: rag.Sparse, TopK: foundLimit,
		Filter: filter, AsOf: want.at, Expired: true, AsIs: true, Highlight: new(true)})
	if err != nil {
		return err
	}
	v.Found, v.Notes, v.TraceID = []foundRow{}, res.Notes, res.TraceID
	for i := range res.Hits {
		h := &res.Hits[i]
		if want.Status != "" && h.Status != want.Status {
			continue
		}
		c := &h.Chunk
		v.Found = append(v.Found, foundRow{Rank: i + 1, ChunkID: c.ID, URI: c.URI, Title: c.Title, Headings: c.Headings, Page: c.Page, Score: h.Score,
			Status: h.Status, Snippet: snippet(c.Text, h.Highlights), URL: s.documentURL(r.collection, c.URI, "chunk", c.ID) + "#c" + strconv.Itoa(c.Ordinal)})
	}
	return nil
}

// piece is a part of a text, marked where a word that was asked for stands.
type piece struct {
	Text string `json:"text"`
	Mark bool   `json:"mark,omitempty"`
}

// snippetBytes is how much of a passage a list shows, around the first word that was found.
const snippetBytes = 360

// snippet cuts a text around its first mark.
func snippet(text string, marks []rag.TextRange) (pieces []piece) {
	from := 0
	if len(marks) > 0 {
		from = max(0, marks[0].Start-snippetBytes/3)
	}
	from = len(mdtext.Cut(text, from))
	to := len(mdtext.Cut(text, from+snippetBytes))
	add := func(part string, mark bool) {
		if part != "" {
			pieces = append(pieces, piece{part, mark})
		}
	}
	if from > 0 {
		add("… ", false)
	}
	at := from
	for _, m := range marks {
		if m.Start < at || m.End > to {
			continue
		}
		add(text[at:m.Start], false)
		add(text[m.Start:m.End], true)
		at = m.End
	}
	add(text[at:to], false)
	if to < len(text) {
		add(" …", false)
	}
	return pieces
}

// image answers with a picture of a collection. Its name is its hash, so it never changes. What is no picture of a kind that
// browsers draw without running anything, such as SVG, is only handed out to be saved.
func (s *Server) image(w http.ResponseWriter, r *request) error {
	id := r.PathValue("id")
	data, err := s.eng.Image(r.Context(), r.collection, id)
	if err != nil {
		return err
	}
	h := w.Header()
	kind := http.DetectContentType(data)
	if !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"}, kind) {
		kind = "application/octet-stream"
		h.Set("Content-Disposition", "attachment")
	}
	h.Set("Content-Type", kind)
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cache-Control", "private, max-age=31536000, immutable")
	h.Set("ETag", strconv.Quote(id))
	http.ServeContent(w, r.Request, "", time.Time{}, bytes.NewReader(data))
	return nil
}
