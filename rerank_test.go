package rag_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

// scorer is a reranker made of a function, with the description it gives of itself.
type scorer struct {
	model rag.RerankModel
	score func(ctx context.Context, query string, texts []string) ([]float64, error)

	mu    sync.Mutex // calls that are left behind may overlap
	calls [][]string // texts of each call
}

func (s *scorer) RerankModel() rag.RerankModel { return s.model }

func (s *scorer) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	s.mu.Lock()
	s.calls = append(s.calls, slices.Clone(texts))
	s.mu.Unlock()
	if s.score == nil {
		return byLength{}.Rerank(ctx, query, texts)
	}
	return s.score(ctx, query, texts)
}

// memoryEngine keeps nothing on disk. Each text is a document of one passage.
func memoryEngine(t *testing.T, change func(*rag.Config), texts []string, opts ...rag.Option) *rag.Engine {
	t.Helper()
	c := rag.DefaultConfig()
	c.Trace.Provider = "ring"
	if change != nil {
		change(&c)
	}
	eng, err := rag.Open("", append([]rag.Option{rag.WithConfig(c), rag.WithEmbedder(&ragtest.HashEmbedder{})}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	var sources []rag.Sources
	for i, text := range texts {
		sources = append(sources, rag.Bytes(fmt.Sprintf("mem:///%02d.txt", i), []byte(text)))
	}
	if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: sources}); err != nil {
		t.Fatal(err)
	}
	return eng
}

func search(t *testing.T, eng *rag.Engine, q rag.Query) *rag.Result {
	t.Helper()
	res, err := eng.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func opals(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = strings.Repeat("opal ", n-i) + strings.Repeat("filler ", 2*i) + "end."
	}
	return texts
}

func TestARerankerThatSleepsPastItsDeadlineCostsItsDeadline(t *testing.T) {
	const budget, slack = 300 * time.Millisecond, 200 * time.Millisecond
	for _, c := range []struct {
		name   string
		caller time.Duration // deadline of the caller; 0: none
		want   time.Duration
	}{
		{"its own budget", 0, budget},
		{"a far deadline changes nothing", time.Hour, budget},
		{"half of what a near deadline leaves", 200 * time.Millisecond, 100 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				deaf := &scorer{score: func(context.Context, string, []string) ([]float64, error) {
					<-time.After(time.Hour) // and does not look at its context
					return nil, nil
				}}
				eng := memoryEngine(t, func(c *rag.Config) { c.Retrieval.RerankMS = int(budget.Milliseconds()) }, opals(5), rag.WithReranker(deaf))
				ctx := t.Context()
				if c.caller > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.caller)
					defer cancel()
				}
				start := time.Now()
				res, err := eng.Search(ctx, rag.Query{Text: "opal", Explain: true})
				if took := time.Since(start); took < c.want || took > c.want+slack {
					t.Errorf("the search took %v, want %v", took, c.want)
				}
				if err != nil || len(res.Hits) != 5 || res.Rerank.Status != rag.RerankTimeout || res.Rerank.Reason == "" {
					t.Fatalf("error %v, result %+v", err, res)
				}
				span := res.Trace.Stages[4]
				if span.Status != rag.SpanFailed || span.Detail["status"] != rag.RerankTimeout || span.Error == "" {
					t.Errorf("span %+v", span)
				}
				if _, ok := res.Hits[0].RankAt(rag.StageRerank); ok {
					t.Error("a reranker that gave no answer left a rank")
				}
				<-time.After(2 * time.Hour) // let it end
			})
		})
	}
}

func TestADeafRerankerIsNotCalledForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		deaf := &scorer{score: func(context.Context, string, []string) ([]float64, error) {
			calls.Add(1)
			<-time.After(time.Hour)
			return nil, nil
		}}
		eng := memoryEngine(t, func(c *rag.Config) { c.Retrieval.RerankMS = 10 }, opals(2), rag.WithReranker(deaf))
		const searches = 30
		for range searches {
			search(t, eng, rag.Query{Text: "opal"})
		}
		if n := calls.Load(); n >= searches {
			t.Errorf("%d calls hang", n)
		}
		if got := search(t, eng, rag.Query{Text: "opal"}).Rerank; got.Status != rag.RerankFailed {
			t.Errorf("status %+v", got)
		}
		<-time.After(2 * time.Hour)
		before := calls.Load()
		search(t, eng, rag.Query{Text: "opal"})
		if calls.Load() != before+1 {
			t.Error("it is not called again after its calls have ended")
		}
		<-time.After(2 * time.Hour)
	})
}

func TestWhatARerankerGetsWrongLeavesTheOrderOfFusion(t *testing.T) {
	plain := names(search(t, memoryEngine(t, nil, opals(4)), rag.Query{Text: "opal"}))
	for name, score := range map[string]func(context.Context, string, []string) ([]float64, error){
		"an error":       func(context.Context, string, []string) ([]float64, error) { return nil, errors.New("asleep") },
		"too few scores": func(context.Context, string, []string) ([]float64, error) { return []float64{1}, nil },
		"not a number": func(_ context.Context, _ string, texts []string) ([]float64, error) {
			return append(make([]float64, len(texts)-1), math.NaN()), nil
		},
		"a panic": func(context.Context, string, []string) ([]float64, error) { panic("out of cheese") },
	} {
		t.Run(name, func(t *testing.T) {
			res := search(t, memoryEngine(t, nil, opals(4), rag.WithReranker(&scorer{score: score})), rag.Query{Text: "opal"})
			if diff := cmp.Diff(plain, names(res)); diff != "" || res.Rerank.Status != rag.RerankFailed || len(res.Notes) != 1 {
				t.Errorf("status %+v, order (-fusion +got):\n%s", res.Rerank, diff)
			}
			raw, err := json.Marshal(res)
			if err != nil || !strings.Contains(string(raw), `"rerank":{"status":"failed","reason":`) {
				t.Errorf("%v: %s", err, raw)
			}
		})
	}
	if got := search(t, memoryEngine(t, nil, opals(2)), rag.Query{Text: "opal"}).Rerank; got.Status != rag.RerankOff {
		t.Errorf("without a reranker: %+v", got)
	}
}

func TestOnlyTheFirstPairsAreReranked(t *testing.T) {
	r := &scorer{}
	eng := memoryEngine(t, func(c *rag.Config) { c.Retrieval.RerankTopN = 3 }, opals(8), rag.WithReranker(r))
	plain := names(search(t, memoryEngine(t, nil, opals(8)), rag.Query{Text: "opal"}))
	res := search(t, eng, rag.Query{Text: "opal", Explain: true})
	if len(r.calls) != 1 || len(r.calls[0]) != 3 {
		t.Errorf("calls: %q", r.calls)
	}
	got := names(res)
	if diff := cmp.Diff(plain[3:], got[3:]); diff != "" {
		t.Errorf("behind the pairs (-fusion +got):\n%s", diff)
	}
	for i, h := range res.Hits {
		if _, ok := h.RankAt(rag.StageRerank); ok != (i < 3) {
			t.Errorf("%s has a rank of the reranker: %v", filepath.Base(h.Chunk.URI), ok)
		}
	}
	if m := res.Trace.Stages[4].Moves; m == nil || m.New != 0 || m.Dropped != 0 {
		t.Errorf("moves %+v", m)
	}
}

