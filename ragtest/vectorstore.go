package ragtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-d8745b77/rag"
)

// storeDims is the dimension of the suite's vectors: small enough for thousands of them, large enough that two random
// ones are not close.
const storeDims = 24

// scoreTolerance is how far a score may be from the exact cosine: the rounding of float32 sums.
const scoreTolerance = 1e-4

// TestVectorStore checks the contract of [rag.VectorStore] and of the optional interfaces that the store has. open returns
// the store kept in a directory, empty for a directory not seen before; the suite closes it if it is an io.Closer.
func TestVectorStore(t *testing.T, open func(t *testing.T, dir string) rag.VectorStore, list ...Trait) {
	t.Helper()
	tr := traitsOf(list)
	for _, c := range []struct {
		sentence string
		check    func(*storeSuite)
	}{
		{"reopen finds all", (*storeSuite).reopened},
		{"an upsert of known IDs replaces them and keeps the count", (*storeSuite).replace},
		{"of two records with one ID in a call the last counts", (*storeSuite).twice},
		{"equal scores are ordered by ID", (*storeSuite).ties},
		{"an unknown collection has no matches and can be deleted from", (*storeSuite).unknown},
		{"collections do not see each other", (*storeSuite).isolated},
		{"a vector of another length is ErrDimension", (*storeSuite).dimension},
		{"a vector that is zero or not finite is ErrInvalid, and nothing of the call is written", (*storeSuite).refused},
		{"K of 0 gives none, K above the count gives all", (*storeSuite).k},
		{"an empty batch is no error", (*storeSuite).empty},
		{"absent IDs can be deleted", (*storeSuite).deleteAbsent},
		{"scores are cosines in descending order", (*storeSuite).cosines},
		{"the nearest are found", (*storeSuite).nearest},
		{"each record finds itself", (*storeSuite).findItself},
		{"the nearest are found after a third was deleted and added again", (*storeSuite).churn},
		{"every filter gives exactly min(K, matches), whatever its selectivity", (*storeSuite).filters},
		{"the nearest are found under filters that select from 50 % to 0.01 %", (*storeSuite).selective},
		{"an invalid filter is ErrInvalid", (*storeSuite).invalidFilter},
		{"slices passed in are the caller's again", (*storeSuite).ownership},
		{"a cancelled context gives its error", (*storeSuite).cancelled},
		{"many goroutines read and write", (*storeSuite).concurrent},
		{"1,000 rounds of add, delete and re-add agree with a map", (*storeSuite).random},
		{"IDs lists every ID once", (*storeSuite).idList},
		{"Vectors returns what was stored, nil where there is none", (*storeSuite).vectors},
		{"Drop removes a collection and frees its dimension", (*storeSuite).drop},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			tr.skipExcepted(t, c.sentence)
			c.check(&storeSuite{onTrial(t, open, tr)})
		})
	}
}

type storeSuite struct{ *trial[rag.VectorStore] }

func (s *storeSuite) upsert(collection string, recs ...rag.VectorRecord) {
	s.Helper()
	if err := s.it.Upsert(s.Context(), collection, recs); err != nil {
		s.Fatalf("upsert: %v", err)
	}
}

func (s *storeSuite) search(collection string, q rag.VectorQuery) []rag.Match {
	s.Helper()
	got, err := s.it.Search(s.Context(), collection, q)
	if err != nil {
		s.Fatalf("search: %v", err)
	}
	return got
}

// wantIDs searches for everything and compares the set of IDs.
func (s *storeSuite) wantIDs(collection string, want ...string) {
	s.Helper()
	got := matchIDs(s.search(collection, rag.VectorQuery{Vector: axis(0), K: 1 << 20}))
	slices.Sort(got)
	slices.Sort(want)
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		s.Errorf("records in the collection (-want +got):\n%s", diff)
	}
}

// axis is the i-th unit vector, with a little of all others so that it has a cosine with everything.
func axis(i int) []float32 {
	v := make([]float32, storeDims)
	for j := range v {
		v[j] = 0.01
	}
	v[i%storeDims] = 1
	return unit(v)
}

func unit(v []float32) []float32 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v
}

func randomVector(rnd *rand.Rand) []float32 {
	v := make([]float32, storeDims)
	for i := range v {
		v[i] = float32(rnd.NormFloat64())
	}
	return unit(v)
}

func dotProduct(a, b []float32) (sum float64) {
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}

func vec(id string, v []float32) rag.VectorRecord {
	return rag.VectorRecord{ID: id, DocID: "d", Vector: v}
}

