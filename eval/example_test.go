package eval_test

import (
	"context"
	"fmt"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/eval"
)

func Example() {
	ctx := context.Background()
	engine, err := rag.Open("")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	note := rag.Bytes("mem:///harbour.md", []byte("The last ferry leaves at 22:40.\n"))
	if _, err := engine.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{note}}); err != nil {
		fmt.Println(err)
		return
	}
	set, problems := eval.Parse([]byte(`{"question": "When does the last ferry leave?", "key_sentence": "leaves at 22:40"}`))
	if len(problems) > 0 {
		fmt.Println(problems)
		return
	}
	run, err := eval.Evaluate(ctx, engine, set, eval.Options{Label: "baseline"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(*run.Metrics["key_sentence/mrr"].Mean)
	// Output: 1
}
