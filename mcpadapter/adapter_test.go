package mcpadapter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/access"
	_ "github.com/seed-d8745b77/rag/catalog"
	"github.com/seed-d8745b77/rag/domain"
	_ "github.com/seed-d8745b77/rag/fusion"
	_ "github.com/seed-d8745b77/rag/loader"
	"github.com/seed-d8745b77/rag/mcpadapter"
	"github.com/seed-d8745b77/rag/ragtest"
	_ "github.com/seed-d8745b77/rag/sparse"
	_ "github.com/seed-d8745b77/rag/splitter"
	_ "github.com/seed-d8745b77/rag/trace"
	_ "github.com/seed-d8745b77/rag/transform"
	_ "github.com/seed-d8745b77/rag/vectorstore"
	_ "github.com/seed-d8745b77/rag/verify"
)

// engine holds a few documents of two tenants.
func engine(t *testing.T, opts ...rag.Option) *rag.Engine {
	t.Helper()
	eng, err := rag.Open(t.TempDir(), append([]rag.Option{rag.WithEmbedder(&ragtest.HashEmbedder{})}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { eng.Close() })
	var sets []rag.Sources
	for name, text := range map[string]string{
		"red.md":  "---\ntenant: red\n---\n# Herons\n\n## Food\n\nThe heron of red eats fish at dawn.\n",
		"blue.md": "---\ntenant: blue\n---\n# Badgers\n\n## Food\n\nThe badger of blue eats worms at night.\n",
	} {
		sets = append(sets, rag.Bytes("mem:docs/"+name, []byte(text)))
	}
	if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: sets}); err != nil {
		t.Fatal(err)
	}
	return eng
}

