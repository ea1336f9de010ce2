package weaviate_test

import (
	"fmt"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/vectorstore/weaviate"
)

func Example() {
	at := weaviate.Config{URL: "http://127.0.0.1:8080", Replicas: 3}
	v, err := weaviate.NewVectors(at)
	if err != nil {
		fmt.Println(err)
		return
	}
	words, err := weaviate.NewTexts(at)
	if err != nil {
		fmt.Println(err)
		return
	}
	eng, err := rag.Open("kb", rag.WithVectorStore(v), rag.WithSparseIndex(words)) // documents stay in the folder
	if err != nil {
		fmt.Println(err)
		return
	}
	defer eng.Close()
}
