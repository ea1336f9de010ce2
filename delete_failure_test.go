package rag_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-d8745b77/rag"
)

// outage fails calls from the n-th on, as long as it is on.
type outage struct {
	from  int // the first call that fails, 1-based; 0: none
	calls int
}

var errOutage = errors.New("the store is down")

func (o *outage) call() error {
	o.calls++
	if o.from > 0 && o.calls >= o.from {
		return errOutage
	}
	return nil
}

// downVectors and downWords are stores whose deletes fail in an outage, and that can only do what they must.
type (
	downVectors struct {
		rag.VectorStore
		*outage
	}
	downWords struct {
		rag.SparseIndex
		*outage
	}
)

func (d downVectors) Delete(ctx context.Context, collection string, ids []string) error {
	if err := d.call(); err != nil {
		return err
	}
	return d.VectorStore.Delete(ctx, collection, ids)
}

func (d downWords) Delete(ctx context.Context, collection string, ids []string) error {
	if err := d.call(); err != nil {
		return err
	}
	return d.SparseIndex.Delete(ctx, collection, ids)
}

// The same with all that the engine can use.
type (
	ableVectors struct {
		downVectors
		rag.IDLister
	}
	ableWords struct {
		downWords
		rag.IDLister
	}
)

func (a ableVectors) Drop(ctx context.Context, collection string) error {
	return errors.Join(a.call(), a.VectorStore.(rag.Dropper).Drop(ctx, collection))
}

func (a ableWords) Drop(ctx context.Context, collection string) error {
	return errors.Join(a.call(), a.SparseIndex.(rag.Dropper).Drop(ctx, collection))
}

// external is an engine over stores that can fail, and what is really in them.
type external struct {
	*fixture
	down map[string]*outage // by stage
	ids  map[string]rag.IDLister
}

