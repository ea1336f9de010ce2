package rag_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

// paragraphs makes a passage of each paragraph.
type paragraphs struct{}

func (paragraphs) Split(_ context.Context, doc rag.Document) ([]rag.Chunk, error) {
	var chunks []rag.Chunk
	at := 0
	for part := range strings.SplitSeq(doc.Text, "\n\n") {
		if strings.TrimSpace(part) != "" {
			chunks = append(chunks, rag.Chunk{Text: part, Start: at, End: at + len(part), Headings: doc.HeadingsAt(at)})
		}
		at += len(part) + 2
	}
	return chunks, nil
}

// shallow makes every stage look at few candidates, so that a search has to look deeper.
func shallow(c *rag.Config) {
	c.Retrieval.DenseTopK, c.Retrieval.SparseTopK, c.Retrieval.FusionTopK = 3, 3, 3
	c.Transforms = []rag.ProviderConfig{}
}

// texts lists the hits' texts.
func texts(res *rag.Result) []string {
	out := []string{}
	for _, h := range res.Hits {
		out = append(out, h.Chunk.Text)
	}
	return out
}

func TestMaxPerDocumentFillsTheListFromOtherDocuments(t *testing.T) {
	var long []string
	for i := range 40 {
		long = append(long, fmt.Sprintf("opal opal opal p%d", i))
	}
	docs := []string{strings.Join(long, "\n\n")}
	for i := range 6 {
		docs = append(docs, fmt.Sprintf("A longer text, number %d, that speaks of the opal among many other stones.", i))
	}
	eng := memoryEngine(t, shallow, docs, rag.WithSplitter(paragraphs{}))
	for _, mode := range []rag.Mode{rag.Hybrid, rag.Dense, rag.Sparse} {
		res := search(t, eng, rag.Query{Text: "opal", Mode: mode, TopK: 8, MaxPerDocument: new(2), Explain: true})
		perDoc := map[string]int{}
		for _, h := range res.Hits {
			perDoc[h.Chunk.DocID]++
		}
		if len(res.Hits) != 8 || len(perDoc) != 7 || perDoc[res.Hits[0].Chunk.DocID] != 2 {
			t.Errorf("%s: %d hits of %d documents: %v", mode, len(res.Hits), len(perDoc), perDoc)
		}
		if h := res.Hits[7]; h.Trail[len(h.Trail)-1] != (rag.Rank{Stage: rag.StageShape, Position: 8, Score: h.Score}) {
			t.Errorf("%s: trail %v", mode, h.Trail)
		}
		span := res.Trace.Stages[5]
		if span.Stage != rag.StageShape || span.Status != "" || span.Out != 8 || span.In <= 8 || span.Moves.Dropped != span.In-8 || span.Moves.MovedUp == 0 {
			t.Errorf("%s: span %+v", mode, span)
		}
	}
	// 7 documents with one hit each are all there is: the list is not full, and that ends the search.
	if res := search(t, eng, rag.Query{Text: "opal", TopK: 20, MaxPerDocument: new(1)}); len(res.Hits) != 7 {
		t.Errorf("got %d hits, want 7", len(res.Hits))
	}
}

// TestShapingGivesUpAtADepth buries a document below thousands of passages of another.
func TestShapingGivesUpAtADepth(t *testing.T) {
	const deep = 4096
	for _, c := range []struct {
		passages int // of the document above
		found    bool
	}{{deep / 2, true}, {2 * deep, false}} {
		docs := []string{strings.Repeat("opal\n\n", c.passages), "A longer text that speaks of the opal among many other stones."}
		eng := memoryEngine(t, shallow, docs, rag.WithSplitter(paragraphs{}))
		res := search(t, eng, rag.Query{Text: "opal", Mode: rag.Sparse, TopK: 5, MaxPerDocument: new(1)})
		noted := slices.ContainsFunc(res.Notes, func(n rag.Note) bool {
			return n.Stage == rag.StageShape && strings.Contains(n.Reason, "1 hit of the 5 wanted")
		})
		if (len(res.Hits) == 2) != c.found || noted == c.found || len(res.Hits) == 0 {
			t.Errorf("below %d passages: %d hits, notes %v", c.passages, len(res.Hits), res.Notes)
		}
	}
}

