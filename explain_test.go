package rag_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/ragtest"
)

// explained is an engine over documents of several passages with metadata and validity.
func explained(t *testing.T, rnd *rand.Rand, opts ...rag.Option) *rag.Engine {
	t.Helper()
	eng := memoryEngine(t, func(c *rag.Config) {
		c.Retrieval.DenseTopK, c.Retrieval.SparseTopK, c.Retrieval.FusionTopK, c.Retrieval.RerankTopN = 12, 12, 8, 6
		c.Transforms = []rag.ProviderConfig{}
		c.Splitter.Settings = json.RawMessage(`{"max_tokens": 16, "min_tokens": 1}`)
	}, []string{"w1 w2"}, opts...)
	var sources []rag.Sources
	for i := range 40 {
		text := randomWords(rnd, 8) + ".\n\n" + randomWords(rnd, 8) + ".\n\n" + randomWords(rnd, 8) + "."
		if i%8 == 1 { // says the same as many others
			text = "w1 w2 w3 w4 w5 w6 w7 w8."
		}
		text = fmt.Sprintf("---\nkind: k%d\nrank: %d\nvalid_until: 20%02d-01-01\n---\n%s", i%3, i, 20+i%10, text)
		sources = append(sources, rag.Bytes(fmt.Sprintf("mem:///d%02d.md", i), []byte(text)))
	}
	if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: sources}); err != nil {
		t.Fatal(err)
	}
	return eng
}

// TestRemediesHold: what explain says would have returned a passage does, and with one less it does not.
func TestRemediesHold(t *testing.T) {
	settings, verdicts, none := map[string]int{}, map[string]int{}, 0
	for name, opts := range map[string][]rag.Option{"plain": nil, "reranked": {rag.WithReranker(byLength{})}} {
		t.Run(name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(0, 4))
			eng := explained(t, rnd, opts...)
			var all []rag.Chunk
			for c, err := range eng.Chunks(t.Context(), "", rag.Filter{}) {
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, c)
			}
			for i := range 24 / racetest.Slower {
				q := rag.Query{Text: randomWords(rnd, 3), TopK: 1 + rnd.IntN(6)}
				switch i % 6 {
				case 1:
					q.Filter = rag.And(rag.Eq("kind", "k1"), rag.Range("rank", rag.Bounds{GTE: 10.0}))
				case 2:
					q.AsOf = time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)
				case 3:
					q.Text, q.Collapse = "w1 w2 w3", new(0.9)
				case 4:
					q.MaxPerDocument, q.Diversity = new(1), new(0.3)
				case 5:
					q.Mode, q.Match.Phrase, q.Text = rag.Sparse, true, `"w1 w2"`
				}
				near := search(t, eng, rag.Query{Text: q.Text, TopK: 15}).Hits
				for range 4 {
					none += checkRemedies(t, eng, q, all[rnd.IntN(len(all))].ID, settings, verdicts)
					none += checkRemedies(t, eng, q, near[rnd.IntN(len(near))].Chunk.ID, settings, verdicts)
				}
			}
		})
	}
	if racetest.Slower > 1 {
		return // too few to meet all of them
	}
	for _, s := range []string{rag.RemedyTopK, rag.RemedyFilter, rag.RemedyExpired, rag.RemedyCollapse, rag.RemedyMaxPerDocument, rag.RemedyPhrase} {
		if settings[s] == 0 {
			t.Errorf("no remedy was of %s: %v", s, settings)
		}
	}
	for _, v := range []string{"returned", "excluded", "not in force at", "no lane", "lost in fusion", "left out", "rank", "reranked down"} {
		if verdicts[v] == 0 {
			t.Errorf("no verdict begins with %q: %v", v, verdicts)
		}
	}
	if none > 0 {
		t.Errorf("for %d passages there was no remedy", none)
	}
}

// checkRemedies tries what an explanation says. It returns 1 if there is no remedy for a passage that was lost.
func checkRemedies(t *testing.T, eng *rag.Engine, q rag.Query, id string, settings, verdicts map[string]int) (none int) {
	t.Helper()
	x, err := eng.Explain(t.Context(), q, rag.ExplainTarget{ChunkID: id})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{"returned", "excluded", "not in force at", "no lane", "lost in fusion", "left out", "rank ", "reranked down"} {
		if strings.HasPrefix(x.Verdict, v) {
			verdicts[strings.TrimSpace(v)]++
		}
	}
	returns := func(q rag.Query) bool {
		return slices.ContainsFunc(search(t, eng, q).Hits, func(h rag.Hit) bool { return h.Chunk.ID == id })
	}
	if x.Returned != returns(q) {
		t.Errorf("%+v: returned is %v", q, x.Returned)
	}
	if x.Returned != (len(x.Remedies) == 0) {
		if !x.Returned {
			return 1
		}
		t.Errorf("%+v: a remedy for a hit: %+v", q, x.Remedies)
	}
	raw, err := json.Marshal(x.Remedies)
	if err != nil {
		t.Fatal(err)
	}
	var read []rag.Remedy
	if err := json.Unmarshal(raw, &read); err != nil || !cmp.Equal(x.Remedies, read) {
		t.Errorf("remedies %+v were read back as %+v, error %v", x.Remedies, read, err)
	}
	changed := q
	for _, r := range read {
		settings[r.Setting]++
		if !r.Apply(&changed) || !strings.Contains(x.Verdict, "would have returned it") {
			t.Errorf("%+v: remedy %+v, verdict %q", q, r, x.Verdict)
		}
	}
	if !returns(changed) {
		t.Errorf("%+v: %s – but it does not", q, x.Verdict)
	}
	if changed.TopK != q.TopK {
		if changed.TopK--; returns(changed) {
			t.Errorf("%+v: %s – but one less does too", q, x.Verdict)
		}
	}
	return 0
}

