// Quality measures what the engine finds on labelled retrieval sets: nDCG@10 and recall@100 of the sparse lane, the
// dense lane and both, through the whole pipeline with its defaults.
//
//	go run ./bench/quality ../shared/data/ir
//
// Each document is one passage, as the published figures have it (text beyond the model's window is not seen by the
// dense lane); -split cuts documents as an ingest does.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/bench/ir"
	_ "github.com/seed-d8745b77/rag/defaults"
)

func main() {
	split := flag.Bool("split", false, "cut documents into passages as an ingest does")
	only := flag.String("sets", "", "names of sets, by comma; empty: all")
	fusion := flag.String("fusion", "rrf", "fuser: rrf or weighted")
	dense := flag.Float64("dense-weight", 1, "weight of the dense lane")
	sparse := flag.Float64("sparse-weight", 1, "weight of the sparse lane")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: quality [flags] FOLDER-OF-SETS")
		os.Exit(2)
	}
	c := rag.DefaultConfig()
	c.Fusion.Provider, c.Retrieval.DenseWeight, c.Retrieval.SparseWeight = *fusion, *dense, *sparse
	if err := run(os.Stdout, c, flag.Arg(0), *only, *split); err != nil {
		fmt.Fprintln(os.Stderr, "quality:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, c rag.Config, root, only string, split bool) error {
	dirs, err := filepath.Glob(filepath.Join(root, "*", "corpus.jsonl"))
	if err != nil {
		return err
	}
	if len(dirs) == 0 {
		return fmt.Errorf("no set in %s: a set is a folder with corpus.jsonl, queries.jsonl and qrels.tsv", root)
	}
	fmt.Fprintln(w, "| set | documents | passages | queries | lane | nDCG@10 | recall@100 | dense left out | ms/query |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|")
	for _, corpus := range dirs {
		set, err := ir.Read(filepath.Dir(corpus))
		if err != nil {
			return err
		}
		if only == "" || strings.Contains(","+only+",", ","+set.Name+",") {
			if err := measure(w, c, set, split); err != nil {
				return fmt.Errorf("%s: %w", set.Name, err)
			}
		}
	}
	return nil
}

// measure ingests a set into a fresh engine and asks its queries in each mode.
func measure(w io.Writer, c rag.Config, set *ir.Set, split bool) error {
	dir, err := os.MkdirTemp("", "rag-quality")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	opts := []rag.Option{rag.WithConfig(c), rag.WithLoader("ir", newDocLoader(set.Docs))}
	if !split {
		opts = append(opts, rag.WithSplitter(whole{}))
	}
	eng, err := rag.Open(dir, opts...)
	if err != nil {
		return err
	}
	defer eng.Close()
	ctx := context.Background()
	start := time.Now()
	rep, err := eng.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{sources(set.Docs)}})
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s: %d passages in %.0f s, %d longer than the window\n", set.Name, rep.Chunks.New, time.Since(start).Seconds(), rep.Truncated)
	depth := ir.ScoreDepth
	if split {
		depth *= 4 // several passages of one document count once
	}
	for _, mode := range []rag.Mode{rag.Sparse, rag.Dense, rag.Hybrid} {
		leftOut := 0
		start := time.Now()
		score, err := ir.Evaluate(set, func(query string) ([]string, error) {
			res, err := eng.Search(ctx, rag.Query{Text: query, Mode: mode, TopK: depth})
			if err != nil {
				return nil, err
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
			set.Name, len(set.Docs), rep.Chunks.New, score.Queries, mode, score.NDCG10, score.Recall100, leftOut, perQuery)
	}
	return nil
}

// documents lists the documents of the hits, each once.
func documents(res *rag.Result) []string {
	var ids []string
	seen := map[string]bool{}
	for _, h := range res.Hits {
		if id := strings.TrimPrefix(h.Chunk.URI, "ir:"); !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids
}

// mediaType makes the engine choose docLoader.
const mediaType = "application/x-ir-document"

func sources(docs []ir.Doc) rag.Sources {
	return rag.Sources{All: func(yield func(rag.Source, error) bool) {
		for _, d := range docs {
			src := rag.Source{URI: "ir:" + d.ID, MediaType: mediaType, Open: func(context.Context) (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader(d.FullText())), nil
			}}
			if !yield(src, nil) {
				return
			}
		}
	}}
}

// docLoader gives documents of a set their title.
type docLoader map[string]ir.Doc // by URI

func newDocLoader(docs []ir.Doc) docLoader {
	l := docLoader{}
	for _, d := range docs {
		l["ir:"+d.ID] = d
	}
	return l
}

func (docLoader) Formats() []rag.Format {
	return []rag.Format{{Name: "ir", MediaTypes: []string{mediaType}}}
}

func (l docLoader) Load(_ context.Context, src rag.Source) iter.Seq2[rag.Document, error] {
	return func(yield func(rag.Document, error) bool) {
		if d, ok := l[src.URI]; ok {
			yield(rag.Document{Title: d.Title, Text: strings.ReplaceAll(d.Text, "\r", "\n")}, nil)
			return
		}
		yield(rag.Document{}, rag.ErrNotFound)
	}
}

// whole makes one passage of each document.
type whole struct{}

func (whole) Split(_ context.Context, doc rag.Document) ([]rag.Chunk, error) {
	if strings.TrimSpace(doc.Text) == "" {
		return nil, nil
	}
	return []rag.Chunk{{Text: doc.Text, End: len(doc.Text)}}, nil
}
