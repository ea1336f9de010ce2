package dashboard

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/trace"
)

// lengthReranker prefers short passages: an order that no lane has.
type lengthReranker struct{}

func (lengthReranker) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	scores := make([]float64, len(texts))
	for i, text := range texts {
		scores[i] = 1 / float64(1+len(text))
	}
	return scores, nil
}

// querying returns a dashboard over the handbook that reads the engine's traces.
func querying(t *testing.T, opts ...rag.Option) *Server {
	t.Helper()
	ring := trace.NewRing(trace.RingConfig{Size: 500})
	eng := engine(t, append(opts, rag.WithTraceSink(ring))...)
	ingest(t, eng, handbook)
	return server(t, eng, Options{Traces: ring, EvalDir: t.TempDir()})
}

// tryQuestion sends the form and returns where it leads.
func tryQuestion(t *testing.T, s *Server, form url.Values) string {
	t.Helper()
	code, h, body := post(t, s, "/traces/query/try", form.Encode())
	if code != http.StatusSeeOther {
		t.Fatalf("try %v: %d %s", form, code, body)
	}
	return h.Get("Location")
}

func TestTriedQuestionLandsOnItsTrace(t *testing.T) {
	s := querying(t)
	path := tryQuestion(t, s, url.Values{"question": {"days of annual leave"}, "top_k": {"2"}, "mode": {"hybrid"}})
	var v queryTraceView
	getJSON(t, s, path, &v)
	if v.Trace.UserQuery != "days of annual leave" || len(v.Trace.TopK) != 2 || len(v.Table) < 2 || *v.Table[0].Rank != 1 || v.Table[0].Passage.Line != "Leave" {
		t.Errorf("the trace shows %+v", v)
	}
	_, _, body := get(t, s, path)
	for _, want := range []string{`data-stage="dense"`, `data-stage="sparse"`, `data-testid="rank-row"`, `data-lane="sparse"`, `data-testid="add-to-set"`, "<title>days of annual leave"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page has no %s\n%s", want, body)
		}
	}
	if code, _, body := get(t, s, "/traces/query"); code != http.StatusOK || !strings.Contains(body, `data-testid="query-row"`) {
		t.Errorf("the list: %d\n%s", code, body)
	}
	for form, want := range map[string]int{"question=": 400, "question=x&top_k=0": 400, "question=x&top_k=1000": 400, "question=x&filter=%28": 400, "question=x&as_of=soon": 400, "question=x&mode=guess": 400, "question=x&collection=none": 404} {
		if code, _, _ := post(t, s, "/traces/query/try", form); code != want {
			t.Errorf("%s: %d; want %d", form, code, want)
		}
	}
	if code := status(t, s, "/traces/query/ffff"); code != http.StatusNotFound {
		t.Errorf("an unknown trace: %d", code)
	}
}

func TestTriedAnswerShowsItsCitations(t *testing.T) {
	for _, kept := range []bool{true, false} {
		s := querying(t)
		if !kept {
			s.o.Traces = nil
		}
		path := tryQuestion(t, s, url.Values{"question": {"How long is the notice period to the end of a quarter?"}, "answer": {"on"}})
		var v queryTraceView
		getJSON(t, s, path, &v)
		if v.Answer == nil || v.Answer.Refused || len(v.Answer.Citations) == 0 || v.Answer.Citations[0].Passage.Line != "Notice" {
			t.Fatalf("traces kept %v: the answer is %+v", kept, v.Answer)
		}
		_, _, body := get(t, s, path)
		if !strings.Contains(body, `class="marker" href="#row-`+v.Answer.Citations[0].Passage.ChunkID) || !strings.Contains(body, `data-testid="citations"`) {
			t.Errorf("traces kept %v: the page shows no citation\n%s", kept, body)
		}
	}
}

