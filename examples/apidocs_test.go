package examples_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/internal/systemtest"
)

// docsSearch is the JSON of a search.
type docsSearch struct {
	Hits []struct {
		Score      float64
		ChunkID    string `json:"chunk_id"`
		URI, Text  string
		Page       *int
		Headings   []string
		Ranks      struct{ Dense, Sparse *int }
		Highlights []struct{ Start, End int }
	}
}

func (s *docsSearch) ids() (ids []string) {
	for _, h := range s.Hits {
		ids = append(ids, h.ChunkID)
	}
	return ids
}

// docsAnswer is the JSON of an answer.
type docsAnswer struct {
	Answer, Mode, Reason, Reliability string
	Refused, Verified                 bool
	Citations                         []struct {
		Marker          int
		ChunkID         string `json:"chunk_id"`
		Verdict, Reason string
	}
	Rejected []struct{ Marker string } `json:"citations_rejected"`
	Sources  []struct {
		Number   int
		ChunkID  string `json:"chunk_id"`
		Headings []string
	}
	Steps []struct{ Action, Args, Observation string }
}

func TestAPIDocs(t *testing.T) {
	racetest.Skip(t)
	s := systemtest.New(t, "apidocs")
	s.Transcript("README.md") // what follows goes on with its data
	t.Run("C1-C2 two stores", func(t *testing.T) { docsStores(t, s.In(t)) })
	t.Run("C3 loaders", func(t *testing.T) { docsLoaders(t, s.In(t)) })
	t.Run("C4 entries", func(t *testing.T) { docsEntries(t, s.In(t)) })
	t.Run("C5 prefix of questions", func(t *testing.T) { docsPrefix(t, s.In(t)) })
	t.Run("C6 fusion", func(t *testing.T) { docsFusion(t, s.In(t)) })
	t.Run("C7 identifiers", func(t *testing.T) { docsIdentifiers(t, s.In(t)) })
	t.Run("C10-C12 MCP", func(t *testing.T) { docsMCP(t, s.In(t)) })
	t.Run("C19 settings", func(t *testing.T) { docsSettings(t, s.In(t)) })
	t.Run("C20 four methods", func(t *testing.T) { docsMethods(t, s.In(t)) })

	model := newDocsModel(t)
	llm := regexp.MustCompile(`(?m)^llm: .*\nverifier: .*$`)
	s.Write("rag.yaml", llm.ReplaceAllString(s.Read("rag.yaml"),
		`llm: {provider: openai, base_url: "`+model.URL+`", api_key: key, model: m, timeout_ms: 60000, tries: 3}`+"\nverifier: llm"))
	t.Run("C8 citations", func(t *testing.T) { docsCitations(t, s.In(t), model) })
	t.Run("C9 refusal", func(t *testing.T) { docsRefusal(t, s.In(t), model) })
	t.Run("C13-C16 agent and verifier", func(t *testing.T) { docsAgent(t, s.In(t), model) })
	t.Run("C13 end of the agent", func(t *testing.T) { docsAgentEnds(t, s.In(t), model) })
	t.Run("C17 what stays unsupported", func(t *testing.T) { docsUnsupported(t, s.In(t), model) })
	t.Run("C18 chat and rebuild", func(t *testing.T) { docsChat(t, s.In(t), model) })
}

func docsStores(t *testing.T, s *systemtest.System) {
	var r struct {
		OK      bool
		K       int
		Asked   int
		Overlap float64
		Chunks  [2]int
	}
	s.Run("verify", "--against", "control", "--samples", "5", "--json").Done().JSON(&r)
	if !r.OK || r.K != 5 || r.Asked < 5 || r.Overlap < 0.9 || r.Chunks[0] != r.Chunks[1] || r.Chunks[0] < 129 {
		t.Errorf("verify --against: %+v", r)
	}
	// The program with five fixed questions, over the same folders.
	program := filepath.Join(t.TempDir(), "apidocs")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./examples/apidocs")
	build.Dir = systemtest.Root(t)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	check := exec.CommandContext(t.Context(), program)
	check.Dir = s.Dir
	if out, err := check.CombinedOutput(); err != nil || !strings.Contains(string(out), "mean Jaccard of 5 questions: ") {
		t.Errorf("%v: %s", err, out)
	}
	// The control finds by conditions, the same passages under the same IDs.
	var exact, control docsSearch
	args := []string{"search", "decomposition of a matrix", "--mode", "dense", "--filter", `title = "Linear algebra — Tessera 2.3 documentation"`, "--json"}
	s.Run(args...).Done().JSON(&exact)
	s.Run(append(args, "--dir", "control")...).Done().JSON(&control)
	if diff := cmp.Diff(exact.ids(), control.ids()); diff != "" || len(exact.Hits) != 5 {
		t.Errorf("(-exact +control) %s", diff)
	}
	for _, h := range control.Hits {
		if !strings.HasSuffix(h.URI, "/linalg.html") {
			t.Errorf("%s is not what the condition says", h.URI)
		}
	}
	// What differs is found: a document that only one store has.
	s.Run("delete", "docs/optim.html", "--dir", "control").Done()
	s.Run("verify", "--against", "control").Exit(1).Prints("not the same")
	s.Run("copy", "--to", "control").Done().Prints("1 document copied, 7 unchanged")
}

