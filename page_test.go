package rag_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

func TestDocumentsComePageByPage(t *testing.T) {
	f := newFixture(t)
	for i := range 7 {
		f.write(fmt.Sprintf("%d.md", i), fmt.Sprintf("# Paper %d\n\nThe number of this paper is %d.\n", i, i))
	}
	f.ingest(nil)
	var want, got []string
	for e, err := range f.Documents(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, e.URI)
	}
	for after, more := "", true; more; {
		more = false
		n := 0
		for e, err := range f.DocumentsAfter(t.Context(), "", want[0][:7], after) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n > 3 {
				more = true
				break
			}
			got, after = append(got, e.URI), e.URI
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got) != 7 {
		t.Errorf("the pages hold (-want +got):\n%s", diff)
	}
	for _, err := range f.DocumentsAfter(t.Context(), "nowhere", "", "") {
		if !errors.Is(err, rag.ErrNotFound) {
			t.Errorf("an unknown collection gives %v; want ErrNotFound", err)
		}
	}
}

func TestDocumentChunks(t *testing.T) {
	f := newFixture(t)
	f.write("long.md", "# Long\n\n"+strings.Repeat("One sentence follows another, and each says a little more than the last. ", 200))
	f.ingest(nil)
	var all []rag.Chunk
	for c, err := range f.Chunks(t.Context(), "", rag.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	if len(all) < 5 {
		t.Fatalf("%d chunks are too few to tell", len(all))
	}
	uri := all[0].URI
	for _, c := range []struct{ from, n, first, last int }{
		{0, 0, 0, len(all)}, {1, 2, 1, 3}, {2, 0, 2, len(all)}, {len(all) - 1, 9, len(all) - 1, len(all)}, {len(all) + 3, 2, len(all), len(all)}, {-4, 1, 0, 1},
	} {
		got, err := f.DocumentChunks(t.Context(), "", uri, c.from, c.n)
		if err != nil {
			t.Fatal(err)
		}
		var want, have []string
		for _, c := range all[c.first:c.last] {
			want = append(want, c.ID)
		}
		for _, c := range got {
			have = append(have, c.ID)
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("from %d, %d (-want +got):\n%s", c.from, c.n, diff)
		}
	}
	if _, err := f.DocumentChunks(t.Context(), "", "file:///nowhere", 0, 1); !errors.Is(err, rag.ErrNotFound) {
		t.Errorf("an unknown document gives %v; want ErrNotFound", err)
	}
}