func TestTwoQueriesSideBySide(t *testing.T) {
	s := querying(t)
	first := tryQuestion(t, s, url.Values{"question": {"annual leave"}, "mode": {"sparse"}})
	id := first[strings.LastIndexByte(first, '/')+1:]
	path := tryQuestion(t, s, url.Values{"question": {"annual leave"}, "mode": {"dense"}, "against": {id}})
	var c queryComparison
	getJSON(t, s, path, &c)
	if c.A.ID != id || c.A.Mode != "sparse" || c.B.Mode != "dense" || c.Both != 1 || c.Rows[0].Passage.Line != "Leave" {
		t.Errorf("compared: %+v", c)
	}
	if code, _, body := get(t, s, path); code != http.StatusOK || !strings.Contains(body, `data-testid="compared-hits"`) {
		t.Errorf("%d\n%s", code, body)
	}
	if code := status(t, s, "/traces/query/compare?id="+id); code != http.StatusBadRequest {
		t.Errorf("one alone: %d", code)
	}
}

func TestExplainAPassage(t *testing.T) {
	s := querying(t)
	var id string
	for c, err := range s.eng.Chunks(t.Context(), "", rag.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(c.URI, "meals.md") {
			id = c.ID
		}
	}
	for name, by := range map[string]url.Values{"its ID": {"chunk": {id}}, "its words": {"text": {"meal  allowance abroad"}}, "its document": {"document": {"meals.md"}}, "its ID, into an answer": {"chunk": {id}, "answer": {"on"}}} {
		by.Set("question", "annual leave")
		by.Set("top_k", "1")
		path := "/traces/query/explain?" + by.Encode()
		var v explanationView
		getJSON(t, s, path, &v)
		if v.Explanation == nil || v.Explanation.ChunkID != id || v.Explanation.Returned || v.Explanation.Verdict == "" || v.Passage.Line != "Meals" {
			t.Errorf("by %s: %+v", name, v.Explanation)
		}
		if code, _, body := get(t, s, path); code != http.StatusOK || !strings.Contains(body, `data-testid="verdict"`) || !strings.Contains(body, `data-stage="top_k"`) || !strings.Contains(body, `data-testid="retry"`) || !strings.Contains(body, "top_k=3") {
			t.Errorf("by %s: %d\n%s", name, code, body)
		}
	}
	if code := status(t, s, "/traces/query/explain?question=x&chunk=gone"); code != http.StatusNotFound {
		t.Errorf("a passage that is gone: %d", code)
	}
	if _, _, body := get(t, s, "/traces/query/explain"); strings.Count(body, s.texts["en"].text("query_explain.title")+"</h") != 1 {
		t.Errorf("the title stands more than once, or not at all:\n%s", body)
	}
	if code, _, body := get(t, s, "/traces/query/explain"); code != http.StatusOK || strings.Contains(body, `data-testid="verdict"`) {
		t.Errorf("nothing asked: %d", code)
	}
}

func TestTheRetryLinkFitsTheForm(t *testing.T) {
	for k, want := range map[int]bool{maxTriedTopK: true, maxTriedTopK + 1: false} {
		again, ok := tryForm{Question: "x"}.with([]rag.Remedy{{Setting: rag.RemedyTopK, Value: k}}, rag.Query{Text: "x"})
		if ok != want {
			t.Errorf("top_k %d: %v; want %v", k, ok, want)
		}
		if _, err := again.query(); ok && err != nil {
			t.Errorf("top_k %d: %v", k, err)
		}
	}
}

