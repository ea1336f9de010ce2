package embed_test

import (
	"context"
	"fmt"

	"github.com/seed-d8745b77/rag/embed"
)

// A server of Ollama on this machine, with `ollama pull nomic-embed-text` done.
func Example() {
	ctx := context.Background()
	e, err := embed.NewOllama(ctx, embed.OllamaConfig{ServiceConfig: embed.ServiceConfig{Model: "nomic-embed-text"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Model().Dims) // rag.WithEmbedder(e) gives it to an engine
}
