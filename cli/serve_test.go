package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
)

// server is `rag serve mcp` as a host runs it.
type server struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *bufio.Scanner
	last   int // ID of a request
}

// wireMessage is what a server writes.
type wireMessage struct {
	ID     *int            `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// serveMCP starts a server and shakes hands.
func (s *shell) serveMCP(args ...string) *server {
	s.t.Helper()
	cmd := s.command(append([]string{"serve", "mcp", "--verbose"}, args...)...)
	v := &server{t: s.t, cmd: cmd}
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	stderr, errErr := cmd.StderrPipe()
	if errIn != nil || errOut != nil || errErr != nil {
		s.t.Fatal(errIn, errOut, errErr)
	}
	v.in, v.out, v.stderr = in, bufio.NewReaderSize(out, 1<<20), bufio.NewScanner(stderr)
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	v.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	v.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return v
}

func (v *server) send(line string) {
	v.t.Helper()
	if _, err := io.WriteString(v.in, line+"\n"); err != nil {
		v.t.Fatal(err)
	}
}

// receive reads one message. Whatever else is on standard output fails the test.
func (v *server) receive() wireMessage {
	v.t.Helper()
	line, err := v.out.ReadString('\n')
	if err != nil {
		v.t.Fatalf("%v after %q", err, line)
	}
	var m wireMessage
	if err := json.Unmarshal([]byte(line), &m); err != nil || !strings.Contains(line, `"jsonrpc":"2.0"`) {
		v.t.Fatalf("on standard output stands %q: %v", line, err)
	}
	return m
}

// begin sends a request and returns its ID.
func (v *server) begin(method, params string) int {
	v.t.Helper()
	v.last++
	v.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, v.last, method, params))
	return v.last
}

// ask sends a request and returns its answer.
func (v *server) ask(method, params string) wireMessage {
	v.t.Helper()
	id := v.begin(method, params)
	for {
		if m := v.receive(); m.ID != nil && *m.ID == id {
			return m
		}
	}
}

// search calls query_knowledge_hub and returns its text, and whether that is an error.
func (v *server) search(question string) (text string, failed bool) {
	v.t.Helper()
	return v.call("query_knowledge_hub", fmt.Sprintf(`{"query":%q}`, question))
}

// call calls a tool and returns its text, and whether that is an error.
func (v *server) call(tool, arguments string) (text string, failed bool) {
	v.t.Helper()
	m := v.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments))
	var r struct {
		Content []struct{ Text string }
		IsError bool
	}
	if m.Error != nil || json.Unmarshal(m.Result, &r) != nil || len(r.Content) == 0 {
		v.t.Fatalf("%s %s: %+v", tool, arguments, m)
	}
	return r.Content[0].Text, r.IsError
}

// end closes the input, as a host does that ends or is killed.
func (v *server) end() {
	v.t.Helper()
	v.in.Close()
	if rest, _ := io.ReadAll(v.out); len(rest) > 0 {
		v.t.Errorf("at its end it writes %q", rest)
	}
	if err := v.cmd.Wait(); err != nil {
		v.t.Errorf("it ends with %v", err)
	}
}

// withData is a shell with a document.
func withData(t *testing.T) *shell {
	s := newShell(t)
	s.write("docs/a.md", "# Leave\n\nThe heron has 27 days of leave.\n")
	s.rag("ingest", "docs").want(exitDone)
	return s
}

func TestServeMCPAnswers(t *testing.T) {
	s := withData(t)
	v, other := s.serveMCP(), s.serveMCP() // on one folder
	if m := v.ask("tools/list", `{}`); !strings.Contains(string(m.Result), "query_knowledge_hub") {
		t.Errorf("%s", m.Result)
	}
	for _, one := range []*server{v, other} {
		if text, failed := one.search("days of leave"); failed || !strings.Contains(text, "27 days") {
			t.Errorf("%v %s", failed, text)
		}
	}
	s.write("docs/b.md", "# Otters\n\nThe otter has 31 days.\n")
	s.rag("ingest", "docs").want(exitDone) // beside two servers
	for tries := 0; ; tries++ {            // not at once, lest opening be all that is done
		text, failed := other.search("otter")
		if strings.Contains(text, "31 days") {
			break
		}
		if failed || tries == 10_000 {
			t.Fatalf("what was ingested is not seen: %v %s", failed, text)
		}
	}
	v.end()
	other.end()
}

func TestServeMCPOutlivesBadMessages(t *testing.T) {
	v := withData(t).serveMCP()
	for _, tt := range []struct {
		name, line string
		code       int
	}{
		{"no JSON", `{"jsonrpc":`, -32700},
		{"no object", `5`, -32600},
		{"10 MB", `{"jsonrpc":"2.0","id":9,"method":"ping","params":{"x":"` + strings.Repeat("x", 10<<20) + `"}}`, -32600},
		{"no message", `{}`, -32600},
		{"neither request nor answer", `{"jsonrpc":"2.0","id":1003}`, -32600},
		{"another version", `{"jsonrpc":"1.0","id":1004,"method":"ping"}`, -32600},
		{"an empty batch", `[]`, -32600},
		{"a batch of what is no message", `[5]`, -32600},
		{"unknown method", `{"jsonrpc":"2.0","id":1000,"method":"no/such"}`, -32601},
		{"unknown tool", `{"jsonrpc":"2.0","id":1001,"method":"tools/call","params":{"name":"nope"}}`, -32602},
		{"wrong type of params", `{"jsonrpc":"2.0","id":1002,"method":"tools/call","params":{"name":5}}`, -32602},
	} {
		v.send(tt.line)
		if m := v.receive(); m.Error == nil || m.Error.Code != tt.code || strings.Contains(m.Error.Message, "goroutine") {
			t.Errorf("%s: %+v %+v, want %d", tt.name, m, m.Error, tt.code)
		}
	}
	for _, tt := range []struct{ arguments, want string }{
		{`{"query":"x","top_k":0}`, "top_k is 0: give a whole number from 1 to 20"},
		{`{"query":"x","top_k":21}`, "top_k is 21: give a whole number from 1 to 20"},
		{`{"query":"x","top_k":"5"}`, `top_k is the text "5": give a whole number from 1 to 20`},
		{`{"query":["x"]}`, "query is a list: give a text"},
		{`{"query":""}`, "query is empty: give a text"},
		{`{}`, "query is missing: give a text"},
		{`[]`, "the arguments are no JSON object"},
	} {
		text, failed := v.call("query_knowledge_hub", tt.arguments)
		if !failed || !strings.HasPrefix(text, tt.want) {
			t.Errorf("%s: %v %q, want %q", tt.arguments, failed, text, tt.want)
		}
	}
	v.send(`[{"jsonrpc":"2.0","id":2000,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/nothing"},{"jsonrpc":"2.0","id":2001,"method":"ping"}]`)
	if text, err := v.out.ReadString('\n'); err != nil || !strings.HasPrefix(text, "[{") || !strings.Contains(text, `"id":2000`) || !strings.Contains(text, `"id":2001`) {
		t.Errorf("a batch: %q, %v", text, err)
	}
	v.ask("ping", `{}`)
	v.end()
}

func TestServeMCPWithProvidersThatMisbehave(t *testing.T) {
	for _, tt := range []struct {
		embedder, want string
		failed         bool
	}{
		{"prints", "27 days", false},
		{"panics", "27 days", false}, // by its words
		{"{provider: local, model: none-of-this-name}", "none-of-this-name", true},
	} {
		t.Run(tt.embedder, func(t *testing.T) {
			s := withData(t)
			v := s.serveMCP("--config", s.write("other.yaml", "embedder: "+tt.embedder+"\n"))
			v.ask("tools/list", `{}`)
			text, failed := v.search("days of leave")
			if failed != tt.failed || !strings.Contains(text, tt.want) || strings.Contains(text, "goroutine") {
				t.Errorf("%v %s", failed, text)
			}
			v.ask("ping", `{}`)
			v.end()
		})
	}
}

// A call that is cancelled is answered by nothing, its work ends, and its trace says so.
func TestServeMCPCancels(t *testing.T) {
	s := withData(t)
	v := s.serveMCP("--config", s.write("waits.yaml", "embedder: waits\n"))
	id := v.begin("tools/call", `{"name":"ask","arguments":{"query":"days of leave"}}`)
	v.waitFor("waiting")
	v.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
	v.waitFor("waited")
	ping := v.begin("ping", `{}`)
	if m := v.receive(); m.ID == nil || *m.ID != ping {
		t.Errorf("after the cancelled call comes %+v", m)
	}
	v.end()
	s.tracesSay("context canceled")
}

// tracesSay checks the error of the last trace of a question.
func (s *shell) tracesSay(want string) {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, ".rag", "traces.jsonl"))
	if err != nil {
		s.t.Fatal(err)
	}
	said := "nothing"
	for line := range strings.Lines(string(data)) {
		var one rag.Trace
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			s.t.Fatal(err)
		}
		if one.Type != rag.TraceIngest {
			said = one.Error
		}
	}
	if !strings.Contains(said, want) {
		s.t.Errorf("the trace says %q, want %q", said, want)
	}
}

