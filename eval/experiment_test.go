package eval_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
	"github.com/seed-d8745b77/rag/ragtest"
)

// prefixed is an embedder over words that puts a text before questions.
type prefixed struct {
	ragtest.HashEmbedder
	Prefix string `json:"question_prefix"`
}

func (p *prefixed) Model() rag.EmbedModel {
	m := p.HashEmbedder.Model()
	m.QuestionPrefix = p.Prefix
	return m
}

func (p *prefixed) Embed(ctx context.Context, role rag.EmbedRole, texts []string) ([][]float32, error) {
	if role == rag.AsQuestion {
		with := make([]string, len(texts))
		for i, t := range texts {
			with[i] = p.Prefix + t
		}
		texts = with
	}
	return p.HashEmbedder.Embed(ctx, role, texts)
}

func init() {
	rag.Default.Embedders.Register("prefixed", rag.Typed(func(_ rag.Env, c struct {
		Prefix string `json:"question_prefix"`
	}) (rag.Embedder, error) {
		return &prefixed{Prefix: c.Prefix}, nil
	}))
}

// writeSet makes a labelled set of n subjects: a document about each, and two queries that only words tell apart.
func writeSet(t *testing.T, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "made")
	var corpus, queries, qrels strings.Builder
	qrels.WriteString("query-id\tcorpus-id\tscore\n")
	for i := range n {
		fmt.Fprintf(&corpus, `{"_id":"d%d","title":"Subject %d","text":"alpha%d beta%d gamma. The report of the passage says delta%d."}`+"\n", i, i, i, i, i%7)
		for j, words := range []string{"alpha%d", "beta%d delta"} {
			fmt.Fprintf(&queries, `{"_id":"q%d-%d","text":"%s"}`+"\n", i, j, fmt.Sprintf(words, i))
			fmt.Fprintf(&qrels, "q%d-%d\td%d\t1\n", i, j, i)
		}
	}
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("corpus.jsonl", corpus.String())
	write("queries.jsonl", queries.String()+`{"_id":"unjudged","text":"x"}`)
	write("qrels/test.tsv", qrels.String())
	return dir
}

func testConfig() rag.Config {
	c := rag.DefaultConfig()
	c.Embedder = rag.ProviderConfig{Provider: "prefixed"}
	c.EmbedCache = rag.ProviderConfig{Provider: rag.None}
	return c
}

// newExperiment is over a made set.
func newExperiment(t *testing.T, n int) *eval.Experiment {
	t.Helper()
	set, err := eval.ReadBEIR(writeSet(t, n))
	if err != nil {
		t.Fatal(err)
	}
	if set.Name != "made" || len(set.Docs) != n || len(set.Queries) != 2*n || len(set.Problems()) > 0 {
		t.Fatalf("set %s of %d documents, %d queries, problems %v", set.Name, len(set.Docs), len(set.Queries), set.Problems())
	}
	lab := &eval.Lab{Dir: t.TempDir(), Sources: set.Sources(), Options: set.Options(false)}
	return &eval.Experiment{Name: set.Name, Lab: lab, Questions: set.Questions(), Distinct: true, Now: clock()}
}

