package dashboard

import (
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"github.com/seed-d8745b77/rag"
)

// The tabs of a document.
const (
	tabText     = "text"
	tabChunks   = "chunks"
	tabMetadata = "metadata"
	tabPictures = "pictures"
)

var tabs = []string{tabText, tabChunks, tabMetadata, tabPictures}

// chunksOnPage is the number of chunks that a page of a document shows, as cards or as running text.
const chunksOnPage = 20

// documentView is a document, or a part of it.
type documentView struct {
	Collection string        `json:"collection"`
	Row        documentRow   `json:"document"`
	Tab        string        `json:"tab"`
	Tabs       []choice      `json:"-"`
	Chunk      string        `json:"chunk,omitempty"` // ID of the one that was asked for
	From       int           `json:"from"`            // 0-based place of the first chunk shown
	Cards      []chunkCard   `json:"chunks,omitempty"`
	Text       []segment     `json:"text,omitempty"`
	Pictures   []picture     `json:"pictures,omitempty"`
	Facts      *facts        `json:"facts,omitempty"`
	Warnings   []rag.Warning `json:"warnings,omitempty"`
	List       string        `json:"-"`              // URL of the list of documents
	Delete     bool          `json:"-"`              // it may be deleted
	Prev       string        `json:"prev,omitempty"` // URL of the chunks before
	Next       string        `json:"next,omitempty"` // and behind
}

func (v *documentView) title(*request) string {
	if v.Row.Title != "" {
		return v.Row.Title
	}
	return place(v.Row.URI)
}

// chunkCard is a chunk among its neighbours.
type chunkCard struct {
	ID       string        `json:"id"`
	Ordinal  int           `json:"ordinal"` // 0-based
	Text     string        `json:"text"`
	Context  string        `json:"context,omitempty"`
	Headings []string      `json:"headings"`
	Page     int           `json:"page,omitempty"`
	Tokens   int           `json:"tokens,omitempty"` // 0: the embedder cannot tell
	Start    int           `json:"start"`            // byte offsets into the document's text
	End      int           `json:"end"`
	Overlap  int           `json:"overlap"` // bytes at the beginning that the chunk before has too
	Captions []rag.Caption `json:"captions,omitempty"`
	Images   []string      `json:"images,omitempty"` // URLs
	Chosen   bool          `json:"chosen,omitempty"`
	InText   string        `json:"-"` // URL of the text with this chunk marked
	URL      string        `json:"-"`
}

// picture is a picture of a document.
type picture struct {
	ID     string `json:"id"`
	Alt    string `json:"alt"`
	Page   int    `json:"page,omitempty"`
	Offset int    `json:"offset"`
	URL    string `json:"url"`
}

// facts is what the ledger says of a document.
type facts struct {
	DocID    string       `json:"doc_id"`
	Digest   string       `json:"digest"` // SHA-256 of the source, in hex
	Pipeline string       `json:"pipeline"`
	Validity rag.Validity `json:"validity"`
	Parts    []rag.Part   `json:"parts,omitempty"`
	Meta     []metaField  `json:"meta"` // by name
}

type metaField struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

func (s *Server) document(r *request) (any, error) {
	uri := r.URL.Query().Get("uri")
	entry, err := s.eng.Entry(r.Context(), r.collection, uri)
	if err != nil {
		return nil, err
	}
	at, err := r.asOf()
	if err != nil {
		return nil, err
	}
	v := &documentView{Collection: r.collection, Row: s.documentRow(r, &entry, at), Tab: r.param("tab"), Chunk: r.param("chunk"), Warnings: entry.Warnings,
		List: s.link("/browse", "collection", s.named(r.collection)), Delete: !s.o.ReadOnly}
	if v.Tab == "" {
		v.Tab = tabText
	}
	if !slices.Contains(tabs, v.Tab) {
		return nil, invalid(r.T("document.bad_tab", v.Tab))
	}
	for _, tab := range tabs {
		v.Tabs = append(v.Tabs, choice{tab, s.documentURL(r.collection, uri, "tab", tab, "chunk", v.Chunk), tab == v.Tab})
	}
	if err := v.turn(r, &entry); err != nil {
		return nil, err
	}
	switch v.Tab {
	case tabMetadata:
		v.Facts = factsOf(&entry)
		return v, nil
	case tabPictures:
		return v, s.fillPictures(r, v)
	}
	return v, s.fillChunks(r, v, len(entry.Chunks))
}

