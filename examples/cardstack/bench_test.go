package main_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkStacks ingests the Markdown and Word files of the handbook and asks questions.jsonl, by this stack and by the
// default one, in turns. README.md has the figures.
func BenchmarkStacks(b *testing.B) {
	files, err := os.ReadDir(filepath.Join("..", "handbook"))
	if err != nil {
		b.Fatal(err)
	}
	var documents []string
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".pdf") { // they need a licence
			documents = append(documents, f.Name())
		}
	}
	for b.Loop() {
		for name, command := range map[string]string{"default": filepath.Join("..", "..", "cmd", "rag"), "cardstack": "."} {
			p := newProject(b, command, documents...)
			if name == "default" {
				p.write("rag.yaml", "retrieval: {top_k: 5, dense_top_k: 30, sparse_top_k: 30, rerank_top_n: 10}\n")
			}
			start := time.Now()
			p.run(0, "ingest", "docs")
			b.Logf("%s: ingest %.1f s", name, time.Since(start).Seconds())
			out, _ := p.run(0, "experiment", "--test-set", "questions.jsonl", "--variants", "dense,sparse,hybrid,hybrid_rerank", "--metrics", "ndcg@10,hit@5", "--json")
			var report struct {
				Variants []struct {
					Variant string
					Metrics map[string]struct{ Mean float64 }
					Latency struct{ P50, P95 float64 } `json:"latency_ms"`
				}
			}
			if err := json.Unmarshal([]byte(out), &report); err != nil {
				b.Fatal(err)
			}
			for _, v := range report.Variants {
				for _, metric := range slices.Sorted(maps.Keys(v.Metrics)) {
					b.Logf("%s: %s %s %.3f", name, v.Variant, metric, v.Metrics[metric].Mean)
				}
				b.Logf("%s: %s p50 %.1f ms, p95 %.1f ms", name, v.Variant, v.Latency.P50, v.Latency.P95)
			}
		}
	}
}
