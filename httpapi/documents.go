package httpapi

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
)

// Bounds of a page.
const (
	initialPage = 50
	maxPage     = 500
)

// collectionInfo is a collection, with what is seen of it counted.
type collectionInfo struct {
	Name      string    `json:"name"`
	Documents int       `json:"documents"`
	Chunks    int       `json:"chunks"`
	Images    int       `json:"images"`
	Embedder  string    `json:"embedder" jsonschema:"fingerprint of the model; empty: words only"`
	Dims      int       `json:"dims" jsonschema:"length of a vector"`
	Updated   time.Time `json:"updated"`
}

type collectionList struct {
	Collections []collectionInfo `json:"collections"`
}

func listCollections(c *call) (any, error) {
	all, err := c.engine.Collections(c.r.Context())
	if err != nil {
		return nil, err
	}
	out := collectionList{[]collectionInfo{}}
	for _, i := range all {
		out.Collections = append(out.Collections, collectionInfo{i.Name, i.Documents, i.Chunks, i.Images, i.Header.Embedder, i.Header.Dims, i.Updated})
	}
	return out, nil
}

// document is a document's line in the catalog.
type document struct {
	URI      string        `json:"uri"`
	DocID    string        `json:"doc_id"`
	Title    string        `json:"title"`
	State    string        `json:"state" jsonschema:"ok, partial or empty"`
	Language string        `json:"language" jsonschema:"BCP 47; empty if unknown"`
	Size     int64         `json:"size" jsonschema:"bytes of the source"`
	Digest   string        `json:"digest" jsonschema:"SHA-256 of the source's bytes, in hex"`
	Meta     rag.Meta      `json:"meta"`
	From     time.Time     `json:"valid_from,omitzero"`
	Until    time.Time     `json:"valid_until,omitzero"`
	Warnings []rag.Warning `json:"warnings"`
	Chunks   int           `json:"chunks"`
	Images   int           `json:"images"`
	Ingested time.Time     `json:"ingested"`
}

func documentOf(e *rag.Entry) document {
	d := document{
		URI: e.URI, DocID: e.DocID, Title: e.Title, State: cmp.Or(e.State, rag.StateOK), Language: e.Language, Size: e.Size, Digest: hex.EncodeToString(e.Digest[:]),
		Meta: e.Meta, From: e.Validity.From, Until: e.Validity.Until, Warnings: append([]rag.Warning{}, e.Warnings...), Chunks: len(e.Chunks), Images: e.Images, Ingested: e.Ingested,
	}
	if d.Meta == nil {
		d.Meta = rag.Meta{}
	}
	return d
}

type documentList struct {
	Documents []document `json:"documents"`
	Next      string     `json:"next,omitempty" jsonschema:"cursor of the next page; missing on the last"`
}

// listDocuments gives documents by URI, page by page. A cursor is the last URI of the page before.
func listDocuments(c *call) (any, error) {
	limit, err := c.number("limit", initialPage, 1, maxPage)
	if err != nil {
		return nil, err
	}
	q := c.r.URL.Query()
	after, err := base64.RawURLEncoding.DecodeString(q.Get("cursor"))
	if err != nil {
		return nil, invalid("cursor", "the cursor is none that was given here")
	}
	out := documentList{Documents: []document{}}
	for e, err := range c.engine.DocumentsAfter(c.r.Context(), c.collection(q.Get("collection")), q.Get("prefix"), string(after)) {
		if err != nil {
			return nil, err
		}
		if len(out.Documents) == limit {
			out.Next = base64.RawURLEncoding.EncodeToString([]byte(out.Documents[limit-1].URI))
			break
		}
		out.Documents = append(out.Documents, documentOf(&e))
	}
	return out, nil
}

// wholeDocument is a document with its text.
type wholeDocument struct {
	document
	Text     string    `json:"text"`
	Pictures []picture `json:"pictures" jsonschema:"their bytes are at /v1/pictures/{id}"`
}

type picture struct {
	ID        string `json:"id"`
	MediaType string `json:"media_type"`
	Page      int    `json:"page,omitempty" jsonschema:"from 1; missing if the format has none"`
	Offset    int    `json:"offset" jsonschema:"byte of the document's text"`
	Alt       string `json:"alt"`
}

