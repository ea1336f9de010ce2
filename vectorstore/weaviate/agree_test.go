package weaviate_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/bench/ir"
	"github.com/seed-d8745b77/rag/internal/testdata"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/sparse"
	"github.com/seed-d8745b77/rag/vectorstore"
)

// fill gives records to several stores, some at a time.
func fill[R any](t *testing.T, recs []R, stores ...func(some []R) error) {
	t.Helper()
	for some := range slices.Chunk(recs, 500) {
		for _, write := range stores {
			if err := write(some); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// overlap is the share of the first ten of one list that are among the first ten of another.
func overlap(want, got []rag.Match) float64 {
	want, got = want[:min(10, len(want))], got[:min(10, len(got))]
	both := 0
	for _, m := range want {
		if slices.ContainsFunc(got, func(o rag.Match) bool { return o.ID == m.ID }) {
			both++
		}
	}
	return float64(both) / float64(max(1, len(want)))
}

// part is a set of some questions, the documents that they are about, and others up to some number.
func part(set *ir.Set, docs, questions int) *ir.Set {
	out := *set
	out.Queries, out.Docs = set.Queries[:questions], nil
	about := func(id string) bool {
		return slices.ContainsFunc(out.Queries, func(q ir.Query) bool { return set.Judged[q.ID][id] > 0 })
	}
	rest := docs
	for _, d := range set.Docs {
		if about(d.ID) {
			rest--
		}
	}
	for _, d := range set.Docs {
		if about(d.ID) {
			out.Docs = append(out.Docs, d)
		} else if rest > 0 {
			out.Docs = append(out.Docs, d)
			rest--
		}
	}
	return &out
}

// TestWordsAgreeOnACluster compares the ranking of words with the embedded index's, over 1,500 abstracts and 60 questions,
// in the long run over 5,183 and 300, in three shards. Where words are counted, the scores are the same ones; what can
// differ is which candidates Weaviate finds: one of a hundred. Its own scores, which the long run looks at, count records
// that are no more, each shard's by itself, and longer texts for words that have several forms: with them one of seven may
// be another, and what that does to nDCG is less than its standard error over a hundred questions (0.04).
func TestWordsAgreeOnACluster(t *testing.T) {
	c := onCluster(t)
	set, err := ir.Read(testdata.Shared(t, "data", "ir", "scifact"))
	if err != nil {
		t.Fatal(err)
	}
	embedded, err := sparse.OpenBM25("", sparse.BM25Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer embedded.Close()
	settings := c.at(t.Name(), 0)
	settings.Shards = 3
	counting := texts(t, settings)
	if !thorough() {
		set = part(set, 1500, 60)
	}
	settings.ExactUpTo = -1
	far := texts(t, settings)
	var recs []rag.TextRecord
	for _, d := range set.Docs {
		recs = append(recs, rag.TextRecord{ID: d.ID, DocID: d.ID, Text: d.FullText(), Language: "en"})
	}
	start := time.Now()
	fill(t, recs, func(some []rag.TextRecord) error { return far.Upsert(t.Context(), "c", some) })
	t.Logf("%d documents written in %.1f s", len(recs), time.Since(start).Seconds())
	fill(t, recs, func(some []rag.TextRecord) error { return embedded.Upsert(t.Context(), "c", some) })
	want, answers := answersOf(t, set, embedded)
	type agreement struct {
		name    string
		index   rag.SparseIndex
		same    float64 // least share of the first ten
		quality float64 // most difference of nDCG
	}
	tests := []agreement{{"words counted", counting, 0.99, 0.005}}
	if thorough() {
		tests = append(tests, agreement{"the server's scores", far, 0.85, 0.03})
	}
	for _, test := range tests {
		start := time.Now()
		quality, lists := answersOf(t, set, test.index)
		asked, same := time.Since(start), 0.0
		for query, list := range answers {
			same += overlap(list, lists[query]) / float64(len(answers))
		}
		t.Logf("%s: %d questions, %.1f ms each; nDCG@10 %.4f, embedded %.4f; %.4f of the first ten are the same",
			test.name, len(answers), asked.Seconds()*1000/float64(len(answers)), quality, want, same)
		if math.Abs(quality-want) > test.quality || same < test.same {
			t.Errorf("%s: nDCG@10 %.4f and %.4f, %.4f of the first ten are the same", test.name, quality, want, same)
		}
	}
}

// answersOf asks an index all questions.
func answersOf(t *testing.T, set *ir.Set, x rag.SparseIndex) (ndcg float64, answers map[string][]rag.Match) {
	t.Helper()
	answers = map[string][]rag.Match{}
	got, err := ir.Evaluate(set, func(query string) (ids []string, err error) {
		matches, err := x.Search(t.Context(), "c", rag.SparseQuery{Text: query, K: 100})
		for _, m := range matches {
			ids = append(ids, m.ID)
		}
		answers[query] = matches
		return ids, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got.NDCG10, answers
}

// TestVectorsAgreeOnACluster compares the nearest with those that comparing all vectors finds. Many of these vectors are as
// near as others, which makes it hard for a graph, and Weaviate's is another at each run: one of twenty may be missed.
func TestVectorsAgreeOnACluster(t *testing.T) {
	c := onCluster(t)
	set, err := ir.Read(testdata.Shared(t, "data", "ir", "scifact"))
	if err != nil {
		t.Fatal(err)
	}
	exact, err := vectorstore.OpenFlat("", vectorstore.FlatConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer exact.Close()
	graph, err := vectorstore.OpenHNSW("", vectorstore.HNSWConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer graph.Close()
	far := vectors(t, c.at(t.Name(), 0))
	embedder := &ragtest.HashEmbedder{Dims: 384}
	docs, queries := set.Docs[:1000], set.Queries[:50]
	if thorough() {
		docs, queries = set.Docs, set.Queries
	}
	var recs []rag.VectorRecord
	for _, d := range docs {
		v, err := embedder.Embed(t.Context(), rag.AsPassage, []string{d.FullText()})
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, rag.VectorRecord{ID: d.ID, DocID: d.ID, Vector: v[0]})
	}
	write := func(s rag.VectorStore) func([]rag.VectorRecord) error {
		return func(some []rag.VectorRecord) error { return s.Upsert(t.Context(), "c", some) }
	}
	start := time.Now()
	fill(t, recs, write(far))
	wrote := time.Since(start)
	fill(t, recs, write(exact), write(graph))
	var here, embedded float64
	var asked time.Duration
	for _, q := range queries {
		v, err := embedder.Embed(t.Context(), rag.AsQuestion, []string{q.Text})
		if err != nil {
			t.Fatal(err)
		}
		lists := make([][]rag.Match, 3)
		for i, s := range []rag.VectorStore{exact, graph, far} {
			start := time.Now()
			if lists[i], err = s.Search(t.Context(), "c", rag.VectorQuery{Vector: v[0], K: 10}); err != nil {
				t.Fatal(err)
			}
			if i == 2 {
				asked += time.Since(start)
			}
		}
		embedded += overlap(lists[0], lists[1]) / float64(len(queries))
		here += overlap(lists[0], lists[2]) / float64(len(queries))
	}
	t.Logf("%d vectors of 384 written in %.1f s, %d questions, %.1f ms each; recall@10 %.4f, of the embedded graph %.4f",
		len(recs), wrote.Seconds(), len(queries), asked.Seconds()*1000/float64(len(queries)), here, embedded)
	if here < 0.95 {
		t.Errorf("recall@10 is %.4f", here)
	}
}