func vecs(n int) []rag.VectorRecord {
	rnd := rand.New(rand.NewPCG(1, uint64(n)))
	recs := make([]rag.VectorRecord, n)
	for i := range recs {
		recs[i] = vec(fmt.Sprintf("r%05d", i), randomVector(rnd))
	}
	return recs
}

func (s *storeSuite) reopened() {
	if s.volatile {
		s.Skip("the store keeps nothing")
	}
	recs := vecs(300)
	for i := range recs {
		recs[i].Meta = rag.Meta{"n": float64(i % 7), "tags": []string{"a", fmt.Sprint(i % 3)}, "even": i%2 == 0}
		recs[i].Validity.From = time.Date(2020+i%5, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	s.upsert("c", recs...)
	s.upsert("other", vec("x", axis(1)))
	q := rag.VectorQuery{Vector: axis(3), K: 50, Filter: rag.And(rag.Eq("even", true), rag.Eq("tags", "1"),
		rag.Range("n", rag.Bounds{GTE: 2}), rag.ValidAt(time.Date(2022, 6, 1, 0, 0, 0, 0, time.UTC)))}
	before := s.search("c", q)
	s.reopen()
	if diff := gocmp.Diff(before, s.search("c", q)); diff != "" || len(before) == 0 {
		s.Errorf("matches before and after the store was reopened differ, or there are none (-before +after):\n%s", diff)
	}
	s.wantIDs("other", "x")
	if got := len(s.search("c", rag.VectorQuery{Vector: axis(0), K: 1000})); got != len(recs) {
		s.Errorf("%d records after reopening, want %d", got, len(recs))
	}
	if err := s.it.Upsert(s.Context(), "c", []rag.VectorRecord{vec("y", []float32{1, 0})}); !errors.Is(err, rag.ErrDimension) {
		s.Errorf("another length after reopening: %v, want ErrDimension", err)
	}
}

func (s *storeSuite) replace() {
	s.upsert("c", vec("a", axis(0)), vec("b", axis(1)))
	moved := vec("a", axis(2))
	moved.Meta = rag.Meta{"new": true}
	s.upsert("c", moved)
	s.wantIDs("c", "a", "b")
	got := s.search("c", rag.VectorQuery{Vector: axis(2), K: 1, Filter: rag.Exists("new")})
	if len(got) != 1 || got[0].ID != "a" || got[0].Score < 1-scoreTolerance {
		s.Errorf("search for the new vector with the new metadata: %v, want a with score 1", got)
	}
}

func (s *storeSuite) twice() {
	s.upsert("c", vec("a", axis(0)), vec("b", axis(1)), vec("a", axis(2)))
	s.wantIDs("c", "a", "b")
	if got := s.search("c", rag.VectorQuery{Vector: axis(2), K: 1}); len(got) != 1 || got[0].ID != "a" {
		s.Errorf("got %v, want a at its last vector", got)
	}
}

func (s *storeSuite) ties() {
	var recs []rag.VectorRecord
	var want []string
	for i := range 40 {
		recs = append(recs, vec(fmt.Sprintf("t%02d", (i*17)%40), axis(0))) // 17 and 40 have no common factor
		want = append(want, fmt.Sprintf("t%02d", i))
	}
	s.upsert("c", recs...)
	for _, k := range []int{1, 7, 40} {
		if diff := gocmp.Diff(want[:k], matchIDs(s.search("c", rag.VectorQuery{Vector: axis(0), K: k}))); diff != "" {
			s.Errorf("K=%d over equal vectors (-want +got):\n%s", k, diff)
		}
	}
}

func (s *storeSuite) unknown() {
	if got := s.search("nowhere", rag.VectorQuery{Vector: axis(0), K: 5}); len(got) != 0 {
		s.Errorf("got %v from an unknown collection", got)
	}
	if err := s.it.Delete(s.Context(), "nowhere", []string{"a"}); err != nil {
		s.Errorf("delete from an unknown collection: %v", err)
	}
}

func (s *storeSuite) isolated() {
	s.upsert("one", vec("a", axis(0)))
	s.upsert("two", vec("a", axis(1)), vec("b", axis(2)))
	if err := s.it.Upsert(s.Context(), "three", []rag.VectorRecord{vec("a", []float32{1, 0, 0})}); err != nil {
		s.Errorf("another collection has its own dimension: %v", err)
	}
	if err := s.it.Delete(s.Context(), "two", []string{"a"}); err != nil {
		s.Fatal(err)
	}
	s.wantIDs("one", "a")
	s.wantIDs("two", "b")
}

func (s *storeSuite) dimension() {
	s.upsert("c", vec("a", axis(0)))
	err := s.it.Upsert(s.Context(), "c", []rag.VectorRecord{vec("b", []float32{1, 0})})
	if !errors.Is(err, rag.ErrDimension) {
		s.Errorf("upsert: %v, want ErrDimension", err)
	}
	err = s.it.Upsert(s.Context(), "new", []rag.VectorRecord{vec("a", axis(0)), vec("b", []float32{1, 0})})
	if !errors.Is(err, rag.ErrDimension) {
		s.Errorf("two lengths in the first call: %v, want ErrDimension", err)
	}
	if _, err := s.it.Search(s.Context(), "c", rag.VectorQuery{Vector: []float32{1, 0}, K: 1}); !errors.Is(err, rag.ErrDimension) {
		s.Errorf("search: %v, want ErrDimension", err)
	}
	s.wantIDs("c", "a")
	s.wantIDs("new")
}

func (s *storeSuite) refused() {
	s.upsert("c", vec("a", axis(0)))
	with := func(x float32) []float32 {
		v := axis(0)
		v[storeDims-1] = x
		return v
	}
	for name, bad := range map[string][]float32{
		"zero": make([]float32, storeDims), "NaN": with(float32(math.NaN())),
		"+Inf": with(float32(math.Inf(1))), "-Inf": with(float32(math.Inf(-1))),
	} {
		err := s.it.Upsert(s.Context(), "c", []rag.VectorRecord{vec("good", axis(1)), vec("bad", bad)})
		if !errors.Is(err, rag.ErrInvalid) {
			s.Errorf("upsert of a %s vector: %v, want ErrInvalid", name, err)
		}
	}
	s.wantIDs("c", "a")
}

func (s *storeSuite) k() {
	s.upsert("c", vecs(5)...)
	for k, want := range map[int]int{0: 0, 1: 1, 5: 5, 6: 5, 1 << 30: 5} {
		if got := len(s.search("c", rag.VectorQuery{Vector: axis(0), K: k})); got != want {
			s.Errorf("K=%d gives %d matches, want %d", k, got, want)
		}
	}
}

func (s *storeSuite) empty() {
	if err := s.it.Upsert(s.Context(), "c", nil); err != nil {
		s.Errorf("upsert: %v", err)
	}
	if err := s.it.Delete(s.Context(), "c", nil); err != nil {
		s.Errorf("delete: %v", err)
	}
	s.upsert("c", vec("a", axis(0))) // the empty batch has not fixed a dimension
}

func (s *storeSuite) deleteAbsent() {
	s.upsert("c", vecs(3)...)
	if err := s.it.Delete(s.Context(), "c", []string{"x", "r00001", "y", "r00001"}); err != nil {
		s.Errorf("delete: %v", err)
	}
	s.wantIDs("c", "r00000", "r00002")
}

func (s *storeSuite) cosines() {
	recs := vecs(200)
	s.upsert("c", recs...)
	by := map[string][]float32{}
	for _, r := range recs {
		by[r.ID] = r.Vector
	}
	q := axis(5)
	last := math.Inf(1)
	for _, m := range s.search("c", rag.VectorQuery{Vector: q, K: 200}) {
		if want := dotProduct(q, by[m.ID]); math.Abs(m.Score-want) > scoreTolerance {
			s.Errorf("%s has score %v, want %v", m.ID, m.Score, want)
		}
		if m.Score > last {
			s.Errorf("%s has score %v after %v", m.ID, m.Score, last)
		}
		last = m.Score
	}
}

func (s *storeSuite) filters() {
	recs := filterRecords(10_000)
	by := map[string][]float32{}
	for batch := range slices.Chunk(recs, 2500) {
		s.upsert("c", batch...)
		for _, r := range batch {
			by[r.ID] = r.Vector
		}
	}
	all := suiteFilters()
	names := slices.Collect(func(yield func(string) bool) {
		for name := range all {
			if !yield(name) {
				return
			}
		}
	})
	slices.Sort(names)
	sum, n := 0.0, 0
	for i, name := range names {
		q := rag.VectorQuery{Vector: axis(i), K: 10, Filter: all[name]}
		got, err := s.it.Search(s.Context(), "c", q)
		if errors.Is(err, rag.ErrUnsupported) {
			continue // the engine over-fetches for such a store
		}
		if err != nil {
			s.Errorf("%s: %v", name, err)
			continue
		}
		want := exact(recs, q)
		if len(got) != len(want) {
			s.Errorf("%s: %d matches, want %d", name, len(got), len(want))
		}
		matching := map[string]bool{}
		for _, r := range recs {
			matching[r.ID] = q.Filter.Match(r.Meta, r.Validity)
		}
		for _, m := range got {
			if !matching[m.ID] {
				s.Errorf("%s: %s does not match the filter", name, m.ID)
			}
		}
		sum, n = sum+recallOf(by, q.Vector, want, got), n+1
	}
	if n > 0 && sum/float64(n) < s.recall {
		s.Errorf("recall@10 under filters is %.3f, want at least %.3f", sum/float64(n), s.recall)
	}
}

func (s *storeSuite) invalidFilter() {
	s.upsert("c", vec("a", axis(0)))
	_, err := s.it.Search(s.Context(), "c", rag.VectorQuery{Vector: axis(0), K: 1, Filter: rag.Filter{Op: "like", Field: "x"}})
	if !errors.Is(err, rag.ErrInvalid) && !errors.Is(err, rag.ErrUnsupported) {
		s.Errorf("got %v, want ErrInvalid", err)
	}
}

func (s *storeSuite) ownership() {
	v, m := axis(0), rag.Meta{"k": "v", "l": []string{"x"}}
	recs := []rag.VectorRecord{{ID: "a", Vector: v, Meta: m}}
	s.upsert("c", recs...)
	copy(v, axis(1))
	m["k"] = "changed"
	m["l"].([]string)[0] = "changed"
	recs[0].ID = "changed"
	got := s.search("c", rag.VectorQuery{Vector: axis(0), K: 1, Filter: rag.And(rag.Eq("k", "v"), rag.Eq("l", "x"))})
	if len(got) != 1 || got[0].ID != "a" || got[0].Score < 1-scoreTolerance {
		s.Errorf("got %v after the caller changed its slices, want a with score 1", got)
	}
}

func (s *storeSuite) cancelled() {
	s.upsert("c", vecs(10)...)
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	if _, err := s.it.Search(ctx, "c", rag.VectorQuery{Vector: axis(0), K: 1}); !errors.Is(err, context.Canceled) {
		s.Errorf("search: %v, want context.Canceled", err)
	}
	if err := s.it.Upsert(ctx, "c", []rag.VectorRecord{vec("z", axis(0))}); !errors.Is(err, context.Canceled) {
		s.Errorf("upsert: %v, want context.Canceled", err)
	}
	if err := s.it.Delete(ctx, "c", []string{"r00000"}); !errors.Is(err, context.Canceled) {
		s.Errorf("delete: %v, want context.Canceled", err)
	}
	if got := len(s.search("c", rag.VectorQuery{Vector: axis(0), K: 100})); got != 10 {
		s.Errorf("%d records after cancelled calls, want 10", got)
	}
}

func (s *storeSuite) concurrent() {
	const writers, readers, rounds = 20, 80, 4
	s.upsert("c", vecs(100)...)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			id := fmt.Sprintf("w%02d", w)
			for i := range rounds {
				if err := s.it.Upsert(s.Context(), "c", []rag.VectorRecord{vec(id, axis(w)), vec(id+"-gone", axis(i))}); err != nil {
					s.Errorf("upsert: %v", err)
				}
				if err := s.it.Delete(s.Context(), "c", []string{id + "-gone"}); err != nil {
					s.Errorf("delete: %v", err)
				}
			}
		})
	}
	for r := range readers {
		wg.Go(func() {
			for range rounds {
				got, err := s.it.Search(s.Context(), "c", rag.VectorQuery{Vector: axis(r), K: 100})
				if err != nil || len(got) != 100 {
					s.Errorf("search beside writers: %d matches, %v; want 100", len(got), err)
				}
			}
		})
	}
	wg.Wait()
	if got := len(s.search("c", rag.VectorQuery{Vector: axis(0), K: 1000})); got != 100+writers {
		s.Errorf("%d records at the end, want %d", got, 100+writers)
	}
}