func adapter(t *testing.T, eng *rag.Engine, o mcpadapter.Options) *mcpadapter.Adapter {
	t.Helper()
	a, err := mcpadapter.New(access.Fixed(eng), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// connect returns a client of the official SDK, connected in memory.
func connect(t *testing.T, a *mcpadapter.Adapter, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	there, here := mcp.NewInMemoryTransports()
	if _, err := a.Server().Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// call calls a tool and returns its text and its data.
func call(t *testing.T, s *mcp.ClientSession, name string, args map[string]any) (string, map[string]any) {
	t.Helper()
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	text := res.Content[0].(*mcp.TextContent).Text
	if res.IsError {
		t.Fatalf("%s %v: %s", name, args, text)
	}
	data, _ := res.StructuredContent.(map[string]any)
	return text, data
}

func keys(m map[string]any) []string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

// TestToolsList holds what hosts and models bear: few tools, few bytes, no type that is a list, all hints set.
func TestToolsList(t *testing.T) {
	list, err := connect(t, adapter(t, engine(t), mcpadapter.Options{}), nil).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(list)
	if err != nil || len(b) > 6<<10 || len(list.Tools) > 8 {
		t.Errorf("%d tools in %d bytes, %v: at most 8 in 6144", len(list.Tools), len(b), err)
	}
	t.Logf("%d tools in %d bytes", len(list.Tools), len(b))
	all := mcpadapter.Presets()
	list, err = connect(t, adapter(t, engine(t), mcpadapter.Options{Tools: all, Roots: []string{t.TempDir()}}), nil).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		b, _ := json.Marshal(tool)
		if strings.Contains(string(b), `"type":[`) {
			t.Errorf("%s has a type that is a list: %s", tool.Name, b)
		}
		a := tool.Annotations
		changes := slices.Contains([]string{"ingest", "cancel_job", "delete_document"}, tool.Name)
		if a == nil || a.ReadOnlyHint == changes || a.DestructiveHint == nil || *a.DestructiveHint != (tool.Name == "delete_document") || a.OpenWorldHint == nil || tool.OutputSchema == nil {
			t.Errorf("%s: annotations %+v", tool.Name, a)
		}
	}
	want := []string{"ask", "ask_question", "cancel_job", "delete_document", "explain_passage", "get_document_summary", "ingest", "job_status", "list_collections", "list_topics", "query_knowledge_hub", "search", "search_documents", "stats"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

func TestToolsAnswerAsTheirSystemsDo(t *testing.T) {
	s := connect(t, adapter(t, engine(t), mcpadapter.Options{Tools: []string{"hub", "docs", "course"}}), nil)
	text, data := call(t, s, "query_knowledge_hub", map[string]any{"query": "what does the heron eat?", "top_k": 1})
	first := data["citations"].([]any)[0].(map[string]any)
	if !strings.Contains(text, "**[1] Herons** · red.md") || first["title"] != "Herons" || first["source_path"] != "mem:docs/red.md" || first["chunk_id"] == "" || first["id"] != 1.0 {
		t.Errorf("%s\n%v", text, data)
	}
	text, data = call(t, s, "query_knowledge_hub", map[string]any{"query": "hello"})
	if data["intent"] != "chat" || len(data["citations"].([]any)) != 0 || text == "" {
		t.Errorf("small talk: %s %v", text, data)
	}
	text, data = call(t, s, "list_collections", nil)
	if one := data["collections"].([]any)[0].(map[string]any); one["name"] != "default" || one["chunks"] != 2.0 || one["bm25_index"] != true || !strings.Contains(text, "| default | 2 | 2 | yes |") {
		t.Errorf("%s %v", text, data)
	}
	if _, by := call(t, s, "get_document_summary", map[string]any{"source_hash": "rag://default/" + rag.DocumentID("default", "mem:docs/red.md"), "collection": "none"}); by["source_path"] != "mem:docs/red.md" {
		t.Errorf("by the URI of its resource: %v", by)
	}
	_, data = call(t, s, "get_document_summary", map[string]any{"source_hash": "mem:docs/red.md"})
	if diff := cmp.Diff([]string{"avg_chunk_size", "chunk_count", "images", "processed_at", "source_path", "status", "title", "total_chars", "uri"}, keys(data)); diff != "" || data["status"] != "success" {
		t.Errorf("%s %v", diff, data)
	}
	_, data = call(t, s, "search", map[string]any{"query": "heron", "filter": "tenant = red"})
	results := data["results"].([]any)
	if diff := cmp.Diff([]string{"chunk_id", "score", "section", "snippet", "source"}, keys(results[0].(map[string]any))); diff != "" || len(results) != 1 {
		t.Errorf("%s %v", diff, data)
	}
	text, data = call(t, s, "ask", map[string]any{"query": "what does the heron of red eat?"})
	if data["question"] == "" || data["refused"] == nil || len(data["sources"].([]any)) == 0 || !strings.Contains(text, "Sources:") {
		t.Errorf("%s %v", text, data)
	}
	if _, data = call(t, s, "list_topics", nil); !cmp.Equal(data["topics"], any([]any{"Badgers › Food", "Herons › Food"})) {
		t.Errorf("%v", data)
	}
	if _, data = call(t, s, "stats", nil); data["n_chunks"] != 2.0 || data["n_sources"] != 2.0 || data["n_topics"] != 2.0 || data["dim"] == 0.0 {
		t.Errorf("%v", data)
	}
	if _, data = call(t, s, "search_documents", map[string]any{"query": "heron"}); data["results"].([]any)[0].(map[string]any)["similarity"] == nil {
		t.Errorf("%v", data)
	}
	_, data = call(t, s, "ask_question", map[string]any{"query": "who won the cup of 1954?"})
	if diff := cmp.Diff([]string{"answer", "intent", "question", "sources", "status"}, keys(data)); diff != "" || !slices.Contains([]any{rag.Reliable, rag.ToVerify, rag.NoAnswer}, data["status"]) {
		t.Errorf("%s %v", diff, data)
	}
}

// A document has the name by which answers tell it, whether it is the second of a file or its own name holds a number sign.
func TestDocumentsAreNamedAsTheyAreTold(t *testing.T) {
	eng, dir := engine(t), t.TempDir()
	for name, text := range map[string]string{
		"x.jsonl": `{"title": "Otters", "text": "Otters swim."}` + "\n" + `{"title": "Foxes", "text": "Foxes hunt."}`, "a#2.md": "# Voles", "a.md#2": "# Moles",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(dir)}}); err != nil {
		t.Fatal(err)
	}
	s := connect(t, adapter(t, eng, mcpadapter.Options{Tools: []string{"hub"}}), nil)
	for _, name := range []string{filepath.Join(dir, "x.jsonl"), filepath.Join(dir, "x.jsonl#2"), filepath.Join(dir, "a#2.md"), rag.FileURI(filepath.Join(dir, "a.md#2"))} {
		if _, data := call(t, s, "get_document_summary", map[string]any{"source_hash": name}); data["source_path"] != name {
			t.Errorf("%s: %v", name, data)
		}
	}
}

func TestAPassageIsExplained(t *testing.T) {
	s := connect(t, adapter(t, engine(t), mcpadapter.Options{}), nil)
	_, found := call(t, s, "query_knowledge_hub", map[string]any{"query": "what does the heron eat?", "top_k": 2})
	second := found["citations"].([]any)[1].(map[string]any)["chunk_id"]
	text, data := call(t, s, "explain_passage", map[string]any{"query": "what does the heron eat?", "top_k": 1, "chunk_id": second})
	if data["returned"] != false || data["rank"] != nil || !strings.Contains(text, data["verdict"].(string)) || !strings.Contains(text, "| dense | 2 |") {
		t.Errorf("%s\n%v", text, data)
	}
	_, data = call(t, s, "explain_passage", map[string]any{"query": "what does the heron eat?", "chunk_id": second})
	if data["returned"] != true || data["rank"] != 2.0 || len(data["stages"].([]any)) < 4 {
		t.Errorf("%v", data)
	}
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "explain_passage", Arguments: map[string]any{"query": "x", "chunk_id": "none"}})
	if err != nil || !res.IsError {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestWrongArgumentsNameTheFieldAndTheRange(t *testing.T) {
	s := connect(t, adapter(t, engine(t), mcpadapter.Options{Tools: []string{"hub", "search"}}), nil)
	for _, tt := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"query": "x", "top_k": 0}, "top_k is 0: give a whole number from 1 to 20"},
		{map[string]any{"query": "x", "top_k": 21}, "top_k is 21: give a whole number from 1 to 20"},
		{map[string]any{"query": "x", "top_k": 2.5}, "top_k is 2.5: give a whole number from 1 to 20"},
		{map[string]any{"query": "x", "top_k": "5"}, `top_k is the text "5": give a whole number from 1 to 20`},
		{map[string]any{"query": []string{"x"}}, "query is a list: give a text"},
		{map[string]any{"query": " "}, "query is empty: give a text"},
		{map[string]any{"query": strings.Repeat("x", 4001)}, "query is a text of 4001 characters: give a text of at most 4000"},
		{nil, "query is missing: give a text"},
		{map[string]any{"query": "x", "topk": 1}, `there is no parameter "topk", did you mean "top_k"?`},
		{map[string]any{"query": "x", "collection": "nope"}, `no collection "nope"`},
	} {
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "query_knowledge_hub", Arguments: tt.args})
		if err != nil {
			t.Fatal(err)
		}
		if text := res.Content[0].(*mcp.TextContent).Text; !res.IsError || !strings.HasPrefix(text, tt.want) {
			t.Errorf("%v: %q, want %q", tt.args, text, tt.want)
		}
	}
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"query": "x", "filter": "tenant ="}})
	if err != nil || !res.IsError || !strings.HasPrefix(res.Content[0].(*mcp.TextContent).Text, "filter: column ") {
		t.Errorf("%+v, %v", res, err)
	}
	if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "nope"}); err == nil || !strings.Contains(err.Error(), "unknown tool") {
		t.Errorf("unknown tool: %v", err)
	}
}

