// Package rerank holds rerankers that need no model of their own: maxsim, with the embedder in use; http, a service; llm,
// a chat model. Package rerank/local has cross-encoders that run in this process.
//
//	r, err := rerank.NewHTTP(rerank.HTTPConfig{URL: "https://rerank.example.com/v1/rerank", Model: "m", Key: key})
//	eng, err := rag.Open(dir, rag.WithReranker(r))
package rerank

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-d8745b77/rag"
)

// MaxSimConfig sets up a [MaxSim].
type MaxSimConfig struct {
	MinBytes     int `json:"min_bytes,omitzero" range:"[1,1000000]"`     // a shorter sentence is joined with the next; 0: 40; at least 0
	MaxSentences int `json:"max_sentences,omitzero" range:"[1,1000000]"` // of one text; longer texts are cut into so many equal parts; 0: 24; at least 0
}

// MaxSim scores a text by its sentence that is nearest to the question: the largest cosine, by the embedder of the
// engine. It finds the one sentence that answers in a passage about much else. It is safe for concurrent use.
type MaxSim struct {
	embedder rag.Embedder
	c        MaxSimConfig
}

var (
	_ rag.Reranker        = (*MaxSim)(nil)
	_ rag.RerankDescriber = (*MaxSim)(nil)
)

// worst is the score of a text in which there is nothing to compare.
const worst = -1

// NewMaxSim returns a reranker over an embedder.
func NewMaxSim(embedder rag.Embedder, c MaxSimConfig) (*MaxSim, error) {
	if embedder == nil {
		return nil, fmt.Errorf("maxsim: it compares by the engine's embedder, and there is none: %w", rag.ErrInvalid)
	}
	if c.MinBytes < 0 || c.MaxSentences < 0 {
		return nil, fmt.Errorf("maxsim: min_bytes is %d and max_sentences %d, they cannot be below 0: %w", c.MinBytes, c.MaxSentences, rag.ErrInvalid)
	}
	if c.MinBytes == 0 {
		c.MinBytes = 40
	}
	if c.MaxSentences == 0 {
		c.MaxSentences = 24
	}
	return &MaxSim{embedder, c}, nil
}

// RerankModel names the embedder, its languages and the settings. Texts of any length are read.
func (m *MaxSim) RerankModel() rag.RerankModel {
	model := m.embedder.Model()
	return rag.RerankModel{
		Name:      fmt.Sprintf("maxsim/1/%d/%d/%s", m.c.MinBytes, m.c.MaxSentences, model.Fingerprint()),
		Languages: model.Languages,
	}
}

// Rerank returns the largest cosine of each text's sentences.
func (m *MaxSim) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	if err := ctx.Err(); err != nil || len(texts) == 0 {
		return nil, err
	}
	question, err := m.embedder.Embed(ctx, rag.AsQuestion, []string{query})
	if err != nil {
		return nil, fmt.Errorf("maxsim: embed the question: %w", err)
	}
	scores := make([]float64, len(texts))
	var sentences []string
	var owner []int // by sentence: index of its text
	for i, text := range texts {
		scores[i] = worst
		for _, s := range m.sentences(text) {
			sentences, owner = append(sentences, s), append(owner, i)
		}
	}
	vecs, err := m.embed(ctx, sentences)
	if err != nil {
		return nil, fmt.Errorf("maxsim: embed the sentences: %w", err)
	}
	for j, v := range vecs {
		scores[owner[j]] = max(scores[owner[j]], dot(question[0], v))
	}
	return scores, nil
}

// embed embeds sentences in batches of equal length, so that none is padded much.
func (m *MaxSim) embed(ctx context.Context, sentences []string) ([][]float32, error) {
	order := make([]int, len(sentences))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(sentences[b]) - len(sentences[a]) })
	vecs := make([][]float32, len(sentences))
	for part := range slices.Chunk(order, m.embedder.Model().BatchSize()) {
		batch := make([]string, len(part))
		for i, at := range part {
			batch[i] = sentences[at]
		}
		got, err := m.embedder.Embed(ctx, rag.AsPassage, batch)
		if err != nil {
			return nil, err
		}
		if len(got) != len(batch) {
			return nil, fmt.Errorf("%d vectors for %d texts: %w", len(got), len(batch), rag.ErrInvalid)
		}
		for i, at := range part {
			vecs[at] = got[i]
		}
	}
	return vecs, nil
}

// sentences cuts a text, none of the parts empty.
func (m *MaxSim) sentences(text string) []string {
	limit := m.c.MinBytes
	for {
		parts := cutSentences(text, limit)
		if len(parts) <= m.c.MaxSentences {
			return parts
		}
		limit = max(limit*2, len(text)/m.c.MaxSentences)
	}
}

// cutSentences cuts behind sentence ends and at line breaks, once a part has at least so many bytes.
func cutSentences(text string, atLeast int) []string {
	var parts []string
	keep := func(part string) {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	start := 0
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		at += size
		if at-start < atLeast {
			continue
		}
		switch r {
		case '.', '!', '?', ';':
			if at < len(text) && text[at] != ' ' && text[at] != '\n' {
				continue // 3.5, rag.yaml
			}
		case '\n', '。', '！', '？', '；':
		default:
			continue
		}
		keep(text[start:at])
		start = at
	}
	keep(text[start:])
	return parts
}

// dot is the cosine of unit vectors.
func dot(a, b []float32) float64 {
	var sum float64
	for i := range min(len(a), len(b)) {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
