package trace_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/trace"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "traces")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	sink := trace.NewJSONL(dir, trace.JSONLConfig{}) // what an engine over dir writes to
	err = sink.Record(ctx, &rag.Trace{ID: "t1", Type: rag.TraceQuery, Timestamp: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), UserQuery: "last ferry?"})
	if err != nil {
		fmt.Println(err)
		return
	}
	page, err := trace.NewIndex(dir).List(ctx, trace.Query{Text: "ferry"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range page.Traces {
		fmt.Println(s.ID, s.Question)
	}
	// Output: t1 last ferry?
}
