package eval_test

import (
	"context"
	"sync"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/embed/local/multilingual"
	"github.com/seed-d8745b77/rag/eval"
	"github.com/seed-d8745b77/rag/internal/testdata"
)

// e5 is multilingual-e5-small, which wants "query: " before questions and "passage: " before passages. With WrongSide it
// puts before questions what belongs before passages: the mistake that everybody makes once.
type e5 struct {
	rag.Embedder
	WrongSide bool
}

// passageVectors keeps the vectors of passages, which are the same on either side.
var passageVectors sync.Map

func (e *e5) Embed(ctx context.Context, role rag.EmbedRole, texts []string) ([][]float32, error) {
	if role == rag.AsQuestion {
		if e.WrongSide {
			role = rag.AsPassage
		}
		return e.Embedder.Embed(ctx, role, texts)
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if kept, ok := passageVectors.Load(text); ok {
			vectors[i] = kept.([]float32)
			continue
		}
		made, err := e.Embedder.Embed(ctx, role, texts[i:i+1])
		if err != nil {
			return nil, err
		}
		vectors[i] = made[0]
		passageVectors.Store(text, made[0])
	}
	return vectors, nil
}

func init() {
	rag.Default.Embedders.Register("e5", rag.Typed(func(_ rag.Env, c struct {
		WrongSide bool `json:"wrong_side"`
	}) (rag.Embedder, error) {
		e, err := multilingual.New(multilingual.Config{})
		return &e5{e, c.WrongSide}, err
	}))
}

// A wrong prefix on the question side costs little, and is seen all the same: on 400 questions of XQuAD as a significant
// loss. bench/quality.md has the figures of all 1,190, and of the model in fp32.
func TestAWrongPrefixOfARealModelIsASignificantLoss(t *testing.T) {
	if slowEncoder {
		t.Skip("skipped: it embeds 240 passages and 800 questions")
	}
	set, err := eval.ReadBEIR(testdata.Shared(t, "data", "ir", "xquad-en"))
	if err != nil {
		t.Fatal(err)
	}
	_, variants, err := eval.ReadGrid("grid.yaml", []byte(`
variants:
  - {name: right, mode: dense, config: {embedder: {provider: e5}}}
  - {name: wrong, mode: dense, config: {embedder: {provider: e5, wrong_side: true}}}
`), testConfig())
	if err != nil {
		t.Fatal(err)
	}
	x := &eval.Experiment{
		Name: set.Name, Questions: set.Questions()[:400], Variants: variants, Metrics: []string{"ndcg@10", "mrr@10"}, Distinct: true,
		Lab: &eval.Lab{Dir: t.TempDir(), Sources: set.Sources(), Options: set.Options(false)},
	}
	report, err := x.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	right, wrong := report.Variants[0], report.Variants[1]
	if mean := right.Metrics["ndcg@10"].Mean; *mean < 0.9 {
		t.Errorf("nDCG@10 with the right prefix is %v", *mean)
	}
	for name, c := range wrong.Against {
		if !c.Significant || c.High >= 0 || c.Losses <= c.Wins || c.N != 400 {
			t.Errorf("%s: %+v", name, c)
		}
		t.Logf("%s: %.4f, then %+.4f [%+.4f, %+.4f], p %.4f, %d won, %d lost", name, *right.Metrics[name].Mean, c.Diff, c.Low, c.High, c.P, c.Wins, c.Losses)
	}
}