// turn decides which chunks are shown: those around the chosen one, else those from ?from= on.
func (v *documentView) turn(r *request, e *rag.Entry) error {
	v.From, _ = strconv.Atoi(r.param("from"))
	v.From = max(0, min(v.From, len(e.Chunks)-1))
	if v.Chunk != "" {
		i := slices.IndexFunc(e.Chunks, func(c rag.ChunkRef) bool { return c.ID == v.Chunk })
		if i < 0 {
			return missing(r.T("document.no_chunk", v.Chunk))
		}
		if r.param("from") == "" {
			v.From = i - i%chunksOnPage
		}
	}
	if v.From > 0 {
		v.Prev = r.here("from", strconv.Itoa(max(0, v.From-chunksOnPage)))
	}
	if next := v.From + chunksOnPage; next < len(e.Chunks) {
		v.Next = r.here("from", strconv.Itoa(next))
	}
	return nil
}

func factsOf(e *rag.Entry) *facts {
	f := &facts{DocID: e.DocID, Digest: hex.EncodeToString(e.Digest[:]), Pipeline: indented(e.Pipeline), Validity: e.Validity, Parts: e.Parts}
	for _, name := range slices.Sorted(maps.Keys(e.Meta)) {
		f.Meta = append(f.Meta, metaField{name, e.Meta[name]})
	}
	return f
}

// indented lays JSON out over lines; other text stays.
func indented(text string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return text
	}
	return string(b)
}

// fillChunks adds the chunks of the page, as cards or as running text.
func (s *Server) fillChunks(r *request, v *documentView, total int) error {
	chunks, err := s.eng.DocumentChunks(r.Context(), r.collection, v.Row.URI, v.From, chunksOnPage)
	if err != nil {
		return err
	}
	if v.Tab == tabText {
		doc, err := s.eng.Document(r.Context(), r.collection, v.Row.URI)
		if err != nil {
			return err
		}
		v.Text = segments(doc.Text, chunks, v.Chunk, v.From == 0, v.From+len(chunks) >= total)
		for i := range v.Text {
			for j := range v.Text[i].Begins {
				b := &v.Text[i].Begins[j]
				b.URL = s.documentURL(r.collection, v.Row.URI, "tab", tabText, "chunk", b.ID) + "#c" + strconv.Itoa(b.Ordinal)
			}
		}
		return nil
	}
	counter, _ := s.eng.Embedder().(rag.TokenCounter)
	for i := range chunks {
		c := &chunks[i]
		card := chunkCard{ID: c.ID, Ordinal: v.From + i, Text: c.Text, Context: c.Context, Headings: c.Headings, Page: c.Page, Start: c.Start, End: c.End,
			Captions: c.Captions, Chosen: c.ID == v.Chunk,
			URL:    s.documentURL(r.collection, v.Row.URI, "tab", tabChunks, "chunk", c.ID),
			InText: s.documentURL(r.collection, v.Row.URI, "tab", tabText, "chunk", c.ID) + "#c" + strconv.Itoa(v.From+i)}
		if counter != nil {
			card.Tokens = counter.CountTokens(c.Text)
		}
		if i > 0 {
			card.Overlap = max(0, chunks[i-1].End-c.Start)
		}
		for _, img := range c.Images {
			card.Images = append(card.Images, s.imageURL(r.collection, img.ID))
		}
		v.Cards = append(v.Cards, card)
	}
	return nil
}

func (s *Server) imageURL(collection, id string) string {
	return s.link("/browse/" + url.PathEscape(collection) + "/image/" + url.PathEscape(id))
}

// fillPictures adds the pictures of the document in the order of its text.
func (s *Server) fillPictures(r *request, v *documentView) error {
	v.Prev, v.Next = "", ""
	doc, err := s.eng.Document(r.Context(), r.collection, v.Row.URI)
	if err != nil {
		return err
	}
	for _, img := range doc.Images {
		v.Pictures = append(v.Pictures, picture{img.ID, img.Alt, img.Page, img.Offset, s.imageURL(r.collection, img.ID)})
	}
	return nil
}