func TestCollapseListsWhatFell(t *testing.T) {
	const base = "The notice period is three months to the end of a quarter, unless the contract of the employee says otherwise, and it begins with the day on which the letter arrives at the office of the company in Bremen or in Kiel"
	docs := []string{
		base + ".",
		"**" + strings.ToUpper(base) + "**!",         // the same words
		base + ", which is staffed.",                 // nearly
		"The notice period is three months.",         // short, and another number
		"The notice period is six months.",           //
		"Coffee and the notice period have nothing.", //
	}
	eng := memoryEngine(t, shallow, docs, rag.WithSplitter(paragraphs{}))
	res := search(t, eng, rag.Query{Text: "notice period", Mode: rag.Sparse, Collapse: new(0.9), Explain: true})
	var kept, fell []string
	for _, h := range res.Hits {
		kept = append(kept, filepath.Base(h.Chunk.URI))
		for _, d := range h.Duplicates {
			fell = append(fell, filepath.Base(d.URI))
			if d.Similarity < 0.9 || d.Similarity > 1 || d.ChunkID == "" {
				t.Errorf("duplicate %+v", d)
			}
		}
	}
	slices.Sort(fell)
	if len(kept) != 4 || len(fell) != 2 || !slices.Contains(kept, "03.txt") || !slices.Contains(kept, "04.txt") {
		t.Fatalf("kept %v, fell %v", kept, fell)
	}
	if got := search(t, eng, rag.Query{Text: "notice period", Mode: rag.Sparse, Collapse: new(1.0)}); len(got.Hits) != 5 {
		t.Errorf("only the same words: got %d hits, want 5", len(got.Hits))
	}
	left := detail[[]map[string]string](t, &res.Trace.Stages[5], "left_out")
	if len(left) != 2 || !strings.HasPrefix(left[0]["reason"], "near-duplicate of ") {
		t.Errorf("left out: %v", res.Trace.Stages[5].Detail)
	}
	x, err := eng.Explain(t.Context(), rag.Query{Text: "notice period", Collapse: new(0.9)}, rag.ExplainTarget{ChunkID: left[0]["chunk_id"]})
	if err != nil {
		t.Fatal(err)
	}
	if fate := x.Stages[4]; fate.Stage != rag.StageShape || fate.Kept || !strings.HasPrefix(fate.Reason, "dropped: near-duplicate of ") || !strings.Contains(x.Verdict, "shaping") {
		t.Errorf("%+v", x)
	}
}

// noReader hides what a vector store can do besides the contract.
type noReader struct{ rag.VectorStore }

