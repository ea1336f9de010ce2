package dashboard

import (
	"errors"
	"strconv"
	"strings"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// passage is what a page shows of a chunk that a trace names.
type passage struct {
	ChunkID string `json:"chunk_id"`
	URI     string `json:"uri"`
	Title   string `json:"title"`
	Page    int    `json:"page,omitempty"` // 1-based; 0: none
	Line    string `json:"line"`           // the first of its text
	URL     string `json:"url,omitempty"`  // where it is shown in its document
	Gone    bool   `json:"gone,omitempty"` // it is not in the collection any more
}

// Name is how a list calls it.
func (p passage) Name() string {
	if p.Title != "" {
		return p.Title
	}
	return place(p.URI)
}

// longestLine is how much of a text stands in a table, in characters.
const longestLine = 160

// passages look chunks of one collection up, each once.
type passages struct {
	r          *request
	collection string
	known      map[string]passage
}

func (r *request) passages(collection string) *passages {
	return &passages{r, collection, map[string]passage{}}
}

// of returns what there is to show of a chunk. uri is shown where the chunk is gone.
func (p *passages) of(id, uri string) (passage, error) {
	if known, ok := p.known[id]; ok {
		return known, nil
	}
	out := passage{ChunkID: id, URI: uri}
	chunk, err := p.r.s.eng.Chunk(p.r.Context(), p.collection, id)
	switch {
	case errors.Is(err, rag.ErrNotFound):
		out.Gone = true
	case err != nil:
		return out, err
	default:
		out.URI, out.Title, out.Page, out.Line = chunk.URI, chunk.Title, chunk.Page, firstLine(chunk.Text)
		out.URL = p.r.s.documentURL(p.collection, chunk.URI, "chunk", id) + "#c" + strconv.Itoa(chunk.Ordinal)
	}
	p.known[id] = out
	return out, nil
}

// firstLine is the first line of a text with something in it, cut at a character.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimLeft(line, "#> \t"))
		if line == "" {
			continue
		}
		return mdtext.Clip(line, longestLine)
	}
	return ""
}
