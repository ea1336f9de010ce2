package cli

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/ragtest"
)

// canaries are secrets by the place where a user puts them. No two share eight bytes, and none holds a word.
var canaries = map[string]string{
	"api_key from the environment": "qZ7vK2xW9bN4mL8sD3fG6hJ1",
	"api_key in the file":          "uY5tR0eC8wQ2aX7zV4nB9kM3",
	"password in a URL":            "pL1oK9iJ8uH7yG6tF5rD4eS3",
	"path of a URL":                "mN6bV3cX0zL9kJ8hG7fD5sA2",
	"query of a URL":               "tB7nM5zW3qR1yK9jE6hC4xP2",
	"header":                       "wE4rT6yU8iO0pA1sD2fG3hJ5",
	"dsn":                          "cV9bN7mQ5wE3rT1yU2iO4pL6",
	"token of a provider":          "xS8wQ6aZ4eD2cR0fV1tG3bY5",
	"key of a provider's own":      "hN7uJ5mK3iL1oP9zA8qX6sW4",
	"token of a caller":            "gB2hN4jM6kL8zX0cV1bQ3wE5",
	"file .env":                    "kD3jF5hG7sA9lZ1xQ4cW6vE8",
	"token of the dashboard":       "rF8tG6yH4uJ2iK0oL1pA3sD5",
}

// scents find canaries in what comes out: eight bytes of one in a row, as they are, or as base64 writes them wherever
// it stands in what was encoded. None has a character that URLs or JSON write otherwise.
type scents map[string]string

const tellsTooMuch = 8 // bytes

func newScents() scents {
	all := scents{}
	for where, value := range canaries {
		texts := []string{value}
		for shift := range 3 {
			coded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + value))
			texts = append(texts, coded[4:len(coded)-4])
		}
		for _, text := range texts {
			for i := 0; i+tellsTooMuch <= len(text); i++ {
				all[text[i:i+tellsTooMuch]] = where
			}
		}
	}
	return all
}

// find returns where the secret that a text tells comes from, and what stands around it.
func (tr scents) find(text string) (where, around string) {
	for i := 0; i+tellsTooMuch <= len(text); i++ {
		if where, ok := tr[text[i:i+tellsTooMuch]]; ok {
			return where, text[max(0, i-120):min(len(text), i+60)]
		}
	}
	return "", ""
}

// check fails the test where a text tells a secret.
func (tr scents) check(t *testing.T, what, text string) {
	t.Helper()
	if where, around := tr.find(text); where != "" {
		t.Errorf("%s tells the %s: …%s…", what, where, around)
	}
}

// gossip is a service for chat and embeddings that works, or fails and repeats all that it was sent.
type gossip struct {
	*httptest.Server
	fails atomic.Bool
	asked atomic.Int64
	hash  ragtest.HashEmbedder
}

func startGossip(t *testing.T) *gossip {
	g := &gossip{}
	g.Server = httptest.NewServer(http.HandlerFunc(g.serve))
	t.Cleanup(g.Close)
	return g
}

func (g *gossip) serve(w http.ResponseWriter, r *http.Request) {
	n := g.asked.Add(1)
	if g.fails.Load() {
		_, password, _ := r.BasicAuth()
		said := fmt.Sprintf("%s %s %v %q %s", r.URL, r.RequestURI, r.Header, password, r.Header.Get("Authorization"))
		status := []int{401, 400, 403, 404, 500, 200}[n%6]
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"message": said}})
		return
	}
	var req struct {
		Input    []string
		Messages []struct{ Content any }
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, "no JSON", http.StatusBadRequest)
		return
	}
	if len(req.Messages) > 0 {
		text, _ := fairly(fmt.Sprint(req.Messages[0].Content), 0)
		piece, _ := json.Marshal("Thirty days of annual leave [1]. " + text)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s},\"finish_reason\":null}]}\n\n", piece)
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
		return
	}
	vectors, err := g.hash.Embed(r.Context(), rag.AsPassage, req.Input)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	type item struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	reply := struct {
		Data []item `json:"data"`
	}{}
	for i, v := range vectors {
		reply.Data = append(reply.Data, item{i, v})
	}
	_ = json.NewEncoder(w).Encode(reply)
}

// careless is a provider that somebody wrote without a thought to secrets: it logs what it is set up with, and tells it in
// its errors and panics.
type careless struct {
	ragtest.HashEmbedder
	DSN   string `json:"dsn"`
	Token string `json:"token"`
	Do    string `json:"do"` // "fail" or "panic" at questions
	key   string
}

