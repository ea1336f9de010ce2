package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
)

// What the sides say to each other, a JSON object on each line; pipeline.py has the other side.
type (
	question struct {
		Text   string `json:"text"`
		Rerank bool   `json:"rerank"`
	}
	answer struct {
		Sources []string `json:"sources"` // of the hits, best first
		Seconds float64  `json:"seconds"` // that the search took inside the process
	}
	ingested struct {
		Passages int     `json:"passages"`
		PeakMB   float64 `json:"peak_mb"`
	}
)

// Sizes of the systems that docs/systems.md is about. Both lanes weigh the same there.
const (
	candidates = 20 // of each index
	fused      = 10
	kept       = 5 // after reranking
)

// ours is the process of our side: ingest|ask MODELS STORE [FOLDER split|whole], with ask answering lines of in.
func ours(ctx context.Context, args []string, fp32 bool, in io.Reader, out io.Writer) error {
	verb, models, store := args[0], args[1], args[2]
	c, err := settings(models, fp32)
	if err != nil {
		return err
	}
	options := []rag.Option{rag.WithConfig(c)}
	if verb == "ingest" && args[4] == "whole" {
		options = append(options, rag.WithSplitter(whole{}))
	}
	eng, err := rag.Open(store, options...)
	if err != nil {
		return err
	}
	defer eng.Close()
	if verb == "ask" {
		return answerAll(ctx, eng, in, json.NewEncoder(out))
	}
	rep, err := eng.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{rag.FS(os.DirFS(args[3]), base)}})
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(ingested{rep.Chunks.New, peakMB()})
}

// base goes before the paths of files in URIs.
const base = "docs"

func settings(models string, fp32 bool) (rag.Config, error) {
	c := rag.DefaultConfig()
	r := &c.Retrieval
	r.DenseTopK, r.SparseTopK, r.FusionTopK, r.RerankTopN = candidates, candidates, fused, fused
	r.DenseWeight, r.SparseWeight = 1, 1
	r.RerankMS = 60_000 // the work is to be done, however busy the machine is
	models, err := filepath.Abs(models)
	if err != nil {
		return c, err
	}
	local := func(folder string, more map[string]any) rag.ProviderConfig {
		more["model"], more["languages"] = filepath.Join(models, folder), []string{"en"}
		s, err2 := json.Marshal(more)
		err = err2
		return rag.ProviderConfig{Provider: "local", Settings: s}
	}
	c.Rerank = local("reranker", map[string]any{"cache_size": -1}) // each pair is computed
	if fp32 {
		c.Embedder = local("embedder", map[string]any{"pooling": "mean", "max_tokens": 256})
	}
	return c, err
}

func answerAll(ctx context.Context, eng *rag.Engine, in io.Reader, out *json.Encoder) error {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var q question
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return err
		}
		k := fused
		if q.Rerank {
			k = kept
		}
		start := time.Now()
		res, err := eng.Search(ctx, rag.Query{Text: q.Text, TopK: k, NoRerank: !q.Rerank})
		if err != nil {
			return fmt.Errorf("%q: %w", q.Text, err)
		}
		a := answer{Seconds: time.Since(start).Seconds()}
		for _, h := range res.Hits {
			a.Sources = append(a.Sources, strings.TrimPrefix(h.Chunk.URI, base+"/"))
		}
		if err := out.Encode(a); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return out.Encode(ingested{PeakMB: peakMB()})
}

// whole makes one passage of each file.
type whole struct{}

func (whole) Split(_ context.Context, doc rag.Document) ([]rag.Chunk, error) {
	return []rag.Chunk{{Text: doc.Text, End: len(doc.Text)}}, nil
}

// peakMB returns the most memory that this process has had resident, in MB; 0 where the system does not say it.
func peakMB() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kb, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, _ := strconv.ParseFloat(kb, 64)
	return n / 1024
}
