package embed

import (
	"context"
	"fmt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/modelapi"
)

// OpenAIConfig sets up an [OpenAI]. With BaseURL it is for any service that speaks OpenAI's protocol.
type OpenAIConfig struct{ ServiceConfig }

// OpenAI is a model behind POST /embeddings, at OpenAI or at one of the services and programs that speak the same. It is
// safe for concurrent use.
type OpenAI struct{ *service }

// Azure is a deployment of Azure OpenAI. It is safe for concurrent use.
type Azure struct{ *service }

var (
	_ rag.Embedder = (*OpenAI)(nil)
	_ rag.Embedder = (*Azure)(nil)
)

// NewOpenAI returns a model of OpenAI, or of the service at BaseURL. It sends one request if neither the settings nor
// what is known of the model say how long its vectors are.
func NewOpenAI(ctx context.Context, c OpenAIConfig) (*OpenAI, error) {
	return newOpenAI(ctx, modelapi.Places[0], c)
}

// newOpenAI returns a model of a service that is known by name.
func newOpenAI(ctx context.Context, at modelapi.Place, c OpenAIConfig) (*OpenAI, error) {
	s, err := newService(at, c.ServiceConfig)
	if err != nil {
		return nil, err
	}
	s.ask = s.embeddings("/embeddings")
	if err := s.discover(ctx); err != nil {
		return nil, err
	}
	return &OpenAI{s}, nil
}

// AzureConfig sets up an [Azure]. BaseURL is the resource's, https://name.openai.azure.com; Model is the deployment.
type AzureConfig struct {
	ServiceConfig
	APIVersion string `json:"api_version"` // "": AzureVersion
}

// AzureVersion is the version of the interface that is asked for: the last one of those with a date that is no preview.
const AzureVersion = modelapi.AzureVersion

// NewAzure returns a deployment of Azure OpenAI. It may send a request, as [NewOpenAI].
func NewAzure(ctx context.Context, c AzureConfig) (*Azure, error) {
	s, err := newService(modelapi.Azure, c.ServiceConfig)
	if err != nil {
		return nil, err
	}
	s.ask = s.embeddings(modelapi.AzurePath(c.Model, "embeddings", c.APIVersion))
	if err := s.discover(ctx); err != nil {
		return nil, err
	}
	return &Azure{s}, nil
}

type embeddingsRequest struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Dimensions int      `json:"dimensions,omitempty"`
	Encoding   string   `json:"encoding_format"`
}

type embeddingsReply struct {
	Data []struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
}

// embeddings speaks OpenAI's protocol at a path. Vectors come with the place of their text; in any order.
func (s *service) embeddings(path string) func(ctx context.Context, texts []string) ([][]float32, error) {
	return func(ctx context.Context, texts []string) ([][]float32, error) {
		var reply embeddingsReply
		if err := s.at.Client.Post(ctx, s.at.URL(path), embeddingsRequest{s.at.Model, texts, s.sent, "float"}, &reply); err != nil {
			return nil, err
		}
		vectors := make([][]float32, len(texts))
		for _, d := range reply.Data {
			if d.Index < 0 || d.Index >= len(texts) || vectors[d.Index] != nil {
				return nil, fmt.Errorf("a vector for text %d of %d, which is no text or has one already", d.Index+1, len(texts))
			}
			vectors[d.Index] = d.Embedding
		}
		return vectors, nil
	}
}