func docsLoaders(t *testing.T, s *systemtest.System) {
	var html, pdf docsSearch
	s.Run("search", "tessera.linalg.lstsq driver", "--json", "--top-k", "1").Done().JSON(&html)
	want := []string{"Linear algebra", "Solving", "tessera.linalg.lstsq"}
	if diff := cmp.Diff(want, html.Hits[0].Headings); diff != "" {
		t.Error(diff)
	}
	for _, part := range []string{"tessera.linalg.lstsq(a, b, rcond=None, driver='gelsy') → LstsqResult", "Parameters:\n\n- rcond (float) – singular values below"} {
		if !strings.Contains(html.Hits[0].Text, part) {
			t.Errorf("no %q in %q", part, html.Hits[0].Text)
		}
	}
	s.Run("search", "How long does a minor version get fixes?", "--json", "--top-k", "1").Done().JSON(&pdf)
	if h := pdf.Hits[0]; !strings.HasSuffix(h.URI, "/numerics.pdf") || h.Page == nil || *h.Page != 2 || h.Headings[len(h.Headings)-1] != "Support" {
		t.Errorf("%+v", h)
	}
}

func docsEntries(t *testing.T, s *systemtest.System) {
	entries, divided, all := 0, 0, 0
	for _, page := range []string{"creation", "shape", "math", "linalg", "nn", "optim", "data"} {
		var shown struct {
			Document struct {
				Text   string
				Chunks []struct {
					Text     string
					Headings []string
				}
			}
		}
		s.Run("show", "docs/"+page+".html", "--json").Done().JSON(&shown)
		all += len(shown.Document.Chunks)
		for _, m := range regexp.MustCompile(`(?m)^#+ (tessera\.\S+)\n\n(.*)$`).FindAllStringSubmatch(shown.Document.Text, -1) {
			entries++
			symbol, signature := m[1], m[2]
			whole, pieces := 0, 0
			for _, c := range shown.Document.Chunks {
				if c.Headings[len(c.Headings)-1] == symbol {
					pieces++
					if strings.Contains(c.Text, m[0]) {
						whole++
					}
					if strings.Count(c.Text, "\n\n"+signature+"\n") > 1 || len(regexp.MustCompile(`(?m)^#+ tessera`).FindAllString(c.Text, -1)) > 1 {
						t.Errorf("a passage has more than the entry %s: %q", symbol, c.Text)
					}
				}
			}
			if whole != 1 {
				t.Errorf("the signature %q stands whole in %d passages", signature, whole)
			}
			if pieces > 1 {
				divided++
			}
		}
	}
	if entries != 129 || divided < 4 || all < entries {
		t.Errorf("%d entries, %d of them in several passages, %d passages", entries, divided, all)
	}
}

// questionPrefix is that of the BGE models.
const questionPrefix = "Represent this sentence for searching relevant passages: "

func docsPrefix(t *testing.T, s *systemtest.System) {
	var mu sync.Mutex
	var inputs []string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			t.Error(err)
		}
		mu.Lock()
		inputs = append(inputs, req.Input...)
		mu.Unlock()
		var data []any
		for i := range req.Input {
			vector := make([]float32, 384)
			vector[0] = 3 // not of length one
			data = append(data, map[string]any{"index": i, "embedding": vector})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	defer service.Close()
	s.Write("service/rag.yaml", `{collection: api, embedder: {provider: openai, base_url: "`+service.URL+`", api_key: k, model: bge-small-en-v1.5, dims: 384, question_prefix: "`+questionPrefix+`"}}`)
	s.Run("ingest", "docs/optim.html", "--dir", "service").Done()
	passages := len(inputs)
	var got docsSearch
	s.Run("search", "linear warmup", "--mode", "dense", "--dir", "service", "--json").Done().JSON(&got)
	if len(got.Hits) == 0 || math.Abs(got.Hits[0].Score-1) > 1e-3 {
		t.Errorf("vectors are not brought to length one: %+v", got)
	}
	for i, text := range inputs {
		if question := i >= passages; strings.HasPrefix(text, questionPrefix) != question || question && text != questionPrefix+"linear warmup" {
			t.Errorf("embedded: %.90q", text)
		}
	}
	if passages < 10 || len(inputs) != passages+1 {
		t.Errorf("%d passages, %d texts embedded", passages, len(inputs))
	}
	s.Run("models", "list").Done().Prints("bge-small-en", "384")
}

