// Command rag ingests files into a collection and searches it. `rag help` lists the verbs; docs/cli.md describes
// them, the exit codes and the JSON that each verb prints.
package main

import (
	"context"
	_ "github.com/seed-d8745b77/rag/defaults"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
	code := run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr})
	stop()
	os.Exit(code)
}
