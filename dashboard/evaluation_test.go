package dashboard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
	"github.com/seed-d8745b77/rag/jobs"
)

var handbook = map[string]string{
	"leave.md":  "# Leave\n\nEverybody has 30 days of annual leave each year.\n",
	"notice.md": "# Notice\n\nThe notice period is three months to the end of a quarter.\n",
	"meals.md":  "# Meals\n\nThe meal allowance abroad is 45 crowns a day.\n",
}

const questions = `{"id":"leave","question":"days of annual leave","answerable":true,"expected_sources":["leave.md"]}
{"id":"notice","question":"notice period to the end of a quarter","answerable":true,"expected_sources":["notice.md"]}
{"id":"lost","question":"meal allowance","answerable":true,"expected_sources":["leave.md"]}
{"id":"moon","question":"how far is the moon","answerable":false}
`

// evaluating returns a dashboard over the handbook with a folder of evaluations.
func evaluating(t *testing.T, opts ...rag.Option) (*Server, string) {
	t.Helper()
	eng := engine(t, opts...)
	ingest(t, eng, handbook)
	dir := filepath.Join(t.TempDir(), "results")
	return server(t, eng, Options{EvalDir: dir}), dir
}

// upload sends a file as a test set.
func upload(t *testing.T, s *Server, name, content string) (int, http.Header, string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("file", name)
	if err == nil {
		_, err = part.Write([]byte(content))
	}
	if err != nil || w.Close() != nil {
		t.Fatal("the form cannot be written", err)
	}
	r := httptest.NewRequest(http.MethodPost, "http://localhost/evaluation/sets", &b)
	r.Header.Set("Content-Type", w.FormDataContentType())
	return send(t, s, r)
}

// evaluate runs a test set by the page's form and waits for the job.
func evaluate(t *testing.T, s *Server, form url.Values) jobs.Status {
	t.Helper()
	if code, _, body := post(t, s, "/evaluation/run", form.Encode()); code != http.StatusSeeOther {
		t.Fatalf("run: %d %s", code, body)
	}
	job := s.jobs.List(owner, jobs.KindEval)[0]
	<-job.Done()
	return job.Status()
}

func getJSON(t *testing.T, s *Server, path string, into any) {
	t.Helper()
	joint := "?"
	if strings.Contains(path, "?") {
		joint = "&"
	}
	code, _, body := get(t, s, path+joint+"format=json")
	if code != http.StatusOK {
		t.Fatalf("%s: %d %s", path, code, body)
	}
	if err := json.Unmarshal([]byte(body), into); err != nil {
		t.Fatalf("%s: %v in %s", path, err, body)
	}
}

func TestEvaluationFromUploadToComparison(t *testing.T) {
	s, dir := evaluating(t)
	if code, _, body := get(t, s, "/evaluation"); code != http.StatusOK || !strings.Contains(body, "no judge configured") || !strings.Contains(body, `data-testid="empty"`) {
		t.Errorf("the empty page: %d\n%s", code, body)
	}
	if code, _, body := upload(t, s, "handbook.jsonl", questions); code != http.StatusSeeOther {
		t.Fatalf("upload: %d %s", code, body)
	}
	for _, label := range []string{"baseline", "dense"} {
		mode := map[string]string{"dense": "dense"}[label]
		if st := evaluate(t, s, url.Values{"set": {"handbook.jsonl"}, "label": {label}, "mode": {mode}, "k": {"1, 3"}}); st.State != jobs.Done {
			t.Fatalf("the job of %s ended as %s: %s", label, st.State, st.Error)
		}
	}
	var list evaluationView
	getJSON(t, s, "/evaluation", &list)
	if len(list.Runs) != 2 || list.Baseline != "baseline" || list.Jobs[0].Progress().Done != 4 {
		t.Errorf("runs %v, baseline %q, jobs %v", list.Runs, list.Baseline, list.Jobs)
	}
	for _, row := range list.Runs {
		if got := row.Cells[1]; got.Metric != "document/mrr" || got.Score.Mean == nil || (got.Diff == nil) != row.Baseline {
			t.Errorf("%s has %+v", row.Label, got)
		}
	}

	var run runView
	getJSON(t, s, "/evaluation/runs/baseline", &run)
	if run.Judge != judgeNoAnswers || run.Metric != "document/mrr" || len(run.Questions) != 4 {
		t.Errorf("judge %q, metric %q, %d questions", run.Judge, run.Metric, len(run.Questions))
	}
	if ids := []string{run.Questions[0].ID, run.Questions[3].ID}; ids[0] != "lost" || ids[1] != "moon" {
		t.Errorf("worst is %s, last is %s; want lost, and moon, which is not measured", ids[0], ids[1])
	}
	if run.Questions[0].TraceID == "" {
		t.Error("a question does not name its trace")
	}
	code, _, body := get(t, s, "/evaluation/runs/baseline")
	if code != http.StatusOK || strings.Contains(body, "NaN") || !strings.Contains(body, `data-table="curves"`) {
		t.Errorf("the page of a run: %d\n%s", code, body)
	}

	var c runComparison
	getJSON(t, s, "/evaluation/compare?run=dense&run=baseline", &c)
	if c.A != "baseline" || c.B != "dense" || c.Common != 4 || len(c.Rows) == 0 {
		t.Errorf("compared %s with %s, %d in both, %d metrics", c.B, c.A, c.Common, len(c.Rows))
	}
	if code, _, body := get(t, s, "/evaluation/compare?a=baseline&b=dense"); code != http.StatusOK || strings.Contains(body, "NaN") {
		t.Errorf("the comparison: %d\n%s", code, body)
	}
	if _, err := eval.OpenRun(dir, "dense"); err != nil {
		t.Error("the run is not where `rag eval` finds it:", err)
	}
}

