// Package cli is the command rag, for programs that want it with providers of their own. Such a program imports what it
// adds, and calls Main:
//
//	package main
//
//	import (
//		"github.com/seed-d8745b77/rag/cli"
//		_ "github.com/seed-d8745b77/rag/defaults"
//		_ "github.com/seed-d8745b77/rag/postgres"
//	)
//
//	func main() { cli.Main() }
//
// Every verb then takes the added providers by their names in rag.yaml. `rag help` lists the verbs; docs/cli.md describes
// them, the exit codes and the JSON that each verb prints.
package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Main runs the command line of the process, with its standard streams, and ends the process with the exit code. An
// interrupt or SIGTERM ends what is being done, a second one the process.
func Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
	code := run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr})
	stop()
	os.Exit(code)
}
