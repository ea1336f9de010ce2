// Mcpserver serves a data folder over the Model Context Protocol: the whole of what a host program needs to do.
//
//	mcpserver --dir /home/me/kb                            on standard input and output
//	mcpserver --dir /home/me/kb --http 127.0.0.1:8765      streamable HTTP at /mcp
package main

import (
	"context"
	"flag"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/seed-d8745b77/rag/access"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/mcpadapter"
)

func main() {
	out, err := mcpadapter.TakeStdout() // before anything can print into the protocol
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if err == nil {
		err = run(out, log, os.Args[1:])
	}
	if err != nil {
		log.Error("mcpserver", "err", err)
		os.Exit(1)
	}
}

func run(out *os.File, log *slog.Logger, args []string) error {
	flags := flag.NewFlagSet("mcpserver", flag.ContinueOnError)
	dir := flags.String("dir", ".rag", "data folder")
	addr := flags.String("http", "", "address, such as 127.0.0.1:8765; empty: standard input and output")
	tools := flags.String("tools", strings.Join(mcpadapter.DefaultTools, ","), "tools, by name or by preset")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	data := access.Folder(*dir, false, log) // opened by the first call
	defer data.Close()
	adapter, err := mcpadapter.New(data, mcpadapter.Options{Tools: strings.Split(*tools, ","), Logger: log})
	if err != nil {
		return err
	}
	defer adapter.Close()
	if *addr == "" {
		return adapter.ServeStdio(ctx, os.Stdin, out)
	}
	handler, err := adapter.Handler(mcpadapter.HTTPOptions{})
	if err != nil {
		return err
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", *addr)
	if err != nil {
		return err
	}
	log.Info("serving", "url", "http://"+ln.Addr().String()+"/mcp")
	return access.Serve(ctx, ln, handler, access.Grace)
}