func TestALongPassageIsRerankedByItsBestWindow(t *testing.T) {
	r := &scorer{model: rag.RerankModel{MaxTokens: 64}}
	long := strings.Repeat("Plain filler sentence here. ", 30) + "The opal glows. " + strings.Repeat("More filler words there. ", 30)
	eng := memoryEngine(t, nil, []string{long, "A short opal."}, rag.WithReranker(r))
	res := search(t, eng, rag.Query{Text: "opal glow", Explain: true})
	if len(r.calls) != 1 {
		t.Fatalf("%d calls", len(r.calls))
	}
	for _, text := range r.calls[0] {
		if n := (&ragtest.HashEmbedder{}).CountTokens(text); !strings.Contains(text, "opal") || n > 64 {
			t.Errorf("%d words: %q", n, text)
		}
	}
	if got := res.Trace.Stages[4].Detail["windows"]; got == 0 {
		t.Error("the trace tells of no window")
	}
	for _, h := range res.Hits {
		if len(h.Chunk.Text) < len("A short opal.") {
			t.Errorf("a hit was cut: %q", h.Chunk.Text)
		}
	}
}

func TestScoresAreRemembered(t *testing.T) {
	for _, c := range []struct {
		name  string
		model rag.RerankModel
		want  int // calls after three searches, two of them the same
	}{
		{"under the model's name", rag.RerankModel{Name: "m"}, 2},
		{"not without a name", rag.RerankModel{}, 3},
		{"not if they depend on the list", rag.RerankModel{Name: "m", Listwise: true}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &scorer{model: c.model}
			eng := memoryEngine(t, nil, opals(4), rag.WithReranker(r))
			first := names(search(t, eng, rag.Query{Text: "opal"}))
			second := names(search(t, eng, rag.Query{Text: "opal"}))
			search(t, eng, rag.Query{Text: "opal filler"})
			if diff := cmp.Diff(first, second); diff != "" || len(r.calls) != c.want {
				t.Errorf("%d calls, want %d; order (-first +second):\n%s", len(r.calls), c.want, diff)
			}
		})
	}
}

func TestBlendedScores(t *testing.T) {
	order := func(weight float64) (names_ []string, scores []float64) {
		eng := memoryEngine(t, func(c *rag.Config) { c.Retrieval.RerankWeight = weight }, opals(3), rag.WithReranker(byLength{}))
		res := search(t, eng, rag.Query{Text: "opal"})
		for _, h := range res.Hits {
			scores = append(scores, h.Score)
		}
		return names(res), scores
	}
	fused := names(search(t, memoryEngine(t, nil, opals(3)), rag.Query{Text: "opal"}))
	pure, raw := order(1)
	if slices.Equal(fused, pure) || raw[0] < 2 {
		t.Fatalf("the reranker changes nothing: %v, scores %v", pure, raw)
	}
	little, scores := order(0.01)
	if !slices.Equal(little, fused) || scores[0] > 1 || scores[2] < 0 {
		t.Errorf("weight 0.01: %v with scores %v, fusion has %v", little, scores, fused)
	}
	c := rag.DefaultConfig()
	c.Retrieval.RerankWeight = 1.5
	if _, err := rag.Open("", rag.WithConfig(c)); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("weight 1.5: error %v", err)
	}
}

func TestAQuestionInAnotherLanguageIsNotReranked(t *testing.T) {
	english := &scorer{model: rag.RerankModel{Languages: []string{"en"}}}
	eng := memoryEngine(t, nil, append(opals(3), "Der Opal ist ein Stein."), rag.WithReranker(english))
	for _, c := range []struct {
		name, text, want string
	}{
		{"a language it knows", "where is the opal?", rag.RerankOK},
		{"one that cannot be told", "opal", rag.RerankOK},
		{"another", "was ist der Opal und wo ist er?", rag.RerankLeftOut},
	} {
		t.Run(c.name, func(t *testing.T) {
			english.calls = nil
			res := search(t, eng, rag.Query{Text: c.text, Explain: true})
			if len(res.Hits) == 0 || res.Rerank.Status != c.want || (len(english.calls) > 0) != (c.want == rag.RerankOK) {
				t.Fatalf("%d hits, status %+v, %d calls", len(res.Hits), res.Rerank, len(english.calls))
			}
			if c.want == rag.RerankOK {
				return
			}
			if !strings.Contains(res.Rerank.Reason, `"de"`) || len(res.Notes) != 1 || res.Trace.Stages[4].Status != rag.SpanLeftOut || res.Trace.Stages[4].Detail["status"] != rag.RerankLeftOut {
				t.Errorf("status %+v, notes %+v, span %+v", res.Rerank, res.Notes, res.Trace.Stages[4])
			}
		})
	}
}