func TestExplainADocumentAndWords(t *testing.T) {
	f := newFixture(t)
	f.write("a.md", "# A\n\nThe heron stands.\n\n## B\n\nThe notice period is three months, said \"Marigold\" twice.\n\n## C\n\nA third thing.\n")
	for i := range 8 {
		f.write(fmt.Sprintf("%d.md", i), fmt.Sprintf("The notice period of %d is short.", i))
	}
	f.ingest(nil)
	q := rag.Query{Text: "notice period three months", TopK: 2}
	var uri string
	for e, err := range f.Documents(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(e.URI, "a.md") {
			uri = e.URI
		}
	}
	x, err := f.Explain(t.Context(), q, rag.ExplainTarget{URI: uri})
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.Chunk(t.Context(), "", x.ChunkID)
	if err != nil || !strings.Contains(c.Text, "three months") || x.Passages[0].ChunkID != c.ID || x.Passages[0].Rank == nil || x.TraceID == "" {
		t.Errorf("%+v of %q, error %v", x, c.Text, err)
	}
	for _, words := range []string{"said \"Marigold\"  twice", "period is\nthree", "onths, sai"} { // the last is no phrase of whole words
		if y, err := f.Explain(t.Context(), q, rag.ExplainTarget{Text: words}); err != nil || y.ChunkID != c.ID {
			t.Errorf("%q: %+v, error %v", words, y, err)
		}
	}
	for _, target := range []rag.ExplainTarget{{}, {Text: " "}, {Text: "a", URI: uri}} {
		if _, err := f.Explain(t.Context(), q, target); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%+v: error %v, want ErrInvalid", target, err)
		}
	}
	for _, target := range []rag.ExplainTarget{{Text: "no such words"}, {URI: "mem:///none"}, {ChunkID: "none"}} {
		if _, err := f.Explain(t.Context(), q, target); !errors.Is(err, rag.ErrNotFound) {
			t.Errorf("%+v: error %v, want ErrNotFound", target, err)
		}
	}
}

// TestExplainAnAnswer: a passage is cited, not cited, or packed out, and then the room that is said puts it in.
func TestExplainAnAnswer(t *testing.T) {
	model := &ragtest.Script{Replies: []string{"Three months [1]."}}
	f := newFixture(t, rag.WithChatModel(model))
	for i := range 12 {
		f.write(fmt.Sprintf("%02d.md", i), fmt.Sprintf("The notice period of contract %d is three months to the end of a quarter.", i))
	}
	f.ingest(nil)
	q := rag.Query{Text: "How long is the notice period of contract 3?", TopK: 10}
	hits := f.search(q).Hits
	explain := func(rank int) *rag.Explanation {
		t.Helper()
		x, err := f.Explain(t.Context(), q, rag.ExplainTarget{ChunkID: hits[rank-1].Chunk.ID, Answer: true})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	if x := explain(1); !strings.Contains(x.Verdict, "cited as [1]") || !x.Stages[len(x.Stages)-1].Kept {
		t.Errorf("%+v", x)
	}
	if x := explain(2); !strings.Contains(x.Verdict, "not cited") || !x.Stages[len(x.Stages)-2].Kept {
		t.Errorf("%+v", x)
	}
	x := explain(10)
	if len(x.Remedies) != 1 || x.Remedies[0] != (rag.Remedy{Setting: rag.RemedyPassages, Value: 10}) || !strings.Contains(x.Verdict, "first 8 passages") {
		t.Errorf("%+v", x)
	}

	c := rag.DefaultConfig()
	c.Answer.ContextTokens = 40
	c.Answer.Passages = 10
	small, err := rag.Open(t.TempDir(), rag.WithConfig(c), rag.WithEmbedder(f.embedder), rag.WithChatModel(model))
	if err != nil {
		t.Fatal(err)
	}
	defer small.Close()
	if _, err := small.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(f.docs)}}); err != nil {
		t.Fatal(err)
	}
	id := search(t, small, q).Hits[7].Chunk.ID
	x, err = small.Explain(t.Context(), q, rag.ExplainTarget{ChunkID: id, Answer: true})
	if err != nil || len(x.Remedies) != 1 || x.Remedies[0].Setting != rag.RemedyContextTokens || !strings.Contains(x.Verdict, "packed out") {
		t.Fatalf("%+v, error %v", x, err)
	}
	room := x.Remedies[0].Value.(int)
	for tokens, want := range map[int]bool{room: true, room - 1: false} {
		answer, err := small.Ask(t.Context(), rag.AskRequest{Query: q, ContextTokens: tokens})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(answer.Sources, func(s rag.AnswerSource) bool { return s.Hit.Chunk.ID == id }); got != want {
			t.Errorf("with %d tokens: in the prompt is %v", tokens, got)
		}
	}
}

// TestExplainInNoCollection: that there is no such collection is said, and not that it lacks the passage.
func TestExplainInNoCollection(t *testing.T) {
	eng := memoryEngine(t, nil, []string{"w1 w2"})
	set := rag.IngestRequest{Sources: []rag.Sources{rag.Bytes("mem:///a.md", []byte("w1 w2"))}}
	if _, err := eng.Ingest(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	for _, target := range []rag.ExplainTarget{{Text: "w1"}, {ChunkID: "c"}, {URI: "mem:///a.md"}} {
		_, err := eng.Explain(t.Context(), rag.Query{Text: "w1", Collection: "hnadbook"}, target)
		if !errors.Is(err, rag.ErrNotFound) || !strings.Contains(err.Error(), `no collection "hnadbook"`) {
			t.Errorf("%+v: %v", target, err)
		}
	}
}