func picturesOf(images []rag.Image) []picture {
	out := []picture{}
	for _, m := range images {
		out = append(out, picture{m.ID, m.MediaType, m.Page, m.Offset, m.Alt})
	}
	return out
}

// place is the collection and document of a request. Documents are named by a parameter and not by the path: gateways
// change escaped slashes in paths.
func (c *call) place() (collection, uri string, err error) {
	uri, err = c.named("uri")
	return c.collection(c.r.URL.Query().Get("collection")), uri, err
}

func getDocument(c *call) (any, error) {
	collection, uri, err := c.place()
	if err != nil {
		return nil, err
	}
	e, err := c.engine.Entry(c.r.Context(), collection, uri)
	if err != nil {
		return nil, err
	}
	d, err := c.engine.Document(c.r.Context(), collection, uri)
	if err != nil {
		return nil, err
	}
	return wholeDocument{documentOf(&e), d.Text, picturesOf(d.Images)}, nil
}

// chunk is a passage.
type chunk struct {
	ChunkID  string    `json:"chunk_id"`
	DocID    string    `json:"doc_id"`
	URI      string    `json:"uri"`
	Title    string    `json:"title"`
	Ordinal  int       `json:"ordinal" jsonschema:"place in the document, from 0"`
	Page     int       `json:"page,omitempty" jsonschema:"from 1; missing if the format has none"`
	Headings []string  `json:"headings" jsonschema:"outermost first"`
	Start    int       `json:"start" jsonschema:"byte of the document's text"`
	End      int       `json:"end" jsonschema:"exclusive"`
	Text     string    `json:"text"`
	Meta     rag.Meta  `json:"meta"`
	Pictures []picture `json:"pictures"`
}

func chunkOf(k *rag.Chunk) chunk {
	out := chunk{
		ChunkID: k.ID, DocID: k.DocID, URI: k.URI, Title: k.Title, Ordinal: k.Ordinal, Page: k.Page, Headings: append([]string{}, k.Headings...),
		Start: k.Start, End: k.End, Text: k.Text, Meta: k.Meta, Pictures: picturesOf(k.Images),
	}
	if out.Meta == nil {
		out.Meta = rag.Meta{}
	}
	return out
}

type chunkList struct {
	Chunks []chunk `json:"chunks"`
	Next   string  `json:"next,omitempty" jsonschema:"cursor of the next page; missing on the last"`
}

func documentChunks(c *call) (any, error) {
	collection, uri, err := c.place()
	if err != nil {
		return nil, err
	}
	limit, err := c.number("limit", initialPage, 1, maxPage)
	if err != nil {
		return nil, err
	}
	const most = 1 << 30 // no document has as many
	from, err := c.number("cursor", 0, 0, most)
	if err != nil {
		return nil, err
	}
	list, err := c.engine.DocumentChunks(c.r.Context(), collection, uri, from, limit+1)
	if err != nil {
		return nil, err
	}
	out := chunkList{Chunks: []chunk{}}
	for i := range list[:min(limit, len(list))] {
		out.Chunks = append(out.Chunks, chunkOf(&list[i]))
	}
	if len(list) > limit {
		out.Next = strconv.Itoa(from + limit)
	}
	return out, nil
}

func getChunk(c *call) (any, error) {
	k, err := c.engine.Chunk(c.r.Context(), c.collection(c.r.URL.Query().Get("collection")), c.r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return chunkOf(&k), nil
}

// getPicture answers with the bytes of a picture. Nothing in it runs, should a browser be led to it.
func getPicture(c *call) (any, error) {
	data, err := c.engine.Image(c.r.Context(), c.collection(c.r.URL.Query().Get("collection")), c.r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	kind := http.DetectContentType(data)
	if !strings.HasPrefix(kind, "image/") {
		kind = "application/octet-stream"
	}
	h := c.w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = c.w.Write(data)
	return written{}, nil
}

// deleteDocument removes a document, with all that its source gave.
func deleteDocument(c *call) (any, error) {
	collection, uri, err := c.place()
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(uri, "/") {
		return nil, invalid("uri", "the uri of one document does not end with a slash")
	}
	rep, err := c.engine.Delete(c.r.Context(), rag.DeleteRequest{Collection: collection, URIs: []string{uri}})
	if err == nil && !rep.Existed {
		err = missing("document", uri)
	}
	if err != nil {
		return nil, err
	}
	return rep, nil
}
