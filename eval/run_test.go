package eval_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/eval"
	"github.com/seed-d8745b77/rag/ragtest"
)

// documents are a small collection: what stands in each is found by its own words.
var documents = map[string]string{
	"leave.md":  "# Leave\n\nEverybody has 30 days of annual leave each year.\n",
	"notice.md": "# Notice\n\nThe notice period is three months to the end of a quarter.\n",
	"old.md":    "---\nvalid_until: 2025-12-31\n---\n# Meals\n\nThe meal allowance abroad is 40 crowns a day.\n",
	"meals.md":  "---\nvalid_until: 2026-12-31\n---\n# Meals\n\nThe meal allowance abroad is 45 crowns a day.\n",
}

// openWith opens an engine over the documents; embedder may break.
func openWith(t *testing.T, embedder *ragtest.HashEmbedder) *rag.Engine {
	t.Helper()
	eng, err := rag.Open(t.TempDir(), rag.WithEmbedder(embedder))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	var sources []rag.Sources
	for name, text := range documents {
		sources = append(sources, rag.Bytes("file:///kb/"+name, []byte(text)))
	}
	if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: sources}); err != nil {
		t.Fatal(err)
	}
	return eng
}

func parse(t *testing.T, lines ...string) *eval.TestSet {
	t.Helper()
	set, problems := eval.Parse([]byte(strings.Join(lines, "\n")))
	if len(problems) > 0 {
		t.Fatalf("problems %v", problems)
	}
	return set
}

const (
	askNotice = `{"id":"notice","question":"notice period to the end of a quarter","answerable":true,"kind":"fact","expected_sources":["notice.md"],"expected_sections":["NOTICE"],"key_sentence":"the notice period is: THREE months","reference_answer":"three months","intent":"search","human":{"correctness_overlap":1}}`
	askMeals  = `{"id":"meals","question":"meal allowance abroad crowns a day","answerable":true,"kind":"validity","expected_sources":["meals.md"],"as_of":"2026-06-01","expected_status":"current","excluded_sources":["old.md"],"intent":"search"}`
	askMoon   = `{"id":"moon","question":"how far is the moon","answerable":false,"kind":"off_topic","intent":"chat"}`
)

// answers gives the first hit as the answer, and refuses what speaks of the moon.
func answers(eng *rag.Engine) func(context.Context, rag.Query) (*rag.Answer, error) {
	return func(ctx context.Context, q rag.Query) (*rag.Answer, error) {
		if strings.Contains(q.Text, "moon") {
			return &rag.Answer{Refused: true, Reason: "nothing about it", Intent: "search"}, nil
		}
		res, err := eng.Search(ctx, q)
		if err != nil {
			return nil, err
		}
		return &rag.Answer{Text: res.Hits[0].Chunk.Text + " [1]", Intent: "search", Mode: rag.AnswerExtractive, Sources: []rag.AnswerSource{{Number: 1, Hit: res.Hits[0]}}}, nil
	}
}

// clock moves a millisecond at each look.
func clock() func() time.Time {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return func() time.Time {
		now = now.Add(time.Millisecond)
		return now
	}
}

