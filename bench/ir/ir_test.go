package ir_test

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/bench/ir"
	"github.com/seed-d8745b77/rag/eval"
)

func TestReadAndEvaluate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tiny")
	write(t, dir, "corpus.jsonl", `{"_id":"d1","title":"T","text":"one"}`+"\n"+`{"_id":"d2","title":"","text":"two"}`)
	write(t, dir, "queries.jsonl", `{"_id":"q1","text":"first"}`+"\n"+`{"_id":"q2","text":"not judged"}`+"\n")
	write(t, dir, "qrels.tsv", "query-id\tcorpus-id\tscore\r\nq1\td2\t1\r\n")
	got, err := ir.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := &ir.Set{
		Name:    "tiny",
		Docs:    []ir.Doc{{ID: "d1", Title: "T", Text: "one"}, {ID: "d2", Text: "two"}},
		Queries: []ir.Query{{ID: "q1", Text: "first"}},
		Judged:  map[string]eval.Grades{"q1": {"d2": 1}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("set (-want +got):\n%s", diff)
	}
	if full := got.Docs[0].FullText() + "|" + got.Docs[1].FullText(); full != "T\none|two" {
		t.Errorf("full texts: %q", full)
	}
	score, err := ir.Evaluate(got, func(string) ([]string, error) { return []string{"d1", "d2"}, nil })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ir.Score{NDCG10: 1 / math.Log2(3), Recall100: 1, Queries: 1}, score); diff != "" {
		t.Errorf("score (-want +got):\n%s", diff)
	}
}

func TestReadErrorsNameTheLine(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "corpus.jsonl", "")
	write(t, dir, "queries.jsonl", "")
	write(t, dir, "qrels.tsv", "query-id\tcorpus-id\tscore\nq1\td1\tmany\n")
	if _, err := ir.Read(dir); err == nil || !strings.Contains(err.Error(), "qrels.tsv line 2") {
		t.Errorf("got %v, want an error that names qrels.tsv line 2", err)
	}
	if _, err := ir.Read(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want a not-exist error", err)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
