package bm25_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/internal/bitset"
	"github.com/seed-d8745b77/rag/internal/bm25"
)

var params = bm25.Params{K1: 1.2, B: 0.75}

// doc makes a document of terms with blanks between them.
func doc(id, terms string) bm25.Doc {
	d := bm25.Doc{ID: id, Stemming: "en", Payload: "p" + id}
	for i, t := range strings.Fields(terms) {
		d.Tokens = append(d.Tokens, bm25.Token{Term: t, Position: uint32(i), Weight: 1})
		d.Length++
	}
	return d
}

func with(t testing.TB, x *bm25.Index, remove []string, docs ...bm25.Doc) *bm25.Index {
	t.Helper()
	var seg *bm25.Segment
	if len(docs) > 0 {
		var err error
		if seg, err = bm25.Build(docs); err != nil {
			t.Fatal(err)
		}
	}
	next, err := x.With(remove, seg, nil)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func search(t testing.TB, x *bm25.Index, query string, k int) []bm25.Match {
	t.Helper()
	got, err := x.Search(t.Context(), bm25.Query{K: k, Clauses: bm25.Words(strings.Fields(query)), Params: params})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func counts(d bm25.Doc) map[string]int {
	n := map[string]int{}
	for _, t := range d.Tokens {
		n[t.Term] += int(t.Weight)
	}
	return n
}

// reference scores by the formula, one document after the other.
func reference(docs map[string]bm25.Doc, query string, k int) []bm25.Match {
	n, total := float64(len(docs)), 0.0
	df := map[string]float64{}
	for _, d := range docs {
		total += float64(d.Length)
		for t := range counts(d) {
			df[t]++
		}
	}
	var all []bm25.Match
	for id, d := range docs {
		score := 0.0
		for _, t := range strings.Fields(query) {
			if tf := float64(counts(d)[t]); tf > 0 {
				idf := math.Log(1 + (n-df[t]+0.5)/(df[t]+0.5))
				score += idf * tf / (tf + params.K1*(1-params.B+params.B*float64(d.Length)/(total/n)))
			}
		}
		if score > 0 {
			all = append(all, bm25.Match{ID: id, Score: score})
		}
	}
	slices.SortFunc(all, func(a, b bm25.Match) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) })
	return all[:min(k, len(all))]
}

// TestAgainstReference changes an index at random through many merges and compares it with the formula.
func TestAgainstReference(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	vocabulary := strings.Fields("a b c d e f g h i j k l m n o p q r s t u v w x y z")
	content := map[string]bm25.Doc{}
	var x *bm25.Index
	near := gocmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
	for round := range 600 {
		var docs []bm25.Doc
		for _, n := range rnd.Perm(300)[:rnd.IntN(6)] {
			var terms []string
			for range rnd.IntN(30) {
				// Squared, so that some terms are frequent and some rare.
				f := rnd.Float64()
				terms = append(terms, vocabulary[int(f*f*float64(len(vocabulary)))])
			}
			docs = append(docs, doc(fmt.Sprintf("d%03d", n), strings.Join(terms, " ")))
		}
		var remove []string
		for _, n := range rnd.Perm(300)[:rnd.IntN(5)] {
			remove = append(remove, fmt.Sprintf("d%03d", n))
		}
		x = with(t, x, remove, docs...)
		for _, id := range remove {
			delete(content, id)
		}
		for _, d := range docs {
			content[d.ID] = d
		}
		if x.Len() != len(content) {
			t.Fatalf("round %d: %d documents, want %d", round, x.Len(), len(content))
		}
		if round%20 != 0 {
			continue
		}
		for _, query := range []string{"a", "a b z", "x y z z", "nothing", "q a q"} {
			// The order of sums can differ from the reference in the last digit, and so the order of ties: compare scores.
			want, got := reference(content, query, 15), search(t, x, query, 15)
			if diff := gocmp.Diff(scores(want), scores(got), near); diff != "" {
				t.Fatalf("round %d, %q (-want +got):\n%s", round, query, diff)
			}
		}
	}
}

func scores(ms []bm25.Match) []float64 {
	var s []float64
	for _, m := range ms {
		s = append(s, m.Score)
	}
	return s
}

func TestMergesKeepPartsFew(t *testing.T) {
	var x *bm25.Index
	for i := range 1000 {
		x = with(t, x, nil, doc(fmt.Sprintf("d%04d", i), "a b"))
	}
	// At most seven parts in each of the classes 1-3, 4-31, 32-255, 256-2047.
	if n := len(x.Parts()); n > 28 {
		t.Errorf("%d parts after 1,000 single documents", n)
	}
	if x.Len() != 1000 {
		t.Errorf("%d documents, want 1000", x.Len())
	}
	for i := range 990 {
		x = with(t, x, []string{fmt.Sprintf("d%04d", i)})
	}
	kept := 0
	for _, p := range x.Parts() {
		kept += p.Segment().Docs()
	}
	if kept > 2*x.Len() {
		t.Errorf("%d documents are stored for %d that live", kept, x.Len())
	}
	if got := search(t, x, "a", 100); len(got) != 10 {
		t.Errorf("%d matches, want the 10 that are left", len(got))
	}
}