func TestProgressTellsTheStages(t *testing.T) {
	var mu sync.Mutex
	var stages []string
	last, rising := 0.0, true
	done := make(chan struct{}, 100)
	s := connect(t, adapter(t, engine(t), mcpadapter.Options{}), &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		mu.Lock()
		defer mu.Unlock()
		event, _ := r.Params.Meta["rag/stage"].(map[string]any)
		stages = append(stages, fmt.Sprint(event["stage"]))
		rising = rising && r.Params.Progress > last
		last = r.Params.Progress
		done <- struct{}{}
	}})
	params := &mcp.CallToolParams{Name: "query_knowledge_hub", Arguments: map[string]any{"query": "heron"}}
	params.SetProgressToken("p")
	if _, err := s.CallTool(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	for range 7 {
		<-done
	}
	mu.Lock()
	defer mu.Unlock()
	for _, want := range []string{"routing", rag.StageDense, rag.StageSparse, rag.StageFusion} {
		if !slices.Contains(stages, want) {
			t.Errorf("no %s among %v", want, stages)
		}
	}
	if !rising {
		t.Error("progress does not rise")
	}
}

// waiting is an embedder that waits for the end of its context.
type waiting struct {
	ragtest.HashEmbedder
	started, ended chan struct{}
}

func (w *waiting) Embed(ctx context.Context, role rag.EmbedRole, texts []string) ([][]float32, error) {
	if role == rag.AsPassage {
		return w.HashEmbedder.Embed(ctx, role, texts)
	}
	w.started <- struct{}{}
	<-ctx.Done()
	w.ended <- struct{}{}
	return nil, ctx.Err()
}

// sink keeps the errors of traces.
type sink struct{ errors chan string }

func (s sink) Record(_ context.Context, t *rag.Trace) error {
	if t.Type == rag.TraceQuery {
		s.errors <- t.Error
	}
	return nil
}

