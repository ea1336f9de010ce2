package embed

import (
	"context"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/modelapi"
)

// OllamaConfig sets up an [Ollama].
type OllamaConfig struct {
	ServiceConfig
	Truncate bool `json:"truncate"` // cut a text that is longer than the model reads, without a word; false: it is an error
}

// Ollama is a model behind POST /api/embed of an Ollama server, by default the one of this machine. It is safe for
// concurrent use.
type Ollama struct{ *service }

var _ rag.Embedder = (*Ollama)(nil)

// NewOllama returns a model of an Ollama server. It sends one request if neither the settings nor what is known of the
// model say how long its vectors are.
func NewOllama(ctx context.Context, c OllamaConfig) (*Ollama, error) {
	s, err := newService(modelapi.Ollama, c.ServiceConfig)
	if err != nil {
		return nil, err
	}
	s.ask = func(ctx context.Context, texts []string) ([][]float32, error) {
		var reply struct {
			Embeddings [][]float32 `json:"embeddings"`
		}
		err := s.at.Client.Post(ctx, s.at.URL("/api/embed"), ollamaRequest{s.at.Model, texts, c.Truncate, s.sent}, &reply)
		return reply.Embeddings, err
	}
	if err := s.discover(ctx); err != nil {
		return nil, err
	}
	return &Ollama{s}, nil
}

type ollamaRequest struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Truncate   bool     `json:"truncate"`
	Dimensions int      `json:"dimensions,omitempty"`
}
