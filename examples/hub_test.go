package examples_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/internal/systemtest"
)

// hubModel plays the chat model of System D: it sees what is on the picture, sorts a question about agreements among
// comparisons, and answers.
func hubModel(a asked) (string, int) {
	switch {
	case len(a.Pictures) > 0:
		return `{"caption": "Two generators, the edge, the ledger with an outbox, and the log behind it."}`, 0
	case strings.HasPrefix(a.Task, "You sort questions"):
		return "Here it is:\n```json\n{\"intent\": \"compare\", \"sub_queries\": [\"passkeys\", \"one-time codes\"], \"reasoning\": \"two things\"}\n```", 0
	}
	return "Workers are added four at a time, to at most 40 [1].", 0
}

// System D, a retrieval hub with an intent router, row by row.
func TestHub(t *testing.T) {
	racetest.Skip(t)
	s := systemtest.New(t, "hub", "OPENAI_API_KEY=from-the-environment")
	service := newScripted(t, hubModel)

	t.Run("D3 commands", func(t *testing.T) {
		s := s.In(t)
		var in ingested
		s.Run("ingest", "--path", "docs/runbooks/queue-backlog.md", "--collection", "default", "--json").Done().JSON(&in)
		if in.Added != 1 {
			t.Errorf("%+v", in)
		}
		s.Run("ingest", "docs").Done().Prints("9 added")
		s.Run("ingest", "archive", "--collection", "archive").Done().Prints("2 added")
		s.Run("search", "how many workers may be added?", "--top-k", "5").Done().Prints("queue-backlog.md", "dense #")
	})

	search := func(t *testing.T, question string, args ...string) (f found) {
		t.Helper()
		s.In(t).Run(append([]string{"search", question, "--explain", "--json"}, args...)...).Done().JSON(&f)
		return f
	}

	t.Run("D4 ingest", func(t *testing.T) {
		s := s.In(t)
		var in ingested
		s.Run("ingest", "docs", "--json").Done().JSON(&in)
		if in.Unchanged != 10 || in.Embedded != 0 {
			t.Errorf("the digest of what has not changed: %+v", in)
		}
		var shown struct {
			Document struct {
				Chunks []struct {
					ChunkID string `json:"chunk_id"`
					Text    string
					Meta    map[string]any
				}
			}
		}
		s.Write("long/long.md", "# Long\n\n"+strings.Repeat("The ledger keeps what was true at each moment of the past. ", 60)+"\n")
		s.Run("ingest", "long", "--collection", "long").Done()
		s.Run("show", "long/long.md", "--collection", "long", "--json").Done().JSON(&shown)
		chunks := shown.Document.Chunks
		if len(chunks) < 5 {
			t.Fatalf("%d chunks", len(chunks))
		}
		for i, c := range chunks {
			if n := utf8.RuneCountInString(c.Text); n > 800 || i < len(chunks)-1 && n < 200 {
				t.Errorf("chunk %d has %d characters", i, n)
			}
			if i > 0 {
				if lead := c.Text[:60]; !strings.Contains(chunks[i-1].Text, lead) {
					t.Errorf("chunk %d repeats nothing of the one before", i)
				}
			}
			if c.Meta["generated_title"] == nil || c.Meta["generated_tags"] == nil || c.Meta["generated_summary"] == nil {
				t.Errorf("chunk %d has the metadata %v", i, c.Meta)
			}
		}
	})

	t.Run("F3 pictures without a model", func(t *testing.T) {
		var shown struct {
			Document struct {
				Chunks []struct{ Meta map[string]any }
				Images []struct{ Caption *string }
			}
		}
		s.In(t).Run("show", "docs/reports/load-test-2026.md", "--json").Done().JSON(&shown)
		marked := slices.ContainsFunc(shown.Document.Chunks, func(c struct{ Meta map[string]any }) bool { return c.Meta["has_unprocessed_images"] == true })
		if !marked || len(shown.Document.Images) != 1 || shown.Document.Images[0].Caption != nil {
			t.Errorf("%+v", shown.Document)
		}
	})

	t.Run("D5 pipeline", func(t *testing.T) {
		f := search(t, "Why was the queue moved out of the database?")
		var stages []string
		for _, sp := range f.Trace.Stages {
			stages = append(stages, sp.Stage+" "+sp.Status)
		}
		if diff := cmp.Diff([]string{"query_processing ", "dense ", "sparse ", "fusion ", "rerank off", "shape off"}, stages); diff != "" {
			t.Error(diff)
		}
		if words := fmt.Sprint(spanOf(t, f.Trace, rag.StageQuery).Detail["keywords"]); words != "[queue moved database]" {
			t.Errorf("keywords %s", words)
		}
		for stage, most := range map[string]int{rag.StageDense: 20, rag.StageSparse: 20, rag.StageFusion: 10} {
			if got := spanOf(t, f.Trace, stage).Out; got > most {
				t.Errorf("%s lets %d through, want %d at most", stage, got, most)
			}
		}
		if len(f.Hits) != 5 || !strings.HasSuffix(f.Hits[0].URI, "0019-queue-in-the-database.md") {
			t.Errorf("%d hits, first %s", len(f.Hits), f.Hits[0].URI)
		}
	})

	t.Run("D13 RRF", func(t *testing.T) {
		for _, c := range spanOf(t, search(t, "restore of the ledger from the vault").Trace, rag.StageFusion).Candidates {
			want := 0.0
			for _, r := range []*int{c.DenseRank, c.SparseRank} {
				if r != nil {
					want += 1 / float64(60+*r)
				}
			}
			if math.Abs(c.Score-want) > 1e-12 {
				t.Errorf("dense %v, sparse %v: %v, want %v", c.DenseRank, c.SparseRank, c.Score, want)
			}
		}
	})

	server := s.MCP("--tools", "hub")
	ask := func(t *testing.T, question string) map[string]any {
		t.Helper()
		_, _, data := server.Call("query_knowledge_hub", map[string]any{"query": question})
		return data
	}

	t.Run("D7 schema", func(t *testing.T) {
		list, err := server.Session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(list.Tools, func(tool *mcp.Tool) bool { return tool.Name == "query_knowledge_hub" })
		raw, err := json.Marshal(list.Tools[at].InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var schema struct {
			Required   []string
			Properties map[string]struct {
				Type             string
				Default          any
				Minimum, Maximum float64
			}
		}
		if err := json.Unmarshal(raw, &schema); err != nil {
			t.Fatal(err)
		}
		k := schema.Properties["top_k"]
		if !slices.Equal(schema.Required, []string{"query"}) || k.Default != 5.0 || k.Minimum != 1 || k.Maximum != 20 || schema.Properties["collection"].Default != "default" {
			t.Errorf("%s", raw)
		}
	})

	// traceOf reads the trace that a result names.
	traceOf := func(t *testing.T, data map[string]any) *rag.Trace {
		t.Helper()
		for line := range strings.Lines(s.Read(".rag/traces.jsonl")) {
			if strings.Contains(line, fmt.Sprint(data["trace_id"])) {
				var tr rag.Trace
				if err := json.Unmarshal([]byte(line), &tr); err != nil {
					t.Fatal(err)
				}
				return &tr
			}
		}
		t.Fatalf("no trace %v", data["trace_id"])
		return nil
	}

	t.Run("D6 chat", func(t *testing.T) {
		for _, question := range []string{"hello", "what can you do?"} {
			data := ask(t, question)
			if data["intent"] != "chat" || len(data["citations"].([]any)) != 0 || data["answer"] == "" {
				t.Errorf("%s: %v", question, data)
			}
			for _, sp := range traceOf(t, data).Stages {
				if sp.Stage == rag.StageDense && sp.Status == "" {
					t.Errorf("%s: it was embedded", question)
				}
			}
		}
	})

	t.Run("D6a filter", func(t *testing.T) {
		for question, want := range map[string]string{
			"what do the runbooks say about certificates?":                     "/runbooks/",
			"what was agreed in the minutes published since 2026 on restores?": "/minutes/2026-03-reliability.md",
			"according to Mira Tolland, for how long is an old one served?":    "/runbooks/",
		} {
			data := ask(t, question)
			list := data["citations"].([]any)
			if data["intent"] != "filter" || len(list) == 0 {
				t.Errorf("%s: %v", question, data)
			}
			for _, c := range list {
				if source := c.(map[string]any)["source_path"].(string); !strings.Contains(filepath.ToSlash(source), want) {
					t.Errorf("%s: finds %s", question, source)
				}
			}
		}
	})

	t.Run("D6c compare", func(t *testing.T) {
		data := ask(t, "what is the difference between passkeys and the restore exercise?")
		if data["intent"] != "compare" {
			t.Fatalf("%v", data)
		}
		tr := traceOf(t, data)
		looked, _ := spanOf(t, tr, rag.StageQuery).Detail["looked_up"].([]any)
		if len(looked) != 3 {
			t.Errorf("looked up: %v", looked)
		}
		alone := map[int]bool{} // sides that found a passage for the fused list
		for _, c := range spanOf(t, tr, rag.StageFusion).Candidates {
			for _, by := range c.FoundBy {
				alone[by] = true
			}
		}
		sources := fmt.Sprint(data["citations"])
		if !alone[1] || !alone[2] || !strings.Contains(sources, "0023-passkeys.md") || !strings.Contains(sources, "reliability.md") {
			t.Errorf("sides %v, sources %s", alone, sources)
		}
	})

	// routed asks a server that has the scripted model.
	withModel := systemtest.New(t, "hub", "RAG_LLM=openai", "RAG_LLM_URL="+service.URL+"/v1", "RAG_LLM_KEY=from-the-settings", "OPENAI_API_KEY=from-the-environment")
	withModel.Run("ingest", "docs/decisions", "docs/runbooks").Done()
	routed := withModel.MCP("--tools", "hub")

	t.Run("D6b decision by a model", func(t *testing.T) {
		service.play(hubModel)
		_, _, data := routed.Call("query_knowledge_hub", map[string]any{"query": "are staff better off with codes or keys?"})
		requests := service.requests("/chat/completions")
		if data["intent"] != "compare" || len(requests) != 1 {
			t.Fatalf("%v after %d requests", data, len(requests))
		}
		if r := requests[0]; r.Temperature == nil || *r.Temperature != 0 || r.MaxTokens != 256 {
			t.Errorf("the model was asked with temperature %v and %d tokens", r.Temperature, r.MaxTokens)
		}
		for _, reply := range []string{"I do not sort.", `{"intent": "poetry"}`} {
			service.play(func(asked) (string, int) { return reply, 0 })
			if _, _, data := routed.Call("query_knowledge_hub", map[string]any{"query": "are staff better off with keys?"}); data["intent"] != "search" {
				t.Errorf("after %q: %v", reply, data["intent"])
			}
		}
		service.play(func(asked) (string, int) { return "", http.StatusBadRequest })
		if _, _, data := routed.Call("query_knowledge_hub", map[string]any{"query": "are staff better off with a key?"}); data["intent"] != "search" || len(data["citations"].([]any)) == 0 {
			t.Errorf("a model that fails: %v", data)
		}
		service.play(hubModel)
		if routed.Call("query_knowledge_hub", map[string]any{"query": "hello"}); len(service.requests("")) != 1 { // its words, and no choice
			t.Errorf("small talk: %d requests", len(service.requests("")))
		}
	})

	t.Run("D8 writes of others", func(t *testing.T) {
		s := s.In(t)
		s.Write("more/heron.md", "# Herons\n\nA heron stands at the pond of the office in Sallow every Tuesday.\n")
		s.Run("ingest", "more").Done()
		for tries := 0; ; tries++ { // it looks for writes of others between calls
			if strings.Contains(fmt.Sprint(ask(t, "heron at the pond")["citations"]), "heron.md") {
				break
			}
			if tries == 1000 {
				t.Fatal("what another process ingested is not seen")
			}
		}
		s.Run("delete", "more/heron.md").Done()
	})

	t.Run("D9 response", func(t *testing.T) {
		res, text, data := server.Call("query_knowledge_hub", map[string]any{"query": "topology of the load test", "top_k": 3, "collection": "default"})
		if res.IsError || !strings.Contains(text, "[1]") || !strings.Contains(text, "load-test-2026.md") {
			t.Errorf("%s", text)
		}
		first := data["citations"].([]any)[0].(map[string]any)
		for _, key := range []string{"title", "source_path", "chunk_id", "score", "chunk_index", "text"} {
			if first[key] == nil {
				t.Errorf("a citation without %s: %v", key, first)
			}
		}
		if !slices.ContainsFunc(res.Content, func(c mcp.Content) bool { _, ok := c.(*mcp.ImageContent); return ok }) {
			t.Error("the picture does not come along")
		}
		if n := len(traceOf(t, data).TopK); n != 3 {
			t.Errorf("the trace has %d results", n)
		}
	})

	t.Run("F8 errors", func(t *testing.T) {
		for want, args := range map[string]map[string]any{
			"top_k is 21: give a whole number from 1 to 20": {"query": "x", "top_k": 21},
			"query is missing: give a text":                 {},
			`no collection "nowhere"`:                       {"query": "x", "collection": "nowhere"},
		} {
			res, err := server.Session.CallTool(t.Context(), &mcp.CallToolParams{Name: "query_knowledge_hub", Arguments: args})
			if err != nil {
				t.Fatal(err)
			}
			if text, ok := res.Content[0].(*mcp.TextContent); !ok || !res.IsError || !strings.Contains(text.Text, want) || strings.Contains(text.Text, "goroutine") {
				t.Errorf("%v: %+v, want %q", args, res.Content[0], want)
			}
		}
		s.Write("words.yaml", strings.Replace(s.Read("rag.yaml"), "retrieval:", "retrieval:\n  enable_dense: false", 1))
		_, text, data := s.In(t).MCP("--tools", "hub", "--config", "words.yaml").Call("query_knowledge_hub", map[string]any{"query": "xyzzy plugh"})
		if text == "" || len(data["citations"].([]any)) != 0 {
			t.Errorf("nothing found: %q %v", text, data)
		}
	})

	t.Run("D10 collections", func(t *testing.T) {
		_, text, _ := server.Call("list_collections", nil)
		for _, want := range []string{"| Name |", "BM25", "| archive | 2 |", "| default | 10 |", "| yes |"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
	})

	t.Run("D11 summary", func(t *testing.T) {
		var shown struct {
			Document struct {
				DocID string `json:"doc_id"`
			}
		}
		s.In(t).Run("show", "docs/reports/load-test-2026.md", "--json").Done().JSON(&shown)
		_, _, data := server.Call("get_document_summary", map[string]any{"source_hash": shown.Document.DocID})
		images := data["images"].([]any)
		if data["status"] != "success" || data["processed_at"] == "" || data["chunk_count"].(float64) < 2 || data["total_chars"].(float64) < 500 || data["avg_chunk_size"].(float64) < 100 || len(images) != 1 {
			t.Errorf("%v", data)
		}
		if img := images[0].(map[string]any); img["image_id"] == "" || img["file_path"] == "" {
			t.Errorf("%v", img)
		}
	})

	t.Run("D12 stages", func(t *testing.T) {
		var stages []string
		stage := func(m mcp.Meta) map[string]any { e, _ := m["rag/stage"].(map[string]any); return e }
		for _, m := range server.Watch("query_knowledge_hub", map[string]any{"query": "how many workers?"}, func(m mcp.Meta) bool { return stage(m)["stage"] == "fusion" && stage(m)["hits"] != nil }) {
			e := stage(m)
			if _, timed := e["elapsed_ms"].(float64); !timed {
				t.Errorf("%v", e)
			}
			if e["intent"] == "search" || e["hits"] != nil {
				stages = append(stages, e["stage"].(string))
			}
		}
		slices.Sort(stages[1 : len(stages)-1]) // both lanes run at once
		if diff := cmp.Diff([]string{"routing", "dense", "query_processing", "sparse", "fusion"}, stages); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("D1 providers", func(t *testing.T) {
		for name, c := range map[string]struct{ llm, vision, embedder, chat, see, embed string }{
			"openai":   {"openai", "none", "openai", "/v1/chat/completions", "/v1/chat/completions", "/v1/embeddings"},
			"azure":    {"azure", "none", "azure", "/openai/deployments/m/chat/completions", "/openai/deployments/m/chat/completions", "/openai/deployments/m/embeddings"},
			"deepseek": {"deepseek", "openai", "none", "/v1/chat/completions", "/v1/chat/completions", ""},
			"ollama":   {"ollama", "ollama", "ollama", "/api/chat", "/api/chat", "/api/embed"},
		} {
			t.Run(name, func(t *testing.T) {
				s := s.In(t)
				service.play(hubModel)
				of := func(slot, provider string) string {
					if provider == "none" {
						return slot + ": none\n"
					}
					url := service.URL
					if provider == "openai" || provider == "deepseek" {
						url += "/v1"
					}
					key := ", api_key: key-of-" + provider
					if provider == "ollama" {
						key = ""
					}
					return fmt.Sprintf("%s: {provider: %s, model: m, base_url: %q%s}\n", slot, provider, url, key)
				}
				s.Write(name+".yaml", of("llm", c.llm)+of("vision_llm", c.vision)+of("embedder", c.embedder)+"transforms: [caption]\nverifier: none\nanswer: {refuse_below: -1}\n")
				s.Run("ask", "--path", "docs", "how many workers?", "--dir", "."+name, "--config", name+".yaml").Done().Prints("at most 40")
				saw, answered, embedded := 0, 0, len(service.requests(c.embed))
				for _, r := range service.requests("") {
					switch {
					case len(r.Pictures) > 0 && r.Path == c.see:
						saw++
					case strings.HasPrefix(r.Task, "You answer questions") && r.Path == c.chat:
						answered++
						if key := "key-of-" + c.llm; c.llm != "ollama" && r.Key != key { // D2: that of the settings, not of the environment
							t.Errorf("the key is %q, want %q", r.Key, key)
						}
					}
				}
				if saw != 1 || answered != 1 || c.embed != "" && embedded == 0 {
					t.Errorf("%d pictures seen, %d answers, %d embeddings", saw, answered, embedded)
				}
			})
		}
		s.In(t).Write("chroma.yaml", "vector_store: {provider: chroma, url: \"http://127.0.0.1:1\"}\n")
		s.In(t).Run("config", "check", "--config", "chroma.yaml").Done()
	})

	t.Run("D2 minimum and keys", func(t *testing.T) {
		s := s.In(t)
		s.Write("minimum.yaml", "llm: {provider: openai, model: m}\nembedder: {provider: openai, model: text-embedding-3-small}\nvector_store: hnsw\n")
		s.Run("config", "check", "--config", "minimum.yaml").Done() // the key is that of the environment
		without := systemtest.New(t, "hub")
		without.Write("minimum.yaml", s.Read("minimum.yaml"))
		without.Run("config", "check", "--config", "minimum.yaml").Exit(1).Says("OPENAI_API_KEY")
	})

	t.Run("D14 degrade", func(t *testing.T) {
		s := s.In(t)
		service.play(hubModel)
		s.Write("remote.yaml", fmt.Sprintf("embedder: {provider: openai, model: m, dims: 256, base_url: %q, api_key: k, tries: 1}\nrerank: {provider: http, url: %q, style: tei, tries: 1}\nretrieval: {top_k: 5, rerank_timeout_ms: 60000}\n", service.URL+"/v1", service.URL+"/rerank"))
		args := []string{"--dir", ".remote", "--config", "remote.yaml"}
		s.Run(append([]string{"ingest", "docs"}, args...)...).Done()
		up := search(t, "how many workers may be added?", args...)
		if up.Mode != "hybrid" || up.Rerank.Status != rag.RerankFailed || up.Hits[0].Ranks.Fused == nil || *up.Hits[0].Ranks.Fused != 1 {
			t.Errorf("with the reranker down: %s, %+v, %+v", up.Mode, up.Rerank, up.Hits[0].Ranks)
		}
		service.play(func(asked) (string, int) { return "", http.StatusBadRequest })
		down := search(t, "how many workers may be added?", args...)
		if down.Mode != "sparse" || len(down.Hits) == 0 || len(down.Notes) == 0 {
			t.Errorf("with the embedder down: %s, %d hits, %v", down.Mode, len(down.Hits), down.Notes)
		}
		if all := search(t, "xyzzy plugh", args...); all.Hits == nil || len(all.Hits) != 0 {
			t.Errorf("with nothing left: %+v", all.Hits)
		}
	})

	t.Run("D15 dashboard", func(t *testing.T) {
		url := s.In(t).Dashboard("--snapshot")
		for page, want := range map[string]string{"/": "collections", "/browse": "documents", "/ingest": "", "/traces/ingest": "", "/traces/query": "", "/evaluation": ""} {
			res, err := http.Get(url + page + "?format=json")
			if err != nil {
				t.Fatal(err)
			}
			var data map[string]any
			err = json.NewDecoder(res.Body).Decode(&data)
			res.Body.Close()
			if err != nil || res.StatusCode != http.StatusOK || len(data) == 0 || want != "" && data[want] == nil {
				t.Errorf("%s: %s, %v, %v", page, res.Status, err, data)
			}
		}
	})

	t.Run("D5 questions", func(t *testing.T) {
		var run struct {
			Metrics map[string]struct{ Mean *float64 }
			Router  struct{ Accuracy *float64 }
		}
		s.In(t).Run("eval", "--test-set", "questions.jsonl", "--json").Done().JSON(&run)
		for name, least := range map[string]float64{"key_sentence/hit@5": 0.9, "document/mrr": 0.8} { // F12
			if m := run.Metrics[name]; m.Mean == nil || *m.Mean < least {
				t.Errorf("%s: %+v, want %v", name, m, least)
			}
		}
		if a := run.Router.Accuracy; a == nil || *a < 0.9 {
			t.Errorf("router: %v", run.Router)
		}
	})

	t.Run("README", func(t *testing.T) { systemtest.New(t, "hub").Transcript("README.md") })
}
