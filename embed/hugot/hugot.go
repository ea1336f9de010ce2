// Package hugot embeds texts with any encoder model stored as ONNX, through github.com/knights-analytics/hugot.
//
//	e, err := hugot.New(hugot.Config{Dir: "models/bge-small-en-v1.5", Pooling: "cls", Languages: []string{"en"}})
//	defer e.Close()
//	vectors, err := e.Embed(ctx, rag.AsPassage, []string{"Payment is due within thirty days."})
//
// It is for models that embed/local does not run. By default hugot's backend in pure Go computes, more than ten times
// slower than embed/local; programs built with the tag ORT compute on ONNX Runtime. README.md says how, and which
// models hugot's backends refuse. The package is a module of its own, since hugot brings two dozen others.
package hugot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/onnx"
)

// Config names the model and how it is meant to be used, as its card tells.
type Config struct {
	Dir            string   `json:"dir"`                             // folder with an ONNX file, tokenizer.json and, if the model has one, config.json; required
	File           string   `json:"file"`                            // name of the ONNX file in Dir; "": the only one, or model.onnx
	Name           string   `json:"name"`                            // of the model, in fingerprints; "": the last element of Dir
	Output         string   `json:"output"`                          // output of the model to use; "": its first
	Pooling        string   `json:"pooling"`                         // of an output for each token: "mean" or "cls"; "": mean. Must be "" where the output is one vector for the text
	MaxTokens      int      `json:"max_tokens" range:"[0,10000000]"` // longest input, special tokens included; 0: what config.json says, else 512
	QuestionPrefix string   `json:"question_prefix"`                 // put before questions: "query: "
	PassagePrefix  string   `json:"passage_prefix"`                  // put before passages: "passage: "
	Languages      []string `json:"languages"`                       // BCP 47 primary tags in which the vectors mean something; none: any
	Library        string   `json:"library"`                         // ONNX Runtime's shared library or its folder; "": where the system looks. With the tag ORT only
	Threads        int      `json:"threads" range:"[0,1024]"`        // of ONNX Runtime; 0: one for each core. With the tag ORT only; hugot's own backend uses all processors
}

// The ways to make one vector of a text from those of its tokens.
const (
	poolMean = "mean"
	poolCLS  = "cls"
)

// batch is the most texts a call is worth having: enough to find some of like length.
const batch = 64

// revisionDigits of the digest are enough to tell revisions apart.
const revisionDigits = 12

// Embedder turns texts into vectors of unit length. It is safe for concurrent use; calls wait for each other between
// batches. Close it when it is no longer needed.
type Embedder struct {
	model rag.EmbedModel
	run   *onnx.Model
}

var (
	_ rag.Embedder      = (*Embedder)(nil)
	_ rag.TokenCounter  = (*Embedder)(nil)
	_ rag.Fingerprinter = (*Embedder)(nil)
	_ io.Closer         = (*Embedder)(nil)
)

// New loads the model and tries it, which takes seconds and some four times the file's size in memory. A wrong setting
// or broken file is [rag.ErrInvalid], a missing one [rag.ErrNotFound], a model that hugot cannot run
// [rag.ErrUnsupported].
func New(c Config) (*Embedder, error) {
	if c.Dir == "" {
		return nil, fmt.Errorf("dir is missing: want the folder of an ONNX model: %w", rag.ErrInvalid)
	}
	if c.Pooling != "" && c.Pooling != poolMean && c.Pooling != poolCLS {
		return nil, rag.UnknownName("pooling", c.Pooling, []string{poolMean, poolCLS})
	}
	run, err := onnx.Open(onnx.Config{Dir: c.Dir, File: c.File, Output: c.Output, MaxTokens: c.MaxTokens, Library: c.Library, Threads: c.Threads})
	if err != nil {
		return nil, fmt.Errorf("model: %w: %w", err, kind(err))
	}
	pooling := c.Pooling
	switch {
	case run.PerToken() && pooling == "":
		pooling = poolMean
	case !run.PerToken() && pooling != "":
		err := fmt.Errorf("pooling %q: the model's output is one vector for the text already; leave pooling out, or name another output: %w", pooling, rag.ErrInvalid)
		return nil, errors.Join(err, run.Close())
	}
	name := c.Name
	if name == "" {
		name = filepath.Base(filepath.Clean(c.Dir))
	}
	return &Embedder{run: run, model: rag.EmbedModel{
		Name:           name,
		Revision:       run.Digest()[:revisionDigits],
		Dims:           run.Width(),
		MaxTokens:      run.Window(),
		MaxBatch:       batch,
		QuestionPrefix: c.QuestionPrefix,
		PassagePrefix:  c.PassagePrefix,
		Pooling:        pooling,
		Languages:      slices.Clone(c.Languages),
	}}, nil
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

// Model describes the model.
func (e *Embedder) Model() rag.EmbedModel {
	m := e.model
	m.Languages = slices.Clone(m.Languages)
	return m
}

// Fingerprint is the model's: backend and threads change no vector by more than rounding.
func (e *Embedder) Fingerprint() string { return e.model.Fingerprint() }

// Embed returns one unit vector per text. Of a text of more than MaxTokens tokens, prefix included, the first ones
// count. When ctx ends, Embed returns its error after the batch under way, which takes seconds where texts are long.
func (e *Embedder) Embed(ctx context.Context, role rag.EmbedRole, texts []string) ([][]float32, error) {
	prefix := e.model.PassagePrefix
	if role == rag.AsQuestion {
		prefix = e.model.QuestionPrefix
	}
	sequences := make([]onnx.Sequence, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		ids, _, err := e.run.Tokens().Encode(prefix+text, e.model.MaxTokens)
		if err != nil {
			return nil, fmt.Errorf("text %d: %w", i, err)
		}
		sequences[i].IDs = ids
	}
	rows, err := e.run.Run(ctx, sequences)
	if err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(texts))
	for i := range rows {
		if vectors[i], err = unit(e.pool(rows[i])); err != nil {
			return nil, fmt.Errorf("text %d: %w", i, err)
		}
	}
	return vectors, nil
}

// pool makes one vector of those of the tokens.
func (e *Embedder) pool(rows [][]float32) []float32 {
	if e.model.Pooling != poolMean {
		return slices.Clone(rows[0])
	}
	sum := make([]float32, len(rows[0]))
	for _, row := range rows {
		for i, x := range row {
			sum[i] += x
		}
	}
	return sum
}

// unit brings a vector to length one, in place.
func unit(v []float32) ([]float32, error) {
	var squares float64
	for _, x := range v {
		squares += float64(x) * float64(x)
	}
	if !(squares > 0) || math.IsInf(squares, 0) {
		return nil, fmt.Errorf("the model returned a vector of squared length %g: %w", squares, rag.ErrUnsupported)
	}
	scale := float32(1 / math.Sqrt(squares))
	for i := range v {
		v[i] *= scale
	}
	return v, nil
}

// CountTokens returns the number of tokens of text without special tokens and prefix.
func (e *Embedder) CountTokens(text string) int { return e.run.Tokens().Count(text) }

// Close frees the model, once a call under way has ended. A later Embed is an error.
func (e *Embedder) Close() error { return e.run.Close() }
