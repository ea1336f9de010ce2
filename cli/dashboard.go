package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/access"
	"github.com/seed-d8745b77/rag/dashboard"
	"github.com/seed-d8745b77/rag/domain"
	"github.com/seed-d8745b77/rag/trace"
)

type dashboardFlags struct {
	addr, token string
	hosts       []string
	domains     []string
	evalDir     string
	roots       []string
	open        bool
}

func newDashboard(a *app) *cobra.Command {
	var f dashboardFlags
	cmd := &cobra.Command{
		Use:   "dashboard",
		Short: "Show the data folder in a browser",
		Long: `dashboard serves pages that show what is stored, how it got there, why a question found what it found, and how well
questions are answered. It holds the data folder while it runs; with --snapshot it shows the data as they are now and changes
nothing. On an address that other machines reach, a token is asked for: the one of --token or $RAG_DASHBOARD_TOKEN, else one that is
made and printed. It does not encrypt: put a gateway with TLS before it.`,
		Example: examples("rag dashboard", "rag dashboard --snapshot --open", "rag dashboard --addr 0.0.0.0:8501 --host rag.example", "rag dashboard --domain admissions.yaml --allow-ingest /home/me/papers"),
		Args:    exactly(0, ""),
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.serveDashboard(cmd.Context(), cmd, &f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.addr, "addr", "127.0.0.1:8501", "address to serve at; without a host it is 127.0.0.1")
	flags.StringVar(&f.token, "token", "", "token that readers must give, at least 16 bytes (default $RAG_DASHBOARD_TOKEN); others see it in the list of processes")
	flags.StringArrayVar(&f.hosts, "host", nil, "name by which the server may be called; needed behind a gateway on this machine")
	flags.StringArrayVar(&f.domains, "domain", nil, "file that describes a subject (YAML): its fields and dates; may come several times")
	flags.StringVar(&f.evalDir, "eval-dir", "", "folder of evaluation runs (default: eval in the data folder)")
	flags.StringArrayVar(&f.roots, "allow-ingest", nil, "folder whose files may be ingested by path, and so be read by whoever uses the dashboard; may come several times")
	flags.BoolVar(&f.open, "open", false, "open it in the browser")
	return cmd
}

// dashboardOptions are what the flags say, but for the token that is made where none is given.
func (a *app) dashboardOptions(f *dashboardFlags) (dashboard.Options, error) {
	o := dashboard.Options{Token: f.token, Hosts: f.hosts, ReadOnly: a.snapshot, Collection: a.collection, EvalDir: f.evalDir, Version: version(), Logger: a.logger()}
	if o.Token == "" {
		o.Token = os.Getenv("RAG_DASHBOARD_TOKEN")
	}
	a.secrets.add(o.Token)
	for _, file := range f.domains {
		d, err := domain.Load(file)
		if err != nil {
			return o, err
		}
		o.Domains = append(o.Domains, d)
	}
	for _, root := range f.roots {
		abs, err := filepath.Abs(root)
		if err != nil {
			return o, fmt.Errorf("--allow-ingest %s: %w", root, err)
		}
		o.Roots = append(o.Roots, abs)
	}
	if !a.snapshot {
		o.UploadDir = filepath.Join(a.dataDir(), "uploads")
	}
	o.EvalDir = a.runsDir(o.EvalDir)
	return o, nil
}

// serveDashboard serves until the context is done.
func (a *app) serveDashboard(ctx context.Context, cmd *cobra.Command, f *dashboardFlags) error {
	o, err := a.dashboardOptions(f)
	if err != nil {
		return err
	}
	if _, err := os.Stat(a.dataDir()); a.snapshot && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("nothing has been ingested into %s yet: start without --snapshot, or run `rag ingest FOLDER` first: %w", visible(a.dataDir()), rag.ErrNotFound)
	}
	if _, _, err := net.SplitHostPort(f.addr); err != nil {
		return usagef(cmd, "--addr %s: want HOST:PORT", f.addr)
	}
	ln, reachable, err := access.Listen(ctx, f.addr)
	if err != nil {
		return err
	}
	defer func() { _ = ln.Close() }() // if it never serves
	made := false
	if o.Token == "" && reachable {
		o.Token, made = rand.Text(), true
	}
	return a.withData(func(eng *rag.Engine) error {
		if eng.Config().Trace.Provider != rag.None {
			o.Traces = trace.NewIndex(a.dataDir())
		}
		dash, err := dashboard.New(eng, o)
		if err != nil {
			return err
		}
		defer func() { _ = dash.Close() }()
		dash.Warm(ctx)
		url := "http://" + ln.Addr().String() + "/"
		a.note("serving %s", url)
		if made {
			a.note("the token is %s", o.Token)
		}
		if f.open {
			a.openBrowser(ctx, url)
		}
		defer context.AfterFunc(ctx, func() { _ = dash.Close() })() // streams end at once, and need not be waited for
		return access.Serve(ctx, ln, dash, access.Grace)
	})
}

// openBrowser asks the system to show a page. Where it cannot, the address was printed.
func (a *app) openBrowser(ctx context.Context, url string) {
	name, args := "xdg-open", []string{url}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", url}
	}
	if err := exec.CommandContext(ctx, name, args...).Start(); err != nil {
		a.note("no browser was opened: %v", err)
	}
}
