package chroma_test

import (
	"fmt"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/vectorstore/chroma"
)

func Example() {
	v, err := chroma.New(chroma.Config{URL: "http://127.0.0.1:8000"}) // asks nothing yet
	if err != nil {
		fmt.Println(err)
		return
	}
	eng, err := rag.Open("kb", rag.WithVectorStore(v)) // documents and words stay in the folder
	if err != nil {
		fmt.Println(err)
		return
	}
	defer eng.Close()
}
