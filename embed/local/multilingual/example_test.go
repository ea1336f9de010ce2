package multilingual_test

import (
	"context"
	"fmt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/embed/local/multilingual"
)

func Example() {
	e, err := multilingual.New(multilingual.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	vectors, err := e.Embed(context.Background(), rag.AsQuestion, []string{"Wann fährt die letzte Fähre?"})
	fmt.Println(len(vectors[0]), err)
	// Output: 384 <nil>
}