func TestEvaluationWithAnswersSaysWhoJudged(t *testing.T) {
	s, _ := evaluating(t)
	upload(t, s, "handbook.jsonl", questions)
	if st := evaluate(t, s, url.Values{"set": {"handbook.jsonl"}, "label": {"answers"}, "answers": {"on"}}); st.State != jobs.Done {
		t.Fatalf("the job ended as %s: %s", st.State, st.Error)
	}
	var run runView
	getJSON(t, s, "/evaluation/runs/answers", &run)
	if run.Judge != judgeNone || run.Refusal == nil {
		t.Errorf("judge %q, refusals %v; want %q and some", run.Judge, run.Refusal, judgeNone)
	}
	if code, _, body := get(t, s, "/evaluation/runs/answers"); code != http.StatusOK || strings.Contains(body, "NaN") {
		t.Errorf("%d\n%s", code, body)
	}
}

func TestGateIsThatOfTheCommand(t *testing.T) {
	s, dir := evaluating(t)
	upload(t, s, "handbook.jsonl", questions)
	for _, label := range []string{"baseline", "new"} {
		evaluate(t, s, url.Values{"set": {"handbook.jsonl"}, "label": {label}})
	}
	for _, test := range []struct {
		name string
		form url.Values
		exit int
	}{
		{"passes", url.Values{"min": {"mrr=0.1"}}, 0},
		{"is broken", url.Values{"min": {"mrr=0.1\nmrr=1"}}, 1},
		{"a drop of nothing", url.Values{"max_drop": {"mrr=0"}, "baseline": {"baseline"}}, 0},
		{"a drop without a baseline", url.Values{"max_drop": {"mrr=0"}}, 2},
		{"a baseline that is not there", url.Values{"max_drop": {"mrr=0"}, "baseline": {"nothing"}}, 1},
		{"no rule", url.Values{"min": {"better"}}, 2},
		{"no such metric", url.Values{"min": {"smell=0"}}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var run runView
			getJSON(t, s, "/evaluation/runs/new?"+test.form.Encode(), &run)
			if run.Gate == nil || run.Gate.Exit != test.exit || run.Gate.OK != (test.exit == 0) {
				t.Errorf("%+v; want exit code %d", run.Gate, test.exit)
			}
			if code, _, body := get(t, s, "/evaluation/runs/new?"+test.form.Encode()); code != http.StatusOK || !strings.Contains(body, "data-exit=") {
				t.Errorf("%d\n%s", code, body)
			}
		})
	}
	run, err := eval.OpenRun(dir, "new")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := eval.ParseRules([]string{"mrr=1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := eval.Gate(run, nil, rules)
	var shown runView
	getJSON(t, s, "/evaluation/runs/new?min=mrr%3D1", &shown)
	if diff := cmp.Diff(want, shown.Gate.Verdicts); diff != "" {
		t.Errorf("not what the gate says (-want +got):\n%s", diff)
	}
}

func TestEvaluationRefusesWhatItCannotKeep(t *testing.T) {
	s, dir := evaluating(t)
	upload(t, s, "handbook.jsonl", questions)
	evaluate(t, s, url.Values{"set": {"handbook.jsonl"}, "label": {"taken"}})
	for name, form := range map[string]url.Values{
		"a label out of the folder":    {"set": {"handbook.jsonl"}, "label": {"../../evil"}},
		"a label with a script":        {"set": {"handbook.jsonl"}, "label": {hostile}},
		"a hidden label":               {"set": {"handbook.jsonl"}, "label": {".hidden"}},
		"a label that is taken":        {"set": {"handbook.jsonl"}, "label": {"Taken"}},
		"a set out of the folder":      {"set": {"../taken.json"}, "label": {"x"}},
		"a set that is a path":         {"set": {"/etc/passwd"}, "label": {"x"}},
		"k that is no number":          {"set": {"handbook.jsonl"}, "label": {"x"}, "k": {"many"}},
		"a part without any question":  {"set": {"handbook.jsonl"}, "label": {"x"}, "part": {"nothing"}},
		"a set that is not there":      {"set": {"none.jsonl"}, "label": {"x"}},
		"a set of another kind":        {"set": {"handbook.exe"}, "label": {"x"}},
		"a set with a name of control": {"set": {"a\x00.jsonl"}, "label": {"x"}},
	} {
		t.Run(name, func(t *testing.T) {
			if code, _, body := post(t, s, "/evaluation/run", form.Encode()); code != http.StatusBadRequest && code != http.StatusNotFound || strings.Contains(body, "<script>alert") || strings.Contains(body, dir) {
				t.Errorf("%d\n%s", code, body)
			}
		})
	}
	for _, name := range []string{"../../evil.jsonl", "x.txt", ".hidden.jsonl", "handbook.jsonl"} {
		code, _, body := upload(t, s, name, questions)
		if want := map[bool]int{true: http.StatusSeeOther, false: http.StatusBadRequest}[strings.HasPrefix(name, "..")]; code != want { // its last part is a name like others
			t.Errorf("upload of %s: %d %s; want %d", name, code, body, want)
		}
	}
	for path, want := range map[string]int{
		"/evaluation/runs/..%5cpasswd": 400, "/evaluation/runs/none": 404, "/evaluation/compare?a=..%2fx&b=y": 400, "/evaluation/compare?a=x": 400, "/evaluation/jobs/none/events": 404,
	} {
		if code, _, body := get(t, s, path); code != want || strings.Contains(body, dir) {
			t.Errorf("%s: %d; want %d\n%s", path, code, want, body)
		}
	}
	left, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(left) != 1 {
		t.Errorf("beside the folder lies %v (%v)", left, err)
	}
}

func TestHostileRunsAreShownHarmlessly(t *testing.T) {
	s, dir := evaluating(t)
	bad, err := json.Marshal(map[string]any{"id": hostile, "question": hostile, "expected_sources": []string{hostile}, "set": hostile, "kind": hostile})
	if err != nil {
		t.Fatal(err)
	}
	if code, _, body := upload(t, s, "h.jsonl", questions+string(bad)+"\n"); code != http.StatusSeeOther {
		t.Fatalf("upload: %d %s", code, body)
	}
	evaluate(t, s, url.Values{"set": {"h.jsonl"}, "label": {"h"}})
	run, err := eval.OpenRun(dir, "h")
	if err != nil {
		t.Fatal(err)
	}
	run.TestSet.Path, run.Set, run.Collection.Name, run.Collection.Embedder, run.Evaluator, run.RegradedFrom = "/x/"+hostile, hostile, hostile, hostile, hostile, hostile
	run.Metrics[hostile] = run.Metrics["document/mrr"]
	run.Label = "other"
	if _, err := run.Save(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "broken.json"), []byte(hostile), 0o600); err != nil {
		t.Fatal(err)
	}
	q := url.Values{"metric": {hostile}, "baseline": {hostile}, "set": {hostile}, "trend_set": {hostile}, "min": {hostile}, "max_drop": {hostile}}.Encode()
	shown := 0
	for _, path := range []string{"/evaluation?", "/evaluation/runs/h?", "/evaluation/runs/other?", "/evaluation/compare?a=h&b=other&"} {
		for _, query := range []string{"", q, "lang=zh"} {
			code, _, body := get(t, s, path+query)
			if code != http.StatusOK {
				t.Errorf("%s%s: %d\n%s", path, query, code, body)
			}
			if text := checkHarmless(t, path+query, body); strings.Contains(text, "<script>alert(1)") {
				shown++
			}
		}
	}
	if shown < 9 {
		t.Errorf("the script is shown as text on %d pages; want 9 and more", shown)
	}
}

