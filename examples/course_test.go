package examples_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/internal/systemtest"
)

// courseIngest is the command that brings the example up to date.
var courseIngest = []string{"ingest", "docs", "--domain", "course.yaml", "--json"}

// courseRun measures the core questions under a label and returns the run.
func courseRun(t *testing.T, s *systemtest.System, label string, args ...string) *eval.Run {
	t.Helper()
	s.Run(append([]string{"eval", "--test-set", "questions.jsonl", "--set", "core", "--domain", "course.yaml", "--label", label}, args...)...).Done()
	run, err := eval.LoadRun(filepath.Join(s.Dir, ".rag", "eval", label+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// TestCourse walks through the rows of System E: an empty folder, the built command, and an MCP client.
func TestCourse(t *testing.T) {
	racetest.Skip(t)
	s := systemtest.New(t, "course")
	t.Run("E3 folders and windows", func(t *testing.T) { courseFolders(t, s.In(t)) })
	t.Run("E1 E2 tools", func(t *testing.T) { courseTools(t, s.In(t)) })
	t.Run("E4 multilingual", func(t *testing.T) { courseMultilingual(t, s.In(t)) })
	t.Run("E5 E6 router", func(t *testing.T) { courseRouter(t, s.In(t)) })
	t.Run("E7 operation", func(t *testing.T) { courseOperation(t, s.In(t)) })
	t.Run("E8 keys", func(t *testing.T) { courseKeys(t, s.In(t)) })
	t.Run("E9-E11 evaluation", func(t *testing.T) { courseEvaluation(t, s.In(t)) })
	t.Run("E12 E13 comparisons", func(t *testing.T) { courseComparisons(t, s.In(t)) })
	t.Run("E14 hygiene", func(t *testing.T) { courseHygiene(t) })
	t.Run("readme", func(t *testing.T) { systemtest.New(t, "course").Transcript("README.md") })
}

// courseFolders: subject and type come from the path, a file elsewhere is taken in with a warning, and passages are windows
// of 200 words that share 40 with the one before.
func courseFolders(t *testing.T, s *systemtest.System) {
	var report rag.IngestReport
	s.Run(courseIngest...).Done().JSON(&report)
	if report.Added != 14 || len(report.Warnings) != 1 || !strings.HasSuffix(report.Warnings[0].URI, "docs/timetable.txt") {
		t.Fatalf("%+v", report)
	}
	for filter, want := range map[string]int{
		"subject = databases and type = lectures": 3, "type = exam": 2, "type = homework": 2, "subject = unknown and type = unknown": 1, "subject = statistics": 3,
	} {
		files := map[string]bool{}
		var out struct{ Hits []struct{ URI string } }
		s.Run("search", "course", "--domain", "course.yaml", "--filter", filter, "--top-k", "100", "--json").Done().JSON(&out)
		for _, h := range out.Hits {
			files[h.URI] = true
		}
		if len(files) != want {
			t.Errorf("%s: %d files, want %d", filter, len(files), want)
		}
	}
	var shown struct {
		Document struct {
			Chunks []struct {
				Text string
				Meta map[string]any
			}
		}
	}
	s.Run("show", "docs/networks/lectures/02-congestion-control.txt", "--json").Done().JSON(&shown)
	doc := shown.Document
	if len(doc.Chunks) != 3 || doc.Chunks[0].Meta["subject"] != "networks" || doc.Chunks[0].Meta["type"] != "lectures" {
		t.Fatalf("passages %+v", doc.Chunks)
	}
	first, second := strings.Fields(doc.Chunks[0].Text), strings.Fields(doc.Chunks[1].Text)
	if len(first) != 200 || len(second) != 200 || !slices.Equal(first[160:], second[:40]) {
		t.Errorf("passages of %d and %d words, which do not share 40", len(first), len(second))
	}
}

// courseTools: three excerpts with file and cosine, without a model; an answer with intent, files and status, and "I don't
// know." as an answer.
func courseTools(t *testing.T, s *systemtest.System) {
	c := s.MCP("--tools", "course", "--domain", "course.yaml")
	if got := c.Tools(); !slices.Contains(got, "search_documents") || !slices.Contains(got, "ask_question") {
		t.Errorf("tools %v", got)
	}
	_, _, data := c.Call("search_documents", map[string]any{"query": "what is a candidate key?"})
	results := data["results"].([]any)
	if len(results) != 3 {
		t.Fatalf("%d excerpts", len(results))
	}
	first := results[0].(map[string]any)
	if cosine, ok := first["similarity"].(float64); first["source"] != "01-relational-model.txt" || !ok || cosine < 0.2 || cosine > 1 {
		t.Errorf("the first excerpt is %v", first)
	}
	for question, want := range map[string]struct{ intent, status, source string }{
		"What is a candidate key?":                  {"definition", rag.Reliable, "01-relational-model.txt"},
		"What is the weather like in Lisbon today?": {"definition", rag.NoAnswer, ""},
		"Tell me a joke.":                           {"off_topic", rag.NoAnswer, ""},
		"What is the Kolmogorov-Smirnov test?":      {"definition", rag.ToVerify, "02-tests.txt"},
	} {
		_, _, data := c.Call("ask_question", map[string]any{"query": question})
		sources := fmt.Sprint(data["sources"])
		if data["intent"] != want.intent || data["status"] != want.status || !strings.Contains(sources, want.source) {
			t.Errorf("%s %v", question, data)
		}
		if want.status == rag.NoAnswer && data["answer"] != "I don't know." {
			t.Errorf("%s %v", question, data["answer"])
		}
	}
}

// courseMultilingual: the example's program has multilingual-e5-small built in; a question in French finds by meaning, which
// the English model leaves to the words.
func courseMultilingual(t *testing.T, s *systemtest.System) {
	bin := filepath.Join(t.TempDir(), "course")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "./examples/course")
	build.Dir = systemtest.Root(t)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	course := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), bin, append(args, "--dir", "multilingual", "--domain", "course.yaml")...)
		cmd.Dir = s.Dir
		cmd.Env = []string{"HOME=" + t.TempDir(), "COURSE_EMBEDDER=multilingual"}
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("course %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	course("ingest", "docs/statistics")
	const question = "À quel moment faut-il fusionner des catégories ?"
	if got := course("search", question, "--mode", "dense", "--top-k", "1"); !strings.Contains(got, "02-tests.txt") || !strings.Contains(got, "dense #1") {
		t.Errorf("found %s", got)
	}
	if got := course("list"); !strings.Contains(got, "multilingual-e5-small") {
		t.Errorf("the embedder is %s", got)
	}
	s.Run("search", question, "--domain", "course.yaml").Done().Says("fr")
}

// courseModel plays the chat model: it routes by a table, and answers with the first source.
func courseModel(labels map[string]string) func(asked) (string, int) {
	return func(a asked) (string, int) {
		if strings.HasPrefix(a.Task, "You sort questions") {
			for words, label := range labels {
				if strings.Contains(a.Text, words) {
					return label, 0
				}
			}
			return "no idea", 0
		}
		return "The source says so [1].", 0
	}
}

// courseAnswer is the JSON of an answer.
type courseAnswer struct {
	Answer, Intent, Reliability string
	Refused                     bool
	Sources                     []struct{ URI string }
	Timings                     []struct{ Stage string }
}

// courseRouter: a model chooses from the closed list at temperature 0. What it says besides is not believed: an unknown label
// is the default, and a type that the question does not name is no filter.
func courseRouter(t *testing.T, s *systemtest.System) {
	service := newScripted(t, courseModel(map[string]string{
		"dirty read":   `{"intent": "definition", "filters": {"type": "exams"}}`,
		"in the exams": `{"intent": "exercise", "filters": {"type": "exams"}}`,
		"Lisbon":       `{"intent": "off_topic", "confidence": 0.9}`,
		"overview":     `{"intent": "summary"}`,
		"CUBIC":        `{"intent": "comparison", "sub_queries": ["how CUBIC grows its window", "what BBR measures"]}`,
		"phantom":      `{"intent": "gossip"}`,
	}))
	s = s.With("LLM_PROVIDER=openai", "LLM_BASE_URL="+service.URL, "LLM_API_KEY=sk-course", "LLM_MODEL=tiny")
	ask := func(question string) *courseAnswer {
		t.Helper()
		service.play(service.script)
		var a courseAnswer
		s.Run("ask", question, "--domain", "course.yaml", "--json").Done().JSON(&a)
		return &a
	}
	for _, tt := range []struct {
		question, intent string
		least, most      int    // sources
		only             string // that all sources have in their path
		calls            int    // of the model: routing and answer
	}{
		{"What is a dirty read?", "definition", 3, 3, "", 2},
		{"What was asked about locking in the exams?", "exercise", 1, 3, "/exams/", 2},
		{"Give an overview of the anomalies of transactions.", "summary", 4, 8, "", 2},
		{"How do CUBIC and BBR differ?", "comparison", 4, 8, "", 2},
		{"What is a phantom?", "search", 3, 3, "", 2},     // no label of the list
		{"What is encapsulation?", "search", 3, 3, "", 2}, // no JSON
		{"What is the weather like in Lisbon today?", "off_topic", 0, 0, "", 1},
	} {
		a := ask(tt.question)
		if n := len(a.Sources); a.Intent != tt.intent || n < tt.least || n > tt.most {
			t.Errorf("%s intent %s, %d sources", tt.question, a.Intent, n)
		}
		outside := 0
		for _, source := range a.Sources {
			if !strings.Contains(source.URI, tt.only) {
				t.Errorf("%s %s is not in %s", tt.question, source.URI, tt.only)
			}
			if !strings.Contains(source.URI, "/exams/") {
				outside++
			}
		}
		if tt.only == "" && tt.most > 0 && outside == 0 {
			t.Errorf("%s only exams were searched", tt.question)
		}
		requests := service.requests("/chat/completions")
		if len(requests) != tt.calls {
			t.Errorf("%s the model was asked %d times", tt.question, len(requests))
			continue
		}
		if r := requests[0]; r.Temperature == nil || *r.Temperature != 0 || !strings.Contains(r.Task, "off_topic") || !strings.Contains(r.Task, "comparison") {
			t.Errorf("the router asks %+v", r)
		}
		if tt.intent != "off_topic" {
			continue
		}
		if !a.Refused || a.Reliability != rag.NoAnswer || slices.ContainsFunc(a.Timings, func(x struct{ Stage string }) bool { return x.Stage == "search" }) {
			t.Errorf("off topic: %+v", a)
		}
	}
}

// courseOperation: an ingest can be repeated; a server runs anywhere with absolute paths, logs to a file besides standard
// error, and answers several callers at once.
func courseOperation(t *testing.T, s *systemtest.System) {
	var report rag.IngestReport
	s.Run(courseIngest...).Done().JSON(&report)
	if report.Unchanged != 14 || report.Chunks.New != 0 {
		t.Errorf("once more: %+v", report)
	}
	elsewhere, log := systemtest.New(t, "quickstart"), filepath.Join(s.Dir, "course.log")
	c := elsewhere.MCP("--tools", "course", "--dir", filepath.Join(s.Dir, ".rag"), "--config", filepath.Join(s.Dir, "rag.yaml"), "--domain", filepath.Join(s.Dir, "course.yaml"), "--log", log)
	var calls sync.WaitGroup
	for _, question := range []string{"What is a superkey?", "What is slow start?", "What is the bootstrap?"} {
		calls.Go(func() {
			if _, text, _ := c.Call("search_documents", map[string]any{"query": question}); !strings.Contains(text, "similarity") {
				t.Errorf("%s %s", question, text)
			}
		})
	}
	calls.Wait()
	if got := s.Read("course.log"); strings.Count(got, "tool=search_documents") != 3 {
		t.Errorf("the log has %s", got)
	}
}

// courseKeys: keys come from the environment, or from that of the user where the process was started without; a model of
// this machine needs none.
func courseKeys(t *testing.T, s *systemtest.System) {
	service := newScripted(t, courseModel(map[string]string{"": `{"intent": "definition"}`}))
	const question = "What is a candidate key?"
	var a courseAnswer
	s.With("LLM_PROVIDER=ollama", "LLM_BASE_URL="+service.URL).Run("ask", question, "--json").Done().JSON(&a)
	if n := len(service.requests("/api/chat")); n != 2 || a.Answer != "The source says so [1]." {
		t.Errorf("the local model was asked %d times: %+v", n, a)
	}
	if runtime.GOOS != "linux" {
		t.Skip("skipped: here the user's environment is not a file of a test")
	}
	home := t.TempDir()
	dir := filepath.Join(home, ".config", "environment.d")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	settings := "LLM_PROVIDER=openai\nLLM_BASE_URL=" + service.URL + "\nLLM_API_KEY=sk-of-the-user\n"
	if err := os.WriteFile(filepath.Join(dir, "50-course.conf"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	service.play(service.script)
	c := s.With("HOME="+home).MCP("--tools", "course", "--domain", "course.yaml")
	_, text, _ := c.Call("ask_question", map[string]any{"query": question})
	requests := service.requests("/chat/completions")
	if len(requests) == 0 || requests[0].Key != "sk-of-the-user" || !strings.Contains(text, "The source says so") {
		t.Errorf("asked %+v: %s", requests, text)
	}
}

// courseEvaluation: 15 questions that are answered, 5 that are not though they are about the subject, 3 about something
// else; one file for each label, graded again without a search; and differences that mean nothing are said to.
func courseEvaluation(t *testing.T, s *systemtest.System) {
	set, err := eval.LoadPart(filepath.Join(s.Dir, "questions.jsonl"), "core", nil)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, q := range set.Questions {
		kinds[map[bool]string{true: "answerable", false: q.Kind}[*q.Answerable]]++
	}
	if diff := cmp.Diff(map[string]int{"answerable": 15, "unanswerable_on_topic": 5, "off_topic": 3}, kinds); diff != "" {
		t.Error(diff)
	}
	run := courseRun(t, s, "baseline")
	for metric, least := range map[string]float64{
		"document/hit@1": 0.9, "document/hit@3": 1, "document/hit@5": 1, "key_sentence/hit@1": 0.7, "key_sentence/hit@3": 0.9, "key_sentence/hit@5": 1, "key_sentence/mrr": 0.8, "faithfulness_verified": 0.3,
	} {
		if got := run.Metrics[metric]; got.Mean == nil || *got.Mean < least {
			t.Errorf("%s is %+v, want at least %v", metric, got, least)
		}
	}
	if f := run.Metrics["faithfulness_verified"]; f.N+f.Nulls != 23 || f.N > 20 {
		t.Errorf("refusals are judged: %+v", f)
	}
	if r := run.Refusal; r == nil || r.Unanswerable != 8 || r.Right < 4 || r.Refused > r.Right+1 {
		t.Errorf("refusals %+v", r)
	}
	if r := run.Router; r == nil || r.N != 23 || r.Accuracy < 0.74 {
		t.Errorf("router %+v", r)
	}
	if run.AnswerMS == nil || run.AnswerMS.Mean <= 0 {
		t.Errorf("times %+v", run.AnswerMS)
	}
	s.Run("eval", "--regrade", "baseline", "--label", "again", "--domain", "course.yaml").Done().Prints("graded again: every value is as it was")
	words := courseRun(t, s, "words", "--mode", "sparse", "--retrieval-only")
	if words.Refusal != nil || words.Metrics["key_sentence/hit@1"].N != 15 {
		t.Errorf("retrieval only: %+v", words.Metrics)
	}
	s.Run("eval", "list").Done().Prints("baseline", "again", "words")
	s.Run("eval", "compare", "baseline", "words").Done().Prints("not significant", "won", "lost")
	s.Run("eval", "gate", "baseline", "--min", "key_sentence/hit@3=0.9").Done()
}

// courseComparisons: rerankers and ways of splitting are compared on the same questions; there are more than forty that can
// be answered, of several kinds; what a collection refuses can be fitted.
func courseComparisons(t *testing.T, s *systemtest.System) {
	set, err := eval.Load(filepath.Join(s.Dir, "questions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	answerable, kinds := 0, map[string]int{}
	for _, q := range set.Questions {
		kinds[q.Kind]++
		if *q.Answerable {
			answerable++
		}
	}
	for _, kind := range []string{"paraphrase", "exact_detail", "multi_document", "trick"} {
		if kinds[kind] < 2 {
			t.Errorf("%d questions of the kind %s", kinds[kind], kind)
		}
	}
	if answerable < 40 {
		t.Errorf("%d questions can be answered", answerable)
	}
	lines := slices.Collect(strings.Lines(s.Read("questions.jsonl")))
	s.Write("few.jsonl", strings.ReplaceAll(strings.Join(lines[:4], ""), `"answerable": true`, `"answerable": true, "human": {"correctness": 1}`))
	s.Run("experiment", "--test-set", "few.jsonl", "--domain", "course.yaml", "--grid", "variants.yaml").Done().Prints("windows", "outline", "not significant")
	s.Write("two.jsonl", strings.Join(lines[:2], "")) // the reranker embeds every sentence
	s.Run("experiment", "--test-set", "two.jsonl", "--domain", "course.yaml", "--variants", "hybrid,hybrid_rerank").Done().Prints("hybrid_rerank", "p95 ms")

	// What is answered with which confidence, fitted to twelve questions that are not answered and ten that are.
	unanswerable := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.Contains(line, `"answerable": true`) })
	s.Write("fit.jsonl", strings.Join(append(unanswerable, lines[:10]...), ""))
	s.Run("calibrate", "--questions", "fit.jsonl", "--dry-run").Done().Prints("22 questions, 10 of them answerable", "wrongly, by confidence")

	// A judge is asked twice, and held against what people said.
	service := newScripted(t, func(a asked) (string, int) {
		if strings.Contains(a.Task, "true_positives") {
			return `{"true_positives": ["a"], "false_positives": [], "false_negatives": []}`, 0
		}
		return courseModel(map[string]string{"": `{"intent": "definition"}`})(a)
	})
	s.With("LLM_PROVIDER=openai", "LLM_BASE_URL="+service.URL, "LLM_API_KEY=sk-course").Run("eval", "--test-set", "few.jsonl", "--domain", "course.yaml", "--label", "judged", "--evaluators", "judge", "--repeat", "2")
	run, err := eval.LoadRun(filepath.Join(s.Dir, ".rag", "eval", "judged.json"))
	if err != nil {
		t.Fatal(err)
	}
	if a := run.Agreement["correctness"]; a.N != 4 || a.Same != 1 || a.MeanGap != 0 {
		t.Errorf("judge and people: %+v", run.Agreement)
	}
	verdicts := 0
	for _, r := range service.requests("/chat/completions") {
		if strings.Contains(r.Task, "true_positives") {
			verdicts++
		}
	}
	if verdicts != 8 {
		t.Errorf("%d verdicts on four answers", verdicts)
	}
}

// courseHygiene: nothing that is linked has a licence that reaches over to the programs that use it.
func courseHygiene(t *testing.T) {
	list, err := os.ReadFile(filepath.Join(systemtest.Root(t), "THIRD_PARTY.md"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(list), "AGPL") || !strings.Contains(string(list), "pdfium") {
		t.Error("THIRD_PARTY.md names a licence of the AGPL, or no reader of PDF")
	}
}