func (c *careless) Embed(ctx context.Context, role rag.EmbedRole, texts []string) ([][]float32, error) {
	said := fmt.Sprintf("dial %s: token %s, key %s", c.DSN, c.Token, c.key)
	switch {
	case role == rag.AsQuestion && c.Do == "panic":
		panic(said)
	case role == rag.AsQuestion && c.Do == "fail":
		return nil, fmt.Errorf("%s: %w", said, rag.ErrUnavailable)
	}
	return c.HashEmbedder.Embed(ctx, role, texts)
}

const carelessKey = "RAG_TEST_CARELESS_KEY"

func registerCareless() {
	rag.Default.Embedders.Register("careless", func(env rag.Env, settings json.RawMessage) (rag.Embedder, error) {
		c := &careless{}
		if env.Getenv != nil {
			c.key = env.Getenv(carelessKey)
		}
		if err := json.Unmarshal(settings, c); err != nil {
			return nil, err
		}
		env.Logger.Debug("opening", "dsn", c.DSN, "token", c.Token, "key", c.key, "settings", string(settings))
		if c.Do == "refuse" {
			return nil, fmt.Errorf("cannot reach %s with %s and %s: %w", c.DSN, c.Token, c.key, rag.ErrInvalid)
		}
		return c, nil
	})
}

// canaryShell is a working directory in which every configuration holds secrets. The commands run in the test's process.
type canaryShell struct {
	*shell
	trail   scents
	service *gossip
	lines   map[string]bool // commands that were run, by their path
	said    string          // by the last one, on its error stream
}

func newCanaryShell(t *testing.T) *canaryShell {
	s := &canaryShell{&shell{t: t, dir: t.TempDir()}, newScents(), startGossip(t), map[string]bool{}, ""}
	t.Chdir(s.dir)
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(name, t.TempDir())
	}
	for name, where := range map[string]string{
		"CANARY_KEY": "api_key from the environment", "CANARY_PASSWORD": "password in a URL", "CANARY_PATH": "path of a URL", "CANARY_HEADER": "header",
		"CANARY_DSN": "dsn", carelessKey: "key of a provider's own", "RAG_DASHBOARD_TOKEN": "token of the dashboard",
	} {
		t.Setenv(name, canaries[where])
	}
	t.Setenv("RAG_DIR", "")
	s.write(".env", "CANARY_DOTENV="+canaries["file .env"]+"\n")
	t.Setenv("CANARY_PROVIDER", "openai")
	host := strings.TrimPrefix(s.service.URL, "http://")
	base := "http://user:${CANARY_PASSWORD}@" + host + "/${CANARY_PATH}/v1"
	service := func(key, more string) string {
		return fmt.Sprintf("{provider: \"${CANARY_PROVIDER}\", model: m, base_url: %q, api_key: %q, headers: {x-gate: \"${CANARY_HEADER}\", x-other: \"${CANARY_DOTENV}\"}, tries: 1, break_after: -1%s}", base, key, more)
	}
	more := "rerank: {provider: llm}\nquery_transforms: [{provider: multi_query}]\nverifier: {provider: llm}\ntrace: {provider: jsonl, detail: verbose}\n" +
		"evaluation: {backends: [overlap, judge], metrics: [faithfulness, correctness, correctness_overlap]}\n"
	s.write("services.yaml", "embedder: "+service("${CANARY_KEY}", fmt.Sprintf(", dims: %d", s.service.hash.Model().Dims))+"\nllm: "+service(canaries["api_key in the file"], "")+"\n"+more)
	own := func(do string) string {
		return fmt.Sprintf("embedder: {provider: careless, dsn: \"postgres://me:${CANARY_DSN}@db/x\", token: %q, do: %q}\ntrace: {provider: jsonl, detail: verbose}\n", canaries["token of a provider"], do)
	}
	for _, do := range []string{"well", "fail", "panic", "refuse"} {
		s.write(do+".yaml", own(do))
	}
	s.write("query.yaml", fmt.Sprintf("embedder: hash\nrerank: {provider: http, model: m, url: \"%s/rerank?sub=%s&x=1\", tries: 1}\nverifier: {provider: overlap}\ntrace: {provider: jsonl, detail: verbose}\n", s.service.URL, canaries["query of a URL"]))
	s.write("broken.yaml", "embedder: {provider: openai, model: m, api_key: \"${CANARY_KEY}\", base_url: \"${CANARY_PATH}\"}\nretrieval: {top_k: 10}\n")
	s.write("wrong.yaml", "retrieval:\n  top_k: ${CANARY_KEY}\nembedder: {provider: \"x\", \"${CANARY_KEY}\": 1}\n")
	s.write("tokens.json", fmt.Sprintf(`[{"token": %q, "name": "alice"}]`, canaries["token of a caller"]))
	s.write("badtokens.json", fmt.Sprintf(`[{"token": %q, "name": ""}]`, canaries["token of a caller"]))
	s.handbook()
	s.write("q.jsonl", `{"id":"leave","question":"days of annual leave a year","answerable":true,"expected_sources":["docs/leave.md"],"key_sentence":"thirty days of annual leave","reference_answer":"thirty days","intent":"search"}`+"\n"+
		`{"id":"moon","question":"distance of the moon","answerable":false,"intent":"search"}`+"\n")
	return s
}

