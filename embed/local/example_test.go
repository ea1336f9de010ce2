package local_test

import (
	"context"
	"fmt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/embed/local"
)

func Example() {
	e, err := local.New(local.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	vectors, err := e.Embed(context.Background(), rag.AsPassage, []string{"Payment is due within thirty days."})
	fmt.Println(len(vectors[0]), err)
	// Output: 384 <nil>
}
