package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/eval"
	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/internal/testdata"
)

// withQuestions makes a collection and a test set for it.
func withQuestions(t *testing.T) *shell {
	t.Helper()
	s := newShell(t)
	s.handbook()
	s.write("q.jsonl", strings.Join([]string{
		`{"id":"leave","question":"days of annual leave a year","answerable":true,"kind":"fact","expected_sources":["docs/leave.md"],"key_sentence":"thirty days of annual leave","reference_answer":"thirty days","intent":"search"}`,
		`{"id":"trip","question":"who signs off a trip abroad","answerable":true,"expected_sources":["docs/travel.md"],"key_sentence":"the head of finance signs off","intent":"search"}`,
		`{"id":"moon","question":"distance of the moon","answerable":false,"intent":"search"}`,
	}, "\n"))
	s.rag("ingest", "docs").want(exitDone)
	return s
}

func TestEval(t *testing.T) {
	s := withQuestions(t)
	s.rag("eval", "validate", "q.jsonl").want(exitDone).prints("3 questions can be used")
	s.rag("eval", "--test-set", "q.jsonl", "--no-search").want(exitDone).prints("3 questions, 8 expectations looked at, 0 not met")
	o := s.rag("eval", "--test-set", "q.jsonl", "--label", "base", "--retrieval-only", "--k", "1,3", "--json").want(exitDone)
	checkJSON(t, "JSON of eval", o)
	s.rag("eval", "-t", "q.jsonl", "-l", "answers").want(exitDone).prints("refusals: precision", "router: ", "correctness_overlap", "kept in")
	checkJSON(t, "JSON of eval", s.rag("eval", "-t", "q.jsonl", "-l", "answers", "--json").want(exitDone))
	s.rag("eval", "--regrade", ".rag/eval/base.json").want(exitDone).prints("every value is as it was")
	s.rag("eval", "--regrade", ".rag/eval/answers.json").want(exitDone).prints("every value is as it was")

	var runs [2]eval.Run
	for i, label := range []string{"base", "base-regraded"} {
		data, err := os.ReadFile(filepath.Join(s.dir, ".rag", "eval", label+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &runs[i]); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(runs[0].Metrics, runs[1].Metrics); diff != "" {
		t.Errorf("graded again (-was +is):\n%s", diff)
	}
	s.rag("eval", "compare", "base", ".rag/eval/answers.json").want(exitDone).prints("answers against base: 3 questions in both", "key_sentence/mrr")
	checkJSON(t, "JSON of eval compare", s.rag("eval", "compare", "base", "answers", "--json").want(exitDone))
	s.rag("eval", "gate", "base", "--min", "mrr=0.5", "--baseline", "answers", "--max-drop", "document/hit@3=0").want(exitDone).prints("holds key_sentence/mrr", "holds document/hit@3")
	checkJSON(t, "JSON of eval gate", s.rag("eval", "gate", "base", "--min", "hit@1=1", "--min", "ndcg@20=0", "--json").want(exitFailed))
	s.rag("eval", "gate", "base", "--min", "ndcg@20=0").want(exitFailed).prints("broken ndcg@20 is none", "it has document/hit@1")
	s.rag("eval", "-t", "q.jsonl", "--retrieval-only").want(exitDone)
	s.rag("eval", "-t", "q.jsonl", "--retrieval-only", "-l", "baseline").want(exitDone)
	s.rag("eval", "gate", "--min", "ndcg@10=0.7", "--max-drop", "mrr=0.02").want(exitDone).prints("holds key_sentence/ndcg@10", "holds key_sentence/mrr")
	checkJSON(t, "JSON of eval list", s.rag("eval", "list", "--json").want(exitDone))
	s.write(".rag/eval/broken.json", "{")
	s.rag("eval", "list").want(exitDone).prints("baseline ", "q.jsonl", "key_sentence/mrr 1.0000", "7 runs").says("broken.json: no run of")
	checkJSON(t, "JSON of eval validate", s.rag("eval", "validate", "q.jsonl", "--json").want(exitDone))
	checkJSON(t, "JSON of eval --no-search", s.rag("eval", "-t", "q.jsonl", "--no-search", "--json").want(exitDone))
	checkJSON(t, "JSON of eval generate", s.rag("eval", "generate", "--json").want(exitDone))
	s.rag("eval", "generate", "--out", "drafts.jsonl", "-n", "2").want(exitDone).prints("wrote ")
	s.rag("eval", "generate", "--out", "drafts.jsonl").want(exitFailed).says("is there already")
	s.rag("eval", "validate", "drafts.jsonl").want(exitDone)
	checkJSON(t, "JSON of experiment", s.rag("experiment", "-t", "q.jsonl", "--variants", "dense,sparse,hybrid", "--json").want(exitDone))
	s.rag("experiment", "-t", "q.jsonl", "--variants", "hybrid,hybrid_rerank", "--metrics", "mrr").want(exitDone).
		says("hybrid_rerank is measured with maxsim").prints("key_sentence/mrr", "against hybrid")
}

// Each way in which a measurement can go wrong has its exit code and its sentence.
func TestEvalReportsWhatGoesWrong(t *testing.T) {
	s := withQuestions(t)
	s.write("empty.jsonl", "\n")
	s.write("wrong.jsonl", "{\"question\": \"x\"\n{\"question\": \"\"}\n")
	s.write("gone.jsonl", `{"id":"a","question":"annual leave","expected_chunk_ids":["0123456789ab"]}`)
	s.write("partly.jsonl", `{"id":"a","question":"annual leave","expected_chunk_ids":["0123456789ab"]}`+"\n"+`{"id":"b","question":"annual leave","expected_sources":["leave.md"]}`)
	s.write("run.json", "{}")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"eval"}, exitUsage, "no --test-set given"},
		{[]string{"eval", "-t", "q.jsonl", "--no-search", "--retrieval-only"}, exitUsage, "--no-search excludes"},
		{[]string{"eval", "-t", "none.jsonl"}, exitFailed, "no such file"},
		{[]string{"eval", "-t", "empty.jsonl"}, exitFailed, "the file holds no question"},
		{[]string{"eval", "-t", "wrong.jsonl"}, exitFailed, "2 problems, the first: line 1"},
		{[]string{"eval", "-t", "gone.jsonl", "--retrieval-only"}, exitFailed, `nothing of what the test set expects is in collection "default": line 1 (a) expected_chunk_ids: passage "0123456789ab" is not in the collection`},
		{[]string{"eval", "-t", "partly.jsonl", "--retrieval-only"}, exitPartial, "line 1 (a) expected_chunk_ids: passage"},
		{[]string{"eval", "-t", "q.jsonl", "--set", "x"}, exitFailed, `no question is of set "x"`},
		{[]string{"eval", "-t", "q.jsonl", "-l", "a/b", "--retrieval-only"}, exitFailed, `label "a/b"`},
		{[]string{"eval", "-t", "q.jsonl", "-k", "0", "--retrieval-only"}, exitFailed, "k is 0"},
		{[]string{"eval", "-t", "q.jsonl", "--evaluators", "judge"}, exitFailed, "needs a chat model"},
		{[]string{"eval", "--regrade", "run.json"}, exitFailed, "its format is 0"},
		{[]string{"eval", "gate", "run.json"}, exitUsage, "no rule is given"},
		{[]string{"eval", "gate", "--max-drop", "mrr=0"}, exitFailed, `no run has the label "baseline" in .rag/eval`},
		{[]string{"eval", "gate", "a", "b", "--min", "mrr=0"}, exitUsage, "too many arguments"},
		{[]string{"eval", "gate", "none", "--min", "mrr=0"}, exitFailed, `the label "none"`},
		{[]string{"eval", "gate", "run.json", "--min", "mrr"}, exitUsage, "such as ndcg@10=0.7"},
		{[]string{"eval", "beir", "docs"}, exitFailed, "qrels.tsv"},
		{[]string{"experiment", "-t", "q.jsonl", "--variants", "best"}, exitFailed, `variant "best"`},
		{[]string{"tune", "-t", "q.jsonl"}, exitFailed, "at least 10 of each"},
		{[]string{"eval", "validate", "wrong.jsonl"}, exitFailed, ""},
	} {
		s.in(t).rag(c.args...).want(c.code).says(c.says)
	}
	s.rag("eval", "validate", "wrong.jsonl").prints("problem line 1: want a JSON object", "problem line 2", "0 questions can be used")
}

