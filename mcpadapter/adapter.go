// Package mcpadapter serves an engine to programs that speak the Model Context Protocol: desktop assistants, editors,
// agents.
//
//	a, err := mcpadapter.New(access.Fixed(engine), mcpadapter.Options{})
//	err = a.ServeStdio(ctx, os.Stdin, stdout)          // or
//	h, err := a.Handler(mcpadapter.HTTPOptions{})      // streamable HTTP at /mcp
//	a.Server()                                         // the server of the official SDK, to be mounted elsewhere
//
// Tools come in presets, see [Presets]. Every result is there twice, as text to read and as data with a schema. Stages of a
// search are told as progress, a cancelled call ends its work, and who may see only a part of the data (an [access.Principal]) sees
// that part in results, resources, completions, traces and errors.
package mcpadapter

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/access"
	"github.com/seed-d8745b77/rag/domain"
	"github.com/seed-d8745b77/rag/jobs"
)

// Options sets an adapter up.
type Options struct {
	Name       string           // of the server, at most 20 characters, since hosts put it before the names of tools; "": "rag"
	Version    string           // of the program; "": "0"
	Collection string           // that calls mean which name none; "": "default"
	Tools      []string         // presets of Presets and names of tools; nil: DefaultTools
	Domains    []*domain.Domain // subjects, each with a tool of its own if it describes one
	Roots      []string         // folders that the tool ingest may read from; the tool needs one at least

	Budget   time.Duration // longest a call may take; 0: 45 s, below the 60 s after which hosts give up
	Parallel int           // most calls at work at once, others wait within their budget; 0: 16

	Logger *slog.Logger     // nil: silent
	Now    func() time.Time // nil: time.Now
}

const (
	defaultBudget   = 45 * time.Second
	defaultParallel = 16

	// heartbeat is how often a call that takes long shows that it is alive.
	heartbeat = 4 * time.Second

	// maxServerName and maxToolName keep "server:tool" below the 60 characters above which an editor drops a tool.
	maxServerName = 20
	maxToolName   = 30
)

// Adapter is an engine as an MCP server. Make one with [New]; it is safe for concurrent use.
type Adapter struct {
	options Options
	data    access.Data
	tools   []*tool
	server  *mcp.Server
	slots   chan struct{} // taken by calls at work
	views   views
	jobs    *jobs.Manager
	beat    time.Duration
}

// New returns an adapter over data. Settings that cannot be right are rag.ErrInvalid.
func New(data access.Data, o Options) (*Adapter, error) {
	fill(&o.Name, "rag")
	fill(&o.Version, "0")
	fill(&o.Collection, "default")
	fill(&o.Budget, defaultBudget)
	fill(&o.Parallel, defaultParallel)
	if o.Tools == nil {
		o.Tools = DefaultTools
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if len(o.Name) > maxServerName || o.Budget < 0 || o.Parallel < 0 {
		return nil, fmt.Errorf("mcp: name %q (at most %d characters), budget %v, parallel %d: %w", o.Name, maxServerName, o.Budget, o.Parallel, rag.ErrInvalid)
	}
	a := &Adapter{options: o, data: data, slots: make(chan struct{}, o.Parallel), beat: heartbeat}
	a.jobs = jobs.New(jobs.Options{Logger: o.Logger, Now: o.Now})
	a.views.domains = domains{o.Domains, o.Collection}
	var err error
	if a.tools, err = a.choose(o.Tools); err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	return a, a.build()
}

// fill puts a default into a zero field.
func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// instructions tell a model when to use the server.
const instructions = `Passages of the user's own documents. Search here before answering anything that their documents may say, and cite ` +
	`sources by their numbers [n]. What no passage says is not known: say so.`

// build makes the server of the SDK with everything that is offered.
func (a *Adapter) build() error {
	a.server = mcp.NewServer(&mcp.Implementation{Name: a.options.Name, Title: "Search in your own documents", Version: a.options.Version}, a.serverOptions())
	return a.offer()
}

func (a *Adapter) serverOptions() *mcp.ServerOptions {
	return &mcp.ServerOptions{
		Instructions:      instructions,
		Logger:            a.options.Logger,
		CompletionHandler: a.complete,
		// What is read depends on who asks and when: nobody may keep it for others.
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.TTLMs, c.CacheScope = 0, "private" },
	}
}

// offer registers tools, resources and prompts.
func (a *Adapter) offer() error {
	for _, t := range a.tools {
		if err := a.add(t); err != nil {
			return err
		}
	}
	a.addResources()
	a.addPrompts()
	a.server.AddReceivingMiddleware(silenceCancelled)
	return nil
}

func (a *Adapter) add(t *tool) error {
	described, err := t.describe()
	if err == nil {
		a.server.AddTool(described, a.handle(t))
	}
	return err
}

// Server returns the server of the SDK, for programs that mount it themselves.
func (a *Adapter) Server() *mcp.Server { return a.server }

// Close ends jobs that are under way, and waits for them as long as a provider may take that does not look at its context.
// The data stays open.
func (a *Adapter) Close() {
	ended := make(chan struct{})
	go func() { defer close(ended); a.jobs.Close() }()
	a.await(ended, "jobs")
}
