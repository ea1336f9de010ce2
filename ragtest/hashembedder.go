package ragtest

import (
	"context"
	"hash/fnv"
	"math"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/seed-d8745b77/rag"
)

// HashEmbedder is a deterministic embedder without a model: it hashes the words of a text, case folded, into buckets
// and scales the counts to unit length. The cosine of two texts is thus their overlap in words, apart from words
// that share a bucket. It tells words apart by letters and digits only, and knows no role, grammar or meaning.
//
// The zero value is ready. Set the fields before the first use; the methods are safe for concurrent use.
type HashEmbedder struct {
	Dims      int      // length of a vector; 0: 256
	Revision  string   // of the model; "": "1". Another one is another fingerprint
	MaxTokens int      // longest input in words; 0: unknown, and then nothing is cut
	MaxBatch  int      // most texts a call; 0: 64
	Languages []string // in which the model claims to work; nil: any

	// Before, if set, is called before each batch. Its error is returned in place of vectors, which plays a
	// provider that fails; by blocking until ctx is done it plays one that hangs.
	Before func(ctx context.Context, role rag.EmbedRole, texts []string) error

	calls, texts atomic.Int64
}

var (
	_ rag.Embedder     = (*HashEmbedder)(nil)
	_ rag.TokenCounter = (*HashEmbedder)(nil)
)

const (
	defaultHashDims  = 256
	defaultHashBatch = 64
)

// Model describes the embedder as the fields say.
func (h *HashEmbedder) Model() rag.EmbedModel {
	m := rag.EmbedModel{
		Name:      "hash",
		Revision:  h.Revision,
		Dims:      h.Dims,
		MaxTokens: h.MaxTokens,
		MaxBatch:  h.MaxBatch,
		Pooling:   "mean",
		Languages: h.Languages,
	}
	if m.Revision == "" {
		m.Revision = "1"
	}
	if m.Dims == 0 {
		m.Dims = defaultHashDims
	}
	if m.MaxBatch == 0 {
		m.MaxBatch = defaultHashBatch
	}
	return m
}

// Embed returns a unit vector for each text; both roles give the same. Its only errors are those of ctx and Before.
func (h *HashEmbedder) Embed(ctx context.Context, role rag.EmbedRole, texts []string) ([][]float32, error) {
	h.calls.Add(1)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if h.Before != nil {
		if err := h.Before(ctx, role, texts); err != nil {
			return nil, err
		}
	}
	model := h.Model()
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = hashVector(words(text), model.Dims, model.MaxTokens)
	}
	h.texts.Add(int64(len(texts)))
	return vectors, nil
}

// CountTokens returns the number of words.
func (h *HashEmbedder) CountTokens(text string) int { return len(words(text)) }

// Calls returns how often Embed was called, failures included.
func (h *HashEmbedder) Calls() int { return int(h.calls.Load()) }

// Texts returns how many texts were given a vector.
func (h *HashEmbedder) Texts() int { return int(h.texts.Load()) }

// words cuts a text at everything that is neither letter, mark nor digit.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
}

// hashVector counts words in buckets and scales to unit length. A text without words gets the bucket of the empty
// word, so that no vector is zero.
func hashVector(words []string, dims, limit int) []float32 {
	if limit > 0 && len(words) > limit {
		words = words[:limit]
	}
	if len(words) == 0 {
		words = []string{""}
	}
	counts := make([]float64, dims)
	for _, w := range words {
		hash := fnv.New64a()
		hash.Write([]byte(w))
		counts[hash.Sum64()%uint64(dims)]++
	}
	var sum float64
	for _, c := range counts {
		sum += c * c
	}
	norm := math.Sqrt(sum)
	v := make([]float32, dims)
	for i, c := range counts {
		v[i] = float32(c / norm)
	}
	return v
}