func TestListOfQueries(t *testing.T) {
	ring := trace.NewRing(trace.RingConfig{Size: 500})
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	add := func(tr rag.Trace) {
		tr.Timestamp = at.AddDate(0, 0, len(tr.ID))
		if err := ring.Record(t.Context(), &tr); err != nil {
			t.Fatal(err)
		}
	}
	add(rag.Trace{ID: "a", Type: rag.TraceIngest})
	add(rag.Trace{ID: "bb", Type: rag.TraceQuery, UserQuery: "plain question", TotalMS: 5, Stages: []rag.Span{{Stage: rag.StageDense, StartMS: 1, EndMS: 3}, {Stage: rag.StageSparse, StartMS: 1, EndMS: 4}}})
	add(rag.Trace{ID: "ccc", Type: rag.TraceQuery, UserQuery: "slow question", TotalMS: 5000})
	add(rag.Trace{ID: "dddd", Type: rag.TraceQuery, UserQuery: "failed", Error: "it broke"})
	add(rag.Trace{ID: "eeeee", Type: rag.TraceQuery, UserQuery: "degraded", Stages: []rag.Span{{Stage: rag.StageRerank, Status: rag.SpanFailed, Error: "x"}}})
	add(rag.Trace{ID: "ffffff", Type: rag.TraceAsk, UserQuery: "refused", Answer: &rag.AnswerTrace{Refused: true}})
	s := server(t, engine(t), Options{Traces: ring})
	for query, want := range map[string]string{
		"": "ffffff eeeee dddd ccc bb", "q=question": "ccc bb", "status=slow": "ccc", "status=error": "dddd", "status=partial": "eeeee", "status=refused": "ffffff",
		"from=2026-03-05": "ffffff eeeee dddd", "to=2026-03-04": "ccc bb", "to=2026-03": "ffffff eeeee dddd ccc bb", "to=2026-02": "", "from=2026-03&to=2026": "ffffff eeeee dddd ccc bb", "from=2026-04": "", "to=2025": "", "after=dddd": "ccc bb", "collection=none": "",
	} {
		var v queryListView
		getJSON(t, s, "/traces/query?"+query, &v)
		var got []string
		for _, row := range v.Rows {
			got = append(got, row.ID)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q lists %v; want %s", query, got, want)
		}
	}
	for _, query := range []string{"status=red", "from=soon", "to=2026-13"} {
		if code := status(t, s, "/traces/query?"+query); code != http.StatusBadRequest {
			t.Errorf("%s: %d", query, code)
		}
	}
	if code := status(t, s, "/traces/query/a"); code != http.StatusNotFound {
		t.Errorf("an ingest among queries: %d", code)
	}
	for i := range 120 {
		add(rag.Trace{ID: fmt.Sprintf("page%d", i), Type: rag.TraceQuery, UserQuery: "many"})
	}
	seen := map[string]bool{}
	for path := "/traces/query?q=many"; path != ""; {
		var v queryListView
		getJSON(t, s, path, &v)
		for _, row := range v.Rows {
			seen[row.ID] = true
		}
		path = v.Pager.Next
	}
	if len(seen) != 120 {
		t.Errorf("the pages show %d of 120", len(seen))
	}
}

// TestRankTableIsTheTrailOfTheAPI holds what the page shows against what the API says of each hit, and the waterfall against
// the trace's total, over random questions and settings.
func TestRankTableIsTheTrailOfTheAPI(t *testing.T) {
	words := strings.Fields("annual leave notice period quarter meal allowance crowns travel abroad day month sick contract salary bonus remote office desk")
	random := rand.New(rand.NewPCG(7, 11))
	text := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(words[random.IntN(len(words))] + " ")
		}
		return b.String()
	}
	texts := map[string]string{}
	for i := range 60 {
		texts[fmt.Sprintf("doc%02d.md", i)] = fmt.Sprintf("# Part %d\n\n%s.\n", i, text(5+random.IntN(30)))
	}
	c := rag.DefaultConfig()
	c.Retrieval.FusionTopK, c.Retrieval.DenseTopK, c.Retrieval.SparseTopK = 20, 25, 25
	ring := trace.NewRing(trace.RingConfig{Size: 1000})
	eng := engine(t, rag.WithConfig(c), rag.WithTraceSink(ring), rag.WithReranker(lengthReranker{}))
	ingest(t, eng, texts)
	s := server(t, eng, Options{Traces: ring})
	two, apart, collapse := 2, 0.4, 0.8
	moved := 0
	for range 80 {
		q := rag.Query{Text: text(1 + random.IntN(4)), TopK: 1 + random.IntN(15), NoRerank: random.IntN(2) == 0}
		q.Mode = []rag.Mode{"", rag.Hybrid, rag.Dense, rag.Sparse}[random.IntN(4)]
		switch random.IntN(4) {
		case 0:
			q.MaxPerDocument = &two
		case 1:
			q.Diversity = &apart
		case 2:
			q.Collapse = &collapse
		}
		res, err := eng.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		var v queryTraceView
		getJSON(t, s, "/traces/query/"+res.TraceID, &v)
		shown := map[string]rankRow{}
		for _, row := range v.Table {
			shown[row.ChunkID] = row
		}
		for i, h := range res.Hits {
			row, ok := shown[h.Chunk.ID]
			if !ok || row.Rank == nil || *row.Rank != i+1 || row.Score == nil || *row.Score != h.Score || row.Passage.Title != h.Chunk.Title {
				t.Fatalf("%+v: hit %d %s is shown as %+v", q, i+1, h.Chunk.ID, row)
			}
			if _, reranked := h.RankAt(rag.StageRerank); reranked && q.NoRerank {
				t.Fatalf("%+v: hit %d was reranked all the same", q, i+1)
			}
			if row.Delta != 0 {
				moved++
			}
			if diff := cmp.Diff(h.Trail, trailOf(row)); diff != "" {
				t.Fatalf("%+v: hit %d, trail (-API +page):\n%s", q, i+1, diff)
			}
		}
		results := 0
		for _, row := range v.Table {
			if row.Rank != nil {
				results++
			}
		}
		if results != len(res.Hits) {
			t.Fatalf("%+v: the page shows %d results of %d", q, results, len(res.Hits))
		}
		w := v.Waterfall
		if math.Abs(w.BusyMS+w.GapMS-v.Trace.TotalMS) > 1e-9 || math.Abs(covered(w)+w.GapMS-v.Trace.TotalMS) > 1e-6 {
			t.Fatalf("%+v: busy %v + gap %v (bars cover %v) is not the total %v", q, w.BusyMS, w.GapMS, covered(w), v.Trace.TotalMS)
		}
	}
	if moved == 0 {
		t.Error("no hit moved: the property says nothing")
	}
}