func TestExperimentShowsAWrongPrefix(t *testing.T) {
	x := newExperiment(t, 30)
	grid, variants, err := eval.ReadGrid("grid.yaml", []byte(`
baseline: dense
metrics: [ndcg@10, mrr]
variants:
  - name: dense
  - name: sparse
  - name: wrong prefix
    mode: dense
    config: {embedder: {provider: prefixed, question_prefix: "the report of the passage says delta0 subject 1 gamma "}}
`), testConfig())
	if err != nil {
		t.Fatal(err)
	}
	x.Variants, x.Baseline, x.Metrics = variants, grid.Baseline, grid.Metrics
	report, err := x.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if report.Documents != 30 || report.Questions != 60 || report.Baseline != "dense" {
		t.Errorf("report %+v", report)
	}
	wrong := report.Variants[2]
	c := wrong.Against["mrr"]
	if !c.Significant || c.Diff >= 0 || c.High >= 0 || c.Losses <= c.Wins || c.N != 60 {
		t.Errorf("a wrong prefix: %+v", c)
	}
	if report.Variants[0].Against != nil || len(report.Variants[0].Values["mrr"]) != 60 || wrong.Latency.P50 != 1 {
		t.Errorf("baseline %+v, latency %+v", report.Variants[0].Against, wrong.Latency)
	}
	if folders, _ := filepath.Glob(filepath.Join(x.Lab.Dir, "data-*")); len(folders) != 2 {
		t.Errorf("data of %d ways to ingest: %v", len(folders), folders)
	}
	again, err := x.Run(t.Context())
	if diff := cmp.Diff(report, again); err != nil || diff != "" {
		t.Errorf("run again: error %v (-was +is):\n%s", err, diff)
	}
}

func TestExperimentOverACollection(t *testing.T) {
	dir := t.TempDir()
	eng, err := rag.Open(dir, rag.WithConfig(testConfig()))
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	text := "# A\n\n" + strings.Repeat("Words that say little. ", 60) + "The notice period is three months.\n"
	if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Bytes("file:///kb/a.md", []byte(text))}}); err != nil {
		t.Fatal(err)
	}
	var chunk rag.Chunk
	for c, err := range eng.Chunks(t.Context(), "", rag.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		chunk = c
	}
	set := parse(t, fmt.Sprintf(`{"id":"q","question":"notice period","key_sentence":"the notice period is three months","expected_chunk_ids":[%q]}`, chunk.ID))
	_, variants, err := eval.ReadGrid("grid.yaml", []byte("variants: [{name: hybrid}, {name: small, mode: hybrid, config: {splitter: {max_tokens: 40}}}]"), testConfig())
	if err != nil {
		t.Fatal(err)
	}
	x := &eval.Experiment{Name: "kb", Lab: eval.NewCollectionLab(eng, dir, "", t.TempDir()), Questions: set.Questions, Variants: variants, Metrics: []string{"mrr"}}
	report, err := x.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false} {
		v := report.Variants[i]
		if s := v.Metrics["key_sentence/mrr"]; s.Mean == nil || *s.Mean == 0 {
			t.Errorf("%s: key_sentence/mrr %+v", v.Variant, s)
		}
		if s := v.Metrics["chunk/mrr"]; (s.N == 1) != want {
			t.Errorf("%s: chunk/mrr %+v: passage IDs do not survive another splitting, and nothing may claim it", v.Variant, s)
		}
	}
}