func (s *storeSuite) random() {
	rnd := rand.New(rand.NewPCG(5, 6))
	model := map[string]rag.VectorRecord{}
	for round := range 1000 {
		id := fmt.Sprintf("id%02d", rnd.IntN(60))
		if rnd.IntN(3) == 0 {
			if err := s.it.Delete(s.Context(), "c", []string{id}); err != nil {
				s.Fatalf("round %d: delete: %v", round, err)
			}
			delete(model, id)
		} else {
			rec := vec(id, randomVector(rnd))
			rec.Meta = rag.Meta{"color": []string{"red", "green", "blue"}[rnd.IntN(3)]}
			s.upsert("c", rec)
			model[id] = rec
		}
		if round%10 != 9 && round < 990 {
			continue
		}
		recs := slices.Collect(func(yield func(rag.VectorRecord) bool) {
			for _, r := range model {
				if !yield(r) {
					return
				}
			}
		})
		q := rag.VectorQuery{Vector: randomVector(rnd), K: 100, Filter: rag.Eq("color", "red")}
		got, err := s.it.Search(s.Context(), "c", q)
		if errors.Is(err, rag.ErrUnsupported) {
			q.Filter = rag.Filter{}
			got, err = s.it.Search(s.Context(), "c", q)
		}
		if err != nil {
			s.Fatalf("round %d: search: %v", round, err)
		}
		if diff := gocmp.Diff(exact(recs, q), got, cmpopts.EquateApprox(0, scoreTolerance), cmpopts.EquateEmpty()); diff != "" {
			s.Fatalf("round %d (-want +got):\n%s", round, diff)
		}
	}
}

