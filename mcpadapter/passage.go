package mcpadapter

import (
	"fmt"
	"math"
	"net/url"
	"path"
	"strings"

	"github.com/seed-d8745b77/rag"
)

const (
	maxPassage = 800 // characters of a passage in a result: 20 of them stay below the 25,000 tokens that hosts cut at
	maxPreview = 400 // characters of a passage in text to read
)

// citation is a passage in a result.
type citation struct {
	ID         int     `json:"id"` // the n of [n]
	Title      string  `json:"title"`
	Source     string  `json:"source"`      // name of the file
	SourcePath string  `json:"source_path"` // path or URI
	Page       int     `json:"page,omitempty"`
	ChunkID    string  `json:"chunk_id"`
	Index      int     `json:"chunk_index"`
	Score      float64 `json:"score"`
	Text       string  `json:"text"`
	Status     string  `json:"status,omitempty"` // under a validity policy
	URI        string  `json:"uri"`              // the whole document
}

func cite(n int, collection string, h *rag.Hit) citation {
	c := &h.Chunk
	return citation{
		ID: n, Title: title(c.Title, c.URI), Source: fileName(c.URI), SourcePath: place(c.URI), Page: c.Page, ChunkID: c.ID, Index: c.Ordinal,
		Score: rounded(h.Score), Text: cut(c.Text, maxPassage), Status: h.Status, URI: resourceURI(collection, c.DocID),
	}
}

// rounded keeps four decimals.
func rounded(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// title names a document by its title, or without one by its file.
func title(given, uri string) string {
	if given != "" {
		return given
	}
	return fileName(uri)
}

// section is the place of a passage in its document: its headings, outermost first.
func section(c *rag.Chunk) string {
	if len(c.Headings) > 0 {
		return strings.Join(c.Headings, " › ")
	}
	return title(c.Title, c.URI)
}

// place is the path of a document that is a file, else its URI.
func place(uri string) string {
	if p, ok := rag.DocumentPath(uri); ok {
		return p
	}
	return uri
}

// fileName is the last element of a document's place.
func fileName(uri string) string {
	return path.Base(strings.ReplaceAll(place(uri), `\`, "/"))
}

// resourceURI names a document as a resource.
func resourceURI(collection, docID string) string {
	return resourceScheme + url.PathEscape(collection) + "/" + docID
}

// markdown writes passages for a reader, numbered as in the citations.
func markdown(b *strings.Builder, list []citation) {
	for _, c := range list {
		fmt.Fprintf(b, "**[%d] %s** · %s", c.ID, c.Title, c.Source)
		if c.Page > 0 {
			fmt.Fprintf(b, ", page %d", c.Page)
		}
		fmt.Fprintf(b, ", passage %d · score %.4f", c.Index+1, c.Score)
		b.WriteString(caution(c.Status) + "\n" + quoted(cut(c.Text, maxPreview)) + "\n\n")
	}
}

// caution marks a passage that a validity policy lets through though it is not known to be in force; else it is "".
func caution(status string) string {
	if status == "" || status == rag.StatusCurrent {
		return ""
	}
	return " · " + strings.ReplaceAll(status, "_", " ")
}

// quoted is a text as a block quote: what documents say is told apart from what the server says.
func quoted(text string) string {
	return "> " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n> ")
}

// nothing is what is said where nothing was found.
func nothing(question, collection string) string {
	return fmt.Sprintf("No passage in the collection %q matches %q. Try other words, or list_collections for other collections.", collection, question)
}