func TestExperimentsThatMakeNoSense(t *testing.T) {
	x := newExperiment(t, 2)
	named := func(names ...string) []eval.Variant {
		list, err := eval.Named(testConfig(), names)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	for name, change := range map[string]func(x *eval.Experiment){
		"no question":     func(x *eval.Experiment) { x.Questions = nil },
		"no variant":      func(x *eval.Experiment) { x.Variants = nil },
		"twice":           func(x *eval.Experiment) { x.Variants = append(x.Variants, x.Variants...) },
		"no metric":       func(x *eval.Experiment) { x.Metrics = []string{"f1"} },
		"no level":        func(x *eval.Experiment) { x.Metrics = []string{"page/mrr"} },
		"no baseline":     func(x *eval.Experiment) { x.Baseline = "none" },
		"nothing to find": func(x *eval.Experiment) { x.Questions = []eval.Question{{ID: "q", Text: "x"}} },
	} {
		bad := *x
		bad.Variants = named("dense")
		change(&bad)
		if _, err := bad.Run(t.Context()); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%s: error %v, want ErrInvalid", name, err)
		}
	}
	if _, err := eval.Named(testConfig(), []string{"hybrid", "dens"}); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), `did you mean "dense"`) {
		t.Errorf("unknown variant: error %v", err)
	}
	for text, want := range map[string]string{
		"variants:\n- name: a\n  config:\n    retrieval: {top_k: x}":     "grid.yaml:4: variants.0.config.retrieval.top_k: want a whole number from 1 to 10000, got a text",
		"variants:\n- name: a\n  config: {retrieval: {top_kk: 3}}":       `grid.yaml:3: variants.0.config.retrieval.top_kk: unknown key, did you mean "top_k"?`,
		"variants:\n- name: a\n  config: {retrieval: {top_k: -3}}":       "grid.yaml:3: variants.0.config.retrieval.top_k: want a whole number from 1 to 10000, got -3",
		"grid:\n  fusion.provider: [rrf]\n  retrieval.dense_weight: [x]": "grid.yaml:3: grid.retrieval.dense_weight: want a number above 0, at most 1000, got a text",
		"variants:\n- nam: a":                `grid.yaml:2: unknown key "variants.0.nam", did you mean "name"?`,
		"variants:\n- name: a\n  mode: dens": `grid.yaml:3: variants.0.mode: "dens" is none, did you mean "dense"?`,
		"variants: []\n---\ngrid: {}":        "grid.yaml:2: a second document begins",
	} {
		if _, _, err := eval.ReadGrid("grid.yaml", []byte(text), testConfig()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	for _, text := range []string{
		"", "variants: [{mode: dense}]", "variants: [{name: a}, {name: a}]", "variants: [{name: a, config: {fussion: rrf}}]", "variants: 1", "variant: []",
		"{baseline: b, variants: [{name: a}]}", "grid: {retrieval.dense_wait: [1]}", "grid: {retrieval.top_k: [x]}", "grid: {a: [1]}",
	} {
		if _, _, err := eval.ReadGrid("grid.yaml", []byte(text), testConfig()); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%q: error %v, want ErrInvalid", text, err)
		}
	}
}

func TestGridCombines(t *testing.T) {
	_, variants, err := eval.ReadGrid("grid.yaml", []byte("grid: {fusion.provider: [rrf, dbsf], retrieval.dense_weight: [0.3, 0.6]}"), testConfig())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, v := range variants {
		names = append(names, v.Name)
		if !strings.Contains(v.Name, v.Config.Fusion.Provider) || !strings.Contains(v.Name, fmt.Sprint(v.Config.Retrieval.DenseWeight)) || v.Config.Retrieval.SparseWeight != 1 {
			t.Errorf("%s: fusion %s, weight %v", v.Name, v.Config.Fusion.Provider, v.Config.Retrieval.DenseWeight)
		}
	}
	if len(names) != 4 || names[0] != "fusion.provider=rrf retrieval.dense_weight=0.3" {
		t.Errorf("variants %q", names)
	}
}