func TestEvaluateAndRegrade(t *testing.T) {
	eng := openWith(t, &ragtest.HashEmbedder{})
	set := parse(t, askNotice, askMeals, askMoon)
	overlap, err := eval.NewOverlap(nil)
	if err != nil {
		t.Fatal(err)
	}
	run, err := eval.Evaluate(t.Context(), eng, set, eval.Options{Label: "base", K: []int{3, 1}, Answer: answers(eng), Evaluator: overlap, Now: clock()})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		mean     float64
		n, nulls int
	}{
		"document/hit@1": {1, 2, 0}, "document/mrr": {1, 2, 0}, "section/hit@1": {1, 1, 0}, "key_sentence/hit@1": {1, 1, 0},
		"key_sentence/ndcg@3": {1, 1, 0}, "faithfulness_overlap": {1, 2, 1}, "context_recall_overlap": {1, 1, 2},
	} {
		s := run.Metrics[name]
		if s.Mean == nil || *s.Mean != want.mean || s.N != want.n || s.Nulls != want.nulls {
			t.Errorf("%s: %+v, want %+v", name, s, want)
		}
	}
	one, half := 1.0, 2.0/3
	if diff := cmp.Diff(&eval.Refusal{Refused: 1, Unanswerable: 1, Right: 1, Precision: &one, Recall: &one, F1: &one, N: 3}, run.Refusal); diff != "" {
		t.Errorf("refusals (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&eval.Router{Accuracy: half, N: 3, Confusion: map[string]map[string]int{"search": {"search": 2}, "chat": {"search": 1}}}, run.Router); diff != "" {
		t.Errorf("router (-want +got):\n%s", diff)
	}
	if run.AnswerMS == nil || run.AnswerMS.N != 3 || run.AnswerMS.Mean != 1 || run.SearchMS.P95 != 1 {
		t.Errorf("answers took %+v, searches %+v", run.AnswerMS, run.SearchMS)
	}
	if a := run.Agreement["correctness_overlap"]; a.N != 1 || run.Kinds["validity"].Questions != 1 {
		t.Errorf("agreement %+v, kinds %+v", run.Agreement, run.Kinds)
	}

	path, err := run.Save(filepath.Join(t.TempDir(), "results"))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := eval.LoadRun(path)
	if err != nil {
		t.Fatal(err)
	}
	again, err := eval.Regrade(t.Context(), kept, set, eval.Options{Evaluator: overlap, Now: clock()})
	if err != nil {
		t.Fatal(err)
	}
	if again.RegradedFrom != "base" || again.Label != "base-regraded" {
		t.Errorf("regraded from %q, labelled %q", again.RegradedFrom, again.Label)
	}
	again.RegradedFrom, again.Label, again.Created = "", run.Label, run.Created
	if diff := cmp.Diff(run, again, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(eval.Run{}, "Config")); diff != "" {
		t.Errorf("graded again (-was +is):\n%s", diff)
	}
	if changed := eval.CompareRuns(run, again).Changed; len(changed) > 0 {
		t.Errorf("changed %v", changed)
	}
	if _, err := eval.Regrade(t.Context(), kept, set, eval.Options{K: []int{50}}); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("deeper than what was kept: error %v", err)
	}
	if _, err := eval.Regrade(t.Context(), kept, parse(t, `{"question":"x","gold":["y"]}`), eval.Options{}); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("another test set: error %v", err)
	}
}

func TestEvaluateReportsWhatIsNotThere(t *testing.T) {
	eng := openWith(t, &ragtest.HashEmbedder{})
	gone := `{"id":"gone","question":"notice period","expected_chunk_ids":["0123"],"expected_sources":["notice.md"]}`
	run, err := eval.Evaluate(t.Context(), eng, parse(t, gone, askNotice), eval.Options{Label: "x"})
	if err != nil {
		t.Fatal(err)
	}
	const why = `passage "0123" is not in the collection: it was made anew or deleted`
	if len(run.Problems) != 1 || run.Problems[0].String() != "line 1 (gone) expected_chunk_ids: "+why {
		t.Errorf("problems %v", run.Problems)
	}
	if s := run.Metrics["chunk/mrr"]; s.Mean != nil || s.Nulls != 1 || s.Why[why] != 1 {
		t.Errorf("chunk/mrr %+v", s)
	}
	if s := run.Metrics["document/mrr"]; s.N != 2 {
		t.Errorf("what is there is measured all the same: %+v", s)
	}
	// A part of what each question expects is lost: that is no reason to measure nothing, nor is what is judged irrelevant.
	run, err = eval.Evaluate(t.Context(), eng, parse(t, `{"id":"half","question":"notice period","expected_sources":["notice.md","gone.md"]}`, gone), eval.Options{})
	if err != nil || len(run.Problems) != 2 || run.Metrics["document/mrr"].N != 1 || run.Metrics["document/mrr"].Nulls != 1 || run.Complete() {
		t.Errorf("a part is lost: %+v, %v", run, err)
	}
	run, err = eval.Evaluate(t.Context(), eng, parse(t, `{"question":"notice period","expected_sources":{"notice.md":1,"gone.md":0},"expected_chunk_ids":{"0123":0}}`), eval.Options{})
	if err != nil || !run.Complete() || run.Metrics["document/mrr"].N != 1 {
		t.Errorf("something irrelevant is lost: %+v, %v", run, err)
	}
	for name, c := range map[string]struct {
		set  *eval.TestSet
		o    eval.Options
		want error
	}{
		"all of two is lost":  {parse(t, `{"id":"a","question":"x","expected_chunk_ids":["0123"]}`, `{"id":"b","question":"x","expected_sources":["gone.md","lost.md"]}`), eval.Options{}, rag.ErrNotFound},
		"nothing is there":    {parse(t, `{"id":"a","question":"x","expected_chunk_ids":["0123"]}`, askMoon), eval.Options{}, rag.ErrNotFound},
		"no question":         {&eval.TestSet{}, eval.Options{}, rag.ErrInvalid},
		"k below 1":           {parse(t, askNotice), eval.Options{K: []int{0}}, rag.ErrInvalid},
		"no such collection":  {parse(t, askNotice), eval.Options{Collection: "other"}, rag.ErrNotFound},
		"a mode that is none": {parse(t, askNotice), eval.Options{Mode: "best"}, rag.ErrInvalid},
	} {
		if _, err := eval.Evaluate(t.Context(), eng, c.set, c.o); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
	}
}

