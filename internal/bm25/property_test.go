package bm25_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/internal/bm25"
)

// TestPruningLosesNothing compares searches for few with the beginning of the search for all, in which nothing is
// left out: to the last digit and the last tie. Lists are long enough for several blocks and windows, lengths vary, so
// that bounds are loose, and documents leave.
func TestPruningLosesNothing(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 7))
	const documents = 9000
	var x *bm25.Index
	for batch := 0; batch < documents; batch += 3000 {
		var docs []bm25.Doc
		for i := range 3000 {
			docs = append(docs, doc(fmt.Sprintf("d%05d", rnd.IntN(10)*10000+batch+i), zipfText(rnd, 1+rnd.IntN(1+rnd.IntN(60)))))
		}
		x = with(t, x, nil, docs...)
	}
	check := func(stage string) {
		for range 60 {
			query := zipfText(rnd, 1+rnd.IntN(12))
			p := bm25.Params{K1: rnd.Float64() * 3, B: rnd.Float64()}
			ask := func(k int) []bm25.Match {
				got, err := x.Search(t.Context(), bm25.Query{K: k, Clauses: bm25.Words(strings.Fields(query)), Params: p})
				if err != nil {
					t.Fatal(err)
				}
				return got
			}
			all := ask(documents)
			for _, k := range []int{1, 10, 100} {
				if diff := gocmp.Diff(all[:min(k, len(all))], ask(k)); diff != "" {
					t.Fatalf("%s, %q with %+v, K %d (-all +pruned):\n%s", stage, query, p, k, diff)
				}
			}
		}
	}
	check("fresh")
	ids := x.IDs()
	rnd.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	x = with(t, x, ids[:1200])
	check("after deletes")
	for i := range 40 {
		x = with(t, x, ids[1200+10*i:1210+10*i], doc(fmt.Sprint("new", i), zipfText(rnd, 30)))
	}
	check("after single upserts")
}

// zipfText draws terms of very different frequency.
func zipfText(rnd *rand.Rand, n int) string {
	terms := make([]string, n)
	for i := range terms {
		f := rnd.Float64()
		terms[i] = fmt.Sprintf("t%d", int(f*f*f*f*300))
	}
	return strings.Join(terms, " ")
}

// TestScoresDoNotDependOnSegments indexes the same documents in several ways.
func TestScoresDoNotDependOnSegments(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	docs := make([]bm25.Doc, 700)
	for i := range docs {
		docs[i] = doc(fmt.Sprintf("d%03d", i), zipfText(rnd, 1+rnd.IntN(40)))
	}
	whole := with(t, nil, nil, docs...)
	var split *bm25.Index
	for part := range slices.Chunk(docs, 9) {
		split = with(t, split, nil, append(slices.Clone(part), doc("leaves", "t0 t1"))...)
	}
	split = with(t, split, []string{"leaves"})
	for range 50 {
		query := zipfText(rnd, 8)
		if diff := gocmp.Diff(search(t, whole, query, 20), search(t, split, query, 20)); diff != "" {
			t.Fatalf("%q (-one segment +many):\n%s", query, diff)
		}
	}
}

// TestPhrases compares with a search through the words themselves.
func TestPhrases(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 8))
	texts := map[string]string{}
	var x *bm25.Index
	for range 30 {
		var docs []bm25.Doc
		for range 20 {
			id := fmt.Sprintf("d%03d", rnd.IntN(400))
			if slices.ContainsFunc(docs, func(d bm25.Doc) bool { return d.ID == id }) {
				continue
			}
			texts[id] = zipfText(rnd, rnd.IntN(60))
			docs = append(docs, doc(id, texts[id]))
		}
		x = with(t, x, nil, docs...)
	}
	for range 200 {
		words := strings.Fields(zipfText(rnd, 1+rnd.IntN(3)))
		var phrase bm25.Phrase
		for _, w := range words {
			phrase = append(phrase, []string{w})
		}
		var want []string
		for id, text := range texts {
			if strings.Contains(" "+text+" ", " "+strings.Join(words, " ")+" ") {
				want = append(want, id)
			}
		}
		slices.Sort(want)
		got := phraseIDs(t, x, phrase)
		if !slices.Equal(got, want) {
			t.Fatalf("%q: got %v, want %v", words, got, want)
		}
	}
}

