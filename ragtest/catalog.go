package ragtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-d8745b77/rag"
)

// TestCatalog checks the contract of [rag.Catalog]. open returns the catalog kept in a directory, empty for a directory not
// seen before; the suite closes it if it is an io.Closer.
func TestCatalog(t *testing.T, open func(t *testing.T, dir string) rag.Catalog, list ...Trait) {
	t.Helper()
	tr := traitsOf(list)
	for _, c := range []struct {
		sentence string
		check    func(*catalogSuite)
	}{
		{"what is put comes back exactly, nil apart from empty", (*catalogSuite).roundTrip},
		{"reopen finds all", (*catalogSuite).reopen},
		{"a put replaces the document of its URI with its chunks", (*catalogSuite).replace},
		{"a commit is all or nothing", (*catalogSuite).atomic},
		{"changes are applied in order", (*catalogSuite).order},
		{"a change that sets none or several fields is ErrInvalid", (*catalogSuite).oneField},
		{"an unknown collection or URI is ErrNotFound, or empty", (*catalogSuite).unknown},
		{"removing and dropping what is not there is no error", (*catalogSuite).removeAbsent},
		{"collections do not see each other", (*catalogSuite).isolated},
		{"Chunks gives the live ones in the order asked", (*catalogSuite).chunks},
		{"Scan applies Filter.Match, by URI and ordinal", (*catalogSuite).scan},
		{"Scan of an invalid filter is ErrInvalid", (*catalogSuite).invalidFilter},
		{"Entries yields the ledger by URI", (*catalogSuite).entries},
		{"Entries of a prefix yields those whose URI begins with it", (*catalogSuite).entriesOfPrefix},
		{"Entries after a URI yields those behind it", (*catalogSuite).entriesAfter},
		{"sequences end when the consumer breaks, and the consumer may write", (*catalogSuite).breaks},
		{"Collections counts documents and chunks by name", (*catalogSuite).collections},
		{"the first commit makes the collection, also one without changes", (*catalogSuite).firstCommit},
		{"a header is replaced whole", (*catalogSuite).header},
		{"a picture stays as long as a document has it", (*catalogSuite).pictures},
		{"Image reads the pictures that documents of the collection have", (*catalogSuite).image},
		{"Drop removes a collection", (*catalogSuite).drop},
		{"a name that is empty or holds a control character is ErrInvalid", (*catalogSuite).names},
		{"what goes in and comes out shares no memory", (*catalogSuite).ownership},
		{"thousands of chunks in one document", (*catalogSuite).large},
		{"a cancelled context gives its error", (*catalogSuite).cancelled},
		{"readers beside a writer see whole versions", (*catalogSuite).concurrent},
		{"rounds of put, remove and re-put agree with a map", (*catalogSuite).random},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			s := &catalogSuite{T: t, traits: tr, opener: open, dir: t.TempDir()}
			s.open()
			t.Cleanup(s.close)
			c.check(s)
		})
	}
}

type catalogSuite struct {
	*testing.T
	traits
	opener func(t *testing.T, dir string) rag.Catalog
	dir    string
	cat    rag.Catalog
}

func (s *catalogSuite) open() { s.cat = s.opener(s.T, s.dir) }

func (s *catalogSuite) close() {
	if c, ok := s.cat.(io.Closer); ok {
		if err := c.Close(); err != nil {
			s.Errorf("close: %v", err)
		}
	}
}

func (s *catalogSuite) commit(collection string, changes ...rag.Change) {
	s.Helper()
	if err := s.cat.Commit(s.Context(), collection, changes); err != nil {
		s.Fatalf("commit: %v", err)
	}
}

// all drains a sequence.
func all[T any](t *testing.T, seq iter.Seq2[T, error]) (list []T) {
	t.Helper()
	for x, err := range seq {
		if err != nil {
			t.Fatalf("sequence: %v", err)
		}
		list = append(list, x)
	}
	return list
}

func (s *catalogSuite) scanIDs(collection string, f rag.Filter) []string {
	s.Helper()
	var ids []string
	for _, c := range all(s.T, s.cat.Scan(s.Context(), collection, f)) {
		ids = append(ids, c.ID)
	}
	return ids
}

