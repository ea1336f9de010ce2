// Package hugot scores passages with any cross-encoder stored as ONNX, through github.com/knights-analytics/hugot.
//
//	r, err := hugot.New(hugot.Config{Dir: "models/ms-marco-minilm-l6-v2"})
//	defer r.Close()
//	scores, err := r.Rerank(ctx, "when is payment due?", []string{"Payment is due within thirty days."})
//
// It is for models that rerank/local does not run. By default hugot's backend in pure Go computes, more than ten times
// slower than rerank/local; programs built with the tag ORT compute on ONNX Runtime. The README.md of embed/hugot says
// how, and which models hugot's backends refuse. The package is a module of its own, since hugot brings two dozen others.
package hugot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/onnx"
)

// Config names the model.
type Config struct {
	Dir       string `json:"dir"`                             // folder with an ONNX file, tokenizer.json and, if the model has one, config.json; required
	File      string `json:"file"`                            // name of the ONNX file in Dir; "": the only one, or model.onnx
	Output    string `json:"output"`                          // output of the model to use; "": its first
	MaxTokens int    `json:"max_tokens" range:"[0,10000000]"` // longest pair, special tokens included; 0: what config.json says, else 512
	Library   string `json:"library"`                         // ONNX Runtime's shared library or its folder; "": where the system looks. With the tag ORT only
	Threads   int    `json:"threads" range:"[0,1024]"`        // of ONNX Runtime; 0: one for each core. With the tag ORT only; hugot's own backend uses all processors

	Languages []string `json:"languages"` // BCP 47 primary tags that the model knows; empty: any
}

// Reranker scores pairs of a query and a text. It is safe for concurrent use; calls wait for each other between
// batches. Close it when it is no longer needed.
type Reranker struct {
	run       *onnx.Model
	languages []string
}

var (
	_ rag.Reranker        = (*Reranker)(nil)
	_ rag.RerankDescriber = (*Reranker)(nil)
	_ rag.TokenCounter    = (*Reranker)(nil)
	_ rag.Fingerprinter   = (*Reranker)(nil)
	_ io.Closer           = (*Reranker)(nil)
)

// Heads of cross-encoders: the logit of "relevant" alone, or after that of "not relevant".
const (
	oneLabel  = 1
	twoLabels = 2
)

// New loads the model and tries it, which takes seconds and some four times the file's size in memory. A wrong setting
// or broken file is [rag.ErrInvalid], a missing one [rag.ErrNotFound], a model that hugot cannot run, or that is no
// cross-encoder, [rag.ErrUnsupported].
func New(c Config) (*Reranker, error) {
	if c.Dir == "" {
		return nil, fmt.Errorf("dir is missing: want the folder of an ONNX model: %w", rag.ErrInvalid)
	}
	run, err := onnx.Open(onnx.Config{Dir: c.Dir, File: c.File, Output: c.Output, MaxTokens: c.MaxTokens, Library: c.Library, Threads: c.Threads})
	if err != nil {
		return nil, fmt.Errorf("model: %w: %w", err, kind(err))
	}
	if run.PerToken() || (run.Width() != oneLabel && run.Width() != twoLabels) {
		err := fmt.Errorf("model %s: a cross-encoder returns one number for a pair, or two: this one returns %d, for each token: %t: %w", c.Dir, run.Width(), run.PerToken(), rag.ErrUnsupported)
		return nil, errors.Join(err, run.Close())
	}
	return &Reranker{run: run, languages: slices.Clone(c.Languages)}, nil
}

// kind says what sort of error the model's loading ended with.
func kind(err error) error {
	switch {
	case errors.Is(err, onnx.ErrUnsupported):
		return rag.ErrUnsupported
	case errors.Is(err, fs.ErrNotExist):
		return rag.ErrNotFound
	}
	return rag.ErrInvalid
}

// Fingerprint names the model: its files and its window.
func (r *Reranker) Fingerprint() string {
	return fmt.Sprintf("hugot/%s/%d", r.run.Digest(), r.run.Window())
}

// RerankModel describes the model.
func (r *Reranker) RerankModel() rag.RerankModel {
	return rag.RerankModel{Name: r.Fingerprint(), MaxTokens: r.run.Window(), Languages: slices.Clone(r.languages)}
}

// CountTokens returns the number of tokens of text without special tokens.
func (r *Reranker) CountTokens(text string) int { return r.run.Tokens().Count(text) }

// Rerank returns the model's logit for each text, of any size and sign; hugot's own pipeline returns its sigmoid,
// which has the same order. Where the model has two labels, it is the logarithm of their odds. Of a pair beyond
// MaxTokens the text's last tokens do not count. When ctx ends, Rerank returns its error after the batch under way,
// which takes seconds where texts are long.
func (r *Reranker) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	pairs := make([]onnx.Sequence, len(texts))
	for i, text := range texts {
		ids, types, _, err := r.run.Tokens().EncodePair(query, text, r.run.Window())
		if err != nil {
			return nil, fmt.Errorf("text %d: %w", i, err)
		}
		pairs[i] = onnx.Sequence{IDs: ids, Types: types}
	}
	rows, err := r.run.Run(ctx, pairs)
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(texts))
	for i := range rows {
		logits := rows[i][0]
		scores[i] = float64(logits[0])
		if len(logits) == twoLabels {
			scores[i] = float64(logits[1]) - float64(logits[0])
		}
	}
	return scores, nil
}

// Close frees the model, once a call under way has ended. A later Rerank is an error.
func (r *Reranker) Close() error { return r.run.Close() }
