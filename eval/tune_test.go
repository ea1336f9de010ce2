package eval_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
)

func TestTune(t *testing.T) {
	x := newExperiment(t, 30)
	base := testConfig()
	base.Retrieval.DenseWeight, base.Retrieval.SparseWeight = 0.05, 1
	tuned, err := (&eval.Tuning{Lab: x.Lab, Questions: x.Questions, Base: base, Metric: "mrr", Distinct: true}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if tuned.Trained+tuned.HeldOut != 60 || tuned.Trained < 10 || tuned.HeldOut < 10 {
		t.Errorf("trained on %d, judged on %d", tuned.Trained, tuned.HeldOut)
	}
	if len(tuned.Steps) != 2 || tuned.Steps[0].Step != "fusion" || tuned.Steps[1].Step != "pools" || tuned.Report.Baseline != eval.TuneBaseline {
		t.Errorf("steps %+v", tuned.Steps)
	}
	best := 0.0
	for _, trial := range tuned.Steps[0].Tried {
		best = max(best, trial.Mean)
		if trial.Low > trial.Mean || trial.High < trial.Mean {
			t.Errorf("trial %+v", trial)
		}
		if trial.Name == tuned.Steps[0].Chosen && trial.Mean < best {
			t.Errorf("chosen %s with %v, and there is %v", trial.Name, trial.Mean, best)
		}
	}
	if c := tuned.Report.Variants[1].Against["mrr"]; tuned.Adopt && !(c.Significant && c.Diff > 0) && tuned.Report.Variants[1].Latency.P50 >= tuned.Report.Variants[0].Latency.P50 {
		t.Errorf("adopted: %s, %+v", tuned.Reason, c)
	}
	few := &eval.Tuning{Lab: x.Lab, Questions: x.Questions[:9], Base: base}
	if _, err := few.Run(t.Context()); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "at least 10 of each") {
		t.Errorf("nine questions: error %v", err)
	}
}

// workClock stands still but for what rerankers add to it: a millisecond for each passage.
var workClock = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// decoder is a reranker that knows which passage a question is about: the question ends with a number, the passage with the
// same number in letters. Idle, it leaves the order as it is.
type decoder struct{ idle bool }

func init() {
	rag.Default.Rerankers.Register("decoder", rag.Typed(func(_ rag.Env, c struct {
		Idle bool `json:"idle"`
	}) (rag.Reranker, error) {
		return decoder{c.Idle}, nil
	}))
}

func (d decoder) Rerank(_ context.Context, question string, texts []string) ([]float64, error) {
	scores := make([]float64, len(texts))
	want := " " + inLetters(question[strings.LastIndex(question, " ")+1:])
	for i, text := range texts {
		if d.idle {
			scores[i] = -float64(i)
		} else if strings.HasSuffix(strings.TrimSpace(text), want) {
			scores[i] = 1
		}
	}
	workClock = workClock.Add(time.Duration(len(texts)) * time.Millisecond)
	return scores, nil
}

// inLetters writes a number in letters.
func inLetters(number string) string {
	return strings.Map(func(r rune) rune { return r - '0' + 'k' }, number)
}

// texts are documents as sources.
func texts(documents map[string]string) rag.Sources {
	return rag.Sources{All: func(yield func(rag.Source, error) bool) {
		for _, uri := range slices.Sorted(maps.Keys(documents)) {
			for src, err := range rag.Bytes(uri, []byte(documents[uri])).All {
				if !yield(src, err) {
					return
				}
			}
		}
	}}
}

// coded is a tuning over passages with a number each. Written in letters it is nothing to the lanes: they find all, in an
// order that means nothing.
func coded(t *testing.T, reranker string, written func(number string) string) *eval.Tuning {
	documents := map[string]string{}
	tuning := &eval.Tuning{Metric: "mrr", Base: testConfig(), Now: func() time.Time { return workClock }}
	for i := range 60 {
		uri := fmt.Sprintf("file:///kb/%d.txt", i)
		documents[uri] = "An entry of the list is " + written(fmt.Sprint(i))
		tuning.Questions = append(tuning.Questions, eval.Question{ID: fmt.Sprint("q", i), Text: fmt.Sprintf("an entry of the list is %d", i), Documents: eval.Grades{uri: 1}})
	}
	tuning.Lab = &eval.Lab{Dir: t.TempDir(), Sources: texts(documents)}
	tuning.Base.Rerank = rag.ProviderConfig{Provider: "decoder", Settings: []byte(reranker)}
	return tuning
}

// stepOf returns a step of a tuning by its name.
func stepOf(t *testing.T, tuned *eval.Tuned, name string) eval.TuneStep {
	t.Helper()
	for _, s := range tuned.Steps {
		if s.Step == name {
			return s
		}
	}
	t.Fatalf("no step %s among %+v", name, tuned.Steps)
	return eval.TuneStep{}
}

