package rerank

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/httpjson"
	"github.com/seed-d8745b77/rag/internal/secret"
)

// Styles of services.
const (
	StyleCohere = "cohere" // {"model", "query", "documents", "top_n"} → {"results": [{"index", "relevance_score"}]}; Jina, Voyage and others speak it too
	StyleTEI    = "tei"    // {"query", "texts", "truncate"} → [{"index", "score"}]: Hugging Face's text-embeddings-inference
)

// HTTPConfig sets up an [HTTP].
type HTTPConfig struct {
	URL       string `json:"url"`                                      // address that is posted to, with its path: ".../v2/rerank", ".../rerank"
	Style     string `json:"style"`                                    // StyleCohere or StyleTEI; "": StyleCohere
	Model     string `json:"model"`                                    // required by StyleCohere
	Key       string `json:"key"`                                      // sent as a bearer token; "": none
	MaxTokens int    `json:"max_tokens" range:"[0,10000000]"`          // longest pair that the model reads, in tokens; 0: passages are sent whole; at least 0
	TimeoutMS int    `json:"timeout_ms,omitzero" range:"[1,86400000]"` // of one try; 0: 30,000; at least 0
	Tries     int    `json:"tries,omitzero" range:"[1,1000]"`          // at most, where another may help; 0: 3; at least 0
}

// HTTP asks a service. What does not answer is ErrUnavailable. It is safe for concurrent use.
type HTTP struct {
	c      HTTPConfig
	client httpjson.Client
}

var (
	_ rag.Reranker        = (*HTTP)(nil)
	_ rag.RerankDescriber = (*HTTP)(nil)
)

// NewHTTP returns a reranker over a service. It sends nothing yet.
func NewHTTP(c HTTPConfig) (*HTTP, error) {
	if c.Style == "" {
		c.Style = StyleCohere
	}
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("http reranker: url must be an address such as https://host/v2/rerank: %w", rag.ErrInvalid)
	case c.Style != StyleCohere && c.Style != StyleTEI:
		return nil, rag.UnknownName("style", c.Style, []string{StyleCohere, StyleTEI})
	case c.Style == StyleCohere && c.Model == "":
		return nil, fmt.Errorf("http reranker: style %s needs a model: %w", c.Style, rag.ErrInvalid)
	case c.MaxTokens < 0 || c.TimeoutMS < 0 || c.Tries < 0:
		return nil, fmt.Errorf("http reranker: max_tokens, timeout_ms and tries cannot be below 0: %w", rag.ErrInvalid)
	}
	r := &HTTP{c: c, client: httpjson.Client{Header: http.Header{}, Secrets: secret.InURL(c.URL), Timeout: time.Duration(c.TimeoutMS) * time.Millisecond, Tries: c.Tries}}
	if c.Key != "" {
		r.client.Header.Set("Authorization", "Bearer "+c.Key)
	}
	return r, nil
}

// RerankModel names the service's host and the model.
func (r *HTTP) RerankModel() rag.RerankModel {
	u, err := url.Parse(r.c.URL)
	if err != nil { // checked by NewHTTP
		return rag.RerankModel{MaxTokens: r.c.MaxTokens}
	}
	return rag.RerankModel{Name: "http/" + u.Host + u.Path + "/" + r.c.Model, MaxTokens: r.c.MaxTokens}
}

type cohereRequest struct {
	Model     string   `json:"model"`
	Query     string   `json:"query"`
	Documents []string `json:"documents"`
	TopN      int      `json:"top_n"`
}

type teiRequest struct {
	Query    string   `json:"query"`
	Texts    []string `json:"texts"`
	Truncate bool     `json:"truncate"`
}

// scored is one result, in either style.
type scored struct {
	Index     int      `json:"index"`
	Score     *float64 `json:"score"`
	Relevance *float64 `json:"relevance_score"`
}

// results reads both forms: a list, or an object that holds it.
type results []scored

func (r *results) UnmarshalJSON(b []byte) error {
	var list []scored
	if err := json.Unmarshal(b, &list); err == nil {
		*r = list
		return nil
	}
	var object struct {
		Results []scored `json:"results"`
		Data    []scored `json:"data"` // Voyage
	}
	if err := json.Unmarshal(b, &object); err != nil {
		return err
	}
	if *r = object.Results; object.Results == nil {
		*r = object.Data
	}
	return nil
}

// Rerank asks the service once for all texts.
func (r *HTTP) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	if err := ctx.Err(); err != nil || len(texts) == 0 {
		return nil, err
	}
	sent := make([]string, len(texts))
	for i, text := range texts {
		if sent[i] = text; text == "" {
			sent[i] = " " // services refuse empty texts
		}
	}
	var body any = cohereRequest{r.c.Model, query, sent, len(sent)}
	if r.c.Style == StyleTEI {
		body = teiRequest{query, sent, true}
	}
	var got results
	if err := r.client.Post(ctx, r.c.URL, body, &got); err != nil {
		return nil, serviceError(ctx, err)
	}
	scores, err := got.inOrder(len(texts))
	if err != nil {
		return nil, fmt.Errorf("http reranker: %w: %w", err, rag.ErrUnavailable)
	}
	return scores, nil
}

// serviceError adds the kind: a service that refuses the request must be set up otherwise, any other did not answer.
func serviceError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	kind := rag.ErrUnavailable
	var status *httpjson.StatusError
	if errors.As(err, &status) && !status.Temporary() {
		kind = rag.ErrInvalid
	}
	return fmt.Errorf("http reranker: %w: %w", err, kind)
}

// inOrder puts the scores into the order of the texts.
func (r results) inOrder(texts int) ([]float64, error) {
	scores := make([]float64, texts)
	for i := range scores {
		scores[i] = math.NaN() // not given yet
	}
	for _, x := range r {
		value := x.Relevance
		if value == nil {
			value = x.Score
		}
		switch {
		case x.Index < 0 || x.Index >= texts || value == nil:
			return nil, fmt.Errorf("a result for text %d of %d without a place or a score", x.Index, texts)
		case !math.IsNaN(scores[x.Index]):
			return nil, fmt.Errorf("two results for text %d", x.Index)
		}
		scores[x.Index] = *value
	}
	for i, x := range scores {
		if math.IsNaN(x) {
			return nil, fmt.Errorf("no result for text %d of %d", i, texts)
		}
	}
	return scores, nil
}