func TestCancelledCallsEnd(t *testing.T) {
	w := &waiting{started: make(chan struct{}, 1), ended: make(chan struct{}, 1)}
	traces := sink{make(chan string, 10)}
	s := connect(t, adapter(t, engine(t, rag.WithEmbedder(w), rag.WithTraceSink(traces)), mcpadapter.Options{Tools: []string{"search"}}), nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-w.started; cancel() }()
	if _, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"query": "heron"}}); err == nil {
		t.Error("a cancelled call has a result")
	}
	<-w.ended
	if got := <-traces.errors; !strings.Contains(got, "canceled") {
		t.Errorf("the trace says %q", got)
	}
	if err := s.Ping(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// panicking is an embedder that panics at questions.
type panicking struct{ ragtest.HashEmbedder }

func (p *panicking) Embed(ctx context.Context, role rag.EmbedRole, texts []string) ([][]float32, error) {
	if role == rag.AsQuestion {
		panic("nothing is well")
	}
	return p.HashEmbedder.Embed(ctx, role, texts)
}

func TestAPanicEndsNothing(t *testing.T) {
	s := connect(t, adapter(t, engine(t, rag.WithEmbedder(&panicking{})), mcpadapter.Options{Tools: []string{"search", "stats"}}), nil)
	text, data := call(t, s, "search", map[string]any{"query": "heron"})
	if len(data["results"].([]any)) == 0 || strings.Contains(text, "goroutine") {
		t.Errorf("the other lane: %s", text)
	}
	call(t, s, "stats", nil)
}

func TestResourcesPromptsAndCompletion(t *testing.T) {
	ctx := t.Context()
	s := connect(t, adapter(t, engine(t), mcpadapter.Options{}), nil)
	list, err := s.ListResources(ctx, nil)
	if err != nil || len(list.Resources) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, r := range list.Resources {
		got, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: r.URI})
		if err != nil || got.Contents[0].Text == "" {
			t.Errorf("%s: %v", r.URI, err)
		}
	}
	for _, uri := range []string{"rag://default/none", "rag://none/x", "rag://%zz/x"} {
		if _, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s was read", uri)
		}
	}
	p, err := s.GetPrompt(ctx, &mcp.GetPromptParams{Name: "answer_with_citations", Arguments: map[string]string{"question": "what does the heron eat?"}})
	if err != nil || !strings.Contains(p.Messages[0].Content.(*mcp.TextContent).Text, "[1] red.md") {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := s.GetPrompt(ctx, &mcp.GetPromptParams{Name: "answer_with_citations", Arguments: map[string]string{"question": " "}}); err == nil {
		t.Error("an empty question")
	}
	for typed, want := range map[string][]string{"collection|d": {"default"}, "collection|x": {}, "filter|tenant = r": {`tenant = "red"`}} {
		arg, value, _ := strings.Cut(typed, "|")
		c, err := s.Complete(ctx, &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "answer_with_citations"}, Argument: mcp.CompleteParamsArgument{Name: arg, Value: value}})
		if err != nil || !cmp.Equal(c.Completion.Values, want) {
			t.Errorf("%s: %+v, %v", typed, c, err)
		}
	}
}

// TestResourcesAreListedInPages: every document once, in order, whatever the page.
func TestResourcesAreListedInPages(t *testing.T) {
	eng := engine(t)
	var sets []rag.Sources
	for i := range 230 {
		sets = append(sets, rag.Bytes(fmt.Sprintf("mem:more/%03d.txt", i), []byte(fmt.Sprintf("Heron number %d.", i))))
	}
	for _, collection := range []string{"default", "other"} {
		if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Collection: collection, Sources: sets}); err != nil {
			t.Fatal(err)
		}
	}
	s := connect(t, adapter(t, eng, mcpadapter.Options{}), nil)
	seen := map[string]bool{}
	pages, params := 0, &mcp.ListResourcesParams{}
	for {
		list, err := s.ListResources(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		pages++
		for _, r := range list.Resources {
			if seen[r.URI] {
				t.Errorf("%s is listed twice", r.URI)
			}
			seen[r.URI] = true
		}
		if params.Cursor = list.NextCursor; params.Cursor == "" {
			break
		}
	}
	if want := 1 + 2 + 2*230; len(seen) != want || pages != 5 {
		t.Errorf("%d resources on %d pages, want %d on 5", len(seen), pages, want)
	}
}