// do runs a command line, looks at what it says, and returns what it prints.
func (s *canaryShell) do(in string, args ...string) (code int, said string) {
	s.t.Helper()
	var out, err bytes.Buffer
	code = run(s.t.Context(), args, streams{in: strings.NewReader(in), out: &out, err: &err})
	s.trail.check(s.t, "rag "+strings.Join(args, " "), out.String())
	s.trail.check(s.t, "rag "+strings.Join(args, " ")+" on its error stream", err.String())
	root := newRoot(&app{secrets: &secrets{}})
	if cmd, _, err := root.Find(args); err == nil {
		s.lines[cmd.CommandPath()] = true
	}
	s.said = err.String()
	return code, out.String()
}

// files looks at everything that is on disk, but for what the user wrote.
func (s *canaryShell) files() (n int) {
	s.t.Helper()
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if name := d.Name(); slices.Contains([]string{"services.yaml", "well.yaml", "fail.yaml", "panic.yaml", "refuse.yaml", "query.yaml", "tokens.json", "badtokens.json", ".env"}, name) {
			return nil
		}
		data, err := os.ReadFile(path)
		n++
		s.trail.check(s.t, path, string(data))
		return err
	})
	if err != nil {
		s.t.Error(err)
	}
	return n
}

// canaryLines are command lines for every verb, in an order in which they work. %C is a passage's ID, %T a trace's.
var canaryLines = []string{
	"init", "ingest docs", "list", "list documents", "show docs/leave.md", "show %C", "load docs/leave.md", "search annual leave", "search -m dense --rewrite multi_query annual leave",
	"ask annual leave", "ask --stream annual leave", "ask --agent annual leave", "ask --extractive annual leave", "chat", "explain annual leave --chunk %C", "calibrate --questions q.jsonl",
	"verify", "reindex", "compact", "backup b.zip", "restore b.zip --dir restored", "export e.jsonl", "import e.jsonl --collection two", "copy --to copied",
	"ingest docs --queue", "queue", "worker --drain", "trace list", "trace show %T", "trace tail -n 2000",
	"eval -t q.jsonl -l run", "eval validate q.jsonl", "eval generate", "eval beir docs", "eval list", "eval compare run run", "eval gate run --min mrr=0",
	"experiment -t q.jsonl", "tune -t q.jsonl --out tuned.yaml", "config print", "config path", "config check",
	"models list", "models where", "models pull nothing", "models verify", "version", "man manual", "help-all", "help", "completion bash", "completion zsh", "completion fish", "completion powershell",
	"delete docs/notes.txt", "no-such-verb", "search --no-such-flag x",
	"serve mcp --http nowhere", "serve mcp --http 127.0.0.1:0 --tokens badtokens.json", "serve http --addr 127.0.0.1:0 --tokens badtokens.json", "serve http --addr 127.0.0.1:0 --queue -1 --tokens tokens.json",
	"dashboard --addr nowhere", "serve mcp",
}

