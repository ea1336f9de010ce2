package rag_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/analyze"
	"github.com/seed-d8745b77/rag/internal/boltkv"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/sparse"
)

// paper is a source as the tests of crashes and of the model make it.
type paper struct {
	text string
	meta rag.Meta
}

// shelf is the sources that a collection is to be of, by URI.
type shelf map[string]paper

const shelfScope = "mem:///"

// sources are the papers in order of their URIs; what is not there is gone.
func (s shelf) sources() rag.Sources {
	return rag.Sources{Scope: shelfScope, All: func(yield func(rag.Source, error) bool) {
		for _, uri := range slices.Sorted(maps.Keys(s)) {
			if !yield(s[uri].source(uri), nil) {
				return
			}
		}
	}}
}

func (p paper) source(uri string) rag.Source {
	return rag.Source{URI: uri, Name: "paper.md", Size: int64(len(p.text)), Meta: p.meta, Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(p.text)), nil
	}}
}

// one is the sources of this paper alone: it says nothing about others.
func (p paper) one(uri string) rag.Sources {
	return rag.Sources{All: func(yield func(rag.Source, error) bool) { yield(p.source(uri), nil) }}
}

// ingestShelf makes a collection what the shelf is.
func ingestShelf(ctx context.Context, eng *rag.Engine, collection string, s shelf) (*rag.IngestReport, error) {
	return eng.Ingest(ctx, rag.IngestRequest{Collection: collection, Sources: []rag.Sources{s.sources()}, Prune: true})
}

// kinds are the values of the field by which the tests filter.
var kinds = []string{"letter", "map", "log"}

// writePaper makes up a paper of a few sections: paragraphs and pictures come from a small stock, so that papers share
// them, and a paper may have one twice. Every paragraph has the word "common".
func writePaper(rnd *rand.Rand) paper {
	var b strings.Builder
	fmt.Fprintf(&b, "# Paper %d\n\n", rnd.IntN(1000))
	for range 1 + rnd.IntN(4) {
		n := rnd.IntN(40)
		fmt.Fprintf(&b, "## Part %d\n\nparagraph%d is common", n, n)
		for i := range 4 + n%9 {
			fmt.Fprintf(&b, " word%d", (n*7+i*i)%23)
		}
		if rnd.IntN(2) == 0 {
			fmt.Fprintf(&b, " mark%d", rnd.IntN(1000))
		}
		if rnd.IntN(3) == 0 {
			picture := bytes.Repeat([]byte{byte(rnd.IntN(9))}, 300)
			fmt.Fprintf(&b, "\n\n![chart](data:image/png;base64,%s)", base64.StdEncoding.EncodeToString(picture))
		}
		b.WriteString(".\n\n")
	}
	return paper{b.String(), writeMeta(rnd)}
}

// writeMeta makes up metadata. With the language given none is guessed, so that all passages are analysed alike.
func writeMeta(rnd *rand.Rand) rag.Meta {
	return rag.Meta{"kind": kinds[rnd.IntN(len(kinds))], "year": float64(1990 + rnd.IntN(5)), rag.FieldLanguage: "en"}
}

// held is all that an engine holds of a document.
type held struct {
	Entry    rag.Entry
	Document rag.Document
	Chunks   []rag.Chunk
}

// shelfModel makes short vectors, to be quick.
var shelfModel = &ragtest.HashEmbedder{Dims: 64}

// shelfEngine opens an engine that writes no traces.
func shelfEngine(dir string, opts ...rag.Option) (*rag.Engine, error) {
	config := rag.DefaultConfig()
	config.Trace.Provider = rag.None
	first := []rag.Option{rag.WithConfig(config), rag.WithEmbedder(shelfModel)}
	return rag.Open(dir, append(first, opts...)...)
}

// holds reads a whole collection; nil if there is none.
func holds(t *testing.T, eng *rag.Engine, collection string) map[string]held {
	t.Helper()
	all := map[string]held{}
	for entry, err := range eng.Documents(t.Context(), collection) {
		if errors.Is(err, rag.ErrNotFound) {
			return nil
		}
		if err != nil {
			t.Fatal(err)
		}
		entry.Ingested = time.Time{}
		doc, err := eng.Document(t.Context(), collection, entry.URI)
		if err != nil {
			t.Fatal(err)
		}
		all[entry.URI] = held{Entry: entry, Document: doc}
	}
	for c, err := range eng.Chunks(t.Context(), collection, rag.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		h, ok := all[c.URI]
		if !ok {
			t.Errorf("chunk %s of %s, which is no document", c.ID, c.URI)
		}
		h.Chunks = append(h.Chunks, c)
		all[c.URI] = h
	}
	return all
}

// oracle tells what an engine is to hold of a paper, by giving it to an engine that has never seen another.
type oracle struct {
	t    *testing.T
	eng  *rag.Engine
	seen map[string]held
}

func newOracle(t *testing.T) *oracle {
	t.Helper()
	eng, err := shelfEngine("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = eng.Close() }) // it is in memory
	return &oracle{t: t, eng: eng, seen: map[string]held{}}
}

// paper returns what is to be held of one paper.
func (o *oracle) paper(collection, uri string, p paper) held {
	o.t.Helper()
	meta, err := json.Marshal(p.meta)
	if err != nil {
		o.t.Fatal(err)
	}
	key := strings.Join([]string{collection, uri, string(meta), p.text}, "\x00")
	if h, ok := o.seen[key]; ok {
		return h
	}
	if _, err := o.eng.Ingest(o.t.Context(), rag.IngestRequest{Collection: collection, Sources: []rag.Sources{p.one(uri)}}); err != nil {
		o.t.Fatal(err)
	}
	h := holds(o.t, o.eng, collection)[uri]
	if _, err := o.eng.Delete(o.t.Context(), rag.DeleteRequest{Collection: collection, All: true}); err != nil {
		o.t.Fatal(err)
	}
	o.seen[key] = h
	return h
}

// shelf returns what a collection is to hold.
func (o *oracle) shelf(collection string, s shelf) map[string]held {
	o.t.Helper()
	all := make(map[string]held, len(s))
	for uri, p := range s {
		all[uri] = o.paper(collection, uri, p)
	}
	return all
}

// same reports a difference. It looks for it only where there is one: that takes long.
func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if !reflect.DeepEqual(want, got) {
		t.Errorf("%s (-want +got):\n%s", what, gocmp.Diff(want, got))
	}
}