func (s *storeSuite) idList() {
	l, ok := s.it.(rag.IDLister)
	if !ok {
		s.Skip("the store has no IDs method")
	}
	s.upsert("c", vecs(20)...)
	s.upsert("other", vec("x", axis(0)))
	if err := s.it.Delete(s.Context(), "c", []string{"r00003"}); err != nil {
		s.Fatal(err)
	}
	var want, got []string
	for i := range 20 {
		if i != 3 {
			want = append(want, fmt.Sprintf("r%05d", i))
		}
	}
	for id, err := range l.IDs(s.Context(), "c") {
		if err != nil {
			s.Fatal(err)
		}
		got = append(got, id)
	}
	slices.Sort(got)
	if diff := gocmp.Diff(want, got); diff != "" {
		s.Errorf("IDs (-want +got):\n%s", diff)
	}
	for id, err := range l.IDs(s.Context(), "nowhere") {
		s.Errorf("an unknown collection has %q, %v", id, err)
	}
	for id, err := range l.IDs(s.Context(), "c") {
		if err != nil || !slices.Contains(want, id) {
			s.Errorf("the first ID is %q, %v", id, err)
		}
		break
	}
	s.upsert("c", vec("after a broken iteration", axis(0)))
}

func (s *storeSuite) vectors() {
	r, ok := s.it.(rag.VectorReader)
	if !ok {
		s.Skip("the store has no Vectors method")
	}
	recs := vecs(3)
	s.upsert("c", recs...)
	got, err := r.Vectors(s.Context(), "c", []string{"r00002", "absent", "r00000", "r00002"})
	if err != nil {
		s.Fatal(err)
	}
	want := [][]float32{recs[2].Vector, nil, recs[0].Vector, recs[2].Vector}
	if diff := gocmp.Diff(want, got); diff != "" {
		s.Errorf("vectors (-want +got):\n%s", diff)
	}
	clear(got[0])
	if again, err := r.Vectors(s.Context(), "c", []string{"r00002"}); err != nil || !slices.Equal(again[0], recs[2].Vector) {
		s.Errorf("after the caller changed a returned vector the store has %v, %v", again, err)
	}
	if got, err := r.Vectors(s.Context(), "nowhere", []string{"a"}); err != nil || len(got) != 1 || got[0] != nil {
		s.Errorf("unknown collection: %v, %v; want one nil", got, err)
	}
}

func (s *storeSuite) drop() {
	d, ok := s.it.(rag.Dropper)
	if !ok {
		s.Skip("the store has no Drop method")
	}
	s.upsert("c", vecs(5)...)
	s.upsert("other", vec("x", axis(0)))
	for _, name := range []string{"c", "c", "nowhere"} {
		if err := d.Drop(s.Context(), name); err != nil {
			s.Errorf("drop %s: %v", name, err)
		}
	}
	s.wantIDs("c")
	s.wantIDs("other", "x")
	if err := s.it.Upsert(s.Context(), "c", []rag.VectorRecord{vec("a", []float32{0.6, 0.8})}); err != nil {
		s.Errorf("another dimension after Drop: %v", err)
	}
}
