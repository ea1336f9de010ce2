package rag_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

// Engines of one process over one folder, which may be named in several ways, write in turn and see what the others wrote.
func TestEnginesOverOneFolderTakeTurns(t *testing.T) {
	f := newFixture(t)
	g := &fixture{t: t, dir: f.dir + "/.", docs: f.docs, embedder: f.embedder}
	g.open()
	both := []*fixture{f, g}
	const papers, rounds = 6, 12
	uri := func(i int) string { return fmt.Sprintf("mem:///%d.txt", i) }
	var wg sync.WaitGroup
	for k, x := range both {
		wg.Go(func() {
			for round := range rounds {
				var sets []rag.Sources
				for i := range papers {
					sets = append(sets, rag.Bytes(uri(i), []byte(prose(fmt.Sprintf("metal%d%d%d", k, round, i), 3))))
				}
				if _, err := x.Ingest(t.Context(), rag.IngestRequest{Sources: sets}); err != nil {
					t.Error(err)
				}
				var err error
				switch round {
				case 1, 5:
					_, err = x.Delete(t.Context(), rag.DeleteRequest{URIs: []string{uri(1), uri(2)}})
				case 3:
					_, err = x.Reindex(t.Context(), rag.ReindexRequest{})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for range 2 * rounds {
				if _, err := x.Search(t.Context(), rag.Query{Text: "metal fact"}); err != nil && !errors.Is(err, rag.ErrNotFound) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	var found [][]string
	for _, x := range both {
		x.sound()
		hits := names(x.search(rag.Query{Text: "metal fact", TopK: 50}))
		slices.Sort(hits)
		hits = slices.Compact(hits)
		found = append(found, hits)
	}
	if len(found[0]) != papers || !cmp.Equal(found[0], found[1]) {
		t.Errorf("found %v", found)
	}
}
