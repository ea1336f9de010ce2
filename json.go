package rag

import "encoding/json"

// resultJSON is the documented form of a result; keys are stable.
type resultJSON struct {
	Query      string       `json:"query"`
	Collection string       `json:"collection"`
	Mode       Mode         `json:"mode"`
	TraceID    string       `json:"trace_id"`
	Hits       []hitJSON    `json:"hits"`
	Rerank     RerankStatus `json:"rerank"`
	Rewrites   []Rewrite    `json:"rewrites"`
	Notes      []Note       `json:"notes"`
	Trace      *Trace       `json:"trace,omitempty"`
}

type hitJSON struct {
	Rank     int       `json:"rank"`
	Score    float64   `json:"score"`
	ChunkID  string    `json:"chunk_id"`
	DocID    string    `json:"doc_id"`
	URI      string    `json:"uri"`
	Title    string    `json:"title"`
	Page     *int      `json:"page"` // null if the format has no pages
	Headings []string  `json:"headings"`
	Start    int       `json:"start"`
	End      int       `json:"end"`
	Text     string    `json:"text"`
	Ranks    ranksJSON `json:"ranks"`
	Meta     Meta      `json:"meta"`
	Status   *string   `json:"status"` // null without a validity policy

	Images     []imageJSON     `json:"images"`
	Highlights []TextRange     `json:"highlights"`
	Duplicates []Duplicate     `json:"duplicates,omitempty"`
	Before     []neighbourJSON `json:"before,omitempty"`
	After      []neighbourJSON `json:"after,omitempty"`
	Parent     *Parent         `json:"parent,omitempty"`
}

// imageJSON is a picture that stands in a passage.
type imageJSON struct {
	ID         string     `json:"id"`
	MediaType  string     `json:"media_type"`
	Page       *int       `json:"page"` // null if the format has no pages
	Box        [4]float64 `json:"box"`
	Offset     int        `json:"offset"`
	TextOffset int        `json:"text_offset"` // in the passage's text
	Alt        string     `json:"alt"`
	Caption    *string    `json:"caption"` // null if none was generated
}

type neighbourJSON struct {
	ChunkID string `json:"chunk_id"`
	Start   int    `json:"start"`
	End     int    `json:"end"`
	Page    *int   `json:"page"` // null if the format has no pages
	Text    string `json:"text"`
}

// ranksJSON has null where a stage did not see the chunk.
type ranksJSON struct {
	Dense    *int `json:"dense"`
	Sparse   *int `json:"sparse"`
	Fused    *int `json:"fused"`
	Reranked *int `json:"reranked"`
	Shaped   *int `json:"shaped"`
}

// MarshalJSON writes the object that `rag search --json` prints: query, collection, mode, trace_id, hits, rerank,
// rewrites, notes.
func (r Result) MarshalJSON() ([]byte, error) {
	out := resultJSON{r.Query, r.Collection, r.Mode, r.TraceID, make([]hitJSON, len(r.Hits)), r.Rerank, r.Rewrites, r.Notes, r.Trace}
	if out.Rewrites == nil {
		out.Rewrites = []Rewrite{}
	}
	if out.Notes == nil {
		out.Notes = []Note{}
	}
	for i := range r.Hits {
		out.Hits[i] = r.Hits[i].toJSON(i + 1)
	}
	return json.Marshal(out)
}

func (h *Hit) toJSON(rank int) hitJSON {
	c := &h.Chunk
	out := hitJSON{
		Rank: rank, Score: h.Score, ChunkID: c.ID, DocID: c.DocID, URI: c.URI, Title: c.Title, Headings: c.Headings,
		Start: c.Start, End: c.End, Text: c.Text, Meta: c.Meta,
		Ranks: ranksJSON{h.position(StageDense), h.position(StageSparse), h.position(StageFusion), h.position(StageRerank), h.position(StageShape)},
		Page:  jsonPage(c.Page), Images: c.jsonImages(), Highlights: h.Highlights, Duplicates: h.Duplicates, Before: neighboursJSON(h.Before), After: neighboursJSON(h.After), Parent: h.Parent,
	}
	if h.Status != "" {
		out.Status = &h.Status
	}
	if out.Highlights == nil {
		out.Highlights = []TextRange{}
	}
	if out.Headings == nil {
		out.Headings = []string{}
	}
	if out.Meta == nil {
		out.Meta = Meta{}
	}
	return out
}

func neighboursJSON(chunks []Chunk) []neighbourJSON {
	out := make([]neighbourJSON, len(chunks))
	for i, c := range chunks {
		out[i] = neighbourJSON{c.ID, c.Start, c.End, jsonPage(c.Page), c.Text}
	}
	return out
}

// jsonPage returns nil for no page.
func jsonPage(page int) *int {
	if page == 0 {
		return nil
	}
	return &page
}

func (c *Chunk) jsonImages() []imageJSON {
	out := make([]imageJSON, len(c.Images))
	for i, m := range c.Images {
		out[i] = imageJSON{
			ID: m.ID, MediaType: m.MediaType, Page: jsonPage(m.Page), Box: m.Box, Offset: m.Offset,
			TextOffset: min(max(m.Offset-c.Start, 0), len(c.Text)), Alt: m.Alt,
		}
		if caption := c.Caption(m.ID); caption != "" {
			out[i].Caption = &caption
		}
	}
	return out
}

// position returns the rank a stage gave, or nil.
func (h *Hit) position(stage string) *int {
	if r, ok := h.RankAt(stage); ok {
		return &r.Position
	}
	return nil
}
