package embed

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/modelapi"
)

// ServiceConfig is what the settings of embedders over services have in common.
type ServiceConfig struct {
	Model   string            `json:"model"`    // name of the model; required
	BaseURL string            `json:"base_url"` // address that paths are appended to; "": the provider's own
	APIKey  string            `json:"api_key"`  // "": none; the registered providers then look into the environment
	Headers map[string]string `json:"headers"`  // sent with each request; what they hold is in no error

	Dims       int `json:"dims" range:"[0,1000000]"`             // length of the model's vectors; 0: known for well-known models, else asked for when the engine opens; at least 0
	Dimensions int `json:"dimensions" range:"[0,1000000]"`       // shorter vectors that the model is asked for, if it can; 0: its own length; at least 0
	MaxTokens  int `json:"max_tokens" range:"[0,10000000]"`      // longest text in tokens; 0: known for well-known models, else unknown; at least 0
	BatchSize  int `json:"batch_size,omitzero" range:"[1,2048]"` // texts a request; 0: 32; 1 to 2,048

	QuestionPrefix *string `json:"question_prefix"` // put before questions; nil: what a well-known model wants, else nothing
	PassagePrefix  *string `json:"passage_prefix"`  // put before passages, likewise
	Revision       string  `json:"revision"`        // change it where the service has changed the model under its name: collections then know that their vectors are old

	TimeoutMS         int `json:"timeout_ms,omitzero" range:"[1,86400000]"`        // of one try; 0: 30,000; at least 0
	Tries             int `json:"tries,omitzero" range:"[1,1000]"`                 // at most, where another may help; 0: 3; at least 0
	RequestsPerMinute int `json:"requests_per_minute" range:"[0,1000000000]"`      // more wait; 0: any number; at least 0
	Concurrent        int `json:"concurrent,omitzero" range:"[1,10000]"`           // requests under way; more wait; 0: 10; at least 0
	BreakAfter        int `json:"break_after,omitzero" range:"[-1,1000000] but 0"` // failures in a row after which the service is left alone; 0: 5; below 0: never
	BreakForMS        int `json:"break_for_ms,omitzero" range:"[1,86400000]"`      // how long then; 0: 60,000; at least 0
}

const (
	serviceBatch    = 32   // keeps a request of passages of 500 tokens below the 16,384 tokens that some services take
	maxServiceBatch = 2048 // OpenAI's limit
)

// card is what is known of a model.
type card struct {
	dims, maxTokens   int
	question, passage string // prefixes
	shortens          bool   // it makes shorter vectors when asked
}

// cards are of models that services offer, from their publishers' documentation. Prefixes are those that a model was
// trained with and that its server does not add.
var cards = map[string]card{
	"text-embedding-3-small": {dims: 1536, maxTokens: 8191, shortens: true},
	"text-embedding-3-large": {dims: 3072, maxTokens: 8191, shortens: true},
	"text-embedding-ada-002": {dims: 1536, maxTokens: 8191},
	"mistral-embed":          {dims: 1024, maxTokens: 8192},
	"nomic-embed-text":       {dims: 768, maxTokens: 2048, question: "search_query: ", passage: "search_document: "},
	"mxbai-embed-large":      {dims: 1024, maxTokens: 512, question: "Represent this sentence for searching relevant passages: "},
	"snowflake-arctic-embed": {dims: 1024, maxTokens: 512, question: "Represent this sentence for searching relevant passages: "},
	"all-minilm":             {dims: 384, maxTokens: 256},
	"bge-m3":                 {dims: 1024, maxTokens: 8192},
}

// service is what the embedders over services are made of.
type service struct {
	at    *modelapi.Service
	model rag.EmbedModel
	sent  int // dimensions to ask for; 0: none
	ask   func(ctx context.Context, texts []string) ([][]float32, error)
}

