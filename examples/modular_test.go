package examples_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	_ "image/jpeg" // pictures over MCP
	_ "image/png"
	"maps"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/internal/systemtest"
)

// found is the JSON of a search.
type found struct {
	Mode string
	Hits []struct {
		Rank    int
		Score   float64
		ChunkID string `json:"chunk_id"`
		URI     string
		Text    string
		Ranks   struct{ Dense, Sparse, Fused, Reranked *int }
		Images  []struct {
			ID      string
			Page    *int
			Caption *string
		}
	}
	Rerank struct{ Status, Reason string }
	Notes  []rag.Note
	Trace  *rag.Trace
}

// ingested is the JSON of an ingest.
type ingested struct {
	Added, Updated, Unchanged, Embedded int
	Plan                                []struct{ URI, Action string }
	Steps                               []struct {
		Step             string
		Calls, Fallbacks int
		Reason           string
	}
}

// modularModel plays the chat model of System A: it captions the pictures of the documents, which it knows by their
// heights, turns a list of passages round, finds half of the claims of an answer supported, and answers.
func modularModel(a asked) (string, int) {
	switch {
	case len(a.Pictures) == 1:
		_, data, _ := strings.Cut(a.Pictures[0], ",")
		c, _, err := image.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
		if err != nil {
			return err.Error(), http.StatusBadRequest
		}
		return `{"caption": ` + quoted(map[int]string{
			330: "Diagram of the mooring from hull to anchor: nylon 0.6 times the depth, floating rope 0.9 times.", // said by no text
			300: "Flowchart of a gale warning: over 7.5 metres the port is shut, else level amber.",
			130: "Two clump weights beside each other, joined by thirty metres of ground chain.",
		}[c.Height]) + `}`, 0
	case strings.HasPrefix(a.Task, "You order passages"):
		return `{"ranking": [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]}`, 0
	case strings.Contains(a.Task, `"claims"`):
		return `{"claims": [{"claim": "a", "supported": true, "reason": ""}, {"claim": "b", "supported": false, "reason": ""}]}`, 0
	case strings.Contains(a.Task, `"useful"`):
		n := strings.Count(a.Text, "\n[") // passages
		return `{"useful": [true` + strings.Repeat(", false", n-1) + `]}`, 0
	case strings.Contains(a.Task, `"noncommittal"`):
		return `{"questions": ["how heavy is the anchor?", "what is the weight of an anchor?", "what does the anchor weigh?"], "noncommittal": false}`, 0
	case strings.HasPrefix(a.Task, "You sort questions"):
		return `{"intent": "search", "confidence": 0.9}`, 0
	}
	return "That is what the documents say [1].", 0
}