// TestNoCommandTellsSecrets runs every verb with secrets wherever a user can put them: while all goes well and while
// services fail and repeat what they were sent, for people and as JSON, with and without logs. Neither what is printed nor
// any file that is written holds eight bytes of one.
func TestNoCommandTellsSecrets(t *testing.T) {
	racetest.Skip(t)
	s := newCanaryShell(t)
	chunk, traceID := "", ""
	learn := func(flags ...string) {
		if chunk != "" {
			return
		}
		_, said := s.do("", append([]string{"search", "annual", "leave", "--json"}, flags...)...)
		var found struct {
			TraceID string `json:"trace_id"`
			Hits    []struct {
				ChunkID string `json:"chunk_id"`
			}
		}
		if json.Unmarshal([]byte(said), &found) == nil && len(found.Hits) > 0 {
			chunk, traceID = found.Hits[0].ChunkID, found.TraceID
		}
	}
	all := func(config string, more ...string) {
		for _, line := range canaryLines {
			args := append(strings.Fields(strings.NewReplacer("%C", chunk, "%T", traceID).Replace(line)), "--config", config)
			if !strings.Contains(line, "--dir") && line != "init" {
				args = append(args, "--dir", "kb-"+strings.TrimSuffix(config, ".yaml"))
			}
			s.do("annual leave\n/sources\n/trace\nexit\n", append(args, more...)...)
			if line == "ingest docs" {
				learn("--config", config, "--dir", "kb-"+strings.TrimSuffix(config, ".yaml"))
			}
		}
	}
	all("services.yaml", "--verbose")
	if s.service.asked.Load() < 20 || chunk == "" {
		t.Fatalf("the service was asked %d times, a passage is %q: not all goes well", s.service.asked.Load(), chunk)
	}
	s.service.fails.Store(true)
	all("services.yaml", "--json")
	for _, line := range []string{"ask annual leave -v", "search annual leave -v", "ingest docs --force -v", "reindex -v", "config check -v", "ingest docs --force -v --dir new", "chat -v", "eval -t q.jsonl -v"} {
		s.do("annual leave\n/trace\n", append(strings.Fields(line), "--config", "services.yaml")...)
	}
	all("well.yaml", "-v")
	before := s.service.asked.Load()
	for _, line := range []string{"ingest docs -v", "search annual leave -v", "search annual leave --json", "ask annual leave --json", "chat -v", "explain annual leave --text thirty", "eval -t q.jsonl -l latest -v", "config print", "config print --json", "config check -v", "trace list", "trace tail -n 2000"} {
		s.do("annual leave\n/trace\n", append(strings.Fields(line), "--config", "query.yaml", "--dir", "kb-query")...)
	}
	if s.service.asked.Load() < before+6 {
		t.Errorf("the service behind a query was asked %d times", s.service.asked.Load()-before)
	}
	for _, config := range []string{"fail.yaml", "panic.yaml", "refuse.yaml", "broken.yaml", "wrong.yaml", "badtokens.json"} {
		for _, line := range []string{"search annual leave --path docs", "search annual leave --path docs -m dense -v", "ask annual leave --path docs --json", "chat -v", "explain annual leave --text thirty", "verify", "config check -v", "config print", "eval -t q.jsonl", "reindex", "trace list", "dashboard --addr 127.0.0.1:0 -v --token short"} {
			s.do("annual leave\n", append(strings.Fields(line), "--config", config, "--dir", "kb-"+config)...)
		}
	}
	if n := s.files(); n < 30 {
		t.Errorf("only %d files were looked at", n)
	}
	for _, path := range commandPaths(newRoot(&app{streams: streams{out: io.Discard, err: io.Discard}, secrets: &secrets{}})) {
		if !s.lines[path] && path != "rag dashboard" {
			t.Errorf("%s is not among the command lines", path)
		}
	}
}

// commandPaths lists the commands that do something.
func commandPaths(cmd *cobra.Command) (paths []string) {
	if cmd.Runnable() && !cmd.HasSubCommands() {
		paths = append(paths, cmd.CommandPath())
	}
	for _, sub := range cmd.Commands() {
		paths = append(paths, commandPaths(sub)...)
	}
	slices.Sort(paths)
	return paths
}

// TestScentsOfSecretsAreFound shows that the test above would notice.
func TestScentsOfSecretsAreFound(t *testing.T) {
	tr := newScents()
	secret := canaries["header"]
	for _, text := range []string{
		secret, "…" + secret[3:11], secret[:8] + "…", url.QueryEscape("a " + secret), base64.StdEncoding.EncodeToString([]byte("user:" + secret)),
		base64.URLEncoding.EncodeToString([]byte(secret)), base64.StdEncoding.EncodeToString([]byte("it is " + secret + ".")),
	} {
		if where, _ := tr.find(text); where != "header" {
			t.Errorf("%q is not found", text)
		}
	}
	if where, _ := tr.find("nothing of " + secret[:7] + " is told"); where != "" {
		t.Errorf("the %s is found in nothing", where)
	}
}