// newService checks settings. Model().Dims is 0 if nobody has said it yet.
func newService(at modelapi.Place, c ServiceConfig) (*service, error) {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%s: %s: %w", at.Provider, fmt.Sprintf(format, args...), rag.ErrInvalid)
	}
	switch {
	case c.Dims < 0 || c.Dimensions < 0 || c.MaxTokens < 0:
		return nil, wrong("dims, dimensions and max_tokens cannot be below 0")
	case c.BatchSize < 0 || c.BatchSize > maxServiceBatch:
		return nil, wrong("batch_size is %d: it must be from 1 to %d", c.BatchSize, maxServiceBatch)
	}
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	s, err := modelapi.NewService(at, modelapi.Settings{
		Model: c.Model, BaseURL: c.BaseURL, APIKey: c.APIKey, Headers: c.Headers, Limits: modelapi.Limits{
			Timeout: ms(c.TimeoutMS), Tries: c.Tries, PerMinute: c.RequestsPerMinute, Concurrent: c.Concurrent,
			BreakAfter: c.BreakAfter, BreakFor: ms(c.BreakForMS),
		},
	})
	if err != nil {
		return nil, wrong("%v", err)
	}
	name, _, _ := strings.Cut(c.Model, ":") // Ollama's tag
	known := cards[name]
	if c.Dimensions > 0 && known.dims > 0 && !known.shortens {
		return nil, wrong("dimensions: %s makes vectors of %d numbers only", c.Model, known.dims)
	}
	or := func(given *string, known string) string {
		if given != nil {
			return *given
		}
		return known
	}
	return &service{at: s, sent: c.Dimensions, model: rag.EmbedModel{
		Name: at.Provider + "/" + c.Model, Revision: c.Revision, Dims: cmp.Or(c.Dimensions, c.Dims, known.dims),
		MaxTokens: cmp.Or(c.MaxTokens, known.maxTokens), MaxBatch: cmp.Or(c.BatchSize, serviceBatch),
		QuestionPrefix: or(c.QuestionPrefix, known.question), PassagePrefix: or(c.PassagePrefix, known.passage),
	}}, nil
}

// Model describes the model.
func (s *service) Model() rag.EmbedModel { return s.model }

// Ready reports whether the key that the service needs is there; ErrInvalid if not. It asks nobody.
func (s *service) Ready() error {
	if err := s.at.Ready(); err != nil {
		return fmt.Errorf("%w: %w", err, rag.ErrInvalid)
	}
	return nil
}

// Embed asks the service once. A text that is longer than the model reads is ErrInvalid: none is cut.
func (s *service) Embed(ctx context.Context, role rag.EmbedRole, texts []string) ([][]float32, error) {
	if err := ctx.Err(); err != nil || len(texts) == 0 {
		return nil, err
	}
	if err := s.Ready(); err != nil {
		return nil, err
	}
	prefix := s.model.PassagePrefix
	if role == rag.AsQuestion {
		prefix = s.model.QuestionPrefix
	}
	sent := make([]string, len(texts))
	for i, text := range texts {
		sent[i] = prefix + strings.ToValidUTF8(text, "�")
	}
	vectors, err := s.ask(ctx, sent)
	if err != nil {
		return nil, s.explain(ctx, err)
	}
	if err := s.check(vectors, len(texts)); err != nil {
		return nil, fmt.Errorf("%s: %w", s.at, err)
	}
	return vectors, nil
}

// check compares a reply with what was asked for. Lengths of vectors that are not as expected are a mistake in the
// settings; anything else is a reply that makes no sense.
func (s *service) check(vectors [][]float32, texts int) error {
	if len(vectors) != texts {
		return fmt.Errorf("%d vectors for %d texts: %w", len(vectors), texts, rag.ErrUnavailable)
	}
	for i, v := range vectors {
		switch {
		case len(v) == 0:
			return fmt.Errorf("no vector for text %d of %d: %w", i+1, texts, rag.ErrUnavailable)
		case s.model.Dims > 0 && len(v) != s.model.Dims:
			return fmt.Errorf("vectors of %d numbers, and %d are expected: check dims and dimensions: %w", len(v), s.model.Dims, rag.ErrDimension)
		}
	}
	return nil
}

// discover asks the service how long its vectors are, unless somebody has said it.
func (s *service) discover(ctx context.Context) error {
	if s.model.Dims > 0 {
		return nil
	}
	vectors, err := s.Embed(ctx, rag.AsQuestion, []string{"length"})
	if err != nil {
		return fmt.Errorf("ask how long its vectors are (dims would say it): %w", err)
	}
	s.model.Dims = len(vectors[0])
	return nil
}

// explain adds the kind that rag knows.
func (s *service) explain(ctx context.Context, err error) error {
	kind, err := s.at.Explain(ctx, err)
	switch kind {
	case modelapi.Ended:
		return err
	case modelapi.NotFound:
		return fmt.Errorf("%w: %w", err, rag.ErrNotFound)
	case modelapi.Unavailable:
		return fmt.Errorf("%w: %w", err, rag.ErrUnavailable)
	}
	if text := err.Error(); strings.Contains(text, "context length") || strings.Contains(text, "too long") || strings.Contains(text, "maximum input") {
		err = fmt.Errorf("%w: a text is longer than the model reads: lower max_tokens of the splitter, or choose another model", err)
	}
	return fmt.Errorf("%w: %w", err, rag.ErrInvalid)
}
