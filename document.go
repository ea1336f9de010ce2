package rag

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Document states. See [Document.State].
const (
	StateOK      = "ok"      // every part of the source gave text
	StatePartial = "partial" // some pages or parts were lost; Warnings says which
	StateEmpty   = "empty"   // no text at all
)

// Document is the text of one source: UTF-8, LF line ends, Markdown-like.
//
// A loader fills Title, Text, Sections, Pages, Images, Warnings, State, Language and Meta;
// the engine sets ID, URI and Digest and completes Validity.
type Document struct {
	ID       string    // from collection and URI, never from content; see [DocumentID]
	URI      string    // identity of the source
	Title    string    // "" if the source names none
	Text     string    // UTF-8, LF line ends, no byte order mark
	Sections []Section // heading outline in order of Start
	Pages    []int     // Text offset where each page begins, ascending; nil if the format has no pages
	Images   []Image
	Warnings []Warning // what was lost, and where
	State    string    // StateOK, StatePartial or StateEmpty; "" means StateOK
	Language string    // BCP 47; "" if unknown
	Digest   [32]byte  // SHA-256 of the source's bytes
	Validity Validity
	Meta     Meta
}

// Page returns the 1-based page on which the byte offset lies, or 0 if the document has no pages.
func (d *Document) Page(offset int) int {
	return sort.SearchInts(d.Pages, offset+1) // pages that begin at or before the offset
}

// HeadingsAt returns the titles of the sections open at the byte offset, outermost first.
func (d *Document) HeadingsAt(offset int) []string {
	n := sort.Search(len(d.Sections), func(i int) bool { return d.Sections[i].Start > offset })
	var open []Section
	for _, s := range d.Sections[d.outermost(n):n] {
		for len(open) > 0 && open[len(open)-1].Level >= s.Level {
			open = open[:len(open)-1]
		}
		open = append(open, s)
	}
	titles := make([]string, 0, len(open))
	for _, s := range open {
		titles = append(titles, s.Title)
	}
	return titles
}

// outermost returns the index of the last section of level 1 among the first n, or 0: nothing before it is open.
func (d *Document) outermost(n int) int {
	for i := n - 1; i > 0; i-- {
		if d.Sections[i].Level <= 1 {
			return i
		}
	}
	return 0
}

// Section is one heading of a document and the text under it.
type Section struct {
	Level int    // 1 is outermost
	Title string // one line, without markup
	Start int    // byte offset of the heading line in Document.Text
	End   int    // offset where the next section of the same or an outer level begins, or len(Text)
}

// Warning says what of a source was lost or guessed.
type Warning struct {
	Page    int    `json:"page,omitempty"` // 1-based; 0 if it concerns the whole document
	Message string `json:"message"`
}

// String returns "page N: message", or the message alone.
func (w Warning) String() string {
	if w.Page > 0 {
		return "page " + strconv.Itoa(w.Page) + ": " + w.Message
	}
	return w.Message
}

// Image is a picture inside a document.
type Image struct {
	ID        string     // hex SHA-256 of Data: equal pictures are stored once
	MediaType string     // "image/png" and so on
	Data      []byte     // the encoded file; nil in [Chunk] Images: [Engine.Image] reads it
	Page      int        // 1-based; 0 if the format has no pages
	Box       [4]float64 // x0, y0, x1, y1 in points from the page's lower left; zero if unknown
	Offset    int        // byte offset in Document.Text where the picture stands
	Alt       string     // alternative text given by the author
}

// Caption is a generated description of a picture.
type Caption struct {
	ImageID string
	Text    string
}

// Chunk is a passage: the unit that is embedded, indexed, ranked and cited.
type Chunk struct {
	ID       string    // from document ID, Text and its n-th occurrence; see [ChunkID]
	DocID    string    // the document it is part of
	URI      string    // the document's URI, carried so that a hit can be cited without a second look-up
	Title    string    // the document's title
	Ordinal  int       // 0-based place in the document
	Text     string    // verbatim: doc.Text[Start:End]; what is cited is what was written
	Context  string    // embedded and indexed with Text, never cited: heading path, summary, neighbours' gist
	Images   []Image   // pictures that stand in Text, or nearest to it, without their Data
	Captions []Caption // generated descriptions of some of Images
	Start    int       // byte offset into Document.Text
	End      int       // byte offset into Document.Text, exclusive
	Page     int       // 1-based page of Start; 0 if none
	Headings []string  // sections the chunk's own text stands in, outermost first: those at its first line that is no heading
	Language string    // the document's language, BCP 47; "" if unknown
	ParentID string    // "" unless the splitter makes small chunks of larger ones
	Validity Validity
	Meta     Meta
}

// IndexText returns what the indexes see of the chunk: Context, Text and captions, one below the other.
func (c *Chunk) IndexText() string {
	var b strings.Builder
	if c.Context != "" {
		b.WriteString(c.Context)
		b.WriteByte('\n')
	}
	b.WriteString(c.Text)
	for _, p := range c.Captions {
		b.WriteByte('\n')
		b.WriteString(p.Text)
	}
	return b.String()
}

// Caption returns the generated description of a picture, or "" if the chunk has none of it.
func (c *Chunk) Caption(imageID string) string {
	for _, p := range c.Captions {
		if p.ImageID == imageID {
			return p.Text
		}
	}
	return ""
}

