package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/agent"
	"github.com/seed-d8745b77/rag/eval"
)

// routing times the rule layer of the router over small talk and questions, a thousand times each.
func routing(ctx context.Context) error {
	labels, err := agent.BuiltinLabels(agent.Hub)
	if err != nil {
		return err
	}
	router, err := agent.NewRouter(labels, nil)
	if err != nil {
		return err
	}
	var took []float64
	for range 1000 {
		for _, q := range []string{"hi", "Thanks a lot!!", "what can you do?", "你好", "Bonjour, que peux-tu faire ?", "how long is the notice period of contractors abroad?"} {
			start := time.Now()
			if _, err := router.Route(ctx, q, nil); err != nil {
				return err
			}
			took = append(took, float64(time.Since(start).Nanoseconds())/1e3)
		}
	}
	row("D6", "router, rules", "under 1 ms", "%.0f µs; 99 %%: %.0f µs", eval.Percentile(took, .5), eval.Percentile(took, .99))
	return nil
}

// searching returns what times the stages of searches in the shape of A24: 20 and 20 candidates, 10 fused and reranked, 5
// kept, over the handbook.
func searching(reranker string) func(context.Context, string, *eval.TestSet) error {
	return func(ctx context.Context, qa string, questions *eval.TestSet) error {
		req, err := collection(qa, "handbook", "")
		if err != nil {
			return err
		}
		c := rag.DefaultConfig()
		r := &c.Retrieval
		r.DenseTopK, r.SparseTopK, r.FusionTopK, r.RerankTopN, r.TopK = 20, 20, 10, 10, 5
		r.RerankMS = 60_000 // the work is to be done, however busy the machine is
		if reranker != "" {
			if reranker, err = filepath.Abs(reranker); err != nil {
				return err
			}
			settings, err := json.Marshal(map[string]any{"model": reranker, "cache_size": -1})
			if err != nil {
				return err
			}
			c.Rerank = rag.ProviderConfig{Provider: "local", Settings: settings}
		}
		eng, err := ingest(ctx, "", c, req)
		if err != nil {
			return err
		}
		defer eng.Close()
		fusion, rerank, err := stages(ctx, eng, questions.Only("handbook").Questions)
		if err != nil {
			return err
		}
		row("A24", "fusion of 20 and 20", "0.2 ms", "%.3f ms; 95 %%: %.3f ms", eval.Percentile(fusion, .5), eval.Percentile(fusion, .95))
		if reranker != "" {
			row("A24", "reranking of 10", "12,231 ms", "%.0f ms; 95 %%: %.0f ms", eval.Percentile(rerank, .5), eval.Percentile(rerank, .95))
		}
		return nil
	}
}

// stages returns how many milliseconds two stages took for each question; the first one, which loads models, does not count.
func stages(ctx context.Context, eng *rag.Engine, questions []eval.Question) (fusion, rerank []float64, err error) {
	for i, q := range questions {
		res, err := eng.Search(ctx, rag.Query{Text: q.Text, Explain: true})
		if err != nil {
			return nil, nil, err
		}
		for _, s := range res.Trace.Stages {
			switch {
			case i == 0 || s.Status == rag.SpanOff:
			case s.Stage == rag.StageFusion:
				fusion = append(fusion, s.ElapsedMS)
			case s.Stage == rag.StageRerank:
				rerank = append(rerank, s.ElapsedMS)
			}
		}
	}
	return fusion, rerank, nil
}

// overlap compares a graph, which is used however small the collection is, with the exact search: the first five passages.
func overlap(ctx context.Context, qa string, _ *eval.TestSet) error {
	dir, err := os.MkdirTemp("", "rag-systems")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	req, err := collection(qa, "api", "")
	if err != nil {
		return err
	}
	c := rag.DefaultConfig()
	c.VectorStore = rag.ProviderConfig{Provider: "hnsw", Settings: json.RawMessage(`{"exact_below": 1}`)}
	graph, err := ingest(ctx, filepath.Join(dir, "graph"), c, req)
	if err != nil {
		return err
	}
	defer graph.Close()
	c.VectorStore = rag.ProviderConfig{Provider: "flat"}
	flat, err := rag.Open(filepath.Join(dir, "flat"), rag.WithConfig(c))
	if err != nil {
		return err
	}
	defer flat.Close()
	rep, err := flat.Copy(ctx, rag.CopyRequest{From: graph, Compare: &rag.CompareRequest{K: 5}})
	if err != nil {
		return err
	}
	row("C2", "overlap@5 of two vector stores", "0.93, of 5 questions", "%.3f, of %d questions over %d passages", rep.Check.Overlap, rep.Check.Asked, rep.Chunks)
	return nil
}