func TestDomainsOfferTheirTools(t *testing.T) {
	d, err := domain.Load("../examples/admissions/admissions.yaml")
	if err != nil {
		t.Fatal(err)
	}
	eng := engine(t)
	dir := "../domain/testdata/admissions"
	sets, err := d.Manifest(filepath.Join(dir, "manifest.jsonl"), dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Collection: d.Collection, Domain: d, Sources: sets}); err != nil {
		t.Fatal(err)
	}
	s := connect(t, adapter(t, eng, mcpadapter.Options{Tools: []string{"hub", "docs"}, Domains: []*domain.Domain{d}}), nil)
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := json.Marshal(list); err != nil || !strings.Contains(string(b), "fields of admissions: country, ") {
		t.Errorf("a filter does not tell the fields: %s, %v", b, err)
	}
	_, data := call(t, s, d.Tool.Name, map[string]any{"query": "IELTS score, fee, visa", "country": "GB", "business_date": "2026-01-01"})
	got := map[string]string{}
	for _, c := range data["citations"].([]any) {
		one := c.(map[string]any)
		got[one["source"].(string)] = fmt.Sprint(one["status"])
	}
	if diff := cmp.Diff(map[string]string{"requirements-2026.md": "current", "visa-guide.md": "needs_review"}, got); diff != "" {
		t.Error(diff)
	}
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: d.Tool.Name, Arguments: map[string]any{"query": "fee", "country": "Narnia"}})
	if err != nil || !res.IsError {
		t.Errorf("%+v, %v", res, err)
	}
	rulesOfAdmissions(t, s, d.Collection)
	rulesOfAdmissions(t, connect(t, adapter(t, eng, mcpadapter.Options{Tools: []string{"hub", "docs"}}), nil), d.Collection) // as the collection remembers it
}

// rulesOfAdmissions: the rules of the domain hold in its collection, whichever tool asks: other names of values, and what is
// in force.
func rulesOfAdmissions(t *testing.T, s *mcp.ClientSession, collection string) {
	t.Helper()
	for tool, key := range map[string]string{"search": "results", "ask": "sources", "query_knowledge_hub": "citations"} {
		args := map[string]any{"query": "IELTS score, fee, visa", "collection": collection, "filter": `country = "GB"`}
		if tool == "query_knowledge_hub" {
			args = map[string]any{"query": "IELTS score, fee, visa, only Great Britain", "collection": collection}
		}
		_, data := call(t, s, tool, args)
		if len(data[key].([]any)) == 0 {
			t.Errorf("%s finds nothing", tool)
		}
		for _, one := range data[key].([]any) {
			if source := one.(map[string]any)["source"]; source != "requirements-2026.md" && source != "visa-guide.md" {
				t.Errorf("%s finds %v", tool, source)
			}
		}
	}
}

func TestIngestIsAJobInsideItsRoots(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	for _, p := range []string{filepath.Join(root, "a.md"), filepath.Join(outside, "secret.md")} {
		if err := os.WriteFile(p, []byte("# Otters\n\nAn otter swims.\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(outside, "secret.md"), filepath.Join(root, "link.md")); err != nil {
		t.Skip(err)
	}
	s := connect(t, adapter(t, engine(t), mcpadapter.Options{Tools: []string{"ingest", "delete", "search"}, Roots: []string{root}}), nil)
	for _, path := range []string{outside, "../" + filepath.Base(outside), "/etc/passwd", "link.md", "none.md"} {
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "ingest", Arguments: map[string]any{"path": path}})
		if err != nil || !res.IsError {
			t.Errorf("%s: %+v, %v", path, res, err)
		}
	}
	_, data := call(t, s, "ingest", map[string]any{"path": "a.md"})
	if data["state"] != "done" || data["added"] != 1.0 {
		t.Errorf("%v", data)
	}
	if _, again := call(t, s, "job_status", map[string]any{"job_id": data["job_id"]}); !cmp.Equal(again, data) {
		t.Errorf("%v, then %v", data, again)
	}
	if _, data = call(t, s, "search", map[string]any{"query": "otter", "top_k": 1}); data["results"].([]any)[0].(map[string]any)["source"] != "a.md" {
		t.Errorf("%v", data)
	}
	if _, data = call(t, s, "delete_document", map[string]any{"document": filepath.Join(root, "a.md")}); data["deleted"] != true {
		t.Errorf("%v", data)
	}
}

func TestWrites(t *testing.T) {
	for name, want := range map[string]bool{
		"hub": false, "docs": false, "course": false, "search": false, "job_status": false, "unknown": false,
		"ingest": true, "delete": true, "delete_document": true,
	} {
		if got := mcpadapter.Writes([]string{"ask", name}); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
