package transform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/prompt"
)

// Modes of the transformers: by rules alone, or by a chat model with the rules to fall back on.
const (
	Rules = "rules"
	LLM   = "llm"
)

func checkMode(mode string) error {
	if mode != Rules && mode != LLM {
		return rag.UnknownName("mode", mode, []string{Rules, LLM})
	}
	return nil
}

// SituateConfig sets up a [Situate].
type SituateConfig struct {
	MaxDocumentBytes int `json:"max_document_bytes,omitzero" range:"[1,1000000000]"` // of the document that the model is shown, around the passage; 0: 24,000; at least 0
	LLMConfig
}

// Situate is the transformer "context" in mode llm: below title and headings, a sentence or two of a chat model that say
// what the passage is about within its document, as in "Contextual Retrieval" (Anthropic, September 2024). Where the
// model does not answer, title and headings stand alone. It is safe for concurrent use.
type Situate struct {
	ask *asker
	c   SituateConfig
}

var (
	_ rag.Transformer   = (*Situate)(nil)
	_ rag.Fingerprinter = (*Situate)(nil)
)

// NewSituate returns the transformer over a chat model.
func NewSituate(model rag.ChatModel, c SituateConfig) (*Situate, error) {
	if c.MaxDocumentBytes < 0 {
		return nil, fmt.Errorf("context: max_document_bytes must not be below 0: %w", rag.ErrInvalid)
	}
	if c.MaxDocumentBytes == 0 {
		c.MaxDocumentBytes = 24_000
	}
	ask, err := newAsker("context", situateTask, model, c.LLMConfig)
	if err != nil {
		return nil, err
	}
	return &Situate{ask, c}, nil
}

// Fingerprint names rules, prompt, model and what it is shown.
func (s *Situate) Fingerprint() string {
	return fmt.Sprintf("%s+%s/%d", NewContext().Fingerprint(), s.ask.name, s.c.MaxDocumentBytes)
}

// longestGist is the most of a model's sentences that goes into a context: about 100 tokens, as the method has it.
const longestGist = 400

const situateTask = "You are shown a document and a passage of it. Say in one or two short sentences, in the language of the passage, what the passage is about within the document, so that a search finds it: whose, which, when, about what. Add nothing that the document does not say. Reply with JSON only: {\"context\": \"…\"}." + prompt.Guard

var situateSchema = json.RawMessage(`{"type":"object","properties":{"context":{"type":"string"}},"required":["context"],"additionalProperties":false}`)

// Transform asks once for each chunk. Its error is that of ctx.
func (s *Situate) Transform(ctx context.Context, doc rag.Document, chunks []rag.Chunk) ([]rag.Chunk, error) {
	given := make([]string, len(chunks))
	for i := range chunks {
		given[i] = chunks[i].Context
	}
	out, err := NewContext().Transform(ctx, doc, chunks)
	if err != nil {
		return nil, err
	}
	err = s.ask.each(ctx, len(out), func(i int) {
		c := &out[i]
		marks := []string{"title", "document", "passage"}
		text := prompt.Quote("title", prompt.Line(doc.Title, longestContext), marks...) + prompt.Quote("document", around(doc.Text, c.Start, c.End, s.c.MaxDocumentBytes), marks...) + prompt.Quote("passage", c.Text, marks...)
		var reply struct{ Context string }
		err := s.ask.ask(ctx, "", question(situateTask, text, situateSchema), func(text string) error {
			if err := prompt.ReadJSON(text, &reply); err != nil {
				return err
			}
			if reply.Context = oneLine(reply.Context, longestGist); reply.Context == "" {
				return errors.New("the reply is empty")
			}
			return nil
		})
		if err != nil {
			s.ask.fellBack(ctx, err)
			return
		}
		c.Context = joinLines(join(path(doc.Title, c.Headings)), reply.Context, given[i])
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// around returns at most so many bytes of a text, with [start, end) as far in the middle as it goes.
func around(text string, start, end, most int) string {
	if len(text) <= most {
		return text
	}
	from := min(max(0, (start+end)/2-most/2), len(text)-most)
	to := from + most
	for from > 0 && !utf8.RuneStart(text[from]) {
		from++
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	return strings.TrimSpace(text[from:to])
}
