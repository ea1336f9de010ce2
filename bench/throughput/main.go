// Throughput measures an ingest of short documents, with the built-in model and without vectors, in documents per second,
// each next to a Python program that does as much: SQLite's FTS5 for the words, ONNX Runtime with the same model in fp32.
//
//	go build -o throughput ./bench/throughput
//	./throughput -docs 10000 -python VENV/bin/python -onnx DIR
//
// DIR holds model.onnx and tokenizer.json of all-MiniLM-L6-v2; without it only our side embeds. Rounds alternate, and the
// median of their ratios counts: a busy machine slows both sides down.
package main

import (
	_ "embed"

	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/bench/cputime"
	_ "github.com/seed-d8745b77/rag/defaults"
)

//go:embed pipeline.py
var pipeline string

func main() {
	docs := flag.Int("docs", 10_000, "documents")
	words := flag.Int("words", 60, "words of a document")
	rounds := flag.Int("rounds", 3, "rounds of each measurement")
	dense := flag.Bool("dense", true, "measure with the built-in model too")
	python := flag.String("python", "", "Python program; empty: leave Python out")
	onnx := flag.String("onnx", "", "folder with model.onnx and tokenizer.json; empty: Python does not embed")
	flag.Parse()
	if err := run(*docs, *words, *rounds, *dense, *python, *onnx); err != nil {
		fmt.Fprintln(os.Stderr, "throughput:", err)
		os.Exit(1)
	}
}

func run(docs, words, rounds int, dense bool, python, onnx string) error {
	dir, err := os.MkdirTemp("", "rag-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	folder := filepath.Join(dir, "docs")
	if err := writeDocs(folder, docs, words); err != nil {
		return err
	}
	for _, embedded := range []bool{false, true} {
		if embedded && !dense {
			continue
		}
		var ratios []float64
		for round := range rounds {
			rate, cpu, err := ours(filepath.Join(dir, fmt.Sprintf("kb-%v-%d", embedded, round)), folder, docs, embedded)
			if err != nil {
				return err
			}
			line := fmt.Sprintf("dense %-5v  rag %8.1f documents/s (%.2f ms of processor time each)", embedded, rate, cpu)
			if python != "" && (!embedded || onnx != "") {
				model := ""
				if embedded {
					model = onnx
				}
				theirs, err := theirs(python, folder, model)
				if err != nil {
					return err
				}
				ratios = append(ratios, rate/theirs)
				line += fmt.Sprintf("  python %8.1f  ratio %.2f", theirs, rate/theirs)
			}
			fmt.Println(line)
		}
		if len(ratios) > 0 {
			slices.Sort(ratios)
			fmt.Printf("dense %-5v  median ratio %.2f\n", embedded, ratios[len(ratios)/2])
		}
	}
	return nil
}

// writeDocs makes up texts whose words are as unevenly spread as those of a language.
func writeDocs(folder string, docs, words int) error {
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rnd, 1.2, 4, 20_000)
	for i := range docs {
		var b strings.Builder
		for range words {
			fmt.Fprintf(&b, "%s ", word(zipf.Uint64()))
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%05d.txt", i)), []byte(b.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// word spells a number in syllables.
func word(n uint64) string {
	syllables := []string{"ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zu"}
	var b strings.Builder
	for _, digit := range strconv.FormatUint(n, 10) {
		b.WriteString(syllables[digit-'0'])
	}
	return b.String()
}

// ours returns documents per second and the processor time of each in ms.
func ours(dir, folder string, docs int, embedded bool) (rate, cpu float64, err error) {
	c := rag.DefaultConfig()
	if !embedded {
		c.Embedder.Provider = rag.None
	}
	start, used := time.Now(), cputime.Used()
	eng, err := rag.Open(dir, rag.WithConfig(c))
	if err != nil {
		return 0, 0, err
	}
	defer eng.Close()
	rep, err := eng.Ingest(context.Background(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(folder)}})
	if err != nil {
		return 0, 0, err
	}
	if rep.Added != docs {
		return 0, 0, fmt.Errorf("%d of %d documents were added", rep.Added, docs)
	}
	took := time.Since(start).Seconds()
	return float64(docs) / took, float64((cputime.Used() - used).Milliseconds()) / float64(docs), nil
}

// theirs returns the documents per second of the Python program.
func theirs(python, folder, model string) (float64, error) {
	cmd := exec.CommandContext(context.Background(), python, "-", folder, model)
	cmd.Stdin = strings.NewReader(pipeline)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
}