func TestUnchangedIsTheSame(t *testing.T) {
	x := with(t, nil, nil, doc("a", "x"))
	if next := with(t, x, []string{"absent"}); next != x {
		t.Error("removing an absent document made a new index")
	}
	if next := with(t, nil, []string{"absent"}); next != nil {
		t.Error("removing from nothing made an index")
	}
	old := search(t, x, "x", 10)
	with(t, x, []string{"a"}, doc("b", "x"))
	if diff := gocmp.Diff(old, search(t, x, "x", 10)); diff != "" {
		t.Errorf("a change showed in the old index (-before +after):\n%s", diff)
	}
}

func TestStemmings(t *testing.T) {
	docs := []bm25.Doc{doc("a", "x"), doc("b", "x"), doc("c", "x"), doc("d", "x")}
	docs[1].Stemming, docs[2].Stemming, docs[3].Stemming = "fr", "fr", "de"
	x := with(t, nil, nil, docs...)
	if got, want := x.Stemmings(), []string{"fr", "de", "en"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	x = with(t, x, []string{"b", "c"})
	if got, want := x.Stemmings(), []string{"de", "en"}; !slices.Equal(got, want) {
		t.Errorf("after removing fr: got %v, want %v", got, want)
	}
}

func TestAllow(t *testing.T) {
	x := with(t, nil, nil, doc("a", "x x x"), doc("b", "x x"), doc("c", "x"), doc("d", "y"))
	got, err := x.Search(t.Context(), bm25.Query{K: 1, Clauses: bm25.Words([]string{"x"}), Params: params, Allow: func(s *bm25.Segment) bitset.Set {
		allowed := bitset.New(s.Docs())
		for doc := range uint32(s.Docs()) {
			if s.Payload(doc) != "pa" {
				allowed.Add(doc)
			}
		}
		return allowed
	}})
	if err != nil || len(got) != 1 || got[0].ID == "a" {
		t.Errorf("got %v, %v, want the best that is not a", got, err)
	}
}

func TestCancelled(t *testing.T) {
	x := with(t, nil, nil, doc("a", "x"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Search(ctx, bm25.Query{K: 1, Clauses: bm25.Words([]string{"x"}), Params: params}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestOpenGivesTheSame(t *testing.T) {
	x := with(t, nil, nil, doc("a", "x y"), doc("b", "x x"), doc("c", "z"))
	x = with(t, x, []string{"c"})
	var parts []*bm25.Part
	for i, p := range x.Parts() {
		seg, err := bm25.Open(p.Segment().Data())
		if err != nil {
			t.Fatal(err)
		}
		opened, err := bm25.OpenPart(uint64(i+1), seg, p.Dead())
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, opened)
	}
	y := bm25.NewIndex(parts)
	if diff := gocmp.Diff(search(t, x, "x y z", 10), search(t, y, "x y z", 10)); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	if diff := gocmp.Diff(x.IDs(), y.IDs()); diff != "" {
		t.Errorf("IDs (-written +read):\n%s", diff)
	}
}

func TestOpenPartRefusesWrongMarks(t *testing.T) {
	seg, err := bm25.Build([]bm25.Doc{doc("a", "x")})
	if err != nil {
		t.Fatal(err)
	}
	for _, dead := range [][]uint32{{1}, {0, 0}} {
		if _, err := bm25.OpenPart(1, seg, dead); !errors.Is(err, bm25.ErrDamaged) {
			t.Errorf("marks %v: got %v, want ErrDamaged", dead, err)
		}
	}
}

// FuzzOpen feeds bytes that no writer made: an error, or a segment that can be searched and merged without a panic.
func FuzzOpen(f *testing.F) {
	f.Add([]byte{}, []byte{})
	docs := []bm25.Doc{doc("a", "x y y"), doc("b", "x z")}
	docs[0].Tokens[1].Form = "yes"
	long := slices.Clone(docs)
	for i := range 300 {
		long = append(long, doc(fmt.Sprint("l", i), strings.Repeat("x ", 1+i%3)))
	}
	for _, d := range [][]bm25.Doc{docs, long} {
		seg, err := bm25.Build(d)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(seg.Data()), []byte(seg.Detail().Data()))
	}
	f.Fuzz(func(t *testing.T, data, detail []byte) {
		seg, err := bm25.Open(string(data))
		if err == nil {
			var d *bm25.Detail
			d, err = seg.OpenDetail(string(detail))
			seg.SetDetail(d)
		}
		if err != nil {
			if !errors.Is(err, bm25.ErrDamaged) {
				t.Errorf("%v is not ErrDamaged", err)
			}
			return
		}
		var x *bm25.Index
		if x, err = x.With(nil, seg, nil); err != nil {
			t.Fatal(err)
		}
		use := func() {
			search(t, x, "x y z", 5)
			phraseIDs(t, x, bm25.Phrase{{"x", "z"}, {"y"}})
			x.Prefixed("y")
			x.Similar("yes", 2, 5)
			x.IDs()
		}
		use()
		for i := range 20 { // forces merges
			x = with(t, x, nil, doc(fmt.Sprint("new", i), "x"))
		}
		use()
	})
}

// corpus makes documents like passages of 100 words: Zipf-distributed terms, so many distinct ones.
func corpus(n int) []bm25.Doc {
	rnd := rand.New(rand.NewPCG(5, 5))
	zipf := rand.NewZipf(rnd, 1.1, 20, 200_000)
	docs := make([]bm25.Doc, n)
	for i := range docs {
		d := bm25.Doc{ID: fmt.Sprintf("%024x", i), Length: 100, Stemming: "en", Payload: strings.Repeat("m", 120)}
		for at := range d.Length {
			d.Tokens = append(d.Tokens, bm25.Token{Term: fmt.Sprintf("term%d", zipf.Uint64()), Position: at, Weight: 1})
		}
		docs[i] = d
	}
	return docs
}

func BenchmarkSearch(b *testing.B) {
	var x *bm25.Index
	for batch := range slices.Chunk(corpus(100_000), 5000) {
		x = with(b, x, nil, batch...)
	}
	for name, query := range map[string]string{
		"frequent terms": "term0 term1 term2 term5 term9", "usual question": "term3 term40 term500 term700 term9000", "rare terms": "term5000 term9000",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				search(b, x, query, 50)
			}
		})
	}
}