func TestEvaluateOverABackendThatDies(t *testing.T) {
	embedder := &ragtest.HashEmbedder{}
	calls := 0
	embedder.Before = func(_ context.Context, role rag.EmbedRole, _ []string) error {
		if role == rag.AsQuestion {
			if calls++; calls > 1 {
				return fmt.Errorf("embedding service: %w", rag.ErrUnavailable)
			}
		}
		return nil
	}
	eng := openWith(t, embedder)
	run, err := eval.Evaluate(t.Context(), eng, parse(t, askNotice, askMeals), eval.Options{Label: "x", Mode: rag.Dense})
	if err != nil {
		t.Fatal(err)
	}
	s := run.Metrics["document/hit@1"]
	if run.Failed != 1 || s.N != 1 || s.Nulls != 1 || *s.Mean != 1 {
		t.Errorf("%d failed, document/hit@1 %+v", run.Failed, s)
	}
	for why := range s.Why {
		if !strings.HasPrefix(why, "the search failed: ") || !strings.Contains(why, "unavailable") {
			t.Errorf("null because %q", why)
		}
	}
	if _, err = eval.Evaluate(t.Context(), eng, parse(t, askNotice, askMeals), eval.Options{Mode: rag.Dense}); !errors.Is(err, rag.ErrUnavailable) {
		t.Errorf("all failed: error %v", err)
	}
}

