package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/access"
	"github.com/seed-d8745b77/rag/config"
	"github.com/seed-d8745b77/rag/domain"
	"github.com/seed-d8745b77/rag/mcpadapter"
)

func newServe(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the data folder to other programs",
		Long:  "serve answers other programs until it is interrupted.",
	}
	a.requireVerb(cmd)
	cmd.AddCommand(newServeMCP(a), newServeHTTP(a))
	return cmd
}

type serveFlags struct {
	http                  string
	tools, domains, roots []string
	callers               callerFlags
	url                   string
	stateless             bool
	rate                  float64
	logFile               string
	budget                time.Duration
}

func newServeMCP(a *app) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve assistants and editors over the Model Context Protocol",
		Long: `mcp speaks the Model Context Protocol: over its standard input and output, as a host starts it, or with --http over HTTP
at /mcp. It reads the data folder as it is, also while an ingest writes, and opens it when the first call comes. Only
--allow-ingest and the tool preset delete let it write, and then it holds the folder alone. docs/mcp.md has the settings for
hosts, the tools and what HTTP needs.`,
		Example: examples("rag serve mcp --dir /home/me/kb", "rag serve mcp --tools docs --domain admissions.yaml", "rag serve mcp --http 127.0.0.1:8765 --tokens tokens.json", "rag serve mcp --allow-ingest /home/me/papers"),
		Args:    exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := a.out
			if f.http == "" && a.out == os.Stdout { // before anything else can print
				taken, err := mcpadapter.TakeStdout()
				if err != nil {
					return err
				}
				out, a.out = taken, a.err
			}
			return a.serveMCP(cmd.Context(), &f, out)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.http, "http", "", "address for HTTP in place of standard input and output, such as 127.0.0.1:8765; without a host it is 127.0.0.1")
	flags.StringSliceVar(&f.tools, "tools", mcpadapter.DefaultTools, "tools, by name or by preset: "+strings.Join(mcpadapter.Presets(), ", "))
	flags.StringArrayVar(&f.domains, "domain", nil, "file that describes a subject (YAML): offers its tool; may come several times")
	flags.StringArrayVar(&f.roots, "allow-ingest", nil, "folder that may be ingested: offers the tools for it; may come several times")
	flags.DurationVar(&f.budget, "budget", 45*time.Second, "longest a call may take")
	flags.StringVar(&f.logFile, "log", "", "file to write the log to, besides the error stream")
	f.callers.add(flags, "with --http: ")
	flags.StringVar(&f.url, "public-url", "", "with --jwks: URL of the endpoint as clients call it")
	flags.Float64Var(&f.rate, "rate", 500, "with --http: requests a second of one token, or of one address without tokens")
	flags.BoolVar(&f.stateless, "stateless", false, "with --http: keep no sessions")
	return cmd
}

// serveMCP serves until the context is done or the input ends.
func (a *app) serveMCP(ctx context.Context, f *serveFlags, out io.Writer) error {
	log, done, err := a.serveLog(f.logFile)
	if err != nil {
		return err
	}
	defer done()
	data, opts, err := a.served(f, log)
	if err != nil {
		return err
	}
	defer data.Close()
	adapter, err := mcpadapter.New(data, opts)
	if err != nil {
		return err
	}
	defer adapter.Close()
	if f.http == "" {
		return adapter.ServeStdio(ctx, a.in, out)
	}
	return a.serveHTTP(ctx, f, adapter)
}

// served is the data, which is not opened yet, and what is offered of it.
func (a *app) served(f *serveFlags, log *slog.Logger) (*access.Following, mcpadapter.Options, error) {
	opts := mcpadapter.Options{Version: version(), Collection: a.collection, Tools: f.tools, Roots: f.roots, Budget: f.budget, Logger: log}
	if len(f.roots) > 0 {
		opts.Tools = append(append([]string{}, f.tools...), "ingest")
	}
	write := mcpadapter.Writes(opts.Tools)
	for _, file := range f.domains {
		d, err := domain.Load(file)
		if err != nil {
			return nil, opts, err
		}
		opts.Domains = append(opts.Domains, d)
	}
	loaded, err := a.settings()
	if err != nil {
		return nil, opts, err
	}
	if opts.Collection == "" {
		opts.Collection = loaded.Config.Collection
	}
	return a.lent(loaded, write, log), opts, nil
}

// lent is the data folder as servers have it: opened when the first call comes, and again when others have written.
func (a *app) lent(loaded config.Loaded, write bool, log *slog.Logger) *access.Following {
	engine := append(a.options(&loaded, log), rag.WithConfig(loaded.Config), rag.WithSecrets(loaded.Secrets...))
	if st, err := os.Stat(a.dataDir()); err == nil && st.IsDir() && !write && loaded.Config.Trace.Provider != rag.None {
		engine = append(engine, rag.WithTraceDir(a.dataDir())) // a snapshot would keep none
	}
	return access.Folder(a.dataDir(), write, log, engine...)
}

// serveLog is the log of a server: to the error stream, and to a file.
func (a *app) serveLog(file string) (log *slog.Logger, done func(), err error) {
	level := slog.LevelInfo
	if a.verbose {
		level = slog.LevelDebug
	}
	to, done := a.err, func() {}
	if file != "" {
		f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, nil, fmt.Errorf("log: %w", err)
		}
		to, done = io.MultiWriter(hiding{f, a.secrets}, a.err), func() { f.Close() }
	}
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: level})), done, nil
}

func (a *app) serveHTTP(ctx context.Context, f *serveFlags, adapter *mcpadapter.Adapter) error {
	o := mcpadapter.HTTPOptions{PublicURL: f.url, Hosts: f.callers.hosts, Origins: f.callers.origins, Stateless: f.stateless, Rate: f.rate}
	var err error
	if o.Tokens, o.JWT, err = f.callers.keys(a.secrets); err != nil {
		return err
	}
	h, err := adapter.Handler(o)
	if err != nil {
		return err
	}
	if _, _, err := net.SplitHostPort(f.http); err != nil {
		return fmt.Errorf("--http %s: want HOST:PORT: %w", f.http, rag.ErrInvalid)
	}
	ln, _, err := access.Listen(ctx, f.http)
	if err != nil {
		return err
	}
	a.note("serving http://%s/mcp", ln.Addr())
	return access.Serve(ctx, ln, h, access.Grace)
}