// wantScan compares the IDs of all chunks.
func (s *catalogSuite) wantScan(collection string, want ...string) {
	s.Helper()
	if diff := gocmp.Diff(want, s.scanIDs(collection, rag.Filter{}), cmpopts.EquateEmpty()); diff != "" {
		s.Errorf("chunks of %s (-want +got):\n%s", collection, diff)
	}
}

// wantRecord compares the document of fullRecord in the collection "c".
func (s *catalogSuite) wantRecord(want rag.Record) {
	s.Helper()
	entry, err := s.cat.Entry(s.Context(), "c", want.Entry.URI)
	if err != nil {
		s.Fatal(err)
	}
	if diff := gocmp.Diff(want.Entry, entry); diff != "" {
		s.Errorf("entry (-want +got):\n%s", diff)
	}
	doc, err := s.cat.Document(s.Context(), "c", want.Entry.URI)
	if err != nil {
		s.Fatal(err)
	}
	if diff := gocmp.Diff(want.Document, doc); diff != "" {
		s.Errorf("document (-want +got):\n%s", diff)
	}
	chunks, err := s.cat.Chunks(s.Context(), "c", []string{"c1", "c2"})
	if err != nil {
		s.Fatal(err)
	}
	if diff := gocmp.Diff(want.Chunks, chunks); diff != "" {
		s.Errorf("chunks (-want +got):\n%s", diff)
	}
}

func (s *catalogSuite) roundTrip() {
	rec := fullRecord()
	s.commit("c", rag.Change{Put: &rec})
	s.wantRecord(fullRecord())
	bare := rag.Record{Entry: rag.Entry{URI: "bare", Size: -1}}
	s.commit("c", rag.Change{Put: &bare})
	entry, err := s.cat.Entry(s.Context(), "c", "bare")
	if diff := gocmp.Diff(bare.Entry, entry); diff != "" || err != nil {
		s.Errorf("entry of zero values: %v (-want +got):\n%s", err, diff)
	}
	doc, err := s.cat.Document(s.Context(), "c", "bare")
	if diff := gocmp.Diff(bare.Document, doc); diff != "" || err != nil {
		s.Errorf("document of zero values: %v (-want +got):\n%s", err, diff)
	}
}

