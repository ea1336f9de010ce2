package mcpadapter

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/agent"
)

// found is the data of query_knowledge_hub and of the tools of domains.
type found struct {
	Query      string     `json:"query"`
	Collection string     `json:"collection"`
	Intent     string     `json:"intent,omitempty"`
	Answer     string     `json:"answer,omitempty"` // to small talk
	Citations  []citation `json:"citations"`
	TraceID    string     `json:"trace_id"`
}

func (a *Adapter) queryHub() *tool {
	return &tool{
		name: "query_knowledge_hub", title: "Search the documents", out: found{}, run: runQueryHub,
		about:  "Find passages of the user's documents that answer a question. Use it before answering from memory.",
		params: []param{question("question or keywords"), topK(), a.collectionParam()},
	}
}

// runQueryHub routes the question, as System D does: small talk is not looked up, the sides of a comparison are looked up one
// by one, and a place that the question names is searched first.
func runQueryHub(ctx context.Context, c *call) (*reply, error) {
	q, err := c.query()
	if err != nil {
		return nil, err
	}
	router, err := c.agent(ctx, agent.Hub, q.Collection)
	if err != nil {
		return nil, err
	}
	start := c.adapter.options.Now()
	d, err := router.Route(ctx, q.Text, q.Collection)
	if err != nil {
		return nil, err
	}
	c.routed(d.Intent, c.adapter.options.Now().Sub(start))
	if d.Label.Action == agent.ActChat {
		answer, err := c.follow(router.Follow(ctx, rag.AskRequest{Query: q}, d))
		if err != nil {
			return nil, err
		}
		return &reply{text: answer.Text, data: found{q.Text, q.Collection, d.Intent, answer.Text, []citation{}, answer.TraceID}}, nil
	}
	for _, side := range d.SubQueries {
		q.Also = append(q.Also, rag.SubQuery{Text: side})
	}
	all := q.Filter
	q.Filter = rag.And(all, d.Filters)
	res, err := c.engine.Search(ctx, q)
	if err == nil && len(res.Hits) == 0 && !d.Filters.IsZero() {
		c.notes = append(c.notes, rag.Note{Stage: "routing", Reason: "nothing where " + d.Filters.String() + ": all documents were searched"})
		q.Filter = all
		res, err = c.engine.Search(ctx, q)
	}
	if err != nil {
		return nil, err
	}
	return c.passages(ctx, res, d.Intent)
}

// passages makes a reply of what a search found, with the pictures in it.
func (c *call) passages(ctx context.Context, res *rag.Result, intent string) (*reply, error) {
	c.notes = append(c.notes, res.Notes...)
	data := found{Query: res.Query, Collection: res.Collection, Intent: intent, Citations: []citation{}, TraceID: res.TraceID}
	for i := range res.Hits {
		data.Citations = append(data.Citations, cite(i+1, res.Collection, &res.Hits[i]))
	}
	if len(data.Citations) == 0 {
		return &reply{text: nothing(res.Query, res.Collection), data: data}, nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s from %q for: %s\n\n", count(len(res.Hits), "passage"), res.Collection, res.Query)
	markdown(&b, data.Citations)
	pictures, err := c.picturesOf(ctx, res, &b)
	return &reply{text: b.String(), data: data, pictures: pictures}, err
}

// collections is the data of list_collections.
type collections struct {
	Collections []collection `json:"collections"`
}

type collection struct {
	Name      string `json:"name"`
	Chunks    int    `json:"chunks"`
	BM25      bool   `json:"bm25_index"`
	Documents int    `json:"documents"`
	Updated   string `json:"updated,omitempty"` // RFC 3339
}

func (a *Adapter) listCollections() *tool {
	return &tool{
		name: "list_collections", title: "List collections", out: collections{}, run: runListCollections,
		about: "List the collections of documents that can be searched, with their sizes.",
	}
}

func runListCollections(ctx context.Context, c *call) (*reply, error) {
	infos, err := c.engine.Collections(ctx)
	if err != nil {
		return nil, err
	}
	data := collections{Collections: []collection{}}
	var b strings.Builder
	b.WriteString("| Name | Documents | Chunks | BM25 index |\n| --- | --- | --- | --- |\n")
	for _, info := range infos {
		one := collection{info.Name, info.Chunks, info.Header.Sparse != "", info.Documents, instant(info.Updated)}
		data.Collections = append(data.Collections, one)
		fmt.Fprintf(&b, "| %s | %d | %d | %s |\n", strings.ReplaceAll(one.Name, "|", `\|`), one.Documents, one.Chunks, yes(one.BM25))
	}
	if len(infos) == 0 {
		return &reply{text: "There are no collections yet: nothing has been ingested.", data: data}, nil
	}
	return &reply{text: b.String(), data: data}, nil
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// instant is a time as results show it; "" for none.
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// summary is the data of get_document_summary.
type summary struct {
	SourcePath   string         `json:"source_path"`
	ProcessedAt  string         `json:"processed_at"`
	Status       string         `json:"status"` // success, or failed if it gave no text
	ChunkCount   int            `json:"chunk_count"`
	TotalChars   int            `json:"total_chars"`
	AvgChunkSize int            `json:"avg_chunk_size"`
	Images       []summaryImage `json:"images"`
	Title        string         `json:"title"`
	URI          string         `json:"uri"`
}

type summaryImage struct {
	ImageID  string `json:"image_id"`
	FilePath string `json:"file_path"` // of the document that it is in
	PageNum  int    `json:"page_num"`  // 0: the format has no pages
}

func (a *Adapter) documentSummary() *tool {
	return &tool{
		name: "get_document_summary", title: "Describe a document", out: summary{}, run: runDocumentSummary,
		about:  "Tell size, state and pictures of one document.",
		params: []param{{name: "source_hash", kind: textKind, required: true, about: "SHA-256 of the file, ID of the document, its path, or its rag:// URI"}, a.collectionParam()},
	}
}

func runDocumentSummary(ctx context.Context, c *call) (*reply, error) {
	name, document := named(c.args.text("collection"), c.args.text("source_hash"))
	e, err := c.entry(ctx, name, document)
	if err != nil {
		return nil, err
	}
	doc, err := c.engine.Document(ctx, name, e.URI)
	if err != nil {
		return nil, err
	}
	s := summary{
		SourcePath: place(e.URI), ProcessedAt: instant(e.Ingested), Status: "success", ChunkCount: len(e.Chunks), TotalChars: len([]rune(doc.Text)),
		Images: []summaryImage{}, Title: e.Title, URI: resourceURI(name, e.DocID),
	}
	if e.State == rag.StateEmpty {
		s.Status = "failed"
	}
	if s.ChunkCount > 0 {
		s.AvgChunkSize = s.TotalChars / s.ChunkCount
	}
	for _, img := range doc.Images {
		s.Images = append(s.Images, summaryImage{img.ID, s.SourcePath, img.Page})
	}
	text := fmt.Sprintf("**%s**\n\n- source: %s\n- processed: %s, %s\n- %s, %s, %d a passage\n- %s\n",
		title(e.Title, e.URI), s.SourcePath, s.ProcessedAt, s.Status, count(s.ChunkCount, "passage"), count(s.TotalChars, "character"), s.AvgChunkSize, count(len(s.Images), "picture"))
	return &reply{text: text, data: s}, nil
}
