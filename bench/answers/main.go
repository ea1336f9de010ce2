// Answers measures extractive answers and refusals on a set of annotated questions: how often a right source is among the
// first three, and how well the confidence tells questions that can be answered from others. Confidences are always those
// of a model that was fitted to the questions of the other collections.
//
//	go run ./bench/answers ../shared/data/qa
//
// The folder holds questions.jsonl and a folder for each set, with the documents in it or in docs/, and manifest.jsonl
// where they have metadata. Folders of labelled retrieval sets may follow: see askHalf. They are judged by the models that
// the engine has built in, which know none of them.
//
//	go run ./bench/answers ../shared/data/qa ../shared/data/ir/xquad-en ../shared/data/ir/cmrc2018
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
	_ "github.com/seed-d8745b77/rag/embed/local/multilingual"
	"github.com/seed-d8745b77/rag/eval"
)

// outcome is what became of a question.
type outcome struct {
	eval.Question
	answerable bool
	answer     *rag.Answer
	features   []float64 // of the evidence
	doubted    bool      // there is more against the answer than its confidence
	cosine     float64   // of the nearest passage, whatever the language
}

func main() {
	embedders := flag.String("embedders", "local,multilingual", "embedders, by comma")
	verbose := flag.Bool("v", false, "print each question that went wrong")
	fit := flag.Bool("fit", false, "print the models fitted to all questions, with and without a dense lane, as Go code")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: answers [flags] FOLDER...")
		os.Exit(2)
	}
	for _, embedder := range strings.Split(*embedders, ",") {
		var outcomes, halves []outcome
		for _, root := range flag.Args() {
			into, measure := &outcomes, measure
			if isLabelled(root) {
				into, measure = &halves, askHalf
			}
			got, err := measure(root, embedder)
			if err != nil {
				fmt.Fprintln(os.Stderr, "answers:", err)
				os.Exit(1)
			}
			*into = append(*into, got...)
		}
		if len(outcomes) > 0 {
			fmt.Printf("## %s\n\n", embedder)
			printSources(outcomes, *verbose)
			printRefusals(outcomes, heldOut(outcomes), *verbose)
		}
		if len(halves) > 0 {
			fmt.Printf("## %s, built-in models on sets that they were not fitted to\n\n", embedder)
			printRefusals(halves, builtIn(halves), *verbose)
		}
		if *fit {
			printFit(outcomes)
		}
	}
}

// measure asks all questions of a folder.
func measure(root, embedder string) ([]outcome, error) {
	all, err := eval.Load(filepath.Join(root, "questions.jsonl"))
	if err != nil {
		return nil, err
	}
	sets := map[string]bool{}
	for _, q := range all.Questions {
		if q.Answerable == nil {
			return nil, fmt.Errorf("question %s does not say whether it can be answered", q.ID)
		}
		sets[q.Set] = true
	}
	var outcomes []outcome
	for _, set := range slices.Sorted(maps.Keys(sets)) {
		sources, err := documents(filepath.Join(root, set))
		if err != nil {
			return nil, err
		}
		got, err := ask(sources, embedder, all.Only(set).Questions)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", set, err)
		}
		outcomes = append(outcomes, got...)
	}
	return outcomes, nil
}

// lastTrace keeps the newest trace.
type lastTrace struct{ stages []rag.Span }

func (l *lastTrace) Record(_ context.Context, t *rag.Trace) error {
	l.stages = slices.Clone(t.Stages)
	return nil
}

// ask asks questions about documents.
func ask(sources []rag.Sources, embedder string, questions []eval.Question) ([]outcome, error) {
	c := rag.DefaultConfig()
	c.Embedder.Provider = embedder
	c.Answer.RefuseBelow = -1 // what is refused is decided below, by models fitted to other collections
	c.Answer.ReliableFrom = math.SmallestNonzeroFloat64
	var last lastTrace
	eng, err := rag.Open("", rag.WithConfig(c), rag.WithTraceSink(&last))
	if err != nil {
		return nil, err
	}
	defer eng.Close()
	ctx := context.Background()
	if _, err := eng.Ingest(ctx, rag.IngestRequest{Sources: sources}); err != nil {
		return nil, err
	}
	var outcomes []outcome
	for _, q := range questions {
		query := rag.Query{Text: q.Text, AsOf: q.AsOf}
		o := outcome{Question: q, answerable: *q.Answerable}
		if o.answer, err = eng.Ask(ctx, rag.AskRequest{Query: query, Extractive: true}); err != nil {
			return nil, err
		}
		o.doubted = o.answer.Reliability != rag.Reliable
		o.features = features(last.stages)
		query.Mode, query.TopK = rag.Dense, 1
		nearest, err := eng.Search(ctx, query)
		if err != nil {
			return nil, err
		}
		if len(nearest.Hits) > 0 {
			o.cosine = nearest.Hits[0].Score
		}
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

// features reads the evidence out of a trace; NaN of what the search did not have.
func features(stages []rag.Span) []float64 {
	names := rag.EvidenceFeatures()
	values := make([]float64, len(names))
	for _, s := range stages {
		if s.Stage != rag.StageEvidence {
			continue
		}
		for i, name := range names {
			v, ok := s.Detail[name].(float64)
			if values[i] = v; !ok {
				values[i] = math.NaN()
			}
		}
	}
	return values
}

// documents lists the sources of a set, with the metadata of its manifest.
func documents(folder string) ([]rag.Sources, error) {
	manifest, err := os.ReadFile(filepath.Join(folder, "manifest.jsonl"))
	if os.IsNotExist(err) {
		return []rag.Sources{rag.Dir(folder)}, nil
	}
	if err != nil {
		return nil, err
	}
	var all []rag.Sources
	for line := range strings.Lines(string(manifest)) {
		var meta map[string]any
		if err := json.Unmarshal([]byte(line), &meta); err != nil {
			return nil, err
		}
		path, _ := meta["document_path"].(string)
		clean, err := rag.Meta(meta).Clean()
		if err != nil {
			return nil, err
		}
		files := rag.Path(filepath.Join(folder, path)).All
		all = append(all, rag.Sources{All: func(yield func(rag.Source, error) bool) {
			for src, err := range files {
				src.Title, _ = clean["title"].(string)
				if src.Meta = clean; !yield(src, err) {
					return
				}
			}
		}})
	}
	return all, nil
}
