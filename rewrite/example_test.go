package rewrite_test

import (
	"context"
	"fmt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/rewrite"
)

func Example() {
	d, err := rewrite.NewDecompose(nil, rewrite.DecomposeConfig{Mode: rewrite.Rules}) // rules need no chat model
	if err != nil {
		fmt.Println(err)
		return
	}
	got, err := d.Rewrite(context.Background(), rag.RewriteRequest{Query: "Compare annual leave with parental leave.", Language: "en"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, q := range got.Also {
		fmt.Println(q.Text)
	}
	// Output:
	// annual leave
	// parental leave
}
