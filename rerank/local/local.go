// Package local reranks on this machine with a cross-encoder, in Go alone: no service, no key, no cgo. The model is
// read from a folder, which `rag models pull` fills.
//
//	r, err := local.New(local.Config{Model: "ms-marco-minilm-l6"})
//	scores, err := r.Rerank(ctx, "who signs off a trip abroad?", passages)
//
// Weights are read at the first call; a model that then does not give the scores it was published with is refused.
package local

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/modelhub/modelrun"
)

// Config chooses the model and bounds its work.
type Config struct {
	// Model is the name of a cross-encoder: "ms-marco-minilm-l6" (or ""), for English, or "bge-reranker-base", for
	// English and Chinese, which takes ten times as long; both are looked for in ModelDir, $RAG_MODEL_DIR and the
	// user's cache. Or the path of a folder, absolute or beginning with a dot, that holds config.json, tokenizer.json
	// and model.safetensors of a cross-encoder of the BERT family with one output.
	Model     string `json:"model"`
	ModelDir  string `json:"model_dir"`                                         // folder of model folders, searched first; "": none
	Threads   int    `json:"threads" range:"[0,1024]"`                          // most threads at work for one Reranker; 0: GOMAXPROCS
	MaxTokens int    `json:"max_tokens" range:"[0,10000000]"`                   // longest pair, special tokens included; 0: what the model has, at most 512
	CacheSize int    `json:"cache_size,omitzero" range:"[-1,1000000000] but 0"` // scores kept, of pairs seen last; 0: 4096, about 0.5 MB; negative: none

	Languages []string `json:"languages"` // BCP 47 primary tags that the model knows; empty: any. For the path of a folder only
}

// Reranker scores passages against a query by the model's logit, of any size and sign. It is safe for concurrent use;
// concurrent calls share its threads and its cache.
type Reranker struct {
	run   *modelrun.Model
	cache *cache
}

var (
	_ rag.Reranker        = (*Reranker)(nil)
	_ rag.RerankDescriber = (*Reranker)(nil)
	_ rag.TokenCounter    = (*Reranker)(nil)
	_ rag.Fingerprinter   = (*Reranker)(nil)
)

// New returns a reranker; the weights are read later. An unknown model and settings that cannot be right are
// [rag.ErrInvalid], a model of a kind that cannot be run [rag.ErrUnsupported], and one that is in none of the places
// [rag.ErrNotFound]: the error lists them, and what can be done.
func New(c Config) (*Reranker, error) {
	if c.Threads < 0 {
		return nil, fmt.Errorf("threads is %d: want 0 (all processors) or more: %w", c.Threads, rag.ErrInvalid)
	}
	m, err := open(c)
	if err != nil {
		return nil, kinds.Of(err)
	}
	return &Reranker{run: m, cache: newCache(c.CacheSize)}, nil
}

// Fingerprint names the model and its window.
func (r *Reranker) Fingerprint() string {
	c := r.run.Card()
	return fmt.Sprintf("%s/%s/%d", c.Title, r.run.Revision(), c.MaxTokens)
}

// RerankModel names the model, its window, so that of a longer text the engine gives the best part, and its languages,
// so that it is not asked about others.
func (r *Reranker) RerankModel() rag.RerankModel {
	c := r.run.Card()
	return rag.RerankModel{Name: r.Fingerprint(), MaxTokens: c.MaxTokens, Languages: slices.Clone(c.Languages)}
}

// CountTokens returns the number of the model's tokens of text without special tokens.
func (r *Reranker) CountTokens(text string) int { return r.run.Words().Count(text) }

// Check reads the weights, if no call has yet, and holds the model against its references. A model that strays from
// them, in general by more than 1e-3, is [rag.ErrInvalid]; so are then all calls of Rerank.
func (r *Reranker) Check(ctx context.Context) error { return kinds.Of(r.run.Check(ctx)) }

// Rerank returns the score of each text. Of a pair beyond the window the text's first tokens count. Texts that were
// scored lately, or stand in texts twice, are not scored again. When ctx ends, Rerank returns its error within one
// layer of one pair.
func (r *Reranker) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	scores := make([]float64, len(texts))
	places := map[key][]int{} // of the texts that must be scored
	var ask []key             // the same, in the order of the texts
	var fresh []string
	for i, text := range texts {
		k := keyOf(query, text)
		if score, ok := r.cache.get(k); ok {
			scores[i] = score
			continue
		}
		if places[k] == nil {
			ask, fresh = append(ask, k), append(fresh, text)
		}
		places[k] = append(places[k], i)
	}
	if len(fresh) == 0 {
		return scores, nil
	}
	logits, err := r.run.Score(ctx, query, fresh)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", r.run.Card().Title, kinds.Of(err))
	}
	for i, k := range ask {
		score := float64(logits[i])
		r.cache.put(k, score)
		for _, at := range places[k] {
			scores[at] = score
		}
	}
	return scores, nil
}
