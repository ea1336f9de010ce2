// Systems measures what the systems of docs/systems.md publish of themselves, on work of the same shape:
//
//	go build -o systems ./bench/systems
//	./systems -qa ../shared/data/qa -reranker DIR/models/reranker
//	./systems -tests
//
// Run it in the project's root. DIR is what bench/peers/install fills: the reranker there has the size of a trained one.
// With -tests it runs all tests of the module, which takes minutes, and counts them. bench/systems.md is what it prints.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/domain"
	_ "github.com/seed-d8745b77/rag/embed/local/multilingual"
	"github.com/seed-d8745b77/rag/eval"
)

func main() {
	qa := flag.String("qa", "", "folder of the question-answering set; empty: leave out all that asks questions")
	reranker := flag.String("reranker", "", "folder of a cross-encoder; empty: leave reranking out")
	tests := flag.Bool("tests", false, "run the tests and count them")
	flag.Parse()
	if err := run(context.Background(), *qa, *reranker, *tests); err != nil {
		fmt.Fprintln(os.Stderr, "systems:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, qa, reranker string, tests bool) error {
	fmt.Print("| row | what | there | here |\n|---|---|---|---|\n")
	if err := routing(ctx); err != nil {
		return err
	}
	if qa != "" {
		questions, err := eval.Load(filepath.Join(qa, "questions.jsonl"))
		if err != nil {
			return err
		}
		for _, measure := range []func(context.Context, string, *eval.TestSet) error{searching(reranker), overlap, evaluation, quality} {
			if err := measure(ctx, qa, questions); err != nil {
				return err
			}
		}
	}
	if tests {
		return countTests(ctx)
	}
	return nil
}

// row prints a line of the table.
func row(id, what, there, format string, args ...any) {
	fmt.Printf("| %s | %s | %s | %s |\n", id, what, there, fmt.Sprintf(format, args...))
}

// collections are the sets of the questions, and the domain that each has, if any.
var collections = []struct{ set, domain string }{{"admissions", "admissions.yaml"}, {"api", ""}, {"course", "course.yaml"}, {"handbook", ""}}

// collection returns the documents of a set, with its domain if it has one.
func collection(qa, set, file string) (rag.IngestRequest, error) {
	dir := filepath.Join(qa, set)
	if file == "" {
		return rag.IngestRequest{Sources: []rag.Sources{rag.Dir(dir)}}, nil
	}
	d, err := domain.Load(filepath.Join("examples", set, file))
	if err != nil {
		return rag.IngestRequest{}, err
	}
	docs := filepath.Join(dir, "docs")
	req := rag.IngestRequest{Collection: d.Collection, Domain: d, Sources: []rag.Sources{rag.Dir(docs)}}
	if manifest := filepath.Join(dir, "manifest.jsonl"); exists(manifest) {
		req.Sources, err = d.Manifest(manifest, docs)
	}
	return req, err
}

// undated returns the questions as they are: a domain would ask those without a date as of today, and measure something
// else each day.
func undated(set *eval.TestSet) (*eval.TestSet, error) {
	return set.Under(func(q rag.Query) (rag.Query, error) {
		q.NoDomain = true
		return q, nil
	})
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// ingest fills a collection of a new engine, which is its default one.
func ingest(ctx context.Context, dir string, c rag.Config, req rag.IngestRequest) (*rag.Engine, error) {
	c.Collection = cmp.Or(req.Collection, c.Collection)
	eng, err := rag.Open(dir, rag.WithConfig(c))
	if err != nil {
		return nil, err
	}
	if _, err := eng.Ingest(ctx, req); err != nil {
		return nil, err
	}
	return eng, nil
}