// A misspelt key of a question does nothing, and everybody who measures is told; with a domain its filters are checked.
func TestMisspeltKeysOfQuestions(t *testing.T) {
	s := feesShell(t)
	s.rag("ingest", "docs", "--manifest", "docs/manifest.jsonl", "--domain", "fees.yaml").want(exitDone)
	s.write("q.jsonl", `{"question": "tuition fee", "filtr": "country = uk", "expected_sources": ["new.md"]}
{"question": "due", "filters": "contry = uk", "expected_sources": ["undated.md"]}
{"question": "fee", "filters": {"country": "spain"}, "expected_sources": ["new.md"]}
`)
	s.rag("eval", "-t", "q.jsonl", "--retrieval-only", "-c", "money", "--domain", "none").want(exitDone).says(`q.jsonl: line 1: filtr: it is not looked at: no field has this name, did you mean "filter"? (1 question)`)
	s.rag("eval", "-t", "q.jsonl", "--retrieval-only", "-c", "money").want(exitFailed).says(`line 2 (line-2) filters: filter on contry: the domain has no such field, did you mean "country"?`)
	s.rag("eval", "validate", "-t", "q.jsonl", "--domain", "fees.yaml").want(exitFailed).
		prints("remark line 1", "problem line 2 (line-2) filters: filter on contry: the domain has no such field, did you mean \"country\"?", "problem line 3 (line-3) filters")
	s.rag("eval", "validate", "q.jsonl", "-t", "q.jsonl").want(exitUsage)
	s.rag("search", "fee", "--domain", "fees.yaml", "--filter", "contry = uk").want(exitFailed).says(`did you mean "country"?`)
}

