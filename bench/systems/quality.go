package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
)

// evaluation times what system E calls retrieval-only: 23 questions about a course, from opening the data folder to the
// last metric.
func evaluation(ctx context.Context, qa string, questions *eval.TestSet) error {
	const asked = 23
	dir, err := os.MkdirTemp("", "rag-systems")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	req, err := collection(qa, "course", "course.yaml")
	if err != nil {
		return err
	}
	c := rag.DefaultConfig()
	c.Collection = req.Collection
	eng, err := ingest(ctx, dir, c, req)
	if err != nil {
		return err
	}
	if err := eng.Close(); err != nil {
		return err
	}
	set, err := undated(questions.Only("course"))
	if err != nil {
		return err
	}
	set.Questions = set.Questions[:asked]
	start := time.Now()
	if eng, err = rag.Open(dir, rag.WithConfig(c)); err != nil {
		return err
	}
	defer eng.Close()
	if _, err := eval.Evaluate(ctx, eng, set, eval.Options{}); err != nil {
		return err
	}
	row("E10", "retrieval-only evaluation of 23 questions", "about 1 min", "%.2f s", time.Since(start).Seconds())
	return nil
}

// targets are the values that F12 sets for what can be measured without a chat model.
var targets = []struct {
	metric, name string
	least        float64
}{
	{"document/hit@5", "hit@5 of documents", 0.90},
	{"document/mrr", "MRR of documents", 0.80},
	{"document/ndcg@10", "nDCG@10 of documents", 0.85},
	{"key_sentence/hit@5", "hit@5 of key sentences", 0.90},
	{"key_sentence/mrr", "MRR of key sentences", 0.80},
	{"key_sentence/ndcg@10", "nDCG@10 of key sentences", 0.85},
	{"faithfulness_verified", "faithfulness of extractive answers, by the verifier", 0.90},
}

// quality measures the questions of all sets, each in its collection, with the default configuration and no chat model, and
// once more with the model that knows their languages.
func quality(ctx context.Context, qa string, questions *eval.TestSet) error {
	questions.Rename(map[string]string{"date_range": "effective"}) // as the documents' front matter has it
	for _, embedder := range []string{"local", "multilingual"} {
		if err := qualityOf(ctx, qa, questions, embedder); err != nil {
			return err
		}
	}
	return nil
}

func qualityOf(ctx context.Context, qa string, questions *eval.TestSet, embedder string) error {
	sums := map[string]*sum{}
	for _, col := range collections {
		req, err := collection(qa, col.set, col.domain)
		if err != nil {
			return err
		}
		c := rag.DefaultConfig()
		c.Embedder.Provider = embedder
		eng, err := ingest(ctx, "", c, req)
		if err != nil {
			return err
		}
		set, err := undated(questions.Only(col.set))
		if err != nil {
			return err
		}
		run, err := measure(ctx, eng, set)
		if err != nil {
			return err
		}
		if err := eng.Close(); err != nil {
			return err
		}
		for name, score := range run.Metrics {
			if score.Mean != nil {
				if sums[name] == nil {
					sums[name] = &sum{}
				}
				sums[name].add(*score.Mean, score.N)
			}
		}
	}
	for _, t := range targets {
		if s := sums[t.metric]; s != nil {
			row("F12", t.name+"; model "+embedder, fmt.Sprintf("at least %.2f", t.least), "%.3f, over %d questions", s.total/float64(s.n), s.n)
		}
	}
	return nil
}

func measure(ctx context.Context, eng *rag.Engine, set *eval.TestSet) (*eval.Run, error) {
	evaluator, err := eval.EngineEvaluator(eng, "", nil, 0)
	if err != nil {
		return nil, err
	}
	answer := func(ctx context.Context, q rag.Query) (*rag.Answer, error) {
		return eng.Ask(ctx, rag.AskRequest{Query: q, Extractive: true})
	}
	return eval.Evaluate(ctx, eng, set, eval.Options{K: []int{1, 3, 5, 10}, Answer: answer, Evaluator: evaluator})
}

// sum is the sum of a metric's values.
type sum struct {
	total float64
	n     int
}

func (s *sum) add(mean float64, n int) {
	s.total += mean * float64(n)
	s.n += n
}