// trailOf is the trail that a row shows.
func trailOf(row rankRow) []rag.Rank {
	var trail []rag.Rank
	for _, at := range []struct {
		stage string
		place *trace.Place
	}{{rag.StageDense, row.Dense}, {rag.StageSparse, row.Sparse}, {rag.StageFusion, row.Fusion}, {rag.StageRerank, row.Rerank}, {rag.StageShape, row.Shape}} {
		if at.place != nil {
			trail = append(trail, rag.Rank{Stage: at.stage, Position: at.place.Rank, Score: *at.place.Score})
		}
	}
	return trail
}

// covered is how much of the axis lies under a bar of a stage, found by walking over its edges.
func covered(w trace.Waterfall) float64 {
	sum, at := 0.0, 0.0
	for at < w.TotalMS {
		next, busy := w.TotalMS, false
		for _, r := range w.Rows {
			if r.Stage == "" {
				continue
			}
			for _, edge := range []float64{r.StartMS, r.EndMS} {
				if edge > at {
					next = min(next, edge)
				}
			}
			busy = busy || r.StartMS <= at && r.EndMS > at
		}
		if busy {
			sum += next - at
		}
		at = next
	}
	return sum
}

func TestWaterfallIsDrawnInsideItsAxis(t *testing.T) {
	tr := &rag.Trace{TotalMS: 100, Stages: []rag.Span{
		{Stage: rag.StageQuery, EndMS: 10, ElapsedMS: 10},
		{Stage: rag.StageDense, StartMS: 10, EndMS: 40, ElapsedMS: 30, Detail: map[string]any{"b": 1, "a": "text", "none": nil}},
		{Stage: rag.StageSparse, StartMS: 10, EndMS: 10.001, ElapsedMS: 0.001},
		{Stage: rag.StageRerank, StartMS: 60, EndMS: 100, ElapsedMS: 40, Status: rag.SpanFailed, Error: "timeout"},
	}}
	w := trace.NewWaterfall(tr)
	bars := drawWaterfall(&w, tr)
	gaps := 0
	for _, b := range bars {
		if b.X < 0 || b.W < leastBar || b.X+b.W > 100+1e-9 {
			t.Errorf("%s is drawn at %v, %v wide", b.Stage, b.X, b.W)
		}
		if b.Gap() {
			gaps++
		}
	}
	if gaps != 1 || len(bars) != 5 {
		t.Errorf("%d rows with %d gaps; want 5 and 1", len(bars), gaps)
	}
	if diff := cmp.Diff([]detail{{"a", "text"}, {"b", "1"}}, bars[1].Details); diff != "" {
		t.Error(diff)
	}
	for total, want := range map[float64]string{100: "0 ms 20 ms 40 ms 60 ms 80 ms 100 ms", 0.31: "0 ms 0.1 ms 0.2 ms 0.3 ms", 2500: "0 ms 500 ms 1 s 1.5 s 2 s 2.5 s", 0: "", math.Inf(1): ""} {
		var labels []string
		for _, tick := range ticks(total) {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, " "); got != want {
			t.Errorf("ticks of %v: %s; want %s", total, got, want)
		}
	}
}

