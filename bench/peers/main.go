// Peers runs this project beside the stack that the systems of docs/systems.md are built from, LlamaIndex with Chroma, BM25,
// reciprocal rank fusion and a cross-encoder, over the same files and questions with the same models:
//
//	bench/peers/install DIR MODEL
//	go build -o peers ./bench/peers
//	./peers -work DIR -qa ../shared/data/qa -ir ../shared/data/ir
//
// Each side runs as whole processes: one that ingests, some that answer one question, one that answers all. The sides take
// turns, and the median of the rounds counts: a busy machine slows both down. bench/peers.md is what it prints.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Arguments by which the program runs itself as one of the sides.
const (
	roleBuiltin = "rag"       // with the model in the binary: the weights in eight bits
	roleFP32    = "rag, fp32" // with the file that the Python side reads
	rolePython  = "Python"
)

func main() {
	ctx := context.Background()
	if len(os.Args) > 1 && (os.Args[1] == roleBuiltin || os.Args[1] == roleFP32) {
		exit(ours(ctx, os.Args[2:], os.Args[1] == roleFP32, os.Stdin, os.Stdout))
	}
	var p plan
	flag.StringVar(&p.work, "work", "", "folder that bench/peers/install has filled")
	qa := flag.String("qa", "", "folder of the question-answering set; empty: leave it out")
	irDir := flag.String("ir", "", "folder of labelled sets; empty: leave them out")
	sets := flag.String("sets", "xquad-en,cranfield,scifact", "labelled sets")
	docs := flag.Int("docs", 0, "most documents of a labelled set; 0: all")
	flag.IntVar(&p.questions, "questions", 100, "most questions of a set")
	flag.IntVar(&p.reranked, "reranked", 20, "of these the most that are reranked too")
	flag.IntVar(&p.starts, "starts", 3, "processes of a side that answer one question")
	flag.IntVar(&p.rounds, "rounds", 3, "rounds of a set")
	flag.Parse()
	exit(p.run(ctx, *qa, *irDir, strings.Split(*sets, ","), *docs))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func (p plan) run(ctx context.Context, qa, irDir string, names []string, docs int) error {
	dir, err := os.MkdirTemp("", "rag-peers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var sets []set
	folder := func(name string) string {
		f := filepath.Join(dir, "docs-"+name)
		if err2 := os.Mkdir(f, 0o755); err2 != nil {
			err = err2
		}
		return f
	}
	if qa != "" {
		s, err2 := answersSet(qa, folder("qa"), p.questions)
		if err2 != nil {
			return err2
		}
		sets = append(sets, s)
	}
	for _, name := range names {
		if irDir == "" {
			break
		}
		s, err2 := labelledSet(filepath.Join(irDir, name), folder(name), p.questions, docs)
		if err2 != nil {
			return err2
		}
		sets = append(sets, s)
	}
	if err != nil {
		return err
	}
	for _, s := range sets {
		r, err := p.measure(ctx, s, dir)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		r.print(os.Stdout)
	}
	return nil
}