func TestTuneTriesDepthAndShareOfTheReranker(t *testing.T) {
	tuning := coded(t, "", inLetters)
	tuning.Base.Retrieval.RerankTopN, tuning.Base.Retrieval.RerankWeight = 10, 0.3
	tuned, err := tuning.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	step := stepOf(t, tuned, "rerank")
	names := map[string]bool{}
	for _, trial := range step.Tried {
		names[trial.Name] = true
		if trial.Latency == nil {
			t.Errorf("%s was not timed", trial.Name)
		}
	}
	// Three depths and four shares, one of which is in force, and no reranker at all.
	if len(names) != 13 || !names["as it is"] || !names["no reranker"] || names["rerank_top_n=10 rerank_weight=0.3"] {
		t.Errorf("tried %v", names)
	}
	if !strings.HasPrefix(step.Chosen, "rerank_top_n=50 ") || !tuned.Adopt || !strings.HasPrefix(tuned.Reason, "significantly better") {
		t.Errorf("chosen %s, adopted %v: %s", step.Chosen, tuned.Adopt, tuned.Reason)
	}
	retrieval, _ := tuned.Settings["retrieval"].(map[string]any)
	if fmt.Sprint(retrieval["rerank_top_n"]) != "50" || retrieval["rerank_weight"] == nil {
		t.Errorf("settings %v", tuned.Settings)
	}
	if c := tuned.Report.Variants[1].Against[tuned.Metric]; !c.Significant || c.Diff <= 0 {
		t.Errorf("%+v", c)
	}
}

func TestTuneTakesWhatIsAsGoodAndFaster(t *testing.T) {
	tuned, err := coded(t, `{"idle": true}`, strings.TrimSpace).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if step := stepOf(t, tuned, "rerank"); step.Chosen != "no reranker" {
		t.Errorf("chosen %s", step.Chosen)
	}
	if diff := cmp.Diff(map[string]any{"rerank": map[string]any{"provider": "none"}}, tuned.Settings); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	base, best := tuned.Report.Variants[0], tuned.Report.Variants[1]
	if !tuned.Adopt || !strings.HasPrefix(tuned.Reason, "as good on the held-out questions") || best.Latency.P50 >= base.Latency.P50 {
		t.Errorf("adopted %v: %s; %v and %v ms", tuned.Adopt, tuned.Reason, base.Latency.P50, best.Latency.P50)
	}
}

// Whole documents hide where two words stand together; small passages show it.
func TestTuneTriesSizesOfPassages(t *testing.T) {
	const n = 30
	documents := map[string]string{}
	tuning := &eval.Tuning{Metric: "hit@1", Base: testConfig(), Chunks: []int{400, 40, 40}, Now: func() time.Time { return workClock }}
	tuning.Base.Embedder = rag.ProviderConfig{Provider: rag.None}
	tuning.Base.Splitter.Settings = []byte(`{"max_tokens": 400}`)
	filler := strings.Repeat("Nothing of what is said here matters to anybody. ", 5)
	for i := range n {
		a, b := fmt.Sprintf("alpha%d", i), fmt.Sprintf("beta%d", i)
		documents[fmt.Sprintf("file:///kb/together%d.txt", i)] = filler + fmt.Sprintf("The %s meets the %s at noon.", a, b) + "\n\n" + filler
		documents[fmt.Sprintf("file:///kb/apart%d.txt", i)] = strings.Repeat(fmt.Sprintf("They speak of %s again. ", a), 7) + "\n\n" + filler + "\n\n" + strings.Repeat(fmt.Sprintf("They speak of %s again. ", b), 7)
		tuning.Questions = append(tuning.Questions, eval.Question{ID: fmt.Sprint("q", i), Text: a + " " + b, Sentences: []string{fmt.Sprintf("the %s meets the %s at noon", a, b)}})
	}
	tuning.Lab = &eval.Lab{Dir: t.TempDir(), Sources: texts(documents)}
	tuned, err := tuning.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(tuned.Steps) != 1 {
		t.Errorf("one lane and no reranker, and steps %+v", tuned.Steps)
	}
	step := stepOf(t, tuned, "chunk size")
	var names []string
	for _, trial := range step.Tried {
		names = append(names, trial.Name)
	}
	if diff := cmp.Diff([]string{"as it is", "max_tokens=40", "max_tokens=400"}, names); diff != "" || step.Chosen != "max_tokens=40" {
		t.Errorf("chosen %s (-want +tried):\n%s", step.Chosen, diff)
	}
	if !tuned.Adopt || !strings.HasPrefix(tuned.Reason, "significantly better") {
		t.Errorf("adopted %v: %s", tuned.Adopt, tuned.Reason)
	}
	splitter, _ := tuned.Settings["splitter"].(map[string]any)
	if len(tuned.Settings) != 1 || fmt.Sprint(splitter["max_tokens"]) != "40" {
		t.Errorf("settings %v", tuned.Settings)
	}
	for i := range tuning.Questions { // passage IDs do not survive another splitting
		tuning.Questions[i].Sentences, tuning.Questions[i].Chunks = nil, eval.Grades{"x": 1}
	}
	if tuned, err := tuning.Run(t.Context()); err != nil || len(tuned.Steps) > 0 || tuned.Adopt || tuned.Reason != "no setting did better than those in force" {
		t.Errorf("%+v, %v", tuned, err)
	}
}
