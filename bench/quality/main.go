// Quality measures what the engine finds on labelled retrieval sets: nDCG@10 and recall@100 of the sparse lane, the
// dense lane and both, through the whole pipeline with its defaults.
//
//	go run ./bench/quality ../shared/data/ir
//
// Each document is one passage, as the published figures have it (text beyond the model's window is not seen by the
// dense lane); -split cuts documents as an ingest does. Weights of the lanes are chosen on stored rankings:
//
//	go run ./bench/quality -lanes lanes.json ../shared/data/ir
//	go run ./bench/quality -sweep lanes.json
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/bench/ir"
	_ "github.com/seed-d8745b77/rag/defaults"
	_ "github.com/seed-d8745b77/rag/embed/local/multilingual"
	"github.com/seed-d8745b77/rag/eval"
)

func main() {
	split := flag.Bool("split", false, "cut documents into passages as an ingest does")
	only := flag.String("sets", "", "names of sets, by comma; empty: all")
	modes := flag.String("modes", "sparse,dense,hybrid", "modes to measure, by comma")
	embedder := flag.String("embedder", "", "embedder; empty: the default")
	model := flag.String("model", "", "model of the embedder local: a name or a folder; empty: the built-in one")
	fusion := flag.String("fusion", "", "fuser; empty: the default")
	dense := flag.Float64("dense-weight", 0, "weight of the dense lane; 0: the default")
	sparse := flag.Float64("sparse-weight", 0, "weight of the sparse lane; 0: the default")
	rerank := flag.String("rerank", rag.None, "reranker")
	rerankN := flag.Int("rerank-top-n", 0, "passages given to the reranker; 0: the default")
	rerankWeights := flag.String("rerank-weights", "1", "shares of the reranker in the final score to measure, by comma")
	limit := flag.Int("queries", 0, "ask only so many queries of each set, evenly spread; 0: all")
	docs := flag.Int("docs", 0, "keep only so many documents of each set besides the relevant ones, evenly spread; 0: all")
	lanes := flag.String("lanes", "", "write both lanes' rankings to this file instead of measuring")
	sweepFile := flag.String("sweep", "", "choose fusion weights on the rankings in these files, by comma")
	flag.Parse()
	err := func() error {
		if *sweepFile != "" {
			return sweep(os.Stdout, strings.Split(*sweepFile, ","))
		}
		if flag.NArg() != 1 {
			return errors.New("usage: quality [flags] FOLDER-OF-SETS")
		}
		c := rag.DefaultConfig()
		given(&c.Embedder.Provider, *embedder)
		if *model != "" {
			c.Embedder.Settings = json.RawMessage(fmt.Sprintf(`{"model": %q}`, *model))
		}
		given(&c.Fusion.Provider, *fusion)
		given(&c.Retrieval.DenseWeight, *dense)
		given(&c.Retrieval.SparseWeight, *sparse)
		given(&c.Retrieval.RerankTopN, *rerankN)
		c.Retrieval.RerankMS = patience
		sets, err := readSets(flag.Arg(0), *only, *limit, *docs)
		if err != nil {
			return err
		}
		if *lanes != "" {
			return storeLanes(*lanes, c, sets)
		}
		reranked, err := rerankVariants(c, *rerank, *rerankWeights)
		if err != nil {
			return err
		}
		return run(os.Stdout, c, reranked, sets, strings.Split(*modes, ","), *split)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "quality:", err)
		os.Exit(1)
	}
}

// patience is how long a reranker may take here, in milliseconds: what is measured is its order, not its speed.
const patience = 60_000

// rerankVariants are the configurations that are measured beside the one without a reranker.
func rerankVariants(c rag.Config, provider, weights string) ([]rag.Config, error) {
	if provider == rag.None {
		return nil, nil
	}
	var variants []rag.Config
	for w := range strings.SplitSeq(weights, ",") {
		weight, err := strconv.ParseFloat(w, 64)
		if err != nil {
			return nil, fmt.Errorf("-rerank-weights: %w", err)
		}
		v := c
		v.Rerank.Provider, v.Retrieval.RerankWeight = provider, weight
		variants = append(variants, v)
	}
	return variants, nil
}

// given sets a choice unless the flag was left at zero.
func given[T comparable](choice *T, flag T) {
	var zero T
	if flag != zero {
		*choice = flag
	}
}

// readSets reads the sets in a folder of folders.
func readSets(root, only string, queries, docs int) ([]*ir.Set, error) {
	dirs, err := filepath.Glob(filepath.Join(root, "*", "corpus.jsonl"))
	if err != nil {
		return nil, err
	}
	var sets []*ir.Set
	for _, corpus := range dirs {
		name := filepath.Base(filepath.Dir(corpus))
		if only != "" && !slices.Contains(strings.Split(only, ","), name) {
			continue
		}
		set, err := ir.Read(filepath.Dir(corpus))
		if err != nil {
			return nil, err
		}
		set.Queries = spread(set.Queries, queries)
		thin(set, docs)
		sets = append(sets, set)
	}
	if len(sets) == 0 {
		return nil, fmt.Errorf("no set in %s: a set is a folder with corpus.jsonl, queries.jsonl and qrels.tsv", root)
	}
	return sets, nil
}