// System A, a modular retrieval service with rank tracking, row by row.
func TestModular(t *testing.T) {
	racetest.Skip(t)
	service := newScripted(t, modularModel)
	s := systemtest.New(t, "modular", "RAG_LLM=openai", "RAG_LLM_URL="+service.URL+"/v1", "RAG_LLM_KEY=sk-modular-secret")
	// with writes the example's configuration with something else in the place of a text, and returns the flags for it.
	with := func(t *testing.T, name string, replace ...string) []string {
		t.Helper()
		text := s.Read("rag.yaml")
		for i := 0; i < len(replace); i += 2 {
			if !strings.Contains(text, replace[i]) {
				t.Fatalf("rag.yaml has no %q", replace[i])
			}
			text = strings.ReplaceAll(text, replace[i], replace[i+1])
		}
		s.Write(name, text)
		return []string{"--config", name}
	}
	const reranker = "${RAG_RERANK:-maxsim}"

	t.Run("A12 configuration", func(t *testing.T) {
		s := s.In(t)
		o := s.Run("config", "print").Done().Prints("tidewater", "unit", "characters", "***")
		if strings.Contains(o.Stdout, "sk-modular-secret") {
			t.Error("the key is shown")
		}
		s.Run("config", "check").Done()
	})

	t.Run("A11 plug-ins", func(t *testing.T) {
		s := s.In(t)
		for _, slot := range []string{"llm: # also", "embedder: {provider: local}", "splitter: {provider: recursive", "rerank: {provider: \"" + reranker + "\"}", "fusion: {provider: rrf", "trace: {provider: jsonl"} {
			name, rest, _ := strings.Cut(slot, ":")
			broken := name + ": {provider: recursiv" // near to one name, and none
			if strings.HasPrefix(rest, " #") {
				broken = "vision_llm: {provider: recursiv}\n" + slot
			} else if strings.HasSuffix(slot, "}") {
				broken += "}"
			}
			s.Run(append([]string{"config", "check"}, with(t, "broken.yaml", slot, broken)...)...).Exit(1).Says("recursiv")
		}
		s.Run(append([]string{"config", "check"}, with(t, "broken.yaml", "recursive, unit", "recursiv, unit")...)...).Exit(1).Says(`did you mean "recursive"`, "linked in: fixed, recursive, section")
		s.Run(append([]string{"config", "check"}, with(t, "broken.yaml", "backends: [custom, ragas]", "backends: [custm]")...)...).Exit(1).Says("custm")
	})

	t.Run("A15 dry run", func(t *testing.T) {
		s := s.In(t)
		s.Run("search", "anchor").Exit(1).Says("nothing has been ingested", "rag ingest") // A16, as F says
		var plan ingested
		s.Run("ingest", "--path", "docs", "--collection", "tidewater", "--dry-run", "--json").Done().JSON(&plan)
		for _, p := range plan.Plan {
			if p.Action != "add" {
				t.Errorf("%+v", p)
			}
		}
		if len(plan.Plan) != 12 || len(service.requests("/chat/completions")) != 0 {
			t.Errorf("a plan of %d files, %d requests", len(plan.Plan), len(service.requests("/chat/completions")))
		}
		s.Run("search", "anchor").Exit(1) // it did nothing
	})

	t.Run("A1 formats", func(t *testing.T) {
		s := s.In(t)
		var in ingested
		s.Run("ingest", "--path", "docs", "--collection", "tidewater", "--json").Done().JSON(&in)
		if in.Added != 12 || len(in.Steps) != 1 || in.Steps[0].Step != "caption" || in.Steps[0].Calls != 3 || in.Steps[0].Fallbacks != 0 {
			t.Fatalf("%+v", in)
		}
		o := s.Run("list", "documents").Done()
		for _, ext := range []string{".pdf", ".docx", ".md", ".txt"} {
			o.Prints(ext)
		}
	})

	t.Run("A3 incremental", func(t *testing.T) {
		s := s.In(t)
		ingest := func(args ...string) (in ingested) {
			s.Run(append([]string{"ingest", "docs", "--json"}, args...)...).Done().JSON(&in)
			return in
		}
		if in := ingest(); in.Unchanged != 12 || in.Embedded != 0 || in.Added+in.Updated != 0 {
			t.Errorf("unchanged files: %+v", in)
		}
		s.Write("docs/glossary.txt", s.Read("docs/glossary.txt")+"\nNeap: the tide of the least range.\n")
		if in := ingest(); in.Unchanged != 11 || in.Updated != 1 {
			t.Errorf("a changed file: %+v", in)
		}
		if in := ingest("--force"); in.Updated != 12 {
			t.Errorf("--force: %+v", in)
		}
		if n := len(service.requests("/chat/completions")); n != 3 {
			t.Errorf("%d captions were asked for, want each picture once", n)
		}
		s.Run("verify").Done() // no dirty data
	})

	search := func(t *testing.T, question string, args ...string) (f found) {
		t.Helper()
		s.In(t).Run(append([]string{"search", question, "--explain", "--json"}, args...)...).Done().JSON(&f)
		return f
	}

	t.Run("A4 pictures", func(t *testing.T) {
		const question = "flowchart: when is the port shut?" // no text has these words
		f := search(t, question, "--mode", "sparse")
		if len(f.Hits) == 0 || len(f.Hits[0].Images) != 1 {
			t.Fatalf("%+v", f.Hits)
		}
		img := f.Hits[0].Images[0]
		if img.Page == nil || *img.Page != 1 || img.Caption == nil || !strings.HasPrefix(*img.Caption, "Flowchart of a gale warning") {
			t.Errorf("%+v", img)
		}
		res, text, _ := s.In(t).MCP("--tools", "hub").Call("query_knowledge_hub", map[string]any{"query": question, "collection": "tidewater"})
		at := slices.IndexFunc(res.Content, func(c mcp.Content) bool { _, ok := c.(*mcp.ImageContent); return ok })
		if at < 0 || !strings.Contains(text, "the port is shut") {
			t.Fatalf("no picture among %d contents: %s", len(res.Content), text)
		}
		shown := res.Content[at].(*mcp.ImageContent)
		if c, format, err := image.DecodeConfig(bytes.NewReader(shown.Data)); err != nil || c.Height != 300 || "image/"+format != shown.MIMEType {
			t.Errorf("%s %+v, %v", shown.MIMEType, c, err)
		}
	})

	t.Run("A5 two stores", func(t *testing.T) {
		var v struct {
			OK               bool
			Orphans, Missing []any
			Indexes          map[string]any
		}
		s.In(t).Run("verify", "--json").Done().JSON(&v)
		if !v.OK || len(v.Orphans)+len(v.Missing) != 0 {
			t.Errorf("%+v", v)
		}
		f := search(t, "What replaced the swivel S1?")
		if f.Mode != "hybrid" || f.Hits[0].Ranks.Dense == nil || f.Hits[0].Ranks.Sparse == nil {
			t.Errorf("one passage has no rank in both lanes: %+v", f.Hits[0])
		}
	})

	t.Run("A7 one tokenizer", func(t *testing.T) {
		plain, other := search(t, "significant wave height", "--mode", "sparse"), search(t, "SIGNIFICANT WAVE-HEIGHTS", "--mode", "sparse")
		if len(plain.Hits) == 0 || len(other.Hits) == 0 || plain.Hits[0].ChunkID != other.Hits[0].ChunkID {
			t.Errorf("capitals, a hyphen and a plural find something else: %+v, %+v", plain.Hits, other.Hits)
		}
	})

	explained := search(t, "how are wave heights and swell compared between stations?")

	t.Run("A2 ten stages", func(t *testing.T) {
		var stages []string
		for line := range strings.Lines(s.Read(".rag/traces.jsonl")) {
			var tr rag.Trace
			if err := json.Unmarshal([]byte(line), &tr); err != nil {
				t.Fatal(err)
			}
			for _, sp := range tr.Stages {
				if !slices.Contains(stages, sp.Stage) {
					stages = append(stages, sp.Stage)
				}
			}
		}
		for _, want := range strings.Fields("load split transform embed upsert query_processing dense sparse fusion rerank") {
			if !slices.Contains(stages, want) {
				t.Errorf("no trace has the stage %s: %v", want, stages)
			}
		}
	})

	t.Run("A18 traces", func(t *testing.T) {
		lines := strings.Split(strings.TrimSpace(s.Read(".rag/traces.jsonl")), "\n")
		var last struct {
			Query  string `json:"user_query"`
			Stages []map[string]any
		}
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
			t.Fatal(err)
		}
		if last.Query != "how are wave heights and swell compared between stations?" {
			t.Errorf("the last line is of %q", last.Query)
		}
		for _, st := range last.Stages {
			if _, ok := st["elapsed_ms"].(float64); !ok {
				t.Errorf("stage %v has no elapsed_ms", st["stage"])
			}
		}
		s.In(t).Run("trace", "list", "--type", "ingest").Done().Prints("ingest")
	})

	t.Run("F6 detail", func(t *testing.T) {
		search(t, "who paints the hulls of herons?", with(t, "minimal.yaml", "detail: standard", "detail: minimal")...)
		if text := s.Read(".rag/traces.jsonl"); strings.Contains(text, "herons") {
			t.Error("a minimal trace tells the question")
		}
	})

	t.Run("A8 sizes", func(t *testing.T) {
		for stage, most := range map[string]int{rag.StageDense: 20, rag.StageSparse: 20, rag.StageFusion: 10, rag.StageRerank: 10} {
			if got := spanOf(t, explained.Trace, stage).Out; got > most || got == 0 {
				t.Errorf("%s lets %d through, want %d at most", stage, got, most)
			}
		}
		if got := spanOf(t, explained.Trace, rag.StageDense).Out; got != 20 || len(explained.Hits) != 5 {
			t.Errorf("%d by meaning, %d hits", got, len(explained.Hits))
		}
		top := spanOf(t, explained.Trace, rag.StageFusion).Candidates[0]
		if want := 1/float64(60+*top.DenseRank) + 1/float64(60+*top.SparseRank); math.Abs(top.Score-want) > 1e-12 {
			t.Errorf("ranks %d and %d have the score %v, want %v", *top.DenseRank, *top.SparseRank, top.Score, want)
		}
		if dense := search(t, "wave height", with(t, "dense.yaml", "enable_sparse: true", "enable_sparse: false")...); dense.Mode != "dense" {
			t.Errorf("with enable_sparse: false the mode is %q", dense.Mode)
		}
	})

	t.Run("A19-A23 ranks", func(t *testing.T) {
		fusion, rerank := spanOf(t, explained.Trace, rag.StageFusion), spanOf(t, explained.Trace, rag.StageRerank)
		fused := map[string]int{}
		for _, c := range fusion.Candidates {
			fused[c.ChunkID] = c.Rank
			best := math.MaxInt // A20
			for _, r := range []*int{c.DenseRank, c.SparseRank} {
				if r != nil {
					best = min(best, *r)
				}
			}
			if *c.RankBefore != best || *c.RankDelta != best-c.Rank { // A19
				t.Errorf("fusion: %d from dense %v and sparse %v: before %d, delta %d", c.Rank, c.DenseRank, c.SparseRank, *c.RankBefore, *c.RankDelta)
			}
		}
		for _, c := range rerank.Candidates { // A21
			if *c.RankBefore != fused[c.ChunkID] || *c.RankDelta != fused[c.ChunkID]-c.Rank {
				t.Errorf("rerank: %d was %d: before %d, delta %d", c.Rank, fused[c.ChunkID], *c.RankBefore, *c.RankDelta)
			}
		}
		for _, c := range spanOf(t, explained.Trace, rag.StageDense).Candidates { // A22
			if c.RankBefore != nil || c.RankDelta != nil {
				t.Errorf("dense has no list before it, and %+v", c)
			}
		}
		for _, sp := range []*rag.Span{fusion, rerank} { // A23
			var want rag.Moves
			for _, c := range sp.Candidates {
				switch d := *c.RankDelta; {
				case d > 0:
					want.MovedUp, want.MaxGain = want.MovedUp+1, max(want.MaxGain, d)
				case d < 0:
					want.MovedDown, want.MaxDrop = want.MovedDown+1, max(want.MaxDrop, -d)
				default:
					want.Unchanged++
				}
			}
			want.Dropped = sp.Moves.Dropped
			if *sp.Moves != want {
				t.Errorf("%s: %+v, want %+v", sp.Stage, *sp.Moves, want)
			}
		}
	})

	t.Run("A24 shape", func(t *testing.T) {
		fusion, rerank := spanOf(t, explained.Trace, rag.StageFusion), spanOf(t, explained.Trace, rag.StageRerank)
		distinct := map[string]bool{}
		for _, stage := range []string{rag.StageDense, rag.StageSparse} {
			for _, c := range spanOf(t, explained.Trace, stage).Candidates {
				distinct[c.ChunkID] = true
			}
		}
		if m := fusion.Moves; m.Dropped != len(distinct)-fusion.Out || m.Dropped < 10 || m.MovedUp == 0 || m.MovedDown == 0 {
			t.Errorf("of %d candidates %d are kept: %+v", len(distinct), fusion.Out, m)
		}
		if m := rerank.Moves; m.MovedUp+m.MovedDown+m.Unchanged != 10 || m.New+m.Dropped != 0 {
			t.Errorf("rerank: %+v", m)
		}
	})

	t.Run("A9 rerankers", func(t *testing.T) {
		f := search(t, "wave height", with(t, "llm.yaml", reranker, "llm")...)
		fused := spanOf(t, f.Trace, rag.StageFusion).Candidates
		if f.Rerank.Status != rag.RerankOK || f.Hits[0].ChunkID != fused[len(fused)-1].ChunkID {
			t.Errorf("%+v: the model turned the list round, and first is %s", f.Rerank, f.Hits[0].ChunkID)
		}
		s.In(t).Run(append([]string{"search", "wave"}, with(t, "local.yaml", reranker, "local")...)...).Exit(1).Says("rag models pull")
		if off := search(t, "wave height", "--no-rerank"); off.Rerank.Status != rag.RerankOff || off.Hits[0].ChunkID != fused[0].ChunkID {
			t.Errorf("--no-rerank: %+v", off.Rerank)
		}
	})

	t.Run("A10 rerank fails", func(t *testing.T) {
		defer service.play(modularModel)
		for status, c := range map[int]struct{ want, timeout string }{http.StatusBadRequest: {rag.RerankFailed, "15000"}, hang: {rag.RerankTimeout, "200"}} {
			service.play(func(asked) (string, int) { return "", status })
			f := search(t, "wave height", with(t, "failing.yaml", reranker, "llm", "rerank_timeout_ms: 15000", "rerank_timeout_ms: "+c.timeout)...)
			if f.Rerank.Status != c.want || f.Rerank.Reason == "" || len(f.Hits) != 5 {
				t.Fatalf("%d: %+v, %d hits", status, f.Rerank, len(f.Hits))
			}
			for i, h := range f.Hits {
				if *h.Ranks.Fused != i+1 {
					t.Errorf("%d: hit %d was %d after fusion", status, i+1, *h.Ranks.Fused)
				}
			}
		}
	})

	t.Run("A13 MCP", func(t *testing.T) {
		c := s.In(t).MCP("--tools", "hub")
		if diff := cmp.Diff([]string{"get_document_summary", "list_collections", "query_knowledge_hub"}, c.Tools()); diff != "" {
			t.Error(diff)
		}
		_, text, data := c.Call("list_collections", nil)
		if !strings.Contains(text, "tidewater") || data["collections"] == nil {
			t.Error(text)
		}
		path := filepath.Join(s.Dir, "docs", "storm-procedure.pdf")
		if _, text, data = c.Call("get_document_summary", map[string]any{"source_hash": path, "collection": "tidewater"}); data["status"] != "success" || len(data["images"].([]any)) != 1 {
			t.Error(text)
		}
	})

	t.Run("A16 verbose", func(t *testing.T) {
		s.In(t).Run("search", "how heavy is the anchor?", "--collection", "tidewater", "--top-k", "5", "--verbose").Done().
			Prints("dense hnsw", "sparse bm25", "fusion rrf", "rerank maxsim", "10 in, 10 out", "mooring-design.pdf")
	})

	t.Run("A14 A17 experiment", func(t *testing.T) {
		var x struct {
			Variants []struct {
				Variant string
				Metrics map[string]struct{ Mean *float64 }
				Latency struct{ P50, P95 float64 } `json:"latency_ms"`
			}
		}
		s.In(t).Run("experiment", "--test-set", "questions.jsonl", "--set", "smoke", "--variants", "dense,sparse,hybrid,hybrid_rerank", "--metrics", "hit@5,mrr", "--json").Done().JSON(&x)
		var names []string
		for _, v := range x.Variants {
			names = append(names, v.Variant)
			if m := v.Metrics["document/hit@5"]; m.Mean == nil || *m.Mean < 0.6 {
				t.Errorf("%s: %+v", v.Variant, v.Metrics)
			}
			if l := v.Latency; l.P50 <= 0 || l.P95 < l.P50 {
				t.Errorf("%s: latency %+v", v.Variant, l)
			}
		}
		if diff := cmp.Diff([]string{"dense", "sparse", "hybrid", "hybrid_rerank"}, names); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("A26 metrics", func(t *testing.T) {
		line := func(question, chunk string) string {
			return fmt.Sprintf(`{"question": %q, "expected_chunk_ids": [%q], "reference_answer": "850 kilograms"}`+"\n", question, chunk)
		}
		f := search(t, "how heavy is the anchor on sand and gravel?")
		s.Write("chunks.jsonl", line("how heavy is the anchor on sand and gravel?", f.Hits[0].ChunkID)+line("what is the weight of an anchor?", f.Hits[0].ChunkID))
		var run eval.Run
		args := with(t, "relevancy.yaml", "faithfulness, context_precision", "faithfulness, context_precision, answer_relevancy")
		s.In(t).Run(append([]string{"eval", "--test-set", "chunks.jsonl", "--collection", "tidewater", "--label", "judged", "--json"}, args...)...).Done().JSON(&run)
		for name, want := range map[string]float64{"chunk/hit@1": 1, "chunk/mrr": 1, "faithfulness": 0.5, "context_precision": 1} {
			if m := run.Metrics[name]; m.Mean == nil || m.N != 2 || math.Abs(*m.Mean-want) > 1e-9 {
				t.Errorf("%s: %+v, want %v", name, m, want)
			}
		}
		if m := run.Metrics["answer_relevancy"]; m.N != 2 || *m.Mean < 0.7 || *m.Mean > 1 {
			t.Errorf("answer_relevancy: %+v", m)
		}
	})

	t.Run("A27 a backend fails", func(t *testing.T) {
		defer service.play(modularModel)
		service.play(func(a asked) (string, int) {
			if strings.Contains(a.Task, "Split the answer") || strings.Contains(a.Task, "each of the passages") {
				return "", http.StatusBadRequest
			}
			return modularModel(a)
		})
		args := with(t, "overlap.yaml", "metrics: [hit_rate, mrr, faithfulness, context_precision]", "metrics: [hit_rate, mrr, faithfulness, faithfulness_overlap]", "gpt-4o-mini", "another")
		var run eval.Run
		s.In(t).Run(append([]string{"eval", "--test-set", "chunks.jsonl", "--label", "failed", "--json"}, args...)...).Exit(3).JSON(&run)
		if m := run.Metrics["faithfulness"]; m.N != 0 || !strings.Contains(fmt.Sprint(slices.Collect(maps.Keys(m.Why))), "judge failed") {
			t.Errorf("faithfulness: %+v", m)
		}
		for _, name := range []string{"chunk/hit@1", "chunk/mrr", "faithfulness_overlap"} {
			if m := run.Metrics[name]; m.N != 2 {
				t.Errorf("%s: %+v", name, m)
			}
		}
	})

	t.Run("A25 dashboard", func(t *testing.T) {
		url := s.In(t).Dashboard("--snapshot")
		for _, page := range []string{"/", "/browse", "/ingest", "/traces/ingest", "/traces/query", "/evaluation"} {
			res, err := http.Get(url + page + "?format=json")
			if err != nil {
				t.Fatal(err)
			}
			var data map[string]any
			err = json.NewDecoder(res.Body).Decode(&data)
			res.Body.Close()
			if err != nil || res.StatusCode != http.StatusOK || len(data) == 0 {
				t.Errorf("%s: %s, %v", page, res.Status, err)
			}
		}
	})

	t.Run("A6 delete", func(t *testing.T) {
		s := s.In(t)
		var d struct {
			Documents     int
			RemovedChunks int `json:"removed_chunks"`
			RemovedImages int `json:"removed_images"`
			Failed        []any
		}
		s.Run("delete", "docs/mooring-design.pdf", "--json").Done().JSON(&d)
		if d.Documents != 1 || d.RemovedChunks < 4 || d.RemovedImages != 2 || len(d.Failed) != 0 {
			t.Errorf("%+v", d)
		}
		for _, mode := range []string{"dense", "sparse"} { // vectors, words
			for _, h := range search(t, "nylon and floating rope of a mooring", "--mode", mode).Hits {
				if strings.HasSuffix(h.URI, "mooring-design.pdf") {
					t.Errorf("%s still finds %s", mode, h.ChunkID)
				}
			}
		}
		s.Run("show", "docs/mooring-design.pdf").Exit(1) // pictures, history
		s.Run("verify").Done()
		var plan ingested
		s.Run("ingest", "docs", "--dry-run", "--json").Done().JSON(&plan)
		adds := 0
		for _, p := range plan.Plan {
			if p.Action == "add" {
				adds++
			}
		}
		if adds != 1 {
			t.Errorf("%d files would be added, want the deleted one: %+v", adds, plan.Plan)
		}
	})

	t.Run("A12 dimensions", func(t *testing.T) {
		args := with(t, "other.yaml", "embedder: {provider: local}", "embedder: {provider: openai, model: m, dims: 256, base_url: \""+service.URL+"\", api_key: k}")
		s.In(t).Run(append([]string{"search", "wave"}, args...)...).Exit(5).Says("reindex")
	})

	t.Run("A28 missing credential", func(t *testing.T) {
		s := systemtest.New(t, "modular", "RAG_LLM=openai") // without a key
		s.Run("ingest", "docs/storm-procedure.pdf").Done().Prints("has no key")
		s.Run("search", "what happens at level red?").Done().Prints("storm-procedure.pdf")
	})

	t.Run("A29 hygiene", func(t *testing.T) {
		ignored, err := os.ReadFile(filepath.Join(systemtest.Root(t), ".gitignore"))
		if err != nil || !bytes.Contains(ignored, []byte(".rag/")) {
			t.Errorf("run time files are not ignored: %v", err)
		}
		if _, err := os.Stat(filepath.Join(systemtest.Root(t), "examples", "modular", ".rag")); err == nil {
			t.Error("the example holds a data folder")
		}
		versions, err := os.ReadFile(filepath.Join(systemtest.Root(t), "go.sum"))
		if err != nil || len(versions) == 0 {
			t.Errorf("dependencies are not held to versions: %v", err)
		}
	})

	t.Run("README", func(t *testing.T) { systemtest.New(t, "modular").Transcript("README.md") })
}

// spanOf returns a stage of a trace that told all of its candidates.
func spanOf(t *testing.T, tr *rag.Trace, stage string) *rag.Span {
	t.Helper()
	for i := range tr.Stages {
		if tr.Stages[i].Stage == stage {
			return &tr.Stages[i]
		}
	}
	t.Fatalf("the trace has no stage %s", stage)
	return nil
}
