package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-d8745b77/rag/internal/racetest"
)

// sent is what a server sends.
type sent struct {
	path, body, policy string // policy: what the content may load
	code               int
}

// running is a verb that goes on until it is ended, with what it has said.
type running struct {
	s    *canaryShell
	line string
	stop context.CancelFunc
	done chan struct{}

	mu    sync.Mutex
	said  bytes.Buffer
	ready chan struct{} // closed when it has said what was waited for
	wait  string
}

func (r *running) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said.Write(p)
	if r.wait != "" && strings.Contains(r.said.String(), r.wait) {
		r.wait = ""
		close(r.ready)
	}
	return len(p), nil
}

// begin starts a verb and waits until it says something.
func (s *canaryShell) begin(says string, args ...string) *running {
	s.t.Helper()
	ctx, stop := context.WithCancel(s.t.Context())
	r := &running{s: s, line: "rag " + strings.Join(args, " "), stop: stop, done: make(chan struct{}), ready: make(chan struct{}), wait: says}
	go func() {
		defer close(r.done)
		run(ctx, args, streams{in: strings.NewReader(""), out: r, err: r})
	}()
	s.t.Cleanup(func() { stop(); <-r.done })
	select {
	case <-r.ready:
	case <-r.done:
		s.t.Fatalf("%s ends with %s", r.line, r.said.String())
	}
	return r
}

// end ends it and looks at all that it has said.
func (r *running) end() {
	r.s.t.Helper()
	r.stop()
	<-r.done
	r.s.trail.check(r.s.t, r.line, r.said.String())
}

// url is where a server says that it serves.
func (r *running) url() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return regexp.MustCompile(`http://[0-9.:]+`).FindString(r.said.String())
}

// ask sends a request and looks at the whole answer, with its headers.
func (r *running) ask(method, path, token, body string, headers ...string) sent {
	t := r.s.t
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, r.url()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	r.s.trail.check(t, fmt.Sprintf("%s: %s %s (%d)", r.line, method, path, res.StatusCode), fmt.Sprint(res.Header)+string(data))
	return sent{path, string(data), res.Header.Get("Content-Security-Policy"), res.StatusCode}
}

var pageLink = regexp.MustCompile(`(?:href|hx-get|src)="(/[^"#]*)`)

// crawl follows the links of a dashboard, each also as JSON, and returns how many pages there were.
func (r *running) crawl(token string) (pages int) { return r.crawlWith(token, func(sent) {}) }

