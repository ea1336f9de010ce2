package mcpadapter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/access"
)

// effect says what a tool does to the data.
type effect int

const (
	reads   effect = iota
	writes         // and the same call again changes nothing
	deletes        // something that was there
)

// tool is a tool as the adapter knows it.
type tool struct {
	name   string
	title  string
	about  string // when to use it, in a sentence or two
	params []param
	out    any // zero value of what reply.data is
	effect effect
	run    func(ctx context.Context, c *call) (*reply, error)
}

// call is one call of a tool.
type call struct {
	*view
	*progress
	adapter   *Adapter
	principal access.Principal
	args      args
	notes     []rag.Note // where less was done than was asked
}

// reply is what a tool says, twice.
type reply struct {
	text     string // Markdown
	data     any
	pictures []picture
}

// toolName is what hosts accept as the name of a tool.
var toolName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// maxAbout is where hosts begin to cut descriptions off, with room to spare.
const maxAbout = 1000

// describe makes the tool's line in tools/list.
func (t *tool) describe() (*mcp.Tool, error) {
	if !toolName.MatchString(t.name) || len(t.name) > maxToolName || len(t.about) > maxAbout {
		return nil, fmt.Errorf("mcp: tool %q: a name has at most %d of a to z, 0 to 9 and _, a description at most %d bytes: %w", t.name, maxToolName, maxAbout, rag.ErrInvalid)
	}
	out, err := outputSchema(t.out)
	if err != nil {
		return nil, fmt.Errorf("mcp: tool %s: %w", t.name, err)
	}
	no, destroys := false, t.effect == deletes
	return &mcp.Tool{
		Name: t.name, Title: t.title, Description: t.about, InputSchema: schema(t.params), OutputSchema: out,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.effect == reads, IdempotentHint: true, DestructiveHint: &destroys, OpenWorldHint: &no},
	}, nil
}

// handle is the one way into every tool.
func (a *Adapter) handle(t *tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (res *mcp.CallToolResult, err error) {
		start := a.options.Now()
		who := principalOf(req.Extra)
		defer func() {
			if p := recover(); p != nil { // the server outlives what it serves
				a.options.Logger.Error("panic", "tool", t.name, "panic", p, "stack", string(debug.Stack()))
				res, err = failure(errors.New("the tool gave up because of an internal error: other calls are not affected")), nil
			}
			a.options.Logger.Info("call", "tool", t.name, "principal", who.Name, "took", a.options.Now().Sub(start), "failed", err != nil || res.IsError)
		}()
		given, err := parse(t.params, req.Params.Arguments)
		if err != nil {
			return failure(err), nil
		}
		within, cancel := context.WithTimeout(ctx, a.options.Budget)
		defer cancel()
		r, err := a.run(within, t, req, who, given)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err() // who cancelled wants no answer
		case errors.Is(err, context.DeadlineExceeded) && within.Err() != nil:
			return failure(fmt.Errorf("the call took longer than %v: ask for less, or again later", a.options.Budget)), nil
		case err != nil:
			return failure(err), nil
		}
		return r, nil
	}
}

// run takes a slot and the principal's view of the data, and runs a tool.
func (a *Adapter) run(ctx context.Context, t *tool, req *mcp.CallToolRequest, who access.Principal, given args) (*mcp.CallToolResult, error) {
	p := newProgress(ctx, req, a.options.Now)
	defer p.keepAlive(a.beat)()
	select {
	case a.slots <- struct{}{}:
		defer func() { <-a.slots }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%d other calls are at work: try again later: %w", cap(a.slots), rag.ErrUnavailable)
	}
	engine, done, err := a.data.Lend(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	c := &call{view: a.views.get(engine, who), progress: p, adapter: a, principal: who, args: given}
	r, err := t.run(ctx, c)
	if err != nil {
		return nil, err
	}
	if len(c.notes) > 0 {
		a.log(ctx, req, c.notes)
	}
	return r.result(c.notes)
}

// log tells a client that listens where less was done than was asked.
func (a *Adapter) log(ctx context.Context, req *mcp.CallToolRequest, notes []rag.Note) {
	for _, n := range notes {
		//nolint:staticcheck // clients of versions before 2026-07-28 still listen
		_ = req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "notice", Logger: a.options.Name, Data: map[string]any{"stage": n.Stage, "message": n.Reason}})
	}
}

// result puts a reply on the wire: text first, since hosts show nothing of a result that begins with a picture.
func (r *reply) result(notes []rag.Note) (*mcp.CallToolResult, error) {
	data, err := json.Marshal(r.data)
	if err != nil {
		return nil, fmt.Errorf("encode the result: %w", err)
	}
	text := r.text
	for _, n := range notes {
		text += fmt.Sprintf("\n_Note: %s: %s_\n", n.Stage, n.Reason)
	}
	content := []mcp.Content{&mcp.TextContent{Text: text}}
	for _, p := range r.pictures {
		content = append(content, &mcp.ImageContent{Data: p.data, MIMEType: p.mediaType})
	}
	return &mcp.CallToolResult{Content: content, StructuredContent: json.RawMessage(data)}, nil
}

// failure is the result of a call that could not be done.
func failure(err error) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: sentence(err)}}}
}

// endings are the kinds at the end of an error's text, which are for programs.
var endings = []error{rag.ErrInvalid, rag.ErrUnsupported, rag.ErrNotFound, rag.ErrUnavailable, rag.ErrLocked, rag.ErrFingerprint, rag.ErrPartial, rag.ErrDimension}

// sentence is an error for a reader, on one line.
func sentence(err error) string {
	text := strings.TrimPrefix(err.Error(), "search: ")
	for _, kind := range endings {
		text = strings.TrimSuffix(text, ": "+kind.Error())
	}
	text, _, _ = strings.Cut(text, "\ngoroutine ") // no stack leaves the process
	return strings.Join(strings.Fields(text), " ")
}