func docsFusion(t *testing.T, s *systemtest.System) {
	const question, pool = "scale gradients of half precision", 30
	lanes := map[string]map[string]float64{} // scores, stretched to [0, 1]
	for _, lane := range []string{"dense", "sparse"} {
		var got docsSearch
		s.Run("search", question, "--mode", lane, "--top-k", fmt.Sprint(pool), "--json").Done().JSON(&got)
		if len(got.Hits) > pool {
			t.Errorf("%s: a pool of %d", lane, len(got.Hits))
		}
		lanes[lane] = map[string]float64{}
		best, least := got.Hits[0].Score, got.Hits[len(got.Hits)-1].Score
		for _, h := range got.Hits {
			lanes[lane][h.ChunkID] = (h.Score - least) / (best - least)
		}
	}
	var rrf, weighted docsSearch
	s.Run("search", question, "--json").Done().JSON(&rrf)
	for _, h := range rrf.Hits {
		want := 0.0
		for _, rank := range []*int{h.Ranks.Dense, h.Ranks.Sparse} {
			if rank != nil {
				want += 1 / float64(60+*rank)
			}
		}
		if math.Abs(h.Score-want) > 1e-9 {
			t.Errorf("reciprocal ranks: %v, want %v", h.Score, want)
		}
	}
	text := strings.Replace(s.Read("rag.yaml"), "fusion: {provider: rrf, k: 60}", "fusion: weighted", 1)
	s.Write("weighted.yaml", strings.Replace(text, "dense_weight: 1, sparse_weight: 1", "dense_weight: 0.6, sparse_weight: 0.4", 1))
	s.Run("search", question, "--config", "weighted.yaml", "--json").Done().JSON(&weighted)
	for _, h := range weighted.Hits {
		if want := 0.6*lanes["dense"][h.ChunkID] + 0.4*lanes["sparse"][h.ChunkID]; math.Abs(h.Score-want) > 1e-6 {
			t.Errorf("weighted: %v, want %v", h.Score, want)
		}
	}
	if len(rrf.Hits) != 5 || len(weighted.Hits) != 5 {
		t.Errorf("%d and %d hits", len(rrf.Hits), len(weighted.Hits))
	}
}

func docsIdentifiers(t *testing.T, s *systemtest.System) {
	var got docsSearch
	s.Run("search", "CrossEntropyLoss(view(2, 3))", "--mode", "sparse", "--top-k", "1", "--json").Done().JSON(&got)
	marked := map[string]bool{}
	for _, h := range got.Hits[0].Highlights {
		marked[strings.ToLower(got.Hits[0].Text[h.Start:h.End])] = true
	}
	for _, word := range []string{"crossentropyloss", "view", "2", "3"} {
		if !marked[word] {
			t.Errorf("%s is not a word of the question: %v", word, marked)
		}
	}
	// Whole: the identifier in another spelling is the same word, and that of another loss is not.
	for _, query := range []string{"crossentropyloss", "cross_entropy_loss"} {
		var same docsSearch
		s.Run("search", query, "--mode", "sparse", "--json").Done().JSON(&same)
		if last := same.Hits[0].Headings; last[len(last)-1] != "tessera.nn.CrossEntropyLoss" {
			t.Errorf("%s finds %v", query, last)
		}
	}
}

