package eval_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
)

// beirFiles are the files of a small set by name.
func beirFiles() map[string]string {
	return map[string]string{
		"corpus.jsonl":  `{"_id":"d1","title":"Apples","text":"Apples grow on trees."}` + "\n" + `{"_id":"d 2/ü?#%41","text":"Pears are green."}` + "\n",
		"queries.jsonl": `{"_id":"q1","text":"apples"}` + "\n" + `{"_id":"q2","text":"pears"}` + "\n" + `{"_id":"unjudged","text":"x"}` + "\n",
		"qrels.tsv":     "query-id\tcorpus-id\tscore\nq1\td1\t2\nq2\td 2/ü?#%41\t1\n",
	}
}

func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestReadBEIRForms: how sets of other hands are written changes nothing about what they say.
func TestReadBEIRForms(t *testing.T) {
	want := map[string]eval.Grades{"q1": {"d1": 2}, "q2": {"d 2/ü?#%41": 1}}
	numbers := map[string]eval.Grades{"1": {"10": 1}}
	for name, c := range map[string]struct {
		change func(map[string]string)
		want   map[string]eval.Grades
	}{
		"as is":            {func(map[string]string) {}, want},
		"byte order marks": {func(f map[string]string) { each(f, func(s string) string { return "\ufeff" + s }) }, want},
		"CR LF": {func(f map[string]string) {
			each(f, func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") })
		}, want},
		"blank lines": {func(f map[string]string) {
			each(f, func(s string) string { return strings.ReplaceAll(s, "\n", "\n  \n") })
		}, want},
		"no header, mark": {func(f map[string]string) { f["qrels.tsv"] = "\ufeffq1\td1\t2\nq2\td 2/ü?#%41\t1" }, want},
		"grades as 2.0":   {func(f map[string]string) { f["qrels.tsv"] = "q1\td1\t2.0\nq2\td 2/ü?#%41\t1.0\n" }, want},
		"IDs are numbers": {func(f map[string]string) {
			f["corpus.jsonl"], f["queries.jsonl"], f["qrels.tsv"] = `{"_id":10,"text":"a"}`, `{"_id":1,"text":"b"}`, "1\t10\t1"
		}, numbers},
		"the split test": {func(f map[string]string) {
			f["qrels/test.tsv"] = f["qrels.tsv"]
			delete(f, "qrels.tsv")
		}, want},
	} {
		t.Run(name, func(t *testing.T) {
			files := beirFiles()
			c.change(files)
			set, err := eval.ReadBEIR(writeFiles(t, files))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, set.Judged); diff != "" || len(set.Queries) != len(c.want) || len(set.Problems()) > 0 {
				t.Errorf("%s\n%d queries, problems %v", diff, len(set.Queries), set.Problems())
			}
		})
	}
}

func each(files map[string]string, fn func(string) string) {
	for name, text := range files {
		files[name] = fn(text)
	}
}

func TestReadBEIRSaysWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		file, text, want string // "": the file is not there
		kind             error
	}{
		"no qrels":           {"qrels.tsv", "", "neither qrels.tsv nor qrels/test.tsv", rag.ErrNotFound},
		"no corpus":          {"corpus.jsonl", "", "corpus.jsonl", os.ErrNotExist},
		"empty corpus":       {"corpus.jsonl", "\n", "corpus.jsonl holds no document", rag.ErrInvalid},
		"document twice":     {"corpus.jsonl", "{\"_id\":\"d1\"}\n{\"_id\":\"d1\"}", `corpus.jsonl line 2: the _id "d1" is that of line 1 too`, rag.ErrInvalid},
		"query twice":        {"queries.jsonl", "{\"_id\":\"q1\"}\n\n{\"_id\":\"q1\"}", `queries.jsonl line 3: the _id "q1" is that of line 1 too`, rag.ErrInvalid},
		"no ID":              {"corpus.jsonl", `{"id":"d1","text":"a"}`, "corpus.jsonl line 1: _id is missing", rag.ErrInvalid},
		"no JSON":            {"corpus.jsonl", "{\"_id\":\"d1\"}\n{\"_id\"", "corpus.jsonl line 2: no JSON object", rag.ErrInvalid},
		"grade is a word":    {"qrels.tsv", "q\td\ts\nq1\td1\tx", `qrels.tsv line 2: the grade "x" is no whole number`, rag.ErrInvalid},
		"grade of a half":    {"qrels.tsv", "q1\td1\t0.5", `qrels.tsv line 1: the grade "0.5" is no whole number`, rag.ErrInvalid},
		"nothing to measure": {"qrels.tsv", "q1\td1\t0", "no query has a relevant document", rag.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			files := beirFiles()
			if files[c.file] = c.text; c.text == "" {
				delete(files, c.file)
			}
			_, err := eval.ReadBEIR(writeFiles(t, files))
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
		})
	}
}

// TestBEIRJudgementsOfNothing: a judged document that the corpus does not have counts as not found, as in trec_eval, and is
// told; a document of a title alone can be found.
func TestBEIRJudgementsOfNothing(t *testing.T) {
	files := beirFiles()
	files["corpus.jsonl"] += `{"_id":"title","title":"Quince","text":""}` + "\n"
	files["queries.jsonl"] += `{"_id":"q3","text":"quince"}` + "\n" + `{"_id":"q4","text":" "}` + "\n"
	files["qrels.tsv"] += "q1\tgone\t1\nq3\ttitle\t1\nq4\td1\t1\nq5\td1\t1\n"
	set, err := eval.ReadBEIR(writeFiles(t, files))
	if err != nil {
		t.Fatal(err)
	}
	var problems []string
	for _, p := range set.Problems() {
		problems = append(problems, p.String())
	}
	want := []string{
		"(q4) text: it is missing or empty",
		`(q1) qrels: document "gone" is not in the corpus`,
		"(q5) qrels: queries.jsonl has no such query: its judgements do nothing",
	}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Error(diff)
	}

	c := testConfig()
	variants, err := eval.Named(c, []string{"sparse"})
	if err != nil {
		t.Fatal(err)
	}
	lab := &eval.Lab{Dir: t.TempDir(), Sources: set.Sources(), Options: set.Options(false)}
	x := &eval.Experiment{Name: set.Name, Lab: lab, Questions: set.Questions(), Variants: variants, Metrics: []string{"recall@100"}, Distinct: true, Now: clock()}
	report, err := x.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v := report.Variants[0]
	values := v.Values["recall@100"]
	if at := slices.Index(report.IDs, "q1"); values[at] != rag.EvalNumber(0.5) {
		t.Errorf("one of two relevant documents is there: recall %+v", values[at])
	}
	if at := slices.Index(report.IDs, "q3"); values[at] != rag.EvalNumber(1) {
		t.Errorf("a title alone: recall %+v", values[at])
	}
	if at := slices.Index(report.IDs, "q4"); values[at].Null == "" || v.Failed != 1 {
		t.Errorf("a query without text: recall %+v, %d failed", values[at], v.Failed)
	}
}

func TestWriteRunRefusesBlanks(t *testing.T) {
	for _, ids := range [][2]string{{"q 1", "d1"}, {"q1", "d\t1"}} {
		if err := eval.WriteRun(io.Discard, "x", ids[0], []string{ids[1]}); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%q: %v", ids, err)
		}
	}
}
