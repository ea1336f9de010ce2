package httpapi

import "github.com/seed-d8745b77/rag"

// The engine writes results and answers as JSON itself. These types describe what it writes, for the API's description; a
// test holds real answers against it.

type resultForm struct {
	Query      string           `json:"query"`
	Collection string           `json:"collection"`
	Mode       rag.Mode         `json:"mode" jsonschema:"lanes that were really used"`
	TraceID    string           `json:"trace_id"`
	Hits       []hitForm        `json:"hits" jsonschema:"best first"`
	Rerank     rag.RerankStatus `json:"rerank"`
	Rewrites   []rag.Rewrite    `json:"rewrites" jsonschema:"what was made of the question before it was looked up"`
	Notes      []rag.Note       `json:"notes" jsonschema:"where less was done than was asked"`
}

type hitForm struct {
	Rank       int             `json:"rank" jsonschema:"from 1"`
	Score      float64         `json:"score" jsonschema:"comparable within this list only"`
	ChunkID    string          `json:"chunk_id"`
	DocID      string          `json:"doc_id"`
	URI        string          `json:"uri"`
	Title      string          `json:"title"`
	Page       *int            `json:"page" jsonschema:"from 1; null if the format has none"`
	Headings   []string        `json:"headings" jsonschema:"outermost first"`
	Start      int             `json:"start" jsonschema:"byte of the document's text"`
	End        int             `json:"end" jsonschema:"exclusive"`
	Text       string          `json:"text" jsonschema:"verbatim"`
	Ranks      ranksForm       `json:"ranks" jsonschema:"place that each stage gave; null where it did not see the passage"`
	Meta       rag.Meta        `json:"meta"`
	Status     *string         `json:"status" jsonschema:"current, needs_review or expired; null without a validity policy"`
	Images     []imageForm     `json:"images"`
	Highlights []rag.TextRange `json:"highlights" jsonschema:"bytes of text where words of the query stand"`
	Duplicates []rag.Duplicate `json:"duplicates,omitempty"`
	Before     []besideForm    `json:"before,omitempty"`
	After      []besideForm    `json:"after,omitempty"`
	Parent     *rag.Parent     `json:"parent,omitempty"`
}

type ranksForm struct {
	Dense    *int `json:"dense"`
	Sparse   *int `json:"sparse"`
	Fused    *int `json:"fused"`
	Reranked *int `json:"reranked"`
	Shaped   *int `json:"shaped"`
}

type imageForm struct {
	ID         string     `json:"id" jsonschema:"its bytes are at /v1/pictures/{id}"`
	MediaType  string     `json:"media_type"`
	Page       *int       `json:"page"`
	Box        [4]float64 `json:"box" jsonschema:"x0, y0, x1, y1 in points from the page's lower left"`
	Offset     int        `json:"offset" jsonschema:"byte of the document's text"`
	TextOffset int        `json:"text_offset" jsonschema:"byte of the passage's text"`
	Alt        string     `json:"alt"`
	Caption    *string    `json:"caption" jsonschema:"generated description; null if there is none"`
}

type besideForm struct {
	ChunkID string `json:"chunk_id"`
	Start   int    `json:"start"`
	End     int    `json:"end"`
	Page    *int   `json:"page"`
	Text    string `json:"text"`
}

type answerForm struct {
	Question    string         `json:"question"`
	Intent      string         `json:"intent"`
	Answer      string         `json:"answer" jsonschema:"with markers [1] to [n], each of which names a source"`
	Mode        string         `json:"mode" jsonschema:"extractive or generated"`
	Refused     bool           `json:"refused" jsonschema:"no answer: the sources do not tell"`
	Reason      string         `json:"reason" jsonschema:"of the refusal, or of the reliability where that is not RELIABLE"`
	Reliability string         `json:"reliability" jsonschema:"RELIABLE, TO VERIFY or NO ANSWER"`
	NeedsReview bool           `json:"needs_review" jsonschema:"a source cited is not known to be in force"`
	Confidence  float64        `json:"confidence" jsonschema:"estimated chance that the sources answer the question, 0 to 1"`
	Verified    bool           `json:"verified" jsonschema:"every citation was found to support its sentence"`
	Citations   []citationForm `json:"citations"`
	Rejected    []rejectedForm `json:"citations_rejected"`
	Sources     []sourceForm   `json:"sources"`
	Usage       rag.ChatUsage  `json:"usage"`
	Timings     []timingForm   `json:"timings"`
	TraceID     string         `json:"trace_id"`
	Notes       []rag.Note     `json:"notes"`
}

type citationForm struct {
	Marker  int    `json:"marker"`
	ChunkID string `json:"chunk_id"`
	URI     string `json:"uri"`
	Title   string `json:"title"`
	Page    *int   `json:"page"`
	Quote   string `json:"quote"`
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
}

type rejectedForm struct {
	Marker string `json:"marker"`
	Reason string `json:"reason"`
}

type sourceForm struct {
	Number   int      `json:"number"`
	ChunkID  string   `json:"chunk_id"`
	URI      string   `json:"uri"`
	Title    string   `json:"title"`
	Headings []string `json:"headings"`
	Page     *int     `json:"page"`
	Status   *string  `json:"status"`
	Score    float64  `json:"score"`
	Text     string   `json:"text"`
}

type timingForm struct {
	Stage string  `json:"stage"`
	MS    float64 `json:"ms"`
}
