package config_test

import (
	"fmt"

	"github.com/seed-d8745b77/rag/config"
)

func Example() {
	env := func(name string) (string, bool) { return "llama3.2", name == "MODEL" }
	at, err := config.Parse("rag.yaml", []byte("llm: {provider: ollama, model: \"${MODEL}\"}\nretrieval: {top_k: 5}\n"), env)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(at.Config.LLM.Provider, string(at.Config.LLM.Settings), at.Config.Retrieval.TopK)

	_, err = config.Parse("rag.yaml", []byte("fusion: rrf\nfussion: rrf\n"), env)
	fmt.Println(err != nil) // an unknown key, with its line and the one that is meant
	// Output:
	// ollama {"model":"llama3.2"} 5
	// true
}
