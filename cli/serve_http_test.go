package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// webServer is `rag serve mcp --http`.
type webServer struct {
	server
	url     string
	token   string
	session string // "" until a client of an older version has shaken hands
}

// serveWeb starts a server on a port of its own.
func (s *shell) serveWeb(args ...string) *webServer {
	s.t.Helper()
	cmd := s.command(append([]string{"serve", "mcp", "--verbose", "--http", "127.0.0.1:0"}, args...)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	w := &webServer{server: server{t: s.t, cmd: cmd, stderr: bufio.NewScanner(stderr)}}
	for w.stderr.Scan() {
		if _, url, ok := strings.Cut(w.stderr.Text(), "serving "); ok {
			w.url = url
			return w
		}
	}
	s.t.Fatal("the server does not say where it serves")
	return nil
}

// post sends a message and returns the status and what comes back.
func (w *webServer) post(message string) (int, string) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url, strings.NewReader(message))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if w.session != "" {
		req.Header.Set("Mcp-Session-Id", w.session)
		req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	if w.token != "" {
		req.Header.Set("Authorization", "Bearer "+w.token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		w.session = id
	}
	return res.StatusCode, string(body)
}

// as begins a session with a token; "" for none.
func (w *webServer) as(token string) *webServer {
	w.t.Helper()
	c := *w
	c.token, c.session = token, ""
	if code, body := c.post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`); code != 200 || c.session == "" {
		w.t.Fatalf("%d %s", code, body)
	}
	c.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return &c
}

func TestServeMCPOverHTTPCancels(t *testing.T) {
	s := withData(t)
	w := s.serveWeb("--config", s.write("waits.yaml", "embedder: waits\n")).as("")
	answered := make(chan string)
	go func() {
		_, body := w.post(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ask","arguments":{"query":"days of leave"}}}`)
		answered <- body
	}()
	w.waitFor("waiting")
	w.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	w.waitFor("waited")
	if body := <-answered; strings.Contains(body, `"jsonrpc"`) {
		t.Errorf("a cancelled call is answered: %s", body)
	}
	if code, body := w.post(`{"jsonrpc":"2.0","id":8,"method":"ping"}`); code != 200 || !strings.Contains(body, `"id":8`) {
		t.Errorf("%d %s", code, body)
	}

	// A client of the newest version cancels by going away.
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: w.url, MaxRetries: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"query": "days of leave"}})
		answered <- fmt.Sprint(err)
	}()
	defer cancel()
	w.waitFor("waiting")
	cancel()
	w.waitFor("waited")
	if said := <-answered; !strings.Contains(said, "canceled") {
		t.Errorf("a cancelled call: %s", said)
	}
	w.interrupt()
	s.tracesSay("context canceled")
}

// interrupt ends the server as a user does.
func (w *webServer) interrupt() {
	w.t.Helper()
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		w.t.Fatal(err)
	}
	for w.stderr.Scan() { // to its end
	}
	if err := w.cmd.Wait(); err != nil {
		w.t.Errorf("it ends with %v", err)
	}
}

// A session that a server does not know, such as one of a server before it, is 404: clients begin a new one then.
func TestServeMCPOverHTTPWhenTheSessionIsLost(t *testing.T) {
	s := withData(t)
	before := s.serveWeb().as("")
	ping := `{"jsonrpc":"2.0","id":8,"method":"ping"}`
	if code, body := before.post(ping); code != 200 {
		t.Fatalf("%d %s", code, body)
	}
	before.interrupt()
	after := s.serveWeb()
	after.session = before.session
	if code, body := after.post(ping); code != http.StatusNotFound {
		t.Errorf("a session of another server: %d %s", code, body)
	}
	if code, body := after.as("").post(ping); code != 200 {
		t.Errorf("a new session: %d %s", code, body)
	}
}

// A token sees its part, whatever filter its holder makes up.
func TestServeMCPOverHTTPKeepsTenantsApart(t *testing.T) {
	s := newShell(t)
	s.write("docs/red.md", "---\ntenant: red\n---\n# Herons\n\nThe heron of red eats fish at dawn.\n")
	s.write("docs/blue.md", "---\ntenant: blue\n---\n# Badgers\n\nThe badger of blue eats worms at night.\n")
	s.rag("ingest", "docs").want(exitDone)
	tokens := s.write("tokens.json", `[{"token":"red-red-red-red-red","name":"red","filter":"tenant = red"},{"token":"all-all-all-all-all","name":"all"}]`)
	w := s.serveWeb("--tokens", tokens, "--tools", "hub,docs")
	if code, body := w.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); code != http.StatusUnauthorized {
		t.Errorf("without a token: %d %s", code, body)
	}
	var found struct {
		Result struct {
			Resources []struct{ Name, URI string }
		}
	}
	_, body := w.as("all-all-all-all-all").post(`{"jsonrpc":"2.0","id":2,"method":"resources/list"}`)
	_, data, _ := strings.Cut(body, "data: ")
	if err := json.Unmarshal([]byte(data), &found); err != nil || len(found.Result.Resources) != 3 {
		t.Fatalf("%v %s", err, body)
	}
	other := found.Result.Resources[1].URI // blue.md comes before red.md
	red := w.as("red-red-red-red-red")
	for _, request := range []string{
		`"tools/call","params":{"name":"search","arguments":{"query":"eats at night","filter":"tenant = blue"}}`,
		`"tools/call","params":{"name":"search","arguments":{"query":"eats at night","filter":"tenant = blue or tenant = red or not tenant = red"}}`,
		`"tools/call","params":{"name":"ask","arguments":{"query":"who eats worms at night?"}}`,
		`"tools/call","params":{"name":"query_knowledge_hub","arguments":{"query":"only blue: badger worms","tenant":"blue"}}`,
		`"tools/call","params":{"name":"list_topics","arguments":{}}`,
		`"resources/list"`,
		fmt.Sprintf(`"resources/read","params":{"uri":%q}`, other),
		`"completion/complete","params":{"ref":{"type":"ref/prompt","name":"answer_with_citations"},"argument":{"name":"filter","value":"tenant"}}`,
	} {
		code, body := red.post(`{"jsonrpc":"2.0","id":3,"method":` + request + `}`)
		for _, secret := range []string{"worms at night", "Badgers", "blue.md", `\"blue\"`} {
			if code != 200 || strings.Contains(body, secret) && !strings.Contains(request, secret) {
				t.Errorf("%s: %d %s", request, code, body)
			}
		}
	}
}
