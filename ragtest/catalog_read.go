package ragtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

func (s *catalogSuite) chunks() {
	s.commit("c", paper("a", "1", 3), paper("b", "1", 2))
	got, err := s.it.Chunks(s.Context(), "c", []string{"b#1", "absent", "a#2", "", "a#0", "b#1"})
	if err != nil {
		s.Fatal(err)
	}
	var ids []string
	for _, c := range got {
		ids = append(ids, c.ID)
	}
	if diff := gocmp.Diff([]string{"b#1", "a#2", "a#0", "b#1"}, ids); diff != "" {
		s.Errorf("(-want +got):\n%s", diff)
	}
	if got, err := s.it.Chunks(s.Context(), "c", nil); err != nil || len(got) != 0 {
		s.Errorf("no IDs: %v, %v", got, err)
	}
}

func (s *catalogSuite) scan() {
	recs := filterRecords(1500)
	var changes []rag.Change
	var want []rag.Chunk
	for i := range 150 { // ten chunks each; URIs sort by bytes, not by number
		change := paper(fmt.Sprintf("doc%d", i), "text", 10)
		for j := range change.Put.Chunks {
			c := &change.Put.Chunks[j]
			c.Meta, c.Validity = recs[10*i+j].Meta, recs[10*i+j].Validity
		}
		want = append(want, change.Put.Chunks...)
		slices.Reverse(change.Put.Chunks) // the order is that of Ordinal, not of the commit
		changes = append(changes, change)
	}
	slices.SortStableFunc(want, func(a, b rag.Chunk) int { return strings.Compare(a.URI, b.URI) })
	s.commit("c", changes...)
	filters := suiteFilters()
	filters["uri"] = rag.Eq(rag.FieldURI, "doc17")
	for name, f := range filters {
		var ids []string
		for i := range want {
			if f.Match(want[i].Fields(), want[i].Validity) {
				ids = append(ids, want[i].ID)
			}
		}
		if diff := gocmp.Diff(ids, s.scanIDs("c", f)); diff != "" {
			s.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func (s *catalogSuite) invalidFilter() {
	n := 0
	for c, err := range s.it.Scan(s.Context(), "c", rag.Filter{Op: "like"}) {
		n++
		if !errors.Is(err, rag.ErrInvalid) || c.ID != "" {
			s.Errorf("got %v, %v; want a zero chunk and ErrInvalid", c, err)
		}
	}
	if n != 1 {
		s.Errorf("%d pairs, want the error alone", n)
	}
}

func (s *catalogSuite) entries() {
	var want []string
	for i := range 200 {
		uri := fmt.Sprintf("doc%d", i*7%200)
		s.commit("c", paper(uri, "1", 1))
		want = append(want, uri)
	}
	slices.Sort(want)
	var got []string
	for _, e := range all(s.T, s.it.Entries(s.Context(), "c", "", "")) {
		got = append(got, e.URI)
		if len(e.Chunks) != 1 || e.Chunks[0].ID != e.URI+"#0" {
			s.Errorf("entry %s has the chunks %v", e.URI, e.Chunks)
		}
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		s.Errorf("(-want +got):\n%s", diff)
	}
}

// entriesOfPrefix asks for URIs on both sides of many others, and beside keys that are prefixes of one another.
func (s *catalogSuite) entriesOfPrefix() {
	uris := []string{"a", "a!", "a#", "a#2", "a#2#3", "a#part", "a$", "ab", "b", "\u00e9"}
	for i := range 150 { // more than a page, in an order of their own
		uris = append(uris, fmt.Sprintf("a#%d", 3+i*7%150))
	}
	for _, uri := range uris {
		s.commit("c", paper(uri, "1", 1))
	}
	s.commit("c", rag.Change{Remove: "a#2#3"}, paper("a#2", "2", 1))
	uris = slices.DeleteFunc(uris, func(uri string) bool { return uri == "a#2#3" })
	slices.Sort(uris)
	for _, prefix := range []string{"", "a", "a#", "a#2", "a#2#", "a#9", "b", "c", "\u00e9", "\xff"} {
		var want, got []string
		for _, uri := range uris {
			if strings.HasPrefix(uri, prefix) {
				want = append(want, uri)
			}
		}
		for _, e := range all(s.T, s.it.Entries(s.Context(), "c", prefix, "")) {
			got = append(got, e.URI)
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			s.Errorf("prefix %q (-want +got):\n%s", prefix, diff)
		}
	}
}

func (s *catalogSuite) entriesAfter() {
	var uris []string
	for i := range 150 { // more than a page
		uris = append(uris, fmt.Sprintf("%c/%03d", 'a'+i%3, i))
	}
	for _, uri := range uris {
		s.commit("c", paper(uri, "1", 1))
	}
	slices.Sort(uris)
	for _, prefix := range []string{"", "b", "b/", "b/1", "z"} {
		for _, after := range []string{"a", uris[0], uris[70], uris[70] + "x", "b/001", uris[149], "z"} {
			var want, got []string
			for _, uri := range uris {
				if strings.HasPrefix(uri, prefix) && uri > after {
					want = append(want, uri)
				}
			}
			for _, e := range all(s.T, s.it.Entries(s.Context(), "c", prefix, after)) {
				got = append(got, e.URI)
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				s.Errorf("prefix %q after %q (-want +got):\n%s", prefix, after, diff)
			}
		}
	}
}

func (s *catalogSuite) breaks() {
	for i := range 5 {
		s.commit("c", paper(fmt.Sprint(i), "1", 2))
	}
	for c, err := range s.it.Scan(s.Context(), "c", rag.Filter{}) {
		if err != nil || c.ID != "0#0" {
			s.Errorf("the first chunk is %q, %v; want 0#0", c.ID, err)
		}
		break
	}
	for e, err := range s.it.Entries(s.Context(), "c", "", "") {
		if err != nil {
			s.Fatal(err)
		}
		s.commit("c", rag.Change{Remove: e.URI})
	}
	s.wantScan("c")
}