func TestCompare(t *testing.T) {
	pairs := func(was, is []float64) (list []eval.Pair) {
		for i := range was {
			list = append(list, eval.Pair{ID: fmt.Sprint("q", i), A: rag.EvalNumber(was[i]), B: rag.EvalNumber(is[i])}) // NaN becomes a null
		}
		return list
	}
	null := math.NaN()
	mixed := pairs([]float64{0, 0, 0.5, null, 1, 1}, []float64{1, 0, 0.25, 1, null, 1 + 1e-15})
	c := eval.Compare(mixed)
	if c.N != 4 || c.Wins != 1 || c.Losses != 1 || c.Ties != 2 || math.Abs(c.Diff-0.75/4) > 1e-12 || c.Significant {
		t.Errorf("%+v", c)
	}
	var outcomes []string
	for _, p := range mixed {
		outcomes = append(outcomes, p.Outcome())
	}
	if diff := cmp.Diff([]string{eval.Won, eval.Tied, eval.Lost, eval.Unmeasured, eval.Unmeasured, eval.Tied}, outcomes); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	if edge := (eval.Pair{A: rag.EvalNumber(0), B: rag.EvalNumber(1e-12)}).Outcome(); edge != eval.Tied {
		t.Errorf("a difference of rounding is %s", edge)
	}
	if diff := cmp.Diff([][]string{{"q0"}, {"q2"}}, [][]string{c.Won, c.Lost}); diff != "" {
		t.Errorf("won and lost (-want +got):\n%s", diff)
	}
	if same := eval.Compare(pairs([]float64{1, 0}, []float64{1, 0})); same.P != 1 || same.Significant || same.Diff != 0 {
		t.Errorf("no difference: %+v", same)
	}
	if none := eval.Compare(nil); none.N != 0 || none.P != 1 {
		t.Errorf("nothing: %+v", none)
	}
	// Of 2^n equally likely signs two give a sum as far from 0: p is 2/2^n, 1/16 of five wins and 1/512 of ten.
	ones, zeros := []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, make([]float64, 10)
	if p := eval.Compare(pairs(zeros[:5], ones[:5])); p.Significant || math.Abs(p.P-1.0/16) > 0.01 {
		t.Errorf("five wins: %+v", p)
	}
	if p := eval.Compare(pairs(ones, zeros)); !p.Significant || p.Diff != -1 || p.High != -1 {
		t.Errorf("ten losses: %+v", p)
	}
	if p := eval.Compare(pairs(zeros, ones)); !p.Significant || math.Abs(p.P-1.0/512) > 0.002 || p.Low != 1 {
		t.Errorf("ten wins: %+v", p)
	}
}

// Draws are the same wherever a report is made again: of a hundred questions, which need two words of random bits each time.
func TestDrawsAreRepeated(t *testing.T) {
	var numbers []float64
	var pairs []eval.Pair
	for i := range 100 {
		v := math.Sqrt(float64(i*37%101)) / 11 // no two means of samples are equal
		numbers = append(numbers, v)
		pairs = append(pairs, eval.Pair{A: rag.EvalNumber(0.6), B: rag.EvalNumber(v)})
	}
	low, high := eval.Interval(numbers)
	c := eval.Compare(pairs)
	if got, want := fmt.Sprintf("%.10f %.10f %.10f %.10f %.10f", low, high, c.Low, c.High, c.P), "0.5590300699 0.6454001260 -0.0409699301 0.0454001260 0.8802119788"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if low, high := eval.Interval(nil); low != 0 || high != 0 {
		t.Errorf("of nothing: [%v, %v]", low, high)
	}
	if c := eval.Compare([]eval.Pair{{A: rag.EvalNumber(0), B: rag.EvalNumber(1)}}); c.P != 1 {
		t.Errorf("one question: p %v, want 1: either sign is as far from 0", c.P)
	}
}

func TestInterval(t *testing.T) {
	numbers := make([]float64, 400) // half 0, half 1: the mean's standard error is 0.025
	for i := range 200 {
		numbers[i] = 1
	}
	low, high := eval.Interval(numbers)
	if math.Abs(low-(0.5-1.96*0.025)) > 0.005 || math.Abs(high-(0.5+1.96*0.025)) > 0.005 {
		t.Errorf("[%v, %v]", low, high)
	}
	if again, _ := eval.Interval(numbers); again != low {
		t.Errorf("%v, then %v", low, again)
	}
}

func FuzzReadGrid(f *testing.F) {
	f.Add([]byte("baseline: a\nvariants: [{name: a, config: {fusion: dbsf}}, {name: dense}]\ngrid: {retrieval.top_k: [1, 2]}"))
	f.Add([]byte("grid: {a.b: [1], a: [{b: 2}]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, variants, err := eval.ReadGrid("grid.yaml", data, testConfig())
		if err != nil && !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("error %v", err)
		}
		if err == nil && len(variants) == 0 {
			t.Error("no variant, and no error")
		}
	})
}