func TestEvalBEIR(t *testing.T) {
	s := newShell(t)
	s.write("made/corpus.jsonl", `{"_id":"d1","title":"Leave","text":"thirty days of leave"}`+"\n"+`{"_id":"d2","title":"","text":"three months of notice"}`)
	s.write("made/queries.jsonl", `{"_id":"q1","text":"days of leave"}`+"\n"+`{"_id":"q2","text":"months notice"}`)
	s.write("made/qrels.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t2\n")
	o := s.rag("eval", "beir", "made", "--variants", "dense,sparse,hybrid,hybrid_rerank", "--runs", "runs", "--json").want(exitDone)
	checkJSON(t, "JSON of eval beir", o)
	var got struct {
		Set       string
		Documents int
		Queries   int
		Variants  []struct {
			Variant string
			Metrics map[string]float64
			Latency map[string]float64 `json:"latency_ms"`
		}
	}
	o.into(&got)
	if got.Set != "made" || got.Documents != 2 || got.Queries != 2 || len(got.Variants) != 4 || got.Variants[3].Variant != "hybrid_rerank" {
		t.Fatalf("%+v", got)
	}
	for _, v := range got.Variants {
		if v.Metrics["ndcg@10"] != 1 || v.Metrics["recall@100"] != 1 || len(v.Latency) != 2 || v.Latency["p95"] <= 0 {
			t.Errorf("%+v", v)
		}
	}
	run, err := eval.ReadRun(filepath.Join(s.dir, "runs", "dense.run"))
	if err != nil || run.Ranked("q2")[0] != "d2" {
		t.Errorf("%v, %v", run, err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, ".rag")); !os.IsNotExist(err) {
		t.Errorf("a data folder was made: %v", err)
	}
	s.rag("eval", "beir", "made", "--dir", "kept").want(exitDone).prints("made: 2 documents, 2 queries", "against dense")
	if kept, _ := filepath.Glob(filepath.Join(s.dir, "kept", "data-*")); len(kept) != 1 {
		t.Errorf("kept %v", kept)
	}
	s.rag("experiment", "-t", "made").want(exitDone).prints("made: 2 documents")
}

// exists reports whether there is a file.
func (s *shell) exists(name string) bool {
	_, err := os.Stat(filepath.Join(s.dir, name))
	return err == nil
}

// labelled makes a labelled set of n documents, each found by words of its own.
func (s *shell) labelled(name string, n int) {
	var corpus, queries strings.Builder
	qrels := "query-id\tcorpus-id\tscore\n"
	for i := range n {
		fmt.Fprintf(&corpus, `{"_id":"d%d","title":"","text":"alpha%d and more words of subject beta%d"}`+"\n", i, i, i)
		fmt.Fprintf(&queries, `{"_id":"q%d","text":"alpha%d beta%d"}`+"\n", i, i, i)
		qrels += fmt.Sprintf("q%d\td%d\t1\n", i, i)
	}
	s.write(name+"/corpus.jsonl", corpus.String())
	s.write(name+"/queries.jsonl", queries.String())
	s.write(name+"/qrels.tsv", qrels)
}