func phraseIDs(t *testing.T, x *bm25.Index, phrases ...bm25.Phrase) []string {
	t.Helper()
	var clauses []bm25.Clause
	for _, p := range phrases {
		for _, terms := range p {
			clauses = append(clauses, bm25.Clause{Terms: terms, Weight: 1})
		}
	}
	got, err := x.Search(t.Context(), bm25.Query{K: 1000, Clauses: clauses, Phrases: phrases, Params: params})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, m := range got {
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	return ids
}

func TestPhraseOfAlternatives(t *testing.T) {
	x := with(t, nil, nil, doc("a", "annual leave days"), doc("b", "annual sick leave"), doc("c", "yearly leave days"), doc("d", "leave annual"))
	for _, c := range []struct {
		name    string
		phrases []bm25.Phrase
		want    string
	}{
		{"words in a row", []bm25.Phrase{{{"annual"}, {"leave"}}}, "a"},
		{"either word", []bm25.Phrase{{{"annual", "yearly"}, {"leave"}}}, "a c"},
		{"a place that any word fills", []bm25.Phrase{{{"annual"}, nil, {"leave"}}}, "b"},
		{"a leading place", []bm25.Phrase{{nil, {"leave"}}}, "a b c d"},
		{"both phrases", []bm25.Phrase{{{"annual"}}, {{"leave"}, {"days"}}}, "a"},
		{"an unknown word", []bm25.Phrase{{{"annual"}, {"nothing"}}}, ""},
	} {
		if got := strings.Join(phraseIDs(t, x, c.phrases...), " "); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// TestClauseOfSeveralTerms checks that a clause counts as one term would that stood in the place of each.
func TestClauseOfSeveralTerms(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 3))
	var apart, joined []bm25.Doc
	for i := range 500 {
		text := zipfText(rnd, 1+rnd.IntN(50))
		apart = append(apart, doc(fmt.Sprintf("d%03d", i), text))
		joined = append(joined, doc(fmt.Sprintf("d%03d", i), strings.NewReplacer("t1 ", "t2 ", "t3 ", "t2 ").Replace(text+" ")))
	}
	got, err := with(t, nil, nil, apart...).Search(t.Context(), bm25.Query{K: 500, Params: params, Clauses: []bm25.Clause{{Terms: []string{"t1", "t2", "t3"}, Weight: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(search(t, with(t, nil, nil, joined...), "t2", 500), got); diff != "" {
		t.Errorf("(-one term +clause):\n%s", diff)
	}
}

func TestExpansions(t *testing.T) {
	words := strings.Fields("run runs running runner ruin rum rust trust management manager manage mange 年假 年金 naïve")
	var x *bm25.Index
	for i, w := range words {
		d := doc(fmt.Sprint("d", i), w)
		if stem, cut := strings.CutSuffix(w, "ment"); cut {
			d.Tokens[0].Term, d.Tokens[0].Form = stem, w
		}
		x = with(t, x, nil, d)
	}
	for prefix, want := range map[string]string{"run": "run runner running runs", "manag": "manage manager", "managem": "manage", "年": "年假 年金", "x": "", "": strings.Join(words, " ")} {
		got := x.Prefixed(prefix)
		if prefix == "" {
			if len(got) != len(words)-1 { // management is found as manage
				t.Errorf("all: got %v", got)
			}
			continue
		}
		if strings.Join(got, " ") != want {
			t.Errorf("prefix %q: got %v, want %s", prefix, got, want)
		}
	}
	for _, c := range []struct {
		word  string
		edits int
		want  string
	}{
		{"run", 1, "ruin:1 rum:1 runs:1"},
		{"managemnt", 1, "manage:1"},
		{"rust", 1, "trust:1"},
		{"年假", 1, "年金:1"},
		{"naive", 1, "naïve:1"},
		{"zzzz", 2, ""},
	} {
		var got []string
		for _, s := range x.Similar(c.word, c.edits, 100) {
			got = append(got, fmt.Sprintf("%s:%d", s.Term, s.Edits))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s within %d: got %v, want %s", c.word, c.edits, got, c.want)
		}
	}
	if got := x.Similar("run", 2, 2); len(got) != 2 || got[0].Edits != 1 {
		t.Errorf("limit 2: got %v, want two of the nearest", got)
	}
}

// TestSimilarLeavesOutWhatIsGone: words that only documents had that have left take no place among the most similar.
func TestSimilarLeavesOutWhatIsGone(t *testing.T) {
	x := with(t, nil, nil, doc("a", "cart"), doc("b", "card"), doc("c", "card"), doc("d", "cars cars"), doc("e", "cars"), doc("f", "other"), doc("g", "other"))
	x = with(t, x, []string{"b", "c", "d"})
	if diff := gocmp.Diff([]bm25.Similar{{Term: "cars", Edits: 1}, {Term: "cart", Edits: 1}}, x.Similar("care", 1, 2)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSimilarAgainstAll compares with the distance to every word.
func TestSimilarAgainstAll(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 4))
	word := func() string {
		b := make([]byte, 1+rnd.IntN(7))
		for i := range b {
			b[i] = "abc"[rnd.IntN(3)]
		}
		return string(b)
	}
	all := map[string]bool{}
	var tokens []bm25.Token
	for range 400 {
		w := word()
		all[w] = true
		tokens = append(tokens, bm25.Token{Term: w, Weight: 1})
	}
	x := with(t, nil, nil, bm25.Doc{ID: "a", Tokens: tokens, Length: 400})
	for range 100 {
		asked, edits := word(), 1+rnd.IntN(2)
		want := map[string]int{}
		for w := range all {
			if d := distance(asked, w); d > 0 && d <= edits {
				want[w] = d
			}
		}
		got := map[string]int{}
		for _, s := range x.Similar(asked, edits, 1000) {
			got[s.Term] = s.Edits
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("%s within %d (-want +got):\n%s", asked, edits, diff)
		}
	}
}

func distance(a, b string) int {
	switch {
	case a == "" || b == "":
		return len(a) + len(b)
	case a[0] == b[0]:
		return distance(a[1:], b[1:])
	case len(a)+len(b) > 20:
		panic("too long")
	}
	return 1 + min(distance(a[1:], b), distance(a, b[1:]), distance(a[1:], b[1:]))
}