func TestQuestionsOfARunComeInPages(t *testing.T) {
	s, dir := evaluating(t)
	run := &eval.Run{Format: 1, Label: "long", Metrics: map[string]eval.Score{"document/mrr": {}}}
	for i := range 450 {
		run.Questions = append(run.Questions, eval.Outcome{ID: fmt.Sprint(i), Metrics: map[string]rag.EvalValue{"document/mrr": rag.EvalNumber(float64(i) / 450)}})
	}
	if _, err := run.Save(dir); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for path := "/evaluation/runs/long"; path != ""; {
		var v runView
		getJSON(t, s, path, &v)
		for _, q := range v.Questions {
			ids = append(ids, q.ID)
		}
		path = v.Pager.Next
	}
	if len(ids) != 450 || ids[0] != "0" || ids[449] != "449" {
		t.Errorf("the pages show %d questions, from %s", len(ids), ids[0])
	}
	if code, _, body := get(t, s, "/evaluation/runs/long?after=-7"); code != http.StatusOK || strings.Contains(body, "NaN") {
		t.Errorf("%d", code)
	}
}

func TestAddToTestSet(t *testing.T) {
	s, dir := evaluating(t)
	res, err := s.eng.Search(t.Context(), rag.Query{Text: "annual leave"})
	if err != nil {
		t.Fatal(err)
	}
	id := res.Hits[0].Chunk.ID
	add := func(form url.Values) int {
		code, _, _ := post(t, s, "/evaluation/questions", form.Encode())
		return code
	}
	if code := add(url.Values{"set": {"mine"}, "question": {"how much " + hostile}, "chunk": {id}}); code != http.StatusSeeOther {
		t.Fatalf("the first question: %d", code)
	}
	if code := add(url.Values{"set": {"mine.jsonl"}, "question": {"the moon"}, "unanswerable": {"on"}}); code != http.StatusSeeOther {
		t.Fatalf("one without an answer: %d", code)
	}
	for name, form := range map[string]url.Values{
		"no passage":              {"set": {"mine"}, "question": {"x"}},
		"no question":             {"set": {"mine"}, "question": {" "}, "chunk": {id}},
		"a passage that is gone":  {"set": {"mine"}, "question": {"x"}, "chunk": {"gone"}},
		"a set out of the folder": {"set": {"../mine.jsonl"}, "question": {"x"}, "chunk": {id}},
	} {
		if code := add(form); code != http.StatusBadRequest && code != http.StatusNotFound {
			t.Errorf("%s: %d", name, code)
		}
	}
	set, err := eval.Load(filepath.Join(dir, setsFolder, "mine.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Questions) != 2 || set.Questions[0].Chunks[id] != 1 || !strings.HasSuffix(res.Hits[0].Chunk.URI, "leave.md") || set.Questions[0].Documents[res.Hits[0].Chunk.URI] != 1 {
		t.Errorf("the set holds %+v", set.Questions)
	}
	if st := evaluate(t, s, url.Values{"set": {"mine.jsonl"}, "label": {"mine"}}); st.State != jobs.Done {
		t.Errorf("it cannot be run: %s", st.Error)
	}
}

func TestReadOnlyEvaluations(t *testing.T) {
	eng := engine(t)
	ingest(t, eng, handbook)
	s := server(t, eng, Options{EvalDir: t.TempDir(), ReadOnly: true})
	for _, path := range []string{"/evaluation/run", "/evaluation/questions", "/evaluation/jobs/x/cancel"} {
		if code, _, _ := post(t, s, path, ""); code != http.StatusForbidden {
			t.Errorf("%s: %d; want 403", path, code)
		}
	}
	if _, _, body := get(t, s, "/evaluation"); strings.Contains(body, `method="post"`) {
		t.Error("changes are offered")
	}
	if code := status(t, server(t, eng, Options{}), "/evaluation"); code != http.StatusOK {
		t.Errorf("without a folder: %d", code)
	}
}

func TestEvaluationEvents(t *testing.T) {
	s, _ := evaluating(t)
	upload(t, s, "handbook.jsonl", questions)
	st := evaluate(t, s, url.Values{"set": {"handbook.jsonl"}, "label": {"x"}})
	code, h, body := get(t, s, "/evaluation/jobs/"+st.ID+"/events", header("Last-Event-ID", "1"))
	if code != http.StatusOK || !strings.HasPrefix(h.Get("Content-Type"), "text/event-stream") || !strings.Contains(body, `"state":"done"`) {
		t.Errorf("%d %v\n%s", code, h, body)
	}
}
