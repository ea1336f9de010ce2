package watch_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/watch"
)

func Example() {
	dir, err := os.MkdirTemp("", "watched")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "harbour.md"), []byte("The last ferry leaves at 22:40.\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	eng, err := rag.Open("")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer eng.Close()
	ctx, stop := context.WithCancel(context.Background())
	err = watch.Run(ctx, eng, watch.Config{Paths: []string{dir}, Tell: func(p watch.Pass) {
		fmt.Println(p.Report.Added, p.Err)
		stop() // a program goes on until it is interrupted
	}})
	fmt.Println(err)
	// Output:
	// 1 <nil>
	// <nil>
}