func TestScoresNeverRise(t *testing.T) {
	// Scores far below and far above those of fusion.
	for name, shift := range map[string]float64{"low": -100, "high": 100} {
		r := &scorer{score: func(_ context.Context, _ string, texts []string) ([]float64, error) {
			scores := make([]float64, len(texts))
			for i := range scores {
				scores[i] = shift + float64(i)
			}
			return scores, nil
		}}
		eng := memoryEngine(t, func(c *rag.Config) { c.Retrieval.RerankTopN = 3 }, opals(8), rag.WithReranker(r))
		res := search(t, eng, rag.Query{Text: "opal"})
		rising := scoresOf(res)
		slices.Reverse(rising)
		if !slices.IsSorted(rising) || res.Hits[0].Score != shift+2 {
			t.Errorf("%s: scores, last first: %v", name, rising)
		}
		fused := func(i int) float64 { r, _ := res.Hits[i].RankAt(rag.StageFusion); return r.Score }
		if got, want := res.Hits[4].Score-res.Hits[5].Score, fused(4)-fused(5); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: two hits behind the pairs are %v apart, in the fusion %v", name, got, want)
		}
	}
}

func scoresOf(res *rag.Result) []float64 {
	var scores []float64
	for _, h := range res.Hits {
		scores = append(scores, h.Score)
	}
	return scores
}

// closing counts how often it is closed.
type closing struct {
	byLength
	closed int
}

func (c *closing) Close() error { c.closed++; return nil }

func TestARerankerThatCannotBeMadeStopsSearchesOnly(t *testing.T) {
	here, made := false, &closing{}
	rag.Default.Rerankers.Register("test-pulled-later", func(rag.Env, json.RawMessage) (rag.Reranker, error) {
		if !here {
			return nil, fmt.Errorf("model m: looked in a, b: %w", rag.ErrNotFound)
		}
		return made, nil
	})
	eng := memoryEngine(t, func(c *rag.Config) { c.Rerank.Provider = "test-pulled-later" }, opals(3))
	if _, err := eng.Verify(t.Context(), ""); err != nil {
		t.Errorf("verify: %v", err)
	}
	if _, err := eng.Reindex(t.Context(), rag.ReindexRequest{}); err != nil {
		t.Errorf("reindex: %v", err)
	}
	_, err := eng.Search(t.Context(), rag.Query{Text: "opal"})
	if !errors.Is(err, rag.ErrNotFound) || !strings.Contains(err.Error(), "rerank: model m: looked in a, b") {
		t.Errorf("search: %v", err)
	}
	if err := eng.Ready(); !errors.Is(err, rag.ErrNotFound) {
		t.Errorf("Ready: %v", err)
	}
	here = true
	if got := search(t, eng, rag.Query{Text: "opal"}).Rerank; got.Status != rag.RerankOK {
		t.Errorf("once it is there: %+v", got)
	}
	if err := errors.Join(eng.Ready(), eng.Close()); err != nil || made.closed != 1 {
		t.Errorf("error %v, closed %d times, want once", err, made.closed)
	}
	c := rag.DefaultConfig()
	c.Rerank.Provider = "test-pulled-late"
	_, err = rag.Open("", rag.WithConfig(c), rag.WithEmbedder(&ragtest.HashEmbedder{}))
	if !errors.Is(err, rag.ErrUnknownProvider) || !strings.Contains(err.Error(), `rerank.provider: "test-pulled-late", did you mean "test-pulled-later"?`) {
		t.Errorf("an unknown name: %v", err)
	}
}