// What is piped in is answered although the input ends behind it, and a call that would take for ever ends with it.
func TestServeMCPAnswersWhatIsPipedIn(t *testing.T) {
	s := withData(t)
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	search := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":{"query":"days of leave"}}}` // without a line end
	for _, tt := range []struct {
		embedder, want string
		answers        int
	}{{"hash", "27 days", 2}, {"waits", "serverInfo", 1}, {"stuck", "serverInfo", 1}} {
		cmd := s.command("serve", "mcp", "--tools", "docs", "--config", s.write(tt.embedder+".yaml", "embedder: "+tt.embedder+"\n"))
		cmd.Stdin = strings.NewReader(hello + search)
		out, err := cmd.Output()
		if err != nil || strings.Count(string(out), "\n") != tt.answers || !strings.Contains(string(out), tt.want) {
			t.Errorf("%s: %v, %s", tt.embedder, err, out)
		}
	}
}

// waitFor reads standard error as far as a line.
func (v *server) waitFor(line string) {
	v.t.Helper()
	for v.stderr.Scan() {
		if v.stderr.Text() == line {
			return
		}
	}
	v.t.Fatalf("it ends without %q", line)
}

// A server finds keys in the environment, as every verb does.
func TestServeFindsKeysInTheEnvironment(t *testing.T) {
	t.Setenv("RAG_TEST_KEY", "key")
	s := newShell(t)
	s.handbook()
	s.write("keyed.yaml", "embedder: keyed\n")
	s.rag("ingest", "docs", "--config", "keyed.yaml").want(exitDone)
	v := s.serveMCP("--config", "keyed.yaml")
	if text, failed := v.search("annual leave"); failed {
		t.Error(text)
	}
	v.end()
}