func newExternal(t *testing.T, able bool) *external {
	t.Helper()
	vectors, err := rag.Default.VectorStores.New("flat", rag.Env{Dir: t.TempDir()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	words, err := rag.Default.SparseIndexes.New("bm25", rag.Env{Dir: t.TempDir()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	x := &external{down: map[string]*outage{rag.StageDense: {}, rag.StageSparse: {}}, ids: map[string]rag.IDLister{rag.StageDense: vectors.(rag.IDLister), rag.StageSparse: words.(rag.IDLister)}}
	v, w := downVectors{vectors, x.down[rag.StageDense]}, downWords{words, x.down[rag.StageSparse]}
	if able {
		x.fixture = newFixture(t, rag.WithVectorStore(ableVectors{v, vectors.(rag.IDLister)}), rag.WithSparseIndex(ableWords{w, words.(rag.IDLister)}))
	} else {
		x.fixture = newFixture(t, rag.WithVectorStore(v), rag.WithSparseIndex(w))
	}
	return x
}

// records counts what a store has.
func (x *external) records(stage string) (n int) {
	x.t.Helper()
	for _, err := range x.ids[stage].IDs(x.t.Context(), "default") {
		if err != nil {
			x.t.Fatal(err)
		}
		n++
	}
	return n
}

// files writes so many reports, of one passage each, and a note that stays.
func (x *external) files(reports int) {
	for i := range reports {
		x.write(fmt.Sprintf("report%03d.md", i), fmt.Sprintf("---\nkind: report\n---\nReport %d about glaciers.\n", i))
	}
	x.write("note.md", "A note about glaciers.\n")
	x.ingest(nil)
}

// What is deleted is not found from then on, whatever the indexes do; what they keep is reported, and goes with the next
// repair or ingest.
func TestADeleteIsFinishedByTheNextRun(t *testing.T) {
	const reports = 150 // three transactions
	for _, able := range []bool{true, false} {
		x := newExternal(t, able)
		for _, stage := range []string{rag.StageDense, rag.StageSparse} {
			for from := 1; from <= 3; from++ {
				t.Run(fmt.Sprintf("able=%v/%s/call %d", able, stage, from), func(t *testing.T) {
					x.t = t
					x.files(reports)
					*x.down[stage] = outage{from: from}
					rep, err := x.Delete(t.Context(), rag.DeleteRequest{Filter: rag.Eq("kind", "report")})
					var failure *rag.StageError
					if !errors.Is(err, rag.ErrPartial) || !errors.Is(err, errOutage) || !errors.As(err, &failure) || failure.Stage != rag.StageClean {
						t.Fatalf("error %v", err)
					}
					left := reports - 64*(from-1)
					want := &rag.DeleteReport{Collection: "default", Existed: true, Documents: reports, Chunks: reports, NotFound: []string{}, Failed: []rag.IndexFailure{{Index: stage, Chunks: left}}}
					if diff := cmp.Diff(want, rep, cmpopts.IgnoreFields(rag.IndexFailure{}, "Err", "Error")); diff != "" {
						t.Errorf("report (-want +got):\n%s", diff)
					}
					if f := rep.Failed[0]; !strings.Contains(f.Error, errOutage.Error()) || !errors.Is(f.Err, errOutage) {
						t.Errorf("failure %q", f.Error)
					}
					if n := x.down[stage].calls; n != from {
						t.Errorf("the store was asked %d times, want no more after it failed", n)
					}
					x.wantOnlyTheNote(left+1, stage)
					x.wantUnfinished(true)

					if from == 1 { // the store is still down
						if _, err := x.Repair(t.Context(), ""); !errors.Is(err, errOutage) {
							t.Errorf("repair: %v", err)
						}
						x.wantUnfinished(true)
					}
					*x.down[stage] = outage{}
					if from == 2 {
						if _, err := x.Repair(t.Context(), ""); err != nil {
							t.Errorf("repair: %v", err)
						}
					} else {
						x.ingest(func(r *rag.IngestRequest) { r.Sources = []rag.Sources{rag.Bytes("mem:///x.txt", nil)} })
					}
					x.wantOnlyTheNote(1, rag.StageDense, rag.StageSparse)
					x.wantUnfinished(false)
				})
			}
		}
	}
}

func (x *external) wantOnlyTheNote(records int, stages ...string) {
	x.t.Helper()
	for _, mode := range []rag.Mode{rag.Dense, rag.Sparse, rag.Hybrid} {
		if got := names(x.search(rag.Query{Text: "glaciers", Mode: mode, TopK: 200})); !slices.Equal(got, []string{"note.md"}) {
			x.t.Errorf("%s finds %d passages, want the note: %v", mode, len(got), got)
		}
	}
	for _, stage := range stages {
		if got := x.records(stage); got != records {
			x.t.Errorf("the %s index has %d records, want %d", stage, got, records)
		}
	}
}

func (x *external) wantUnfinished(want bool) {
	x.t.Helper()
	infos, err := x.Collections(x.t.Context())
	if err != nil || len(infos) != 1 || infos[0].Header.Dirty != want || !want && len(infos[0].Header.Touched) > 0 {
		x.t.Errorf("collections %+v, %v; want one with the mark %v", infos, err, want)
	}
}

// An ingest over stores that cannot list their records, cut short anywhere, is finished by the next one too.
func TestAnIngestOverPoorStoresIsFinishedByTheNext(t *testing.T) {
	for _, stage := range []string{rag.StageDense, rag.StageSparse} {
		x := newExternal(t, false)
		x.files(5)
		for i := range 3 {
			x.write(fmt.Sprintf("report%03d.md", i), "Quite another report about glaciers.\n")
		}
		*x.down[stage] = outage{from: 1}
		if _, err := x.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(x.docs)}}); !errors.Is(err, errOutage) {
			t.Fatalf("error %v", err)
		}
		x.wantUnfinished(true)
		rep, err := x.Verify(t.Context(), "")
		if err != nil || rep.OK || !slices.Equal(rep.Unchecked, []string{rag.StageDense, rag.StageSparse}) || len(rep.Orphans) == 0 {
			t.Errorf("verify: %+v, %v", rep, err)
		}
		*x.down[stage] = outage{}
		x.ingest(nil)
		x.wantUnfinished(false)
		for _, s := range []string{rag.StageDense, rag.StageSparse} {
			if got := x.records(s); got != 6 {
				t.Errorf("the %s index has %d records, want 6", s, got)
			}
		}
	}
}

func TestDeletingACollectionWhoseIndexIsDown(t *testing.T) {
	for _, able := range []bool{true, false} {
		for _, stage := range []string{rag.StageDense, rag.StageSparse} {
			t.Run(fmt.Sprintf("able=%v/%s", able, stage), func(t *testing.T) {
				x := newExternal(t, able)
				x.files(5)
				*x.down[stage] = outage{from: 1}
				rep, err := x.Delete(t.Context(), rag.DeleteRequest{All: true})
				if !errors.Is(err, rag.ErrPartial) || !errors.Is(err, errOutage) || !rep.Existed || rep.Documents != 6 || rep.Chunks != 6 || len(rep.Failed) != 1 || rep.Failed[0].Index != stage || rep.Failed[0].Chunks != 6 {
					t.Fatalf("%+v, %v", rep, err)
				}
				if hits := x.search(rag.Query{Text: "glaciers"}).Hits; len(hits) != 0 {
					t.Errorf("%d hits", len(hits))
				}
				x.wantUnfinished(true) // what is to be done is not forgotten
				*x.down[stage] = outage{}
				if rep, err = x.Delete(t.Context(), rag.DeleteRequest{All: true}); err != nil || rep.Documents != 0 {
					t.Errorf("again: %+v, %v", rep, err)
				}
				infos, err := x.Collections(t.Context())
				if err != nil || len(infos) != 0 {
					t.Errorf("collections %+v, %v", infos, err)
				}
				for _, s := range []string{rag.StageDense, rag.StageSparse} {
					if got := x.records(s); got != 0 {
						t.Errorf("the %s index has %d records", s, got)
					}
				}
			})
		}
	}
}