func (s *catalogSuite) reopen() {
	if s.volatile {
		s.Skip("the catalog keeps nothing")
	}
	rec := fullRecord()
	header := rag.Header{Embedder: "e", Dims: 3, Sparse: "s", Created: ingested, Dirty: true}
	s.commit("c", rag.Change{Header: &header}, rag.Change{Put: &rec}, paper("z", "1", 3))
	before, err := s.cat.Collections(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	s.close()
	s.open()
	s.wantRecord(fullRecord())
	s.wantScan("c", "c1", "c2", "z#0", "z#1", "z#2")
	after, err := s.cat.Collections(s.Context())
	if diff := gocmp.Diff(before, after); diff != "" || err != nil {
		s.Errorf("collections: %v (-before +after):\n%s", err, diff)
	}
}

func (s *catalogSuite) replace() {
	s.commit("c", paper("a", "old", 3), paper("b", "other", 1))
	s.commit("c", paper("a", "new", 2))
	s.wantScan("c", "a#0", "a#1", "b#0")
	for _, c := range all(s.T, s.cat.Scan(s.Context(), "c", rag.Eq(rag.FieldURI, "a"))) {
		if c.Text != "new" {
			s.Errorf("chunk %s has the text of the old version", c.ID)
		}
	}
	if d, err := s.cat.Document(s.Context(), "c", "a"); err != nil || d.Text != "new" {
		s.Errorf("document text %q, %v; want new", d.Text, err)
	}
	if gone, err := s.cat.Chunks(s.Context(), "c", []string{"a#2"}); err != nil || len(gone) != 0 {
		s.Errorf("a chunk of the old version lives: %v, %v", gone, err)
	}
}

func (s *catalogSuite) atomic() {
	withImage := paper("a", "old", 2)
	withImage.Put.Document.Images = []rag.Image{picture("one")}
	s.commit("c", rag.Change{Header: &rag.Header{Embedder: "old"}}, withImage, paper("b", "old", 1))
	for name, bad := range map[string]rag.Change{
		"odd metadata":   {Put: &rag.Record{Entry: rag.Entry{URI: "x", Meta: rag.Meta{"k": struct{}{}}}}},
		"no URI":         {Put: &rag.Record{}},
		"no chunk ID":    {Put: &rag.Record{Entry: rag.Entry{URI: "x"}, Chunks: []rag.Chunk{{}}}},
		"taken chunk ID": {Put: &rag.Record{Entry: rag.Entry{URI: "x"}, Chunks: []rag.Chunk{{ID: "b#0"}}}},
		"same chunk ID":  {Put: &rag.Record{Entry: rag.Entry{URI: "x"}, Chunks: []rag.Chunk{{ID: "y"}, {ID: "y", Ordinal: 1}}}},
	} {
		err := s.cat.Commit(s.Context(), "c", []rag.Change{
			{Header: &rag.Header{Embedder: "new"}}, paper("a", "new", 3), {Remove: "a"}, paper("n", "new", 1), bad,
		})
		if !errors.Is(err, rag.ErrInvalid) {
			s.Errorf("%s: %v, want ErrInvalid", name, err)
		}
		if err := s.cat.Commit(s.Context(), "fresh", []rag.Change{paper("a", "new", 1), bad, bad}); err == nil && name != "taken chunk ID" {
			s.Errorf("%s in a new collection: no error", name)
		}
	}
	s.wantScan("c", "a#0", "a#1", "b#0")
	d, err := s.cat.Document(s.Context(), "c", "a")
	if err != nil || d.Text != "old" || len(d.Images) != 1 || string(d.Images[0].Data) != "one" {
		s.Errorf("after refused commits document a is %q with %d images, %v", d.Text, len(d.Images), err)
	}
	infos, err := s.cat.Collections(s.Context())
	if err != nil || len(infos) == 0 || infos[0].Header.Embedder != "old" {
		s.Errorf("after refused commits the collections are %v, %v", infos, err)
	}
}

func (s *catalogSuite) order() {
	s.commit("c", paper("a", "1", 1), rag.Change{Remove: "a"}, paper("b", "1", 2), paper("b", "2", 1), rag.Change{Remove: "x"}, paper("x", "1", 1))
	s.wantScan("c", "b#0", "x#0")
	// A chunk ID may pass to another document once its owner is gone.
	moved := paper("y", "1", 0)
	moved.Put.Chunks = []rag.Chunk{{ID: "x#0", URI: "y"}}
	s.commit("c", rag.Change{Remove: "x"}, moved)
	s.wantScan("c", "b#0", "x#0")
}

func (s *catalogSuite) oneField() {
	for name, c := range map[string]rag.Change{
		"none": {}, "two": {Header: &rag.Header{}, Remove: "a"}, "put and remove": {Put: paper("a", "1", 1).Put, Remove: "b"},
	} {
		if err := s.cat.Commit(s.Context(), "c", []rag.Change{c}); !errors.Is(err, rag.ErrInvalid) {
			s.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
}

func (s *catalogSuite) unknown() {
	s.commit("c", paper("a", "1", 1))
	for _, at := range [][2]string{{"c", "b"}, {"nowhere", "a"}} {
		if _, err := s.cat.Entry(s.Context(), at[0], at[1]); !errors.Is(err, rag.ErrNotFound) {
			s.Errorf("entry %v: %v, want ErrNotFound", at, err)
		}
		if _, err := s.cat.Document(s.Context(), at[0], at[1]); !errors.Is(err, rag.ErrNotFound) {
			s.Errorf("document %v: %v, want ErrNotFound", at, err)
		}
	}
	if got, err := s.cat.Chunks(s.Context(), "nowhere", []string{"a#0"}); err != nil || len(got) != 0 {
		s.Errorf("chunks: %v, %v; want none", got, err)
	}
	s.wantScan("nowhere")
	if got := all(s.T, s.cat.Entries(s.Context(), "nowhere", "", "")); len(got) != 0 {
		s.Errorf("entries: %v, want none", got)
	}
}

func (s *catalogSuite) removeAbsent() {
	s.commit("c", paper("a", "1", 1), rag.Change{Remove: "b"})
	if err := s.cat.Drop(s.Context(), "nowhere"); err != nil {
		s.Errorf("drop: %v", err)
	}
	s.wantScan("c", "a#0")
}

func (s *catalogSuite) isolated() {
	s.commit("one", paper("same", "first", 2))
	s.commit("two", paper("same", "second", 1))
	s.commit("one\u00a0", paper("other", "third", 1))
	for collection, text := range map[string]string{"one": "first", "two": "second"} {
		got, err := s.cat.Chunks(s.Context(), collection, []string{"same#0"})
		if err != nil || len(got) != 1 || got[0].Text != text {
			s.Errorf("chunk of %s: %v, %v; want text %s", collection, got, err, text)
		}
	}
	s.commit("two", rag.Change{Remove: "same"})
	s.wantScan("one", "same#0", "same#1")
	s.wantScan("two")
}

func (s *catalogSuite) chunks() {
	s.commit("c", paper("a", "1", 3), paper("b", "1", 2))
	got, err := s.cat.Chunks(s.Context(), "c", []string{"b#1", "absent", "a#2", "", "a#0", "b#1"})
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
	if got, err := s.cat.Chunks(s.Context(), "c", nil); err != nil || len(got) != 0 {
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
	for c, err := range s.cat.Scan(s.Context(), "c", rag.Filter{Op: "like"}) {
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
	for _, e := range all(s.T, s.cat.Entries(s.Context(), "c", "", "")) {
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
		for _, e := range all(s.T, s.cat.Entries(s.Context(), "c", prefix, "")) {
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
			for _, e := range all(s.T, s.cat.Entries(s.Context(), "c", prefix, after)) {
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
	for c, err := range s.cat.Scan(s.Context(), "c", rag.Filter{}) {
		if err != nil || c.ID != "0#0" {
			s.Errorf("the first chunk is %q, %v; want 0#0", c.ID, err)
		}
		break
	}
	for e, err := range s.cat.Entries(s.Context(), "c", "", "") {
		if err != nil {
			s.Fatal(err)
		}
		s.commit("c", rag.Change{Remove: e.URI})
	}
	s.wantScan("c")
}

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
	got, err := s.cat.Collections(s.Context())
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
		Domain: &rag.DomainRecord{Name: "fees", File: "file:///fees.yaml", Text: "name: fees\n"}, Manifests: []string{"file:///fees.jsonl"}}
	s.commit("c", paper("a", "1", 0), rag.Change{Header: &full})
	s.wantInfos(rag.CollectionInfo{Name: "c", Header: full, Documents: 1, Updated: ingested})
	s.commit("c", rag.Change{Header: &rag.Header{Dims: 1}})
	s.wantInfos(rag.CollectionInfo{Name: "c", Header: rag.Header{Dims: 1}, Documents: 1, Updated: ingested})
}

// pictures shares pictures between documents and collections and takes their owners away one by one.
func (s *catalogSuite) drop() {
	s.commit("c", paper("a", "1", 2))
	s.commit("d", paper("a", "1", 1))
	if err := s.cat.Drop(s.Context(), "c"); err != nil {
		s.Fatal(err)
	}
	s.wantScan("c")
	s.wantInfos(rag.CollectionInfo{Name: "d", Documents: 1, Chunks: 1, Updated: ingested})
	s.commit("c", paper("a", "2", 1))
	s.wantScan("c", "a#0")
}

func (s *catalogSuite) names() {
	for _, name := range []string{"", "a\nb", "\x00", "tab\t"} {
		if err := s.cat.Commit(s.Context(), name, []rag.Change{paper("a", "1", 1)}); !errors.Is(err, rag.ErrInvalid) {
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
	if got.Entry, err = s.cat.Entry(s.Context(), "c", rec.Entry.URI); err != nil {
		s.Fatal(err)
	}
	if got.Document, err = s.cat.Document(s.Context(), "c", rec.Entry.URI); err != nil {
		s.Fatal(err)
	}
	if got.Chunks, err = s.cat.Chunks(s.Context(), "c", []string{"c1"}); err != nil {
		s.Fatal(err)
	}
	spoil(got)
	s.wantRecord(fullRecord())
}

func (s *catalogSuite) large() {
	const n = 5000
	s.commit("c", paper("big", "1", n), paper("small", "1", 1))
	e, err := s.cat.Entry(s.Context(), "c", "big")
	if err != nil || len(e.Chunks) != n {
		s.Fatalf("entry with %d chunks, %v; want %d", len(e.Chunks), err, n)
	}
	if got := len(s.scanIDs("c", rag.Filter{})); got != n+1 {
		s.Errorf("%d chunks, want %d", got, n+1)
	}
	s.commit("c", paper("big", "2", 2))
	s.wantScan("c", "big#0", "big#1", "small#0")
}

func (s *catalogSuite) cancelled() {
	s.commit("c", paper("a", "1", 1))
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	check := func(what string, err error) {
		if !errors.Is(err, context.Canceled) {
			s.Errorf("%s: %v, want context.Canceled", what, err)
		}
	}
	_, err := s.cat.Entry(ctx, "c", "a")
	check("entry", err)
	_, err = s.cat.Document(ctx, "c", "a")
	check("document", err)
	_, err = s.cat.Chunks(ctx, "c", []string{"a#0"})
	check("chunks", err)
	_, err = s.cat.Image(ctx, "c", picture("x").ID)
	check("image", err)
	_, err = s.cat.Collections(ctx)
	check("collections", err)
	check("commit", s.cat.Commit(ctx, "c", []rag.Change{{Remove: "a"}}))
	check("drop", s.cat.Drop(ctx, "c"))
	for _, err := range s.cat.Scan(ctx, "c", rag.Filter{}) {
		check("scan", err)
	}
	for _, err := range s.cat.Entries(ctx, "c", "", "") {
		check("entries", err)
	}
	s.wantScan("c", "a#0")
}

func (s *catalogSuite) concurrent() {
	s.commit("c", paper("a", "0", 20), paper("b", "0", 20))
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 1; i <= 20; i++ {
			version := fmt.Sprint(i)
			changes := []rag.Change{paper("a", version, 20), paper("b", version, 20)}
			if err := s.cat.Commit(s.Context(), "c", changes); err != nil {
				s.Errorf("commit: %v", err)
			}
		}
	})
	for range 20 {
		wg.Go(func() {
			for range 10 {
				got, err := s.cat.Chunks(s.Context(), "c", []string{"a#0", "a#19", "b#0", "b#19"})
				if err != nil || len(got) != 4 {
					s.Errorf("%d chunks, %v; want 4", len(got), err)
					continue
				}
				for _, c := range got {
					if c.Text != got[0].Text {
						s.Errorf("one read saw versions %s and %s of one commit", got[0].Text, c.Text)
					}
				}
			}
		})
	}
	wg.Wait()
}

func (s *catalogSuite) random() {
	rnd := rand.New(rand.NewPCG(7, 8))
	model := map[string]int{} // URI → number of chunks
	for round := range 300 {
		uri := fmt.Sprintf("doc%02d", rnd.IntN(20))
		if rnd.IntN(3) == 0 {
			s.commit("c", rag.Change{Remove: uri})
			delete(model, uri)
		} else {
			n := rnd.IntN(4)
			s.commit("c", paper(uri, fmt.Sprint(round), n))
			model[uri] = n
		}
		if round%10 != 9 {
			continue
		}
		var want []string
		chunks := 0
		for _, uri := range slices.Sorted(maps.Keys(model)) {
			for i := range model[uri] {
				want = append(want, fmt.Sprintf("%s#%d", uri, i))
			}
			chunks += model[uri]
		}
		s.wantScan("c", want...)
		infos, err := s.cat.Collections(s.Context())
		if err != nil || len(infos) != 1 || infos[0].Documents != len(model) || infos[0].Chunks != chunks {
			s.Fatalf("round %d: %v, %v; want %d documents and %d chunks", round, infos, err, len(model), chunks)
		}
	}
}