// searchesAgree asks both lanes of a collection and compares the whole lists with what a comparison with every passage gives.
// broken allows for index records that are newer than the documents, as a crash leaves them: then only what is found
// counts, not its score.
func searchesAgree(t *testing.T, eng *rag.Engine, collection string, have map[string]held, text string, f rag.Filter, broken bool) {
	t.Helper()
	byID := map[string]rag.Chunk{}
	for _, h := range have {
		for _, c := range h.Chunks {
			byID[c.ID] = c
		}
	}
	for mode, want := range map[rag.Mode]map[string]float64{rag.Dense: cosines(t, byID, text), rag.Sparse: bm25Scores(byID, text)} {
		res, err := eng.Search(t.Context(), rag.Query{Text: text, Collection: collection, Mode: mode, TopK: max(len(byID), 1) * 2, Filter: f})
		if err != nil {
			t.Fatalf("%s search for %q: %v", mode, text, err)
		}
		maps.DeleteFunc(want, func(id string, _ float64) bool {
			c := byID[id]
			return !f.IsZero() && !f.Match(c.Fields(), c.Validity)
		})
		found := map[string]bool{}
		for i, h := range res.Hits {
			id := h.Chunk.ID
			score, wanted := want[id]
			switch {
			case !wanted || found[id]:
				t.Errorf("%s search for %q with filter %v finds %s of %s, which it should not", mode, text, f, id, h.Chunk.URI)
			case !broken && math.Abs(score-h.Score) > 1e-5:
				t.Errorf("%s search for %q: %s has score %v, want %v", mode, text, id, h.Score, score)
			case i > 0 && cmp.Or(cmp.Compare(res.Hits[i-1].Score, h.Score), cmp.Compare(id, res.Hits[i-1].Chunk.ID)) <= 0:
				t.Errorf("%s search for %q: hit %d is out of order", mode, text, i)
			}
			found[id] = true
			if wanted {
				same(t, "the passage of a hit", byID[id], h.Chunk)
			}
		}
		if len(found) != len(want) {
			t.Errorf("%s search for %q with filter %v finds %d passages, want %d", mode, text, f, len(found), len(want))
		}
	}
}

// cosines compares a question with every passage.
func cosines(t *testing.T, chunks map[string]rag.Chunk, text string) map[string]float64 {
	t.Helper()
	scores := make(map[string]float64, len(chunks))
	if len(chunks) == 0 {
		return scores
	}
	ids := slices.Sorted(maps.Keys(chunks))
	texts := []string{text}
	for _, id := range ids {
		c := chunks[id]
		texts = append(texts, c.IndexText())
	}
	vectors, err := shelfModel.Embed(t.Context(), rag.AsPassage, texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		for d, x := range vectors[i+1] {
			scores[id] += float64(x) * float64(vectors[0][d])
		}
	}
	return scores
}

var shelfAnalyzer = analyze.New(nil)

// bm25Scores ranks the passages that share a word with the question, by the formula of package sparse.
func bm25Scores(chunks map[string]rag.Chunk, text string) map[string]float64 {
	terms := func(text string) map[string]float64 {
		counts := map[string]float64{}
		shelfAnalyzer.Passage(text, analyze.Stemming("en"), func(t analyze.Term) { counts[t.Text]++ })
		return counts
	}
	counts, lengths, df, total := map[string]map[string]float64{}, map[string]float64{}, map[string]float64{}, 0.0
	for id, c := range chunks {
		counts[id] = terms(c.IndexText())
		for term, n := range counts[id] {
			df[term]++
			lengths[id] += n
			total += n
		}
	}
	n, scores := float64(len(chunks)), map[string]float64{}
	for term, weight := range terms(text) {
		for id := range chunks {
			if tf := counts[id][term]; tf > 0 {
				idf := math.Log(1 + (n-df[term]+0.5)/(df[term]+0.5))
				scores[id] += weight * idf * tf / (tf + sparse.DefaultK1*(1-sparse.DefaultB+sparse.DefaultB*lengths[id]/(total/n)))
			}
		}
	}
	return scores
}

// soundShelf asserts that verify finds nothing.
func soundShelf(t *testing.T, eng *rag.Engine, collection string) {
	t.Helper()
	rep, err := eng.Verify(t.Context(), collection)
	if err != nil {
		t.Fatal(err)
	}
	if !rep.OK || rep.Vectors != rep.Chunks || rep.Postings != rep.Chunks {
		t.Errorf("verify: %+v", rep)
	}
}

// repairShelf repairs a collection and asserts that verify then finds nothing.
func repairShelf(t *testing.T, eng *rag.Engine, collection string) {
	t.Helper()
	if _, err := eng.Repair(t.Context(), collection); err != nil {
		t.Fatal(err)
	}
	soundShelf(t, eng, collection)
}

// unsynced has databases that are opened until the test ends write without waiting for the disk.
func unsynced(t *testing.T) {
	boltkv.OnOpen = func(db *bolt.DB) { db.NoSync, db.NoGrowSync = true, true }
	t.Cleanup(func() { boltkv.OnOpen = nil })
}