func TestDiversityPutsOtherTextsFirst(t *testing.T) {
	docs := []string{
		"opal opal opal opal glow in the dark", "opal opal opal opal glow in the night", "opal opal opal glow in the dark",
		"opal mines of Queensland were opened by settlers from Wales",
	}
	flat, err := rag.Default.VectorStores.New("flat", rag.Env{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for by, opts := range map[string][]rag.Option{"vectors": nil, "words": {rag.WithVectorStore(noReader{flat})}} {
		eng := memoryEngine(t, nil, docs, opts...)
		plain := names(search(t, eng, rag.Query{Text: "opal glow"}))
		if plain[3] != "03.txt" {
			t.Fatalf("order %v without diversity", plain)
		}
		res := search(t, eng, rag.Query{Text: "opal glow", TopK: 3, Diversity: new(0.7), Explain: true})
		if got := names(res); got[0] != plain[0] || got[1] != "03.txt" || len(got) != 3 {
			t.Errorf("by %s: order %v", by, got)
		}
		if got := res.Trace.Stages[5].Detail["similarity"]; got != by {
			t.Errorf("compared by %v, want %s", got, by)
		}
		if !slices.IsSortedFunc(res.Hits, func(a, b rag.Hit) int { return int(1e6 * (b.Score - a.Score)) }) {
			t.Errorf("by %s: scores rise: %v", by, res.Hits)
		}
		same := search(t, eng, rag.Query{Text: "opal glow", Diversity: new(1e-9)})
		if diff := cmp.Diff(plain, names(same)); diff != "" {
			t.Errorf("hardly any diversity (-plain +got):\n%s", diff)
		}
	}
}

func TestNeighboursShowEachPassageOnce(t *testing.T) {
	doc := "zero\n\none opal\n\ntwo\n\nthree opal opal\n\nfour\n\nfive\n\nsix"
	eng := memoryEngine(t, shallow, []string{doc, "elsewhere"}, rag.WithSplitter(paragraphs{}))
	around := func(h rag.Hit) string {
		var all []string
		for _, c := range h.Before {
			all = append(all, c.Text)
		}
		all = append(all, "["+h.Chunk.Text+"]")
		for _, c := range h.After {
			all = append(all, c.Text)
		}
		return strings.Join(all, " ")
	}
	for n, want := range map[int][]string{
		0:    {"[three opal opal]", "[one opal]"},
		1:    {"two [three opal opal] four", "zero [one opal]"},
		2:    {"two [three opal opal] four five", "zero [one opal]"},
		1000: {"two [three opal opal] four five six", "zero [one opal]"},
	} {
		res := search(t, eng, rag.Query{Text: "opal", Mode: rag.Sparse, Neighbours: &n})
		var got []string
		for _, h := range res.Hits {
			got = append(got, around(h))
			for _, c := range append(h.Before, h.After...) {
				if doc[c.Start:c.End] != c.Text || c.DocID != h.Chunk.DocID {
					t.Errorf("neighbour %+v", c)
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d neighbours (-want +got):\n%s", n, diff)
		}
	}
}

// byPlace gives each passage its place as metadata.
type byPlace struct{ paragraphs }

func (n byPlace) Split(ctx context.Context, doc rag.Document) ([]rag.Chunk, error) {
	chunks, err := n.paragraphs.Split(ctx, doc)
	for i := range chunks {
		chunks[i].Meta = rag.Meta{"place": float64(i)}
	}
	return chunks, err
}

func TestWhatStandsAroundAHitKeepsToTheFilter(t *testing.T) {
	eng := memoryEngine(t, nil, []string{"zero\n\none\n\ntwo opal\n\nthree\n\nfour secret"}, rag.WithSplitter(byPlace{}))
	res := search(t, eng, rag.Query{Text: "opal", Filter: rag.Range("place", rag.Bounds{GTE: 1, LTE: 3}), Mode: rag.Sparse, Neighbours: new(5)})
	if h := res.Hits[0]; len(h.Before) != 1 || h.Before[0].Text != "one" || len(h.After) != 1 || h.After[0].Text != "three" {
		t.Errorf("before %v, after %v", h.Before, h.After)
	}
}

func TestParentIsTheSectionOnceGiven(t *testing.T) {
	f := newFixture(t, rag.WithSplitter(paragraphs{}))
	f.write("a.md", "# Stones\n\nStones are old.\n\n## Opal\n\nThe opal glows.\n\nAn opal is soft.\n\n## Ruby\n\nThe ruby is red.\n")
	f.write("b.txt", "An opal without any section.")
	f.write("c.md", "# Long\n\nopal opal opal\n\n"+strings.Repeat("filler ", 6000))
	f.ingest(nil)
	res := f.search(rag.Query{Text: "opal", Mode: rag.Sparse, Parent: new(true)})
	var withText int
	for _, h := range res.Hits {
		base := filepath.Base(h.Chunk.URI)
		if (h.Parent != nil) != (base == "a.md") {
			t.Fatalf("%s: parent %+v", h.Chunk.Text, h.Parent)
		}
		if h.Parent == nil {
			continue
		}
		if h.Parent.Start > h.Chunk.Start || h.Parent.End < h.Chunk.End {
			t.Errorf("%+v does not hold %+v", h.Parent, h.Chunk)
		}
		if h.Parent.Text != "" {
			withText++
			if !strings.HasPrefix(h.Parent.Text, "## Opal") || !strings.Contains(h.Parent.Text, "glows") || strings.Contains(h.Parent.Text, "Ruby") {
				t.Errorf("parent %q", h.Parent.Text)
			}
		}
	}
	if withText != 1 || len(res.Hits) != 5 {
		t.Errorf("%d of %d hits have the section's text, want 1 of 5", withText, len(res.Hits))
	}
	res = f.search(rag.Query{Text: "ruby", Mode: rag.Sparse, Parent: new(true), Filter: rag.Eq(rag.FieldTitle, "nothing")})
	if len(res.Hits) != 0 {
		t.Errorf("hits %v", res.Hits)
	}
}

// byParent makes small passages of each paragraph, with the paragraph as their parent.
type byParent struct{ paragraphs }

func (b byParent) Split(ctx context.Context, doc rag.Document) ([]rag.Chunk, error) {
	parents, err := b.paragraphs.Split(ctx, doc)
	var chunks []rag.Chunk
	for i, p := range parents {
		at := p.Start
		for part := range strings.SplitAfterSeq(p.Text, ". ") {
			chunks = append(chunks, rag.Chunk{Text: part, Start: at, End: at + len(part), ParentID: fmt.Sprint("p", i)})
			at += len(part)
		}
	}
	return chunks, err
}

func TestParentOfASmallPassageIsWhatItWasCutFrom(t *testing.T) {
	eng := memoryEngine(t, nil, []string{"Nothing here. Nor here.\n\nIt glows. It is an opal. It is old."}, rag.WithSplitter(byParent{}))
	res := search(t, eng, rag.Query{Text: "opal", Mode: rag.Sparse, Parent: new(true)})
	if p := res.Hits[0].Parent; p == nil || p.Text != "It glows. It is an opal. It is old." {
		t.Errorf("parent %+v", p)
	}
}

// crooked marks whatever it is told to.
type crooked struct {
	rag.SparseIndex
	ranges []rag.TextRange
}

func (c crooked) Highlight(context.Context, string, rag.SparseQuery, []rag.TextRecord) ([][]rag.TextRange, error) {
	if c.ranges == nil {
		return nil, nil
	}
	return [][]rag.TextRange{slices.Clone(c.ranges)}, nil
}

func TestHighlights(t *testing.T) {
	eng := memoryEngine(t, nil, []string{"An opal, 手册, glows. Opals!"})
	h := search(t, eng, rag.Query{Text: "glowing opals"}).Hits[0]
	var got []string
	for _, r := range h.Highlights {
		got = append(got, h.Chunk.Text[r.Start:r.End])
	}
	if diff := cmp.Diff([]string{"opal", "glows", "Opals"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if h := search(t, eng, rag.Query{Text: "opal", Highlight: new(false)}).Hits[0]; h.Highlights != nil {
		t.Errorf("switched off: %v", h.Highlights)
	}
	// Whatever an index marks, ranges are sorted, apart, inside the text and between runes.
	index, err := rag.Default.SparseIndexes.New("bm25", rag.Env{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	bad := crooked{index, []rag.TextRange{{10, 11}, {0, 2}, {1, 4}, {-1, 3}, {5, 5}, {20, 99}, {4, 6}}}
	eng = memoryEngine(t, nil, []string{"An opal, 手册, glows."}, rag.WithSparseIndex(bad))
	if diff := cmp.Diff([]rag.TextRange{{0, 6}, {9, 12}}, search(t, eng, rag.Query{Text: "opal"}).Hits[0].Highlights); diff != "" {
		t.Errorf("mended (-want +got):\n%s", diff)
	}
	eng = memoryEngine(t, nil, []string{"An opal."}, rag.WithSparseIndex(crooked{SparseIndex: index}))
	if res := search(t, eng, rag.Query{Text: "opal"}); len(res.Hits) != 1 || len(res.Notes) != 1 || !strings.Contains(res.Notes[0].Reason, "no highlights") {
		t.Errorf("an index that marks nothing: %+v", res)
	}
}

func TestShapingOutOfRange(t *testing.T) {
	eng := memoryEngine(t, nil, []string{"opal"})
	for want, q := range map[string]rag.Query{
		"search: diversity is 1.5: it must be from 0 to 1":      {Diversity: new(1.5)},
		"search: collapse is -1: it must be from 0 to 1":        {Collapse: new(-1.0)},
		"search: max_per_document is -1: it must not be negati": {MaxPerDocument: new(-1)},
		"search: neighbours is -2: it must not be negative":     {Neighbours: new(-2)},
	} {
		q.Text = "opal"
		if _, err := eng.Search(t.Context(), q); !errors.Is(err, rag.ErrInvalid) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	c := rag.DefaultConfig()
	c.Retrieval.Diversity = 2
	if _, err := rag.Open("", rag.WithConfig(c)); !errors.Is(err, rag.ErrInvalid) || !strings.HasPrefix(err.Error(), "retrieval.diversity: want a number from 0 to 1, got 2") {
		t.Errorf("configured: %v", err)
	}
}

// Whatever is asked: shaping invents nothing, doubles nothing, keeps the order unless diversity is asked for, keeps to its
// limits, and gives as many hits as there are.
func TestShapingProperties(t *testing.T) {
	words := []string{"opal", "glow", "dark", "stone", "mine", "light"}
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		docs := make([]string, 1+rnd.IntN(8))
		for i := range docs {
			for range 1 + rnd.IntN(12) {
				docs[i] += "opal"
				for range rnd.IntN(5) {
					docs[i] += " " + words[rnd.IntN(len(words))]
				}
				docs[i] += "\n\n"
			}
		}
		r := &scorer{score: func(_ context.Context, _ string, texts []string) ([]float64, error) {
			scores := make([]float64, len(texts))
			for i, s := range texts {
				scores[i] = float64(len(s)*7919%13) / 13
			}
			return scores, nil
		}}
		var opts []rag.Option
		if seed%2 == 0 {
			opts = append(opts, rag.WithReranker(r))
		}
		eng := memoryEngine(t, func(c *rag.Config) { shallow(c); c.Retrieval.RerankTopN = 1000 }, docs, append(opts, rag.WithSplitter(paragraphs{}))...)
		plain := search(t, eng, rag.Query{Text: "opal", Mode: rag.Sparse, TopK: 1000})
		place := map[string]int{}
		for i, h := range plain.Hits {
			place[h.Chunk.ID] = i
		}
		q := rag.Query{Text: "opal", Mode: rag.Sparse, TopK: 1 + rnd.IntN(12), MaxPerDocument: new(rnd.IntN(4)), Collapse: new([]float64{0, 1, 0.5}[rnd.IntN(3)])}
		if seed%3 == 0 {
			q.Diversity = new(rnd.Float64())
		}
		res := search(t, eng, q)
		seen, perDoc, last := map[string]bool{}, map[string]int{}, -1
		for _, h := range res.Hits {
			at, known := place[h.Chunk.ID]
			if !known || seen[h.Chunk.ID] || q.Diversity == nil && at < last && len(opts) == 0 {
				t.Fatalf("seed %d: %s at %d after %d, known %v, seen %v", seed, h.Chunk.ID, at, last, known, seen[h.Chunk.ID])
			}
			seen[h.Chunk.ID], last = true, at
			if perDoc[h.Chunk.DocID]++; *q.MaxPerDocument > 0 && perDoc[h.Chunk.DocID] > *q.MaxPerDocument {
				t.Fatalf("seed %d: %d hits of one document", seed, perDoc[h.Chunk.DocID])
			}
			for _, d := range h.Duplicates {
				if _, known := place[d.ChunkID]; !known || seen[d.ChunkID] {
					t.Fatalf("seed %d: duplicate %+v", seed, d)
				}
				seen[d.ChunkID] = true
			}
		}
		// A search that cuts nothing off sees all candidates at once.
		wanted := q.TopK
		q.TopK = 1000
		whole := search(t, eng, q)
		if len(res.Hits) != wanted && len(res.Hits) != len(whole.Hits) || len(res.Hits) > wanted {
			t.Fatalf("seed %d: %d hits of %d wanted, and there are %d", seed, len(res.Hits), wanted, len(whole.Hits))
		}
		if q.Diversity == nil && len(opts) == 0 {
			if diff := cmp.Diff(texts(whole)[:len(res.Hits)], texts(res)); diff != "" {
				t.Fatalf("seed %d: (-beginning of the whole list +got):\n%s", seed, diff)
			}
		}
	}
}

func TestResultJSONTellsWhatWasAdded(t *testing.T) {
	eng := memoryEngine(t, shallow, []string{"zero\n\none opal\n\ntwo", "one opal"}, rag.WithSplitter(paragraphs{}))
	b, err := json.Marshal(search(t, eng, rag.Query{Text: "opal", Mode: rag.Sparse, Neighbours: new(1), Collapse: new(1.0)}))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"highlights":[{"start":4,"end":8}]`, `"duplicates":[{"chunk_id":"`, `"similarity":1`, `"shaped":1`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in %s", want, b)
		}
	}
}

func TestWordsInAnotherOrderAreNoDuplicate(t *testing.T) {
	eng := memoryEngine(t, nil, []string{"the dog bit the man in the park", "the man bit the dog in the park"})
	if res := search(t, eng, rag.Query{Text: "dog", Mode: rag.Sparse, Collapse: new(0.9)}); len(res.Hits) != 2 {
		t.Errorf("got %d hits, want 2", len(res.Hits))
	}
}

func TestAParentThatHoldsWhatTheFilterExcludesIsNotGiven(t *testing.T) {
	f := newFixture(t, rag.WithSplitter(byPlace{}))
	f.write("a.md", "# Stones\n\nAn opal.\n\nA secret.\n")
	f.ingest(nil)
	for filter, given := range map[string]bool{"everything": true, "place < 2": false} {
		parsed, err := rag.ParseFilter(filter)
		if err != nil {
			t.Fatal(err)
		}
		res := f.search(rag.Query{Text: "opal", Mode: rag.Sparse, Parent: new(true), Filter: parsed})
		if got := res.Hits[0].Parent != nil; got != given {
			t.Errorf("%s: parent given: %v, want %v", filter, got, given)
		}
	}
}

// What shaping will leave out is known before the reranker is asked, which costs most.
func TestLookingDeeperDoesNotAskTheRerankerAgain(t *testing.T) {
	docs := []string{strings.Repeat("opal opal opal\n\n", 30)}
	for i := range 5 {
		docs = append(docs, fmt.Sprintf("A longer text, number %d, that speaks of the opal.", i))
	}
	r := &scorer{}
	eng := memoryEngine(t, shallow, docs, rag.WithSplitter(paragraphs{}), rag.WithReranker(r))
	res := search(t, eng, rag.Query{Text: "opal", Mode: rag.Sparse, TopK: 5, MaxPerDocument: new(1)})
	if len(res.Hits) != 5 || len(r.calls) != 1 {
		t.Errorf("%d hits, %d calls of the reranker", len(res.Hits), len(r.calls))
	}
}

// notANumber spoils the scores of an index.
type notANumber struct{ rag.SparseIndex }

func (n notANumber) Search(ctx context.Context, collection string, q rag.SparseQuery) ([]rag.Match, error) {
	list, err := n.SparseIndex.Search(ctx, collection, q)
	for i := range list {
		list[i].Score = math.NaN()
	}
	return list, err
}

func TestALaneWithAScoreThatIsNotFiniteHasFailed(t *testing.T) {
	index, err := rag.Default.SparseIndexes.New("bm25", rag.Env{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	eng := memoryEngine(t, nil, opals(3), rag.WithSparseIndex(notANumber{index}))
	res := search(t, eng, rag.Query{Text: "opal"})
	if res.Mode != rag.Dense || len(res.Hits) != 3 || len(res.Notes) != 1 || !strings.Contains(res.Notes[0].Reason, "the score NaN") {
		t.Errorf("got %+v", res)
	}
}
