package gse_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/bench/ir"
	"github.com/seed-d8745b77/rag/internal/testdata"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/sparse"
	"github.com/seed-d8745b77/rag/sparse/gse"
)

func TestConformance(t *testing.T) {
	ragtest.TestSparseIndex(t, func(t *testing.T, dir string) rag.SparseIndex { return open(t, dir) })
}

func open(t *testing.T, dir string) *sparse.BM25 {
	t.Helper()
	x, err := gse.Open(dir, sparse.BM25Config{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestSegment(t *testing.T) {
	s, err := gse.New()
	if err != nil {
		t.Fatal(err)
	}
	for run, want := range map[string]string{
		"公司的年假制度":   "公司 的 年 假 制度", // not in the dictionary: pairs of characters find it
		"我们研究机器学习":  "我们 研究 机器 学习",
		"中华人民共和国成立": "中华人民共和国 成立",
		"税":         "税",
		"\u3007齾龘":  "", // no dictionary has them; whatever comes, nothing may be lost
	} {
		got := s.Segment(run)
		if strings.Join(got, "") != run {
			t.Errorf("%s: %v loses characters", run, got)
		}
		if want != "" && strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %s", run, got, want)
		}
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				if got := s.Segment("公司的年假制度"); len(got) != 5 {
					t.Errorf("at once with others: got %v", got)
				}
			}
		})
	}
	wg.Wait()
}

func TestFindsWords(t *testing.T) {
	x := open(t, "")
	recs := []rag.TextRecord{
		{ID: "leave", Text: "公司的年假制度规定员工每年有十五天年假，税后工资照发。", Language: "zh"},
		{ID: "plan", Text: "假期的年度安排由中华人民共和国制定。", Language: "zh"},
	}
	if err := x.Upsert(t.Context(), "c", recs); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{"年假": "leave", "税": "leave", "共和国": "plan", "年度": "plan"} {
		got, err := x.Search(t.Context(), "c", rag.SparseQuery{Text: query, K: 1})
		if err != nil || len(got) == 0 || got[0].ID != want {
			t.Errorf("%s: got %v, %v, want %s", query, got, err, want)
		}
	}
	got, err := x.Search(t.Context(), "c", rag.SparseQuery{Text: `"年假制度"`, K: 2, Match: rag.TextMatch{Phrase: true}})
	if err != nil || len(got) != 1 {
		t.Errorf("phrase: got %v, %v", got, err)
	}
}

// TestRefusesOtherAnalyzer checks that neither index opens what the other built.
func TestRefusesOtherAnalyzer(t *testing.T) {
	dir := t.TempDir()
	x := open(t, dir)
	if err := x.Upsert(t.Context(), "c", []rag.TextRecord{{ID: "a", Text: "年假"}}); err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	plain, err := sparse.OpenBM25(dir, sparse.BM25Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	_, err = plain.Search(t.Context(), "c", rag.SparseQuery{Text: "年假", K: 1})
	if !errors.Is(err, rag.ErrFingerprint) || !strings.Contains(err.Error(), "auto/v2+gse/") {
		t.Errorf("got %v, want ErrFingerprint that names the segmenter", err)
	}
}

// TestQuality holds what the README says of CMRC 2018.
func TestQuality(t *testing.T) {
	set, err := ir.Read(testdata.Shared(t, "data", "ir", "cmrc2018"))
	if err != nil {
		t.Fatal(err)
	}
	x := open(t, "")
	var recs []rag.TextRecord
	for _, d := range set.Docs {
		recs = append(recs, rag.TextRecord{ID: d.ID, Text: d.FullText(), Language: "zh"})
	}
	for part := range slices.Chunk(recs, 200) {
		if err := x.Upsert(t.Context(), "c", part); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ir.Evaluate(set, func(query string) ([]string, error) {
		found, err := x.Search(t.Context(), "c", rag.SparseQuery{Text: query, K: ir.ScoreDepth})
		ids := make([]string, len(found))
		for i, m := range found {
			ids[i] = m.ID
		}
		return ids, err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("nDCG@10 %.4f, recall@100 %.4f", got.NDCG10, got.Recall100)
	if got.NDCG10 < 0.975 {
		t.Errorf("nDCG@10 %.4f is below 0.975", got.NDCG10)
	}
}