func TestAccept(t *testing.T) {
	eng := openWith(t, &ragtest.HashEmbedder{})
	good, err := eval.Accept(t.Context(), eng, "", parse(t, askNotice, askMeals, askMoon))
	if err != nil || len(good.Problems) > 0 || good.Checked != 10 {
		t.Errorf("%+v, %v", good, err)
	}
	bad, err := eval.Accept(t.Context(), eng, "", parse(t,
		`{"id":"1","question":"x","expected_sources":["none.md"]}`,
		`{"id":"2","question":"x","expected_sources":["old.md"],"as_of":"2026-06-01"}`,
		`{"id":"3","question":"x","expected_sources":["old.md"],"as_of":"2026-06-01","expiry_policy":"flag","expected_status":"current"}`,
		`{"id":"4","question":"x","expected_sources":["leave.md"],"excluded_sources":["meals.md"],"as_of":"2026-06-01"}`,
		`{"id":"5","question":"x","key_sentence":"in no document","filters":{"country":"uk"}}`,
		`{"id":"6","question":"x","expected_sources":["leave.md"],"filters":{"country":"uk"}}`,
	))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range bad.Problems {
		got = append(got, p.String())
	}
	want := []string{
		`line 1 (1) document: "none.md" is in no passage of the collection`,
		`line 2 (2) filters: filter and business date leave out "old.md"`,
		`line 3 (3) expected_status: "old.md" is expired, expected is current`,
		`line 4 (4) excluded_sources: "meals.md" counts as current, expected is that it does not`,
		`line 5 (5) key_sentence: "in no document" is in no passage of the collection`,
		`line 6 (6) filters: filter and business date leave out "leave.md"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestGate(t *testing.T) {
	mean := func(v float64) eval.Score { return eval.Score{Mean: &v, N: 10} }
	run := &eval.Run{Metrics: map[string]eval.Score{"key_sentence/mrr": mean(0.7), "document/mrr": mean(0.9), "correctness": {Nulls: 3}}}
	base := &eval.Run{Metrics: map[string]eval.Score{"key_sentence/mrr": mean(0.72)}}
	for rule, want := range map[string]bool{
		"mrr=0.7": true, "mrr=0.71": false, "document/mrr=0.9": true, "document/mrr=0.91": false, "correctness=0": false, "ndcg@10=0": false,
		"drop mrr=0.02": true, "drop mrr=0.01": false, "drop document/mrr=1": false,
	} {
		text, drop := strings.CutPrefix(rule, "drop ")
		r, err := eval.ParseRule(text, drop)
		if err != nil {
			t.Fatal(err)
		}
		if verdicts, ok := eval.Gate(run, base, []eval.Rule{r}); ok != want || !ok && verdicts[0].OK {
			t.Errorf("%s: %v, %+v", rule, ok, verdicts)
		}
	}
	for _, text := range []string{"", "mrr", "=1", "mrr=x", "mrr=NaN", "mrr=-1"} {
		if _, err := eval.ParseRule(text, false); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

func TestRunFiles(t *testing.T) {
	dir := t.TempDir()
	for _, label := range []string{"", "a/b", "..", ".x", "ü", strings.Repeat("x", 200)} {
		if _, err := (&eval.Run{Format: 1, Label: label}).Save(dir); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("label %q: error %v", label, err)
		}
	}
	for name, content := range map[string]string{"no JSON": "x", "another format": `{"format": 2}`, "a list": "[]"} {
		path := filepath.Join(dir, "x.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := eval.LoadRun(path); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	path, err := (&eval.Run{Format: 1, Label: "ok-1.2"}).Save(dir)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || !json.Valid(data) {
		t.Errorf("%s, %v", data, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".eval-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A model quotes a sentence as it was shown it: without what nobody sees.
func TestGenerateFindsWhatShows(t *testing.T) {
	eng, err := rag.Open("", rag.WithEmbedder(&ragtest.HashEmbedder{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = eng.Close() })
	path := filepath.Join(t.TempDir(), "pigeon.md")
	if err := os.WriteFile(path, []byte("# Pigeons\n\nA car\ufe0f\ufe01rier pig\u200beon costs 19 euros a day, and Albert pays for it.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(filepath.Dir(path))}}); err != nil {
		t.Fatal(err)
	}
	script := &ragtest.Script{Replies: []string{`{"question":"How much?","sentence":"A carrier pigeon costs 19 euros a day","answer":"19"}`}}
	drafts, notes, err := eval.Generate(t.Context(), eng, eval.GenerateRequest{Count: 1, Model: script})
	if err != nil || len(notes) > 0 || len(drafts) != 1 {
		t.Errorf("%+v, notes %v, error %v", drafts, notes, err)
	}
}

func TestGenerate(t *testing.T) {
	eng := openWith(t, &ragtest.HashEmbedder{})
	drafts, notes, err := eval.Generate(t.Context(), eng, eval.GenerateRequest{Count: 10})
	if err != nil || len(notes) > 0 || len(drafts) != 3 {
		t.Fatalf("%d drafts, notes %v, error %v", len(drafts), notes, err)
	}
	var lines []byte
	for i, d := range drafts {
		line, err := d.MarshalLine()
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line...)
		if !strings.Contains(d.Question, "____") || strings.Replace(d.Question, "____", d.Reference, 1) != d.Sentence || d.ID != fmt.Sprintf("draft-%03d", i+1) {
			t.Errorf("draft %+v", d)
		}
	}
	set, problems := eval.Parse(lines)
	if len(problems) > 0 || len(set.Questions) != 3 {
		t.Fatalf("the drafts are no test set: %v", problems)
	}
	if got, err := eval.Accept(t.Context(), eng, "", set); err != nil || len(got.Problems) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
	script := &ragtest.Script{Reply: func(req rag.ChatRequest) string {
		if len(req.Messages) == 2 {
			return `{"question":"How many?","sentence":"made up","answer":"30"}`
		}
		passage := req.Messages[1].Text
		if !strings.Contains(passage, "annual leave") {
			return "no"
		}
		return `{"question":"How many?","sentence":"everybody has 30 days","answer":"30"}`
	}}
	drafts, notes, err = eval.Generate(t.Context(), eng, eval.GenerateRequest{Count: 10, Model: script})
	if err != nil || len(notes) != 2 || len(drafts) != 1 || drafts[0].Kind != eval.KindDraft || drafts[0].Question != "How many?" {
		t.Errorf("%+v, notes %v, error %v", drafts, notes, err)
	}
}
