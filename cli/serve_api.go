package cli

import (
	"context"
	"crypto/rand"
	"net"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag/access"
	"github.com/seed-d8745b77/rag/domain"
	"github.com/seed-d8745b77/rag/httpapi"
)

type serveAPIFlags struct {
	addr           string
	write          bool
	roots, domains []string
	callers        callerFlags
	quota          httpapi.Quota
	parallel       int
	queue          int
	budget, grace  time.Duration
	maxUpload      int64
	logFile        string
}

func newServeHTTP(a *app) *cobra.Command {
	var f serveAPIFlags
	cmd := &cobra.Command{
		Use:   "http",
		Short: "Serve programs over HTTP with a JSON API",
		Long: `http serves a JSON API: search, answers (also as a stream), documents, pictures and, with --write, ingests as jobs. It
describes itself at /openapi.json; /healthz, /readyz and /metrics are for those who run it. It reads the data folder as it is,
also while an ingest writes; with --write it holds the folder alone. On an address that other machines reach, tokens are asked
for: those of --tokens or --jwks, else one that is made and printed. It does not encrypt: put a gateway with TLS before it.
When it is told to end it takes no new requests, and those under way have --grace to end. docs/http.md has the routes.`,
		Example: examples("rag serve http --dir /home/me/kb", "rag serve http --write --allow-ingest /home/me/papers", "rag serve http --addr 0.0.0.0:8080 --tokens tokens.json --host rag.example"),
		Args:    exactly(0, ""),
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.serveAPI(cmd.Context(), cmd, &f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.addr, "addr", "127.0.0.1:8080", "address to serve at; without a host it is 127.0.0.1")
	flags.BoolVar(&f.write, "write", false, "documents may be uploaded and deleted")
	flags.StringArrayVar(&f.roots, "allow-ingest", nil, "folder whose files may be ingested by path; needs --write; may come several times")
	flags.StringArrayVar(&f.domains, "domain", nil, "file that describes a subject (YAML): its rules and manifests; may come several times")
	f.callers.add(flags, "")
	flags.IntVar(&f.quota.PerMinute, "requests-per-minute", 600, "of one tenant: all tokens that see the same")
	flags.IntVar(&f.quota.Concurrent, "concurrent", 16, "requests of one tenant at once")
	flags.IntVar(&f.quota.TopK, "max-top-k", 100, "greatest top_k")
	flags.Int64Var(&f.quota.IngestBytes, "ingest-bytes-per-day", 0, "bytes that one tenant may ingest a day; 0: any number")
	flags.IntVar(&f.parallel, "parallel", 16, "requests at work at once")
	flags.IntVar(&f.queue, "queue", 64, "requests that may wait for those; more are answered 503")
	flags.DurationVar(&f.budget, "budget", time.Minute, "longest a request may take")
	flags.DurationVar(&f.grace, "grace", 20*time.Second, "how long requests and jobs may go on when the server ends")
	flags.Int64Var(&f.maxUpload, "max-upload", 256<<20, "bytes of an upload, all its files together")
	flags.StringVar(&f.logFile, "log", "", "file to write the log to, besides the error stream")
	return cmd
}

// serveAPI serves until the context is done.
func (a *app) serveAPI(ctx context.Context, cmd *cobra.Command, f *serveAPIFlags) error {
	if len(f.roots) > 0 && !f.write {
		return usagef(cmd, "--allow-ingest needs --write")
	}
	if _, _, err := net.SplitHostPort(f.addr); err != nil {
		return usagef(cmd, "--addr %s: want HOST:PORT", f.addr)
	}
	log, done, err := a.serveLog(f.logFile)
	if err != nil {
		return err
	}
	defer done()
	loaded, err := a.settings()
	if err != nil {
		return err
	}
	o := httpapi.Options{
		Collection: a.collection, Hosts: f.callers.hosts, Origins: f.callers.origins, Write: f.write, Quota: f.quota, Parallel: f.parallel, Queue: f.queue,
		Budget: f.budget, MaxUpload: f.maxUpload, JobGrace: f.grace, Logger: log,
	}
	if o.Collection == "" {
		o.Collection = loaded.Config.Collection
	}
	if o.Tokens, o.JWT, err = f.callers.keys(a.secrets); err != nil {
		return err
	}
	if err := f.places(&o); err != nil {
		return err
	}
	ln, reachable, err := access.Listen(ctx, f.addr)
	if err != nil {
		return err
	}
	defer func() { _ = ln.Close() }() // if it never serves
	made := ""
	if reachable && len(o.Tokens) == 0 && o.JWT == nil {
		made = rand.Text()
		o.Tokens = []access.Token{{Value: made, Principal: access.Principal{Name: "owner"}}}
	}
	data := a.lent(loaded, f.write, log)
	defer data.Close()
	api, err := httpapi.New(data, o)
	if err != nil {
		return err
	}
	defer api.Close()
	a.note("serving http://%s", ln.Addr())
	if made != "" {
		a.note("the token is %s", made)
	}
	defer context.AfterFunc(ctx, api.Drain)() // streams of jobs end at once
	return access.Serve(ctx, ln, api, f.grace)
}

// places reads the files that describe subjects, and makes folders absolute.
func (f *serveAPIFlags) places(o *httpapi.Options) error {
	for _, file := range f.domains {
		d, err := domain.Load(file)
		if err != nil {
			return err
		}
		o.Domains = append(o.Domains, d)
	}
	for _, root := range f.roots {
		abs, err := filepath.Abs(root)
		if err != nil {
			return err
		}
		o.Roots = append(o.Roots, abs)
	}
	return nil
}
