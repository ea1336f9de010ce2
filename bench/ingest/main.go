// Ingest measures an ingest of 2,000 passages of 200 tokens with the built-in model, from an empty folder to the first
// answer, next to a Python pipeline with the same model: tokenizers, ONNX Runtime in fp32, exact search in numpy.
//
//	go build -o ingest ./bench/ingest
//	./ingest -corpus ../shared/data/ir/scifact -onnx DIR -python VENV/bin/python
//
// DIR holds model.onnx and tokenizer.json of all-MiniLM-L6-v2. Without -onnx only our side runs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/bench/ir"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/embed/local"
)

const question = "which cells produce insulin?"

func main() {
	corpus := flag.String("corpus", "", "folder of a labelled set, for its texts")
	passages := flag.Int("passages", 2000, "passages")
	tokens := flag.Int("tokens", 200, "tokens of a passage")
	onnx := flag.String("onnx", "", "folder with model.onnx and tokenizer.json; empty: leave Python out")
	python := flag.String("python", "python3", "Python with numpy, onnxruntime and tokenizers")
	flag.Parse()
	if err := run(*corpus, *passages, *tokens, *onnx, *python); err != nil {
		fmt.Fprintln(os.Stderr, "ingest:", err)
		os.Exit(1)
	}
}

func run(corpus string, passages, tokens int, onnx, python string) error {
	texts, err := cutTexts(corpus, passages, tokens)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "rag-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	docs := filepath.Join(dir, "docs")
	if err := os.Mkdir(docs, 0o755); err != nil {
		return err
	}
	for i, text := range texts {
		if err := os.WriteFile(filepath.Join(docs, fmt.Sprintf("%05d.txt", i)), []byte(text), 0o644); err != nil {
			return err
		}
	}
	if err := ours(filepath.Join(dir, "kb"), docs); err != nil {
		return err
	}
	if onnx == "" {
		return nil
	}
	cmd := exec.CommandContext(context.Background(), python, "-", docs, onnx, question)
	cmd.Stdin = strings.NewReader(pipeline)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// cutTexts takes texts of the corpus, one behind the other, and cuts passages of so many tokens of the built-in model.
func cutTexts(corpus string, passages, tokens int) ([]string, error) {
	set, err := ir.Read(corpus)
	if err != nil {
		return nil, err
	}
	model, err := local.New(local.Config{})
	if err != nil {
		return nil, err
	}
	var texts []string
	var b strings.Builder
	n := 0
	for _, d := range set.Docs {
		for _, word := range strings.Fields(d.FullText()) {
			add := model.CountTokens(word)
			if n+add > tokens {
				texts = append(texts, b.String())
				if len(texts) == passages {
					return texts, nil
				}
				b.Reset()
				n = 0
			}
			b.WriteString(word + " ")
			n += add
		}
	}
	return nil, errors.New("the corpus is too small")
}

// ours ingests the folder and asks one question.
func ours(dir, docs string) error {
	ctx := context.Background()
	start := time.Now()
	eng, err := rag.Open(dir, rag.WithSplitter(whole{}))
	if err != nil {
		return err
	}
	defer eng.Close()
	rep, err := eng.Ingest(ctx, rag.IngestRequest{Sources: []rag.Sources{rag.Dir(docs)}})
	if err != nil {
		return err
	}
	ingested := time.Since(start)
	res, err := eng.Search(ctx, rag.Query{Text: question})
	if err != nil {
		return err
	}
	fmt.Printf("rag     %d passages in %.1f s = %.1f passages/s, first answer (%d hits, %s) %.1f s after the start\n",
		rep.Chunks.New, ingested.Seconds(), float64(rep.Chunks.New)/ingested.Seconds(), len(res.Hits), res.Mode, time.Since(start).Seconds())
	return nil
}

// whole makes one passage of each file, so that both sides have the same.
type whole struct{}

func (whole) Split(_ context.Context, doc rag.Document) ([]rag.Chunk, error) {
	return []rag.Chunk{{Text: doc.Text, End: len(doc.Text)}}, nil
}