func TestRankTableIsSortedAndFiltered(t *testing.T) {
	s := querying(t)
	path := tryQuestion(t, s, url.Values{"question": {"the meal allowance and the notice period"}})
	for _, by := range sortColumns {
		var v queryTraceView
		getJSON(t, s, path+"?sort="+by, &v)
		if len(v.Table) != v.All || v.Sort != by {
			t.Errorf("sorted by %s: %d of %d rows", by, len(v.Table), v.All)
		}
		for i := 1; i < len(v.Table); i++ {
			if by == "sparse" && v.Table[i].Sparse != nil && (v.Table[i-1].Sparse == nil || v.Table[i-1].Sparse.Rank > v.Table[i].Sparse.Rank) {
				t.Errorf("sorted by %s, row %d stands wrong", by, i)
			}
		}
	}
	var v queryTraceView
	getJSON(t, s, path+"?doc=MEALS", &v)
	if len(v.Table) != 1 || v.All < 2 {
		t.Errorf("the filter leaves %d of %d rows", len(v.Table), v.All)
	}
}

func TestHostileQueriesAreShownHarmlessly(t *testing.T) {
	ring := trace.NewRing(trace.RingConfig{})
	eng := engine(t, rag.WithTraceSink(ring))
	text := strings.NewReplacer("\x00", "", "\x07", "").Replace(hostile) // a file with these is no text
	ingest(t, eng, map[string]string{"bad.md": "# " + text + "\n\nleave " + text + "\n"})
	s := server(t, eng, Options{Traces: ring, EvalDir: t.TempDir()})
	shown := 0
	harmless := func(path string) {
		t.Helper()
		code, _, body := get(t, s, path)
		if code != http.StatusOK {
			t.Errorf("%s: %d\n%s", path, code, body)
		}
		if text := checkHarmless(t, path, body); strings.Contains(text, "<script>alert(1)") {
			shown++
		}
	}
	first := tryQuestion(t, s, url.Values{"question": {"leave " + hostile}, "filter": {""}})
	second := tryQuestion(t, s, url.Values{"question": {"leave " + hostile}, "answer": {"on"}, "against": {hostile}})
	id := first[strings.LastIndexByte(first, '/')+1:]
	kept, err := ring.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	kept.ID = "0123456789abcdef"
	kept.Error, kept.Mode, kept.Collection = hostile, hostile, hostile
	kept.Notes = []rag.Note{{Stage: hostile, Reason: hostile}}
	kept.Answer = &rag.AnswerTrace{Mode: hostile, Reliability: hostile, Reason: hostile, Text: hostile, Citations: []rag.CitationTrace{{ChunkID: hostile, Claim: hostile, Verdict: hostile}}}
	kept.Stages[0].Detail = map[string]any{hostile: hostile}
	kept.Stages[1].Stage, kept.Stages[1].Method, kept.Stages[1].Error = hostile, hostile, hostile
	kept.TopK[0].ChunkID, kept.TopK[0].URI = hostile, hostile
	if err := ring.Record(t.Context(), &kept); err != nil {
		t.Fatal(err)
	}
	var chunk string
	for c, err := range eng.Chunks(t.Context(), "", rag.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		chunk = c.ID
	}
	b := url.Values{"b": {second[strings.LastIndex(second, "b=")+2:]}}.Get("b")
	q := url.Values{"q": {hostile}, "doc": {hostile}, "sort": {hostile}, "collection": {"default"}, "question": {hostile}, "filter": {hostile}, "against": {hostile}}.Encode()
	for _, path := range []string{
		first, first + "?" + q, "/traces/query/" + kept.ID, "/traces/query/" + b, "/traces/query", "/traces/query?" + q, "/traces/query?lang=zh",
		"/traces/query/compare?a=" + id + "&b=" + kept.ID, "/traces/query/explain?chunk=" + chunk + "&question=" + url.QueryEscape("leave "+hostile), "/traces/query/explain?" + q,
	} {
		harmless(path)
	}
	if shown < 8 {
		t.Errorf("the script is shown as text on %d pages; want 8 and more", shown)
	}
}
