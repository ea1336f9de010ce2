package systemtest

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Client is an MCP client of the official SDK, connected to a server process over its standard streams.
type Client struct {
	t        *testing.T
	Session  *mcp.ClientSession
	progress chan *mcp.ProgressNotificationParams
}

// MCP starts `rag serve mcp` in the project's folder and connects to it; both end with the test.
func (s *System) MCP(args ...string) *Client {
	s.t.Helper()
	cmd := s.command(append([]string{"serve", "mcp"}, args...)...)
	cmd.Stderr = s.t.Output()
	c := &Client{t: s.t, progress: make(chan *mcp.ProgressNotificationParams, keptEvents)}
	client := mcp.NewClient(&mcp.Implementation{Name: "systemtest", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) { c.progress <- req.Params },
	})
	session, err := client.Connect(s.t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		s.t.Fatalf("rag serve mcp %s: %v", strings.Join(args, " "), err)
	}
	s.t.Cleanup(func() { _ = session.Close() })
	c.Session = session
	return c
}

// keptEvents is how many notifications of progress may wait; a search sends six, and one every four seconds.
const keptEvents = 1000

// Watch calls a tool, which must succeed, asking for progress. It returns the metadata of the notifications, up to the one
// that ends returns true for: they come beside the result, before it or after.
func (c *Client) Watch(tool string, args map[string]any, ends func(meta mcp.Meta) bool) []mcp.Meta {
	c.t.Helper()
	params := &mcp.CallToolParams{Name: tool, Arguments: args}
	params.SetProgressToken(tool)
	if res, err := c.Session.CallTool(c.t.Context(), params); err != nil || res.IsError {
		c.t.Fatalf("%s %v: %v %+v", tool, args, err, res)
	}
	var list []mcp.Meta
	for {
		select {
		case p := <-c.progress:
			if list = append(list, p.Meta); ends(p.Meta) {
				return list
			}
		case <-c.t.Context().Done():
			c.t.Fatalf("%s %v tells only %v", tool, args, list)
		}
	}
}

// Tools returns the names of the tools in the order of the server.
func (c *Client) Tools() []string {
	c.t.Helper()
	res, err := c.Session.ListTools(c.t.Context(), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	var names []string
	for _, tool := range res.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// Call calls a tool, which must succeed, and returns its result whole, its first text, and its structured data.
func (c *Client) Call(tool string, args map[string]any) (*mcp.CallToolResult, string, map[string]any) {
	c.t.Helper()
	res, err := c.Session.CallTool(c.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		c.t.Fatalf("%s %v: %v", tool, args, err)
	}
	var text string
	if len(res.Content) > 0 {
		if first, ok := res.Content[0].(*mcp.TextContent); ok {
			text = first.Text
		}
	}
	if res.IsError {
		c.t.Fatalf("%s %v: %s", tool, args, text)
	}
	data, _ := res.StructuredContent.(map[string]any)
	return res, text, data
}

// Dashboard starts `rag dashboard` on a free port in the project's folder and returns its address, without a slash at its
// end; it ends with the test.
func (s *System) Dashboard(args ...string) string {
	s.t.Helper()
	return s.serve(append([]string{"dashboard", "--addr", "127.0.0.1:0"}, args...))
}

// HTTP starts `rag serve http` likewise.
func (s *System) HTTP(args ...string) string {
	s.t.Helper()
	return s.serve(append([]string{"serve", "http", "--addr", "127.0.0.1:0"}, args...))
}

// serve starts a command that says its address on standard error, and returns the address.
func (s *System) serve(args []string) string {
	s.t.Helper()
	cmd := s.command(args...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	done := make(chan struct{})
	s.t.Cleanup(func() {
		interrupt(cmd)
		<-done
		_ = cmd.Wait()
	})
	found := make(chan string, 1)
	go func() { // reads to the end: a full pipe would stop the server
		defer close(done)
		defer close(found)
		lines, said := bufio.NewScanner(stderr), false
		for lines.Scan() {
			if _, rest, ok := strings.Cut(lines.Text(), "serving http"); ok && !said {
				said = true
				url, _, _ := strings.Cut("http"+rest, " ")
				found <- strings.TrimRight(url, "/")
			}
		}
	}()
	url, ok := <-found
	if !ok {
		s.t.Fatalf("rag %s ended without serving", strings.Join(args, " "))
	}
	return url
}

// interrupt asks a process to end; where that cannot be asked, it is ended.
func interrupt(cmd *exec.Cmd) {
	if cmd.Process.Signal(os.Interrupt) != nil {
		_ = cmd.Process.Kill()
	}
}