// spread takes n of the list, evenly; 0: all.
func spread[T any](all []T, n int) []T {
	if n == 0 || n >= len(all) {
		return all
	}
	some := make([]T, n)
	for i := range some {
		some[i] = all[i*len(all)/n]
	}
	return some
}

// thin keeps n of the documents that no query asks for; 0: all.
func thin(set *ir.Set, n int) {
	if n == 0 {
		return
	}
	wanted := map[string]bool{}
	for _, q := range set.Queries {
		for id, grade := range set.Judged[q.ID] {
			wanted[id] = wanted[id] || grade > 0
		}
	}
	var kept, rest []ir.Doc
	for _, d := range set.Docs {
		if wanted[d.ID] {
			kept = append(kept, d)
		} else {
			rest = append(rest, d)
		}
	}
	set.Docs = append(kept, spread(rest, n)...)
}

func run(w io.Writer, c rag.Config, reranked []rag.Config, sets []*ir.Set, modes []string, split bool) error {
	fmt.Fprintln(w, "| set | documents | passages | queries | lane | nDCG@10 | recall@100 | dense left out | ms/query |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|")
	for _, set := range sets {
		err := withEngine(c, set, split, func(eng *rag.Engine, open opener) error {
			for _, mode := range modes {
				if err := measure(w, eng, set, rag.Mode(mode), mode, split); err != nil {
					return err
				}
			}
			if len(reranked) == 0 {
				return nil
			}
			if err := eng.Close(); err != nil {
				return err
			}
			for _, v := range reranked {
				name := fmt.Sprintf("hybrid, %s %g", v.Rerank.Provider, v.Retrieval.RerankWeight)
				eng, err := open(v)
				if err != nil {
					return err
				}
				if err := errors.Join(measure(w, eng, set, rag.Hybrid, name, split), eng.Close()); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", set.Name, err)
		}
	}
	return nil
}

// opener opens an engine on the data of a set that was ingested.
type opener func(rag.Config) (*rag.Engine, error)

// withEngine ingests a set into a fresh engine. use may close it and open others on the same data.
func withEngine(c rag.Config, set *ir.Set, split bool, use func(*rag.Engine, opener) error) error {
	dir, err := os.MkdirTemp("", "rag-quality")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	open := func(c rag.Config) (*rag.Engine, error) {
		return rag.Open(dir, append(set.Options(split), rag.WithConfig(c))...)
	}
	eng, err := open(c)
	if err != nil {
		return err
	}
	defer eng.Close()
	start := time.Now()
	rep, err := eng.Ingest(context.Background(), rag.IngestRequest{Sources: []rag.Sources{set.Sources()}})
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s: %d passages in %.0f s, %d longer than the window\n", set.Name, rep.Chunks.New, time.Since(start).Seconds(), rep.Truncated)
	return use(eng, open)
}

// measure asks a set's queries in a mode and writes a line.
func measure(w io.Writer, eng *rag.Engine, set *ir.Set, mode rag.Mode, name string, split bool) error {
	ctx := context.Background()
	depth := ir.ScoreDepth
	if split {
		depth *= 4 // several passages of one document count once
	}
	passages := 0
	all, err := eng.Collections(ctx)
	if err != nil {
		return err
	}
	for _, c := range all {
		passages += c.Chunks
	}
	leftOut := 0
	start := time.Now()
	score, err := ir.Evaluate(set, func(query string) ([]string, error) {
		res, err := eng.Search(ctx, rag.Query{Text: query, Mode: mode, TopK: depth})
		if err != nil {
			return nil, err
		}
		if res.Rerank.Reason != "" {
			return nil, fmt.Errorf("rerank %s: %s", res.Rerank.Status, res.Rerank.Reason)
		}
		if mode == rag.Hybrid && res.Mode != rag.Hybrid {
			leftOut++
		}
		return documents(res), nil
	})
	if err != nil {
		return err
	}
	perQuery := time.Since(start).Seconds() * 1000 / float64(max(1, score.Queries))
	fmt.Fprintf(w, "| %s | %d | %d | %d | %s | %.4f | %.4f | %d | %.1f |\n",
		set.Name, len(set.Docs), passages, score.Queries, name, score.NDCG10, score.Recall100, leftOut, perQuery)
	return nil
}

// documents lists the documents of the hits, each once.
func documents(res *rag.Result) []string {
	var ids []string
	seen := map[string]bool{}
	for _, h := range res.Hits {
		if id := eval.BEIRID(h.Chunk.URI); !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids
}