// crawlWith looks at each page besides.
func (r *running) crawlWith(token string, look func(sent)) (pages int) {
	const most = 120
	queue, seen := []string{"/"}, map[string]bool{"/": true}
	for len(queue) > 0 && pages < most {
		path := queue[0]
		queue = queue[1:]
		page := r.ask(http.MethodGet, path, token, "")
		look(page)
		if pages++; strings.HasPrefix(path, "/assets/") {
			continue
		}
		asJSON, _ := url.Parse(path)
		q := asJSON.Query()
		q.Set("format", "json")
		asJSON.RawQuery = q.Encode()
		r.ask(http.MethodGet, asJSON.String(), token, "")
		for _, m := range pageLink.FindAllStringSubmatch(page.body, -1) {
			next := strings.ReplaceAll(m[1], "&amp;", "&")
			if !seen[next] && !strings.Contains(next, "events") {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	return pages
}

// configurations that the servers are looked at with; both of services.yaml.
var servedWith = []struct {
	name, config string
	fails        bool
}{{"services", "services.yaml", false}, {"services that fail", "services.yaml", true}, {"a careless provider", "fail.yaml", false}, {"one that panics", "panic.yaml", false}}

// TestNoPageTellsSecrets looks at all that the servers send, and say in their logs, with secrets wherever a user can put
// them: the dashboard's pages, the HTTP API, and MCP over both of its ways.
func TestNoPageTellsSecrets(t *testing.T) {
	racetest.Skip(t)
	for _, c := range servedWith {
		t.Run(c.name, func(t *testing.T) {
			s := newCanaryShell(t)
			s.do("", "ingest", "docs", "--config", c.config)
			s.do("", "eval", "-t", "q.jsonl", "--results", ".rag/eval", "--config", c.config)
			s.service.fails.Store(c.fails)
			s.do("", "ingest", "docs", "--force", "--config", c.config)
			s.do("", "ask", "annual", "leave", "--config", c.config)
			flags := []string{"--config", c.config, "-v"}

			tail := s.begin("annual", append([]string{"trace", "tail"}, flags...)...)
			tail.end()

			owner, alice := canaries["token of the dashboard"], canaries["token of a caller"]
			d := s.begin("serving", append([]string{"dashboard", "--addr", "127.0.0.1:0", "--allow-ingest", "docs"}, flags...)...)
			form := []string{"Content-Type", "application/x-www-form-urlencoded"}
			d.ask(http.MethodPost, "/query/try", owner, "q=annual+leave&ask=on", form...)
			d.ask(http.MethodPost, "/traces/query/try", owner, "q=annual+leave&ask=on", form...)
			d.ask(http.MethodPost, "/health", owner, "collection=default", form...)
			d.ask(http.MethodPost, "/login", "", "token=wrong"+owner[:4], form...)
			d.ask(http.MethodGet, "/no/such/page?token="+url.QueryEscape("x"), owner, "")
			if n := d.crawl(owner); n < 20 {
				t.Errorf("only %d pages of the dashboard", n)
			}
			d.end()

			a := s.begin("serving", append([]string{"serve", "http", "--addr", "127.0.0.1:0", "--write", "--allow-ingest", "docs", "--tokens", "tokens.json", "--log", "api.log"}, flags...)...)
			asJSON := []string{"Content-Type", "application/json"}
			for _, one := range [][2]string{
				{"/v1/search", `{"query":"annual leave","explain":true}`}, {"/v1/search", `{"query":"annual leave","mode":"dense"}`}, {"/v1/ask", `{"question":"annual leave"}`},
				{"/v1/ask", `{"query":"annual leave","stream":true}`}, {"/v1/explain", `{"query":"annual leave","text":"thirty"}`}, {"/v1/ingest", `{"path":"docs"}`}, {"/v1/search", `{`},
			} {
				a.ask(http.MethodPost, one[0], alice, one[1], asJSON...)
				a.ask(http.MethodPost, one[0], "wrong-"+strings.Repeat("x", 20), one[1], asJSON...)
			}
			for _, path := range []string{"/healthz", "/readyz", "/metrics", "/openapi.json", "/v1/collections", "/v1/documents", "/v1/jobs", "/v1/chunks/none", "/v1/document?uri=none", "/none"} {
				if got := a.ask(http.MethodGet, path, alice, ""); path == "/v1/documents" && got.code != 200 {
					t.Errorf("%d %s", got.code, got.body)
				}
			}
			a.end()

			calls := []string{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`}
			for i, call := range []string{
				`"tools/list","params":{}`, `"resources/list","params":{}`, `"prompts/list","params":{}`,
				`"tools/call","params":{"name":"query_knowledge_hub","arguments":{"query":"annual leave"}}`, `"tools/call","params":{"name":"ask","arguments":{"question":"annual leave"}}`,
				`"tools/call","params":{"name":"explain","arguments":{"query":"annual leave","text":"thirty"}}`, `"tools/call","params":{"name":"nope"}`,
			} {
				calls = append(calls, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%s}`, i+2, call))
			}
			tools := []string{"--tools", "hub,docs"}
			_, said := s.do(strings.Join(calls, "\n")+"\n", slices.Concat([]string{"serve", "mcp", "--log", "mcp.log"}, tools, flags)...)
			if strings.Count(said, "\n") < 6 {
				t.Errorf("few answers over MCP: %s", said)
			}
			m := s.begin("serving", slices.Concat([]string{"serve", "mcp", "--http", "127.0.0.1:0", "--tokens", "tokens.json"}, tools, flags)...)
			accept := append(asJSON, "Accept", "application/json, text/event-stream")
			for _, call := range calls {
				m.ask(http.MethodPost, "/mcp", alice, call, accept...)
			}
			m.ask(http.MethodPost, "/mcp", "wrong", calls[0], accept...)
			m.end()
			s.files()
		})
	}
}