func TestTuneWritesOnlyWhatIsWorthIt(t *testing.T) {
	s := newShell(t)
	s.labelled("made", 40)
	type tuned struct {
		Path     *string
		Adopt    bool
		Settings map[string]any
	}
	var nothing, better tuned
	o := s.rag("tune", "-t", "made", "--out", "nothing.yaml", "--json").want(exitDone).into(&nothing)
	checkJSON(t, "JSON of tune", o)
	if nothing.Adopt || nothing.Path != nil || s.exists("nothing.yaml") {
		t.Errorf("where nothing can be better: %+v", nothing)
	}

	s.write("backwards.yaml", "embedder: hash\nrerank: backwards\n")
	s.rag("tune", "-t", "made", "--out", "better.yaml", "--json", "--config", "backwards.yaml").want(exitDone).into(&better)
	if !better.Adopt || better.Path == nil || *better.Path != "better.yaml" || len(better.Settings) == 0 {
		t.Fatalf("where the list is turned round: %+v", better)
	}
	// No reranking, and reranking few passages with little weight, are as good: the faster one is chosen, and which that is no test can say.
	text, err := os.ReadFile(filepath.Join(s.dir, "better.yaml"))
	if err != nil || !strings.HasPrefix(string(text), "# written by `rag tune`: significantly better on the held-out questions") || !strings.Contains(string(text), "rerank") {
		t.Errorf("%s, %v", text, err)
	}
	s.rag("config", "check", "--config", "better.yaml").want(exitDone)
	s.rag("tune", "-t", "made", "--out", "better.yaml").want(exitFailed).says("is there already")
}

// TestTheShapeOfSystemE runs 23 annotated questions end to end without a chat model: 15 answerable, 5 on the subject that
// cannot be answered, 3 off the subject.
func TestTheShapeOfSystemE(t *testing.T) {
	racetest.Skip(t)
	course := testdata.Shared(t, "data", "qa", "course")
	data, err := os.ReadFile(testdata.Shared(t, "data", "qa", "questions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"answerable": 15, "unanswerable_on_topic": 5, "off_topic": 3}
	var chosen []string
	for line := range strings.Lines(string(data)) {
		var q struct{ Set, Kind string }
		if err := json.Unmarshal([]byte(line), &q); err != nil {
			t.Fatal(err)
		}
		kind := q.Kind
		if _, special := want[kind]; !special {
			kind = "answerable"
		}
		if q.Set == "course" && want[kind] > 0 {
			want[kind]--
			chosen = append(chosen, line)
		}
	}
	s := newShell(t)
	s.write("e.jsonl", strings.Join(chosen, ""))
	s.write("local.yaml", "{}\n")
	with := func(args ...string) outcome { return s.rag(append(args, "--config", "local.yaml")...) }
	with("ingest", course).want(exitDone)
	var run eval.Run
	with("eval", "-t", "e.jsonl", "-l", "baseline", "--retrieval-only", "--json").want(exitDone).into(&run)
	if len(run.Questions) != 23 || run.Metrics["key_sentence/mrr"].N != 15 || *run.Metrics["document/hit@5"].Mean < 0.6 {
		t.Errorf("%d questions, %+v", len(run.Questions), run.Metrics)
	}
	if run.Refusal != nil || run.AnswerMS != nil || !run.Complete() || run.Kinds["off_topic"].Questions != 3 || run.Kinds["unanswerable_on_topic"].Questions != 5 {
		t.Errorf("%+v", run.Kinds)
	}
	for _, name := range []string{"document/hit@1", "document/hit@3", "document/hit@5", "key_sentence/hit@1", "key_sentence/hit@3", "key_sentence/hit@5"} {
		if s, ok := run.Metrics[name]; !ok || s.N != 15 {
			t.Errorf("%s: %+v", name, s)
		}
	}
	var again eval.Run
	with("eval", "--regrade", ".rag/eval/baseline.json", "--json").want(exitDone).into(&again)
	if diff := cmp.Diff(run.Metrics, again.Metrics); diff != "" || again.RegradedFrom != "baseline" {
		t.Errorf("graded again (-was +is):\n%s", diff)
	}
	if diff := cmp.Diff(run.Questions, again.Questions); diff != "" {
		t.Errorf("questions graded again (-was +is):\n%s", diff)
	}
	with("eval", "--regrade", ".rag/eval/baseline.json").want(exitDone).prints("every value is as it was")
}

// A measurement of which a part failed does not look like one that is whole.
func TestFailedSearchesOfASetAreAnExitCode(t *testing.T) {
	if err := whole(&eval.Report{Variants: []eval.VariantReport{{}, {}}}); err != nil {
		t.Errorf("all searches went well: %v", err)
	}
	if _, code := classify(errors.Join(nil, whole(&eval.Report{Variants: []eval.VariantReport{{}, {Failed: 1}}}))); code != exitPartial {
		t.Errorf("a search failed: exit code %d, want %d", code, exitPartial)
	}
}
