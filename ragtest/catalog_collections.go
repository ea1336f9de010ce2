package ragtest

import (
	"errors"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-d8745b77/rag"
)

func (s *catalogSuite) collections() {
	late := paper("late", "1", 3)
	late.Put.Entry.Ingested = ingested.Add(time.Hour)
	s.commit("b", paper("a", "1", 2), late, paper("empty", "1", 0))
	s.commit("a", rag.Change{Header: &rag.Header{Dims: 7}})
	s.commit("b", paper("a", "2", 1))
	s.wantInfos(
		rag.CollectionInfo{Name: "a", Header: rag.Header{Dims: 7}},
		rag.CollectionInfo{Name: "b", Documents: 3, Chunks: 4, Updated: ingested.Add(time.Hour)},
	)
	s.commit("b", rag.Change{Remove: "late"})
	s.wantInfos(
		rag.CollectionInfo{Name: "a", Header: rag.Header{Dims: 7}},
		rag.CollectionInfo{Name: "b", Documents: 2, Chunks: 1, Updated: ingested},
	)
}

func (s *catalogSuite) wantInfos(want ...rag.CollectionInfo) {
	s.Helper()
	got, err := s.it.Collections(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		s.Errorf("collections (-want +got):\n%s", diff)
	}
}

func (s *catalogSuite) firstCommit() {
	s.wantInfos()
	s.commit("c")
	s.commit("c")
	s.wantInfos(rag.CollectionInfo{Name: "c"})
}

func (s *catalogSuite) header() {
	full := rag.Header{Embedder: "e/1", Dims: 384, Sparse: "bm25/1", Created: ingested, Dirty: true, Run: rag.RunReindex, Pending: []string{"a", "b"}, Touched: []string{"c"}, Generation: 3,
		Domain: &rag.DomainRecord{Name: "fees", File: "file:///fees.yaml", Text: "name: fees\n"}, Manifests: []string{"file:///fees.jsonl"},
		Away: []rag.AwaySource{{URI: "file:///b.md", Given: rag.Given{Title: "B", Meta: rag.Meta{"country": "france"}}}, {URI: "file:///a.md", Given: rag.Given{Title: "A"}}}}
	s.commit("c", paper("a", "1", 0), rag.Change{Header: &full})
	s.wantInfos(rag.CollectionInfo{Name: "c", Header: full, Documents: 1, Updated: ingested})
	s.commit("c", rag.Change{Header: &rag.Header{Dims: 1}})
	s.wantInfos(rag.CollectionInfo{Name: "c", Header: rag.Header{Dims: 1}, Documents: 1, Updated: ingested})
}

// pictures shares pictures between documents and collections and takes their owners away one by one.
func (s *catalogSuite) drop() {
	s.commit("c", paper("a", "1", 2))
	s.commit("d", paper("a", "1", 1))
	if err := s.it.Drop(s.Context(), "c"); err != nil {
		s.Fatal(err)
	}
	s.wantScan("c")
	s.wantInfos(rag.CollectionInfo{Name: "d", Documents: 1, Chunks: 1, Updated: ingested})
	s.commit("c", paper("a", "2", 1))
	s.wantScan("c", "a#0")
}

func (s *catalogSuite) names() {
	for _, name := range []string{"", "a\nb", "\x00", "tab\t"} {
		if err := s.it.Commit(s.Context(), name, []rag.Change{paper("a", "1", 1)}); !errors.Is(err, rag.ErrInvalid) {
			s.Errorf("name %q: %v, want ErrInvalid", name, err)
		}
	}
	for _, name := range []string{"a b", "\u4e2d\u6587/..", ".", "-", "version", "header"} {
		s.commit(name, paper("a", "1", 1))
		s.wantScan(name, "a#0")
	}
}

func (s *catalogSuite) ownership() {
	rec := fullRecord()
	s.commit("c", rag.Change{Put: &rec})
	spoil := func(r rag.Record) {
		for _, m := range []rag.Meta{r.Entry.Meta, r.Document.Meta, r.Chunks[0].Meta} {
			m["s"] = "spoilt"
			m["l"].([]string)[0] = "spoilt"
		}
		r.Entry.Chunks[0].ID, r.Entry.Warnings[0].Message = "spoilt", "spoilt"
		r.Document.Images[0].Data[0], r.Document.Pages[0] = '!', 99
		r.Document.Sections[0].Title, r.Document.Warnings[0].Message = "spoilt", "spoilt"
		r.Chunks[0].Headings[0], r.Chunks[0].Captions[0].Text = "spoilt", "spoilt"
	}
	spoil(rec)
	s.wantRecord(fullRecord())
	var got rag.Record
	var err error
	if got.Entry, err = s.it.Entry(s.Context(), "c", rec.Entry.URI); err != nil {
		s.Fatal(err)
	}
	if got.Document, err = s.it.Document(s.Context(), "c", rec.Entry.URI); err != nil {
		s.Fatal(err)
	}
	if got.Chunks, err = s.it.Chunks(s.Context(), "c", []string{"c1"}); err != nil {
		s.Fatal(err)
	}
	spoil(got)
	s.wantRecord(fullRecord())
}
