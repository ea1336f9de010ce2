package vectorstore

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/bitset"
)

// TestResolveAgreesWithMatch compares the index with the reference on random records and filters, with records that are
// gone and slots that are used again.
func TestResolveAgreesWithMatch(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		f := newFields()
		var live bitset.Set
		metas, validities := map[uint32]rag.Meta{}, map[uint32]rag.Validity{}
		add := func(slot uint32) {
			metas[slot], validities[slot] = randomMeta(rnd), randomValidity(rnd)
			f.add(slot, metas[slot], validities[slot])
			live = live.Add(slot)
		}
		for slot := range uint32(400) {
			add(slot)
		}
		gone := bitset.New(400)
		for range 100 {
			gone = gone.Add(rnd.Uint32N(400))
		}
		live.AndNot(gone)
		check := func() {
			for range 300 {
				filter := randomFilter(rnd, 3)
				if filter.Validate() != nil { // NaN and infinity are for records only
					continue
				}
				got := f.resolve(filter, live)
				for slot := range uint32(400) {
					want := live.Has(slot) && filter.Match(metas[slot], validities[slot])
					if got.Has(slot) != want {
						t.Fatalf("%+v on %v, %v (live: %v): %v, want %v", filter, metas[slot], validities[slot], live.Has(slot), got.Has(slot), want)
					}
				}
			}
		}
		check()
		f.forget(gone)
		check()
		for slot := range gone.All() {
			add(slot)
		}
		check()
	}
}

var testValues = []any{"", "a", "ab", "b", "2024-01-01", "2024-01-01T10:00:00Z", "2024-01-02", 0.0, math.Copysign(0, -1), 1.0, -1.5, math.Inf(1), math.NaN(), true, false}

func randomMeta(rnd *rand.Rand) rag.Meta {
	m := rag.Meta{}
	for i := range 4 {
		name := fmt.Sprint("f", i)
		switch v := rnd.IntN(len(testValues) + 3); {
		case v < len(testValues):
			m[name] = testValues[v]
		case v == len(testValues):
			m[name] = []string{}
		case v == len(testValues)+1:
			m[name] = []string{"a", "zz", "a"}
		}
	}
	return m
}

func randomInstant(rnd *rand.Rand) time.Time {
	if rnd.IntN(3) == 0 {
		return time.Time{}
	}
	return time.Date(2024, 1, 1+rnd.IntN(5), 0, 0, 0, rnd.IntN(2), time.FixedZone("", 3600*rnd.IntN(3)))
}

func randomValidity(rnd *rand.Rand) rag.Validity {
	return rag.Validity{From: randomInstant(rnd), Until: randomInstant(rnd), Stated: rnd.IntN(2) == 0}
}

func randomFilter(rnd *rand.Rand, depth int) rag.Filter {
	field := fmt.Sprint("f", rnd.IntN(5))
	value := func() any { return testValues[rnd.IntN(len(testValues))] }
	switch op := rnd.IntN(8 + min(depth, 1)*3); op {
	case 0:
		return rag.Eq(field, value())
	case 1:
		return rag.In(field, value(), value())
	case 2:
		return rag.Prefix(field, []string{"", "a", "z", "2024"}[rnd.IntN(4)])
	case 3:
		return rag.Exists(field)
	case 4:
		return rag.ValidAt(time.Date(2024, 1, 1+rnd.IntN(5), rnd.IntN(4), 0, 0, 0, time.UTC))
	case 5:
		return rag.Range(field, rag.Bounds{GTE: []any{nil, "a", "aa"}[rnd.IntN(3)], LT: []any{"b", "2024", "2024-01-02"}[rnd.IntN(3)]})
	case 7:
		return rag.Range(field, rag.Bounds{GT: []any{nil, "2024-01-01"}[rnd.IntN(2)], LTE: []any{"b", "2024-01-01", "2024-01-02"}[rnd.IntN(3)]})
	case 6:
		return rag.Range(field, rag.Bounds{GT: []any{nil, -1.5, 0.0}[rnd.IntN(3)], LTE: []any{1.0, 2.0, 0.0}[rnd.IntN(3)]})
	case 8:
		return rag.Not(randomFilter(rnd, depth-1))
	case 9:
		return rag.Filter{Op: rag.OpAnd, Args: randomFilters(rnd, depth)}
	default:
		return rag.Or(randomFilters(rnd, depth)...)
	}
}

func randomFilters(rnd *rand.Rand, depth int) (fs []rag.Filter) {
	for range rnd.IntN(4) {
		fs = append(fs, randomFilter(rnd, depth-1))
	}
	return fs
}

// BenchmarkResolve asks an index of records that all have fields of their own.
func BenchmarkResolve(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		f := newFields()
		var live bitset.Set
		for slot := range uint32(n) {
			f.add(slot, rag.Meta{
				rag.FieldURI: fmt.Sprintf("dir%d/file%d.md", slot%100, slot), rag.FieldPage: float64(slot), rag.FieldLanguage: "en",
			}, rag.Validity{From: time.Unix(int64(slot%1000)*86400, 0)})
			live = live.Add(slot)
		}
		for name, filter := range map[string]rag.Filter{
			"eq one": rag.Eq(rag.FieldURI, "dir7/file7.md"), "eq all": rag.Eq(rag.FieldLanguage, "en"),
			"prefix 1 %": rag.Prefix(rag.FieldURI, "dir7/"), "range half": rag.Range(rag.FieldPage, rag.Bounds{LT: float64(n / 2)}),
			"valid at": rag.ValidAt(time.Unix(500*86400, 0)), "not": rag.Not(rag.Eq(rag.FieldURI, "dir7/file7.md")),
		} {
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				for b.Loop() {
					f.resolve(filter, live)
				}
			})
		}
	}
}