// segmentV2 and detailV2 are those of TestLayout as their first version wrote them. A change of the layout needs a new
// version byte in the store that keeps segments.
const segmentV2 = "0200000003000000" + // 2 documents, 3 terms
	"24000000" + "2c000000" + "34000000" + // documents at 36 and 44, end at 52
	"34000000" + "39000000" + "3e000000" + "42000000" + // terms at 52, 57, 62, end at 66
	"0161" + "03" + "02656e" + "7061" + // a, length 3, en, pa
	"0162" + "02" + "02656e" + "7062" + // b, length 2, en, pb
	"0178" + "02" + "01" + "01" + // x in 2: a once, b once
	"0179" + "01" + "00" + "02" + // y in 1: a twice
	"017a" + "01" + "03" + // z in 1: b once
	"0000000000000000" // padding

const detailV2 = "0300000001000000" + // 3 terms, 1 form
	"20000000" + "22000000" + "24000000" + "25000000" + // terms at 32, 34, 36, end at 37
	"25000000" + "2a000000" + // form at 37, end at 42
	"00" + "00" + // x: at 0 in a, at 0 in b
	"0302" + // y: at 1 and at 2 in a
	"02" + // z: at 1 in b
	"03796573" + "01" // yes: term 1

func TestLayout(t *testing.T) {
	docs := []bm25.Doc{doc("a", "x y y"), doc("b", "x z")}
	docs[0].Tokens[1].Form = "yes"
	seg, err := bm25.Build(docs)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%x", seg.Data()); got != segmentV2 {
		t.Errorf("segment: got %s, want %s", got, segmentV2)
	}
	if got := fmt.Sprintf("%x", seg.Detail().Data()); got != detailV2 {
		t.Errorf("detail: got %s, want %s", got, detailV2)
	}
}

// TestSmallSegmentsAreMerged puts documents in one by one: an index of a few thousand is few segments at any time, and
// no document is copied more often than the sizes of the segments it goes through allow.
func TestSmallSegmentsAreMerged(t *testing.T) {
	const documents, mostParts, mostCopies = 3000, 6, 16
	var x *bm25.Index
	seen := map[*bm25.Segment]bool{}
	copied := 0
	for i := range documents {
		x = with(t, x, nil, doc(fmt.Sprintf("d%04d", i), fmt.Sprintf("a b%d c%d", i%7, i%300)))
		if parts := x.Parts(); len(parts) > mostParts {
			t.Fatalf("%d documents are in %d segments, want at most %d", i+1, len(parts), mostParts)
		}
		for _, p := range x.Parts() {
			if s := p.Segment(); !seen[s] {
				seen[s] = true
				copied += s.Docs()
			}
		}
	}
	if most := documents * mostCopies; copied > most {
		t.Errorf("%d documents were written %d times, want at most %d", documents, copied, most)
	}
}
