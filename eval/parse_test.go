package eval_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
	"github.com/seed-d8745b77/rag/internal/testdata"
)

func TestParseEverythingThatAQuestionMayHave(t *testing.T) {
	const line = `{"id":"q1","set":"s","lang":"en","question":"How long?","answerable":true,"kind":"fact","expected_sources":{"a.md":2,"b.md":1},` +
		`"expected_chunk_ids":["c1"],"expected_sections":"Notice","key_sentence":"Three months.","page":1,"evidence":[{"source":"a.md","sentence":"Three months."},{"sentence":"Or four."}],` +
		`"reference_answer":"Three.","intent":"search","intent_course":"definition","filters":{"country":"uk","year":[2025,2026],"day":{"from":"2026-01-01","to":"2026-12-31"},"none":null},` +
		`"as_of":"2026-06-01","expiry_policy":"flag","expected_status":"current","excluded_sources":["old.md"],"human":{"correctness":1}}`
	set, problems := eval.Parse([]byte("\n" + line + "\n"))
	if len(problems) > 0 {
		t.Fatalf("problems %v", problems)
	}
	yes := true
	want := eval.Question{
		ID: "q1", Line: 2, Text: "How long?", Set: "s", Language: "en", Kind: "fact", Answerable: &yes,
		Chunks: eval.Grades{"c1": 1}, Documents: eval.Grades{"a.md": 2, "b.md": 1}, Sections: eval.Grades{"Notice": 1}, Sentences: []string{"Three months.", "Or four."},
		Excluded: []string{"old.md"}, Reference: "Three.", Intents: map[string]string{"intent": "search", "intent_course": "definition"}, Human: map[string]float64{"correctness": 1},
		Filter: rag.And(rag.Eq("country", "uk"), rag.Range("day", rag.Bounds{GTE: "2026-01-01", LTE: "2026-12-31"}), rag.In("year", 2025.0, 2026.0)),
		AsOf:   time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), Expiry: eval.ExpiryFlag, Status: rag.StatusCurrent,
	}
	if diff := cmp.Diff(want, set.Questions[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if q := set.Questions[0].Query("kb"); !q.Expired || q.AsOf != want.AsOf || q.Collection != "kb" {
		t.Errorf("query %+v", q)
	}
}

func TestParseTheFilesOfOtherSystems(t *testing.T) {
	for name, text := range map[string]string{
		"A, an object with test cases":   `{"version": 1, "test_cases": [{"query": "How long?", "expected_chunk_ids": ["c1"], "expected_sources": ["a.md"], "reference_answer": "Three."}]}`,
		"B, filters and a business date": `[{"query": "How long?", "filters": "country = uk", "business_date": "2026-06-01", "expiry_policy": "exclude", "expected_sources": ["a.md"]}]`,
		"C, a list with gold sections":   `[{"question": "How long?", "gold": ["Notice", "Leave"]}]`,
		"D, numbers for IDs":             `[{"id": 7, "user_input": "How long?", "reference": "Three.", "chunk_ids": "c1"}]`,
		"E, a file and a key sentence":   `{"questions": [{"id": "q", "question": "How long?", "type": "definition", "expected_file": "a.txt", "key_sentence": "Three months.", "expected_intent": "definition"}]}`,
	} {
		set, problems := eval.Parse([]byte(text))
		if len(problems) > 0 || len(set.Questions) != 1 || set.Questions[0].Text != "How long?" {
			t.Errorf("%s: problems %v, set %+v", name, problems, set)
		}
	}
	set, _ := eval.Parse([]byte(`[{"question": "Who won?", "type": "off_topic"}]`))
	if a := set.Questions[0].Answerable; a == nil || *a {
		t.Errorf("an off-topic question is answerable: %v", a)
	}
}

func TestParseReportsEveryProblemWithItsLine(t *testing.T) {
	text := strings.Join([]string{
		`{"id":"a","question":"x","expected_sources":["d"]}`,
		`not json`,
		`{"id":"a","question":" ","expected_sources":[""]}`,
		`{"id":"b","question":"x","answerable":false,"key_sentence":"y"}`,
		`{"id":"c","question":"x","answerable":"no","as_of":"soon","filters":"year >","expiry_policy":"keep"}`,
		`{"id":"d","question":"x","expected_sources":["d"],"excluded_sources":["d"],"expected_status":"current","human":{"m":2},"key_sentence":"!?"}`,
		`{"id":"e","question":"x","expected_source_":["d"]}`,
		`["x"]`,
	}, "\n")
	set, problems := eval.Parse([]byte(text))
	var got []string
	for _, p := range problems {
		got = append(got, p.String())
	}
	want := []string{
		"line 2: want a JSON object: no JSON, at byte 2: invalid character 'o' in literal null (expecting 'u')",
		"line 3 (a) expected_sources: an empty text is in the list",
		"line 3 (a) question: it is missing or empty",
		"line 3 (a) id: it is that of the question on line 1 too",
		"line 4 (b): it is not answerable, but something answers it: one of the two is wrong",
		`line 5 (c) answerable: it must be true or false, and is "no"`,
		`line 5 (c) as_of: "soon" is neither a day like 2026-12-31 nor an instant like 2026-12-31T15:04:05Z`,
		`line 5 (c) expiry_policy: "keep" (known: exclude, flag, ignore)`,
		`line 5 (c) filters: column 7: expected a value after ">"`,
		"line 5 (c): expiry_policy does nothing without a business date, as_of",
		"line 6 (d) human: m is 2: it must be from 0 to 1",
		"line 6 (d) key_sentence: it has no letter or digit, so nothing can be compared with it",
		`line 6 (d): "d" is both expected and excluded`,
		"line 6 (d): expected_status needs a business date, as_of",
		`line 7 (e) expected_source_: it is not looked at: no field has this name, did you mean "expected_source"?`,
		"line 7 (e): nothing says what should be found, nor that nothing can be: no metric will have a value",
		"line 8: want a JSON object: want keys and values, got a list",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(set.Questions) != 2 {
		t.Errorf("%d questions can be used", len(set.Questions))
	}
}

func TestParseFindsLinesInLists(t *testing.T) {
	_, problems := eval.Parse([]byte("{\n \"questions\": [\n  {\"question\": \"x\", \"gold\": [\"a\"]},\n  {\n   \"question\": \"\"\n  }\n ]\n}"))
	if len(problems) == 0 || problems[0].Line != 4 {
		t.Errorf("problems %v, want the first on line 4", problems)
	}
	for _, text := range []string{"", "[]", `{"questions": []}`} {
		if set, problems := eval.Parse([]byte(text)); len(set.Questions) > 0 || len(problems) == 0 || !problems[0].Fatal {
			t.Errorf("%q: %v", text, problems)
		}
	}
}

func TestLoadRefusesWhatCannotBeUsed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "set.jsonl")
	if err := os.WriteFile(path, []byte("{}\n{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := eval.Load(path); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "2 problems, the first: line 1") {
		t.Errorf("error %v", err)
	}
	if _, err := eval.Load(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestTheSharedQuestionsCanBeUsed(t *testing.T) {
	set, err := eval.Load(testdata.Shared(t, "data", "qa", "questions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Questions) < 100 || len(set.Problems) > 0 {
		t.Errorf("%d questions, problems %v", len(set.Questions), set.Problems)
	}
	set.Rename(map[string]string{"date_range": "effective"})
	fields := map[string]bool{}
	for _, q := range set.Questions {
		for _, f := range append(q.Filter.Args, q.Filter) {
			fields[f.Field] = true
		}
	}
	if fields["date_range"] || !fields["effective"] {
		t.Errorf("fields of filters %v", fields)
	}
}

func TestFold(t *testing.T) {
	for text, want := range map[string]string{"": "", " A-b, c! ": "abc", "Ⅳ ﬁne Straße": "ivfinestrasse", "学费为 98,000。": "学费为98000", "e\u0301té": "été", "+€": ""} {
		if got := eval.Fold(text); got != want {
			t.Errorf("Fold(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestSameDocument(t *testing.T) {
	for _, c := range []struct {
		uri, name string
		want      bool
	}{
		{"file:///x/docs/a.md", "docs/a.md", true}, {"file:///x/docs/a.md", "a.md", true}, {"file:///x/docs/a.md", "file:///x/docs/a.md", true},
		{"file:///x/docs/ba.md", "a.md", false}, {"file:///x/a%20b.md", "a b.md", true}, {"file:///x/a.md#2", "a.md", false}, {"", "", true},
		{"file:///x/a%20b.md", "c.md", false}, {"file:///x/100%/a.md", "b.md", false},
	} {
		if got := eval.SameDocument(c.uri, c.name); got != c.want {
			t.Errorf("SameDocument(%q, %q) = %v", c.uri, c.name, got)
		}
	}
}

func TestReadQrelsAndRuns(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) string {
		path := filepath.Join(dir, "file")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	want := map[string]eval.Grades{"q1": {"d1": 2, "d2": 0}}
	for name, text := range map[string]string{"BEIR": "query-id\tcorpus-id\tscore\r\nq1\td1\t2\nq1\td2\t0\n", "BEIR without names": "q1\td1\t2\nq1\td2\t0", "TREC": "q1 0 d1 2\nq1  0 d2\t0\n"} {
		got, err := eval.ReadQrels(write(text))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: error %v (-want +got):\n%s", name, err, diff)
		}
	}
	for text, want := range map[string]string{"q d": "line 1: 2 columns", "q1\td1\t1\nq1\td1\tmany": "line 2: the grade"} {
		if _, err := eval.ReadQrels(write(text)); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v", text, err)
		}
	}
	run, err := eval.ReadRun(write("q1 Q0 a 1 0.5 me\nq1 Q0 b 2 0.5 me\nq1 Q0 c 3 0.7 me\n"))
	if diff := cmp.Diff([]string{"c", "b", "a"}, run.Ranked("q1")); err != nil || diff != "" {
		t.Errorf("error %v, ranked (-want +got):\n%s", err, diff)
	}
	for _, text := range []string{"q1 Q0 a 1 0.5", "q1 Q0 a 1 high me"} {
		if _, err := eval.ReadRun(write(text)); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%q: error %v", text, err)
		}
	}
	var b strings.Builder
	if err := eval.WriteRun(&b, "me", "q1", []string{"x", "y"}); err != nil {
		t.Fatal(err)
	}
	if run, err = eval.ReadRun(write(b.String())); err != nil || cmp.Diff([]string{"x", "y"}, run.Ranked("q1")) != "" {
		t.Errorf("%v, %v", run, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"question":"x","filters":{"a":[1]},"evidence":[{"sentence":"y"}],"as_of":"2026-01-01"}`))
	f.Add([]byte(`{"data":[{"query":"x","gold":{"a":1}},`))
	f.Add([]byte("[\n{}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		set, problems := eval.Parse(data)
		if len(set.Questions) == 0 && len(problems) == 0 {
			t.Error("nothing was read, and nothing said")
		}
		for _, q := range set.Questions {
			if q.ID == "" || strings.TrimSpace(q.Text) == "" || q.Line < 1 {
				t.Errorf("question %+v", q)
			}
		}
	})
}

func FuzzReadQrelsAndRuns(f *testing.F) {
	f.Add("q1\td1\t2\nq1 0 d2 1\n")
	f.Add("q1 Q0 d1 1 0.5 me\n")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := eval.ReadQrels(path); err != nil && !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("qrels: error %v", err)
		}
		if _, err := eval.ReadRun(path); err != nil && !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("run: error %v", err)
		}
	})
}
