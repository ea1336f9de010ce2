package mcpadapter_test

import (
	"context"
	"fmt"
	"os"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/access"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/mcpadapter"
)

// A server over the standard streams, which a desktop assistant starts.
func Example() {
	out, err := mcpadapter.TakeStdout() // nothing else may write there
	if err != nil {
		return
	}
	engine, err := rag.Open("kb")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer engine.Close()
	a, err := mcpadapter.New(access.Fixed(engine), mcpadapter.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer a.Close()
	if err := a.ServeStdio(context.Background(), os.Stdin, out); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