// Reserved metadata names: the engine sets them in [Chunk.Fields], over a value of the same name in Meta.
const (
	FieldURI      = "uri"      // string
	FieldDocID    = "doc_id"   // string
	FieldTitle    = "title"    // string; absent if the document has none
	FieldLanguage = "language" // string; absent if unknown
	FieldPage     = "page"     // float64; absent if the format has no pages
)

// Fields returns the values that filters see: Meta and the reserved fields. The map is the caller's.
func (c *Chunk) Fields() Meta {
	m := make(Meta, len(c.Meta)+5)
	maps.Copy(m, c.Meta)
	m[FieldURI], m[FieldDocID] = c.URI, c.DocID
	if c.Title != "" {
		m[FieldTitle] = c.Title
	}
	if c.Language != "" {
		m[FieldLanguage] = c.Language
	}
	if c.Page > 0 {
		m[FieldPage] = float64(c.Page)
	}
	return m
}

// Meta holds values the engine carries and filters on but never interprets: string, float64, bool, []string.
type Meta map[string]any

// Clean returns a copy in which every value has one of the four kinds: integers and other floats become
// float64, times become RFC 3339 strings, []any of strings becomes []string, nil values are dropped.
// A value of another kind, and a number that is not finite, is ErrInvalid and named.
func (m Meta) Clean() (Meta, error) {
	out := make(Meta, len(m))
	for k, v := range m {
		c, err := cleanValue(v)
		if err != nil {
			return nil, fmt.Errorf("metadata %q: %w", k, err)
		}
		if c != nil {
			out[k] = c
		}
	}
	return out, nil
}

func cleanValue(v any) (any, error) {
	switch v := v.(type) {
	case nil, string, bool:
		return v, nil
	case float64:
		if v-v != 0 { // no filter can ask for it, and JSON has no form for it
			return nil, fmt.Errorf("the number %v cannot be kept, only finite ones: %w", v, ErrInvalid)
		}
		return v, nil
	case []string:
		return append([]string{}, v...), nil
	case int:
		return float64(v), nil
	case int64:
		return float64(v), nil
	case int32:
		return float64(v), nil
	case uint64:
		return float64(v), nil
	case float32:
		return cleanValue(float64(v))
	case time.Time:
		return v.Format(time.RFC3339), nil
	case []any:
		list := make([]string, 0, len(v))
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				return nil, fmt.Errorf("the list holds %s: only lists of strings can be kept: %w", kindOfValue(e), ErrInvalid)
			}
			list = append(list, s)
		}
		return list, nil
	}
	return nil, fmt.Errorf("%s cannot be kept, only string, number, bool and list of strings: %w", kindOfValue(v), ErrInvalid)
}

// kindOfValue says what a value is in the words of JSON, in which people give metadata.
func kindOfValue(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a text"
	case bool:
		return "true or false"
	case float64:
		return "a number"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "a value of another kind"
}

// Hit is a chunk found by a search.
type Hit struct {
	Chunk  Chunk
	Score  float64 // higher is better, never rising down the list; comparable only within one list. Trail has each stage's own
	Trail  []Rank  // where each stage placed the chunk, in stage order
	Status string  // "current", "needs_review", "expired" under a validity policy; "" without one

	// What a search adds if it is asked to; see the fields of the same names in [Query].
	Highlights []TextRange // where words of the query stand in Chunk.Text, in order, none touching the next
	Duplicates []Duplicate // passages that were left out because this one says the same, in the order they had
	Before     []Chunk     // passages before this one in its document, in document order
	After      []Chunk     // passages behind it
	Parent     *Parent     // what the passage is a part of; nil if there is none
}

// TextRange is a part of a text in bytes, half-open; it never cuts a rune.
type TextRange struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Duplicate is a passage that says nearly the same as a hit.
type Duplicate struct {
	ChunkID    string  `json:"chunk_id"`
	URI        string  `json:"uri"`
	Similarity float64 `json:"similarity"` // 1: the same words in the same order
}

// Parent is the part of a document that a passage was cut from.
type Parent struct {
	Start int    `json:"start"` // byte offset into Document.Text
	End   int    `json:"end"`   // byte offset into Document.Text, exclusive
	Text  string `json:"text"`  // verbatim; "" if a better hit has the same parent, and its text
}

// Rank is the 1-based place a stage gave a chunk.
type Rank struct {
	Stage    string  `json:"stage"`
	Position int     `json:"position"`
	Score    float64 `json:"score"`
}

// String returns "dense #1".
func (r Rank) String() string { return fmt.Sprintf("%s #%d", r.Stage, r.Position) }

// RankAt returns the rank that the stage gave the hit; ok is false if the stage did not see it.
func (h *Hit) RankAt(stage string) (r Rank, ok bool) {
	for _, r := range h.Trail {
		if r.Stage == stage {
			return r, true
		}
	}
	return Rank{}, false
}

// DocumentID returns the ID of the document that a URI has in a collection: 24 hex digits of a SHA-256.
func DocumentID(collection, uri string) string {
	return hashID("doc", collection, uri)
}

// ChunkID returns the ID of a chunk: 24 hex digits of a SHA-256 over the document's ID, the text and which
// occurrence (0-based) of this text in the document it is, so that an insertion elsewhere changes no ID.
func ChunkID(docID, text string, occurrence int) string {
	return hashID("chunk", docID, text, strconv.Itoa(occurrence))
}

// hashID joins the parts with their lengths, so that no two lists of parts give the same input.
func hashID(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}