func docsMCP(t *testing.T, s *systemtest.System) {
	c := s.MCP("--tools", "docs", "--log", "serve.log")
	if diff := cmp.Diff([]string{"ask", "list_topics", "search", "stats"}, slices.Sorted(slices.Values(c.Tools()))); diff != "" {
		t.Error(diff)
	}
	fields := func(of any, names ...string) {
		t.Helper()
		object, _ := of.(map[string]any)
		for _, name := range names {
			if _, ok := object[name]; !ok {
				t.Errorf("no field %s in %v", name, object)
			}
		}
	}
	_, _, found := c.Call("search", map[string]any{"query": "solve a linear system", "top_k": 3})
	results, _ := found["results"].([]any)
	if len(results) != 3 {
		t.Fatalf("%v", found)
	}
	for _, r := range results {
		fields(r, "chunk_id", "source", "section", "score", "snippet")
		one, _ := r.(map[string]any)
		score, _ := one["score"].(float64)
		snippet, _ := one["snippet"].(string)
		if len(one) != 5 || math.Round(score*1e4)/1e4 != score || utf8.RuneCountInString(snippet) > 200 {
			t.Errorf("%v", one)
		}
	}
	_, _, answer := c.Call("ask", map[string]any{"query": "What is int8 plus 1?"})
	fields(answer, "question", "answer", "refused", "sources")
	sources, _ := answer["sources"].([]any)
	for _, source := range sources {
		fields(source, "n", "source", "section", "score")
	}
	if text, _ := answer["answer"].(string); answer["refused"] != false || len(sources) == 0 || !strings.Contains(text, "[1]") {
		t.Errorf("%v", answer)
	}
	_, _, listed := c.Call("list_topics", nil)
	var topics []string
	all, _ := listed["topics"].([]any)
	for _, topic := range all {
		topics = append(topics, fmt.Sprint(topic))
	}
	if !slices.IsSorted(topics) || len(slices.Compact(slices.Clone(topics))) != len(topics) || !slices.Contains(topics, "Neural networks › Layers › tessera.nn.Linear") {
		t.Errorf("%v", topics)
	}
	_, _, stats := c.Call("stats", nil)
	if diff := cmp.Diff(map[string]any{"n_chunks": 156.0, "n_sources": 8.0, "n_topics": float64(len(topics)), "dim": 384.0}, stats); diff != "" {
		t.Error(diff)
	}
	if n := strings.Count(s.Read("serve.log"), "data opened"); n != 1 {
		t.Errorf("four calls opened the data and loaded the model %d times", n)
	}
}

func docsSettings(t *testing.T, s *systemtest.System) {
	s.Run("config", "print").Done().Prints("agent.max_verify", "rag.yaml:")
	s.Write("typed/rag.yaml", "retrieval: {top_k: many}\n")
	s.Run("config", "check", "--config", "typed/rag.yaml").Exit(1).Says("typed/rag.yaml:1: retrieval.top_k: want a whole number")
	// The key and the choice of the service come from .env beside the configuration.
	s.Write("keyed/rag.yaml", s.Read("rag.yaml"))
	s.Write("keyed/.env", "DOCS_LLM=deepseek\n")
	s.Run("config", "check", "--config", "keyed/rag.yaml").Exit(1).Says("DEEPSEEK_API_KEY")
	s.Write("keyed/.env", s.Read(".env.example")+"DEEPSEEK_API_KEY=sk-canary\n")
	s.Run("config", "check", "--config", "keyed/rag.yaml").Done()
	if out := s.Run("config", "print", "--config", "keyed/rag.yaml").Done(); strings.Contains(out.Stdout+out.Stderr, "canary") {
		t.Error("the key is shown")
	}
	// So does the mirror that models are fetched from.
	var mu sync.Mutex
	var fetched []string
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		fetched = append(fetched, r.URL.Path)
		mu.Unlock()
		http.NotFound(w, r)
	}))
	defer hub.Close()
	s.Write("keyed/.env", "RAG_MODEL_MIRROR="+hub.URL+"\n")
	s.Run("models", "pull", "bge-small-en", "--config", "keyed/rag.yaml", "--model-dir", "models").Exit(1)
	if len(fetched) == 0 || !strings.Contains(fetched[0], "/BAAI/bge-small-en-v1.5/") {
		t.Errorf("asked of the mirror: %v", fetched)
	}
}

func docsMethods(t *testing.T, s *systemtest.System) {
	var r struct {
		Set      string
		Queries  int
		Baseline string
		Variants []struct {
			Variant string
			Metrics map[string]struct {
				Mean float64
				N    int
			}
			Settings map[string]any
		}
	}
	s.Run("experiment", "--test-set", "questions.jsonl", "--grid", "methods.yaml", "--json").Done().JSON(&r)
	var names []string
	for _, v := range r.Variants {
		names = append(names, v.Variant)
		last := 0.0
		for _, metric := range []string{"hit@1", "hit@5", "hit@10"} {
			m := v.Metrics[metric]
			if m.N != 49 || m.Mean < last {
				t.Errorf("%s: %s is %+v, after %v", v.Variant, metric, m, last)
			}
			last = m.Mean
		}
		if mrr := v.Metrics["mrr@10"].Mean; last < 0.95 || mrr < 0.8 || mrr > last {
			t.Errorf("%s: hit@10 %v, mrr@10 %v", v.Variant, last, mrr)
		}
	}
	if diff := cmp.Diff([]string{"vector", "keyword", "rrf", "weighted"}, names); diff != "" || r.Set != "questions.jsonl" || r.Queries != 63 || r.Baseline != "rrf" {
		t.Errorf("%s %+v", diff, r)
	}
	if both, words := r.Variants[2].Metrics["mrr@10"].Mean, r.Variants[0].Metrics["mrr@10"].Mean; both < words {
		t.Errorf("both lanes find less (%v) than vectors alone (%v)", both, words)
	}
}
