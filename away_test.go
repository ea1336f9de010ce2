package rag_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/catalog"
)

// rename gives a file or the whole folder of documents another name.
func (f *fixture) rename(from, to string) {
	f.t.Helper()
	if err := os.Rename(from, to); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) file(name string) string { return filepath.Join(f.docs, name) }

// wantGiven looks for the title and country of a document.
func (f *fixture) wantGiven(name, title, country string) {
	f.t.Helper()
	got := f.ledger(name)
	if is, _ := got.Meta["country"].(string); got.Title != title || is != country {
		f.t.Errorf("%s has the title %q and the metadata %v, want %q and %s", name, got.Title, got.Meta, title, country)
	}
}

func (f *fixture) documents() (names []string) {
	f.t.Helper()
	for entry, err := range f.Documents(f.t.Context(), "") {
		if err != nil {
			f.t.Fatal(err)
		}
		path, _ := rag.FilePath(entry.URI)
		names = append(names, filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path))
	}
	return names
}

// A folder that has another name and is ingested under that alone is the same documents.
func TestARenamedFolderIsMoved(t *testing.T) {
	f, _ := ruledFixture(t)
	now := filepath.Join(t.TempDir(), "now")
	f.rename(f.docs, now)
	f.docs = now
	dry := f.ingest(func(r *rag.IngestRequest) { r.DryRun = true })
	if dry.Moved != 3 || dry.Added+dry.Deleted != 0 || !strings.HasPrefix(dry.Plan[0].Reason, "was file://") {
		t.Errorf("a dry run: %+v", dry)
	}
	if rep := f.ingest(nil); rep.Moved != 3 || rep.Added+rep.Updated+rep.Embedded != 0 || rep.Kept != 3 {
		t.Errorf("%+v", rep)
	}
	if diff := cmp.Diff([]string{"now/new.md", "now/old.md", "now/own.md"}, f.documents()); diff != "" {
		t.Error(diff)
	}
	f.wantGiven("old.md", "Old fees", "united_kingdom")
	if rep := f.ingest(nil); rep.Unchanged != 3 {
		t.Errorf("%+v", rep)
	}
	if rep, err := f.Verify(t.Context(), ""); err != nil || !rep.OK {
		t.Errorf("%+v, %v", rep, err)
	}
}

// Files of one content are told apart by where they lie, and a file that is still there is no other one's former self.
func TestWhichFileMoved(t *testing.T) {
	f := newFixture(t)
	const text = "# Same\n\nThe same text in all."
	said := func(title, path string) rag.Sources {
		return rag.Sources{All: func(yield func(rag.Source, error) bool) {
			for src, err := range rag.Files(path).All {
				src.Title = title
				yield(src, err)
			}
		}}
	}
	for _, name := range []string{"a/x/same.md", "a/y/same.md", "b/same.md"} {
		f.write(name, text)
		f.ingest(func(r *rag.IngestRequest) { r.Sources = []rag.Sources{said(name, f.file(name))} })
	}
	f.rename(f.file("a"), f.file("c"))
	f.write("d/same.md", text)
	if rep := f.ingest(func(r *rag.IngestRequest) { r.Sources = []rag.Sources{rag.Dir(f.file("c"))} }); rep.Moved != 2 {
		t.Errorf("%+v", rep)
	}
	if rep := f.ingest(func(r *rag.IngestRequest) { r.Sources = []rag.Sources{rag.Dir(f.file("d"))} }); rep.Added != 1 || rep.Moved != 0 {
		t.Errorf("a copy: %+v", rep)
	}
	for name, want := range map[string]string{"c/x/same.md": "a/x/same.md", "c/y/same.md": "a/y/same.md", "b/same.md": "b/same.md"} {
		if got := f.ledger(name).Title; got != want {
			t.Errorf("%s was %s, want %s", name, got, want)
		}
	}
	f.ingest(func(r *rag.IngestRequest) {
		if err := os.Remove(f.file("b/same.md")); err != nil {
			t.Fatal(err)
		}
		r.Sources = []rag.Sources{rag.Bytes("mem:same.md", []byte(text))}
	})
	if got := f.ledger("b/same.md").Title; got != "b/same.md" {
		t.Errorf("what is no file takes the place of one: %q", got)
	}
}

// What was said of a file that was away while a prune looked stands again when it comes back, in a later run and engine too.
func TestAFileThatComesBackKeepsItsMetadata(t *testing.T) {
	f, d := ruledFixture(t)
	away := filepath.Join(t.TempDir(), "old.md")
	prune := func(r *rag.IngestRequest) { r.Prune = true }
	gone := func() *rag.IngestReport {
		t.Helper()
		f.rename(f.file("old.md"), away)
		rep := f.ingest(prune)
		if rep.Deleted != 1 || len(rep.Warnings) != 1 || !strings.HasSuffix(rep.Warnings[0].URI, "old.md") || !strings.Contains(rep.Warnings[0].Message, "--manifest") {
			t.Errorf("%+v", rep)
		}
		return rep
	}
	back := func(change func(*rag.IngestRequest), kept int) {
		t.Helper()
		f.rename(away, f.file("old.md"))
		if rep := f.ingest(change); rep.Added != 1 || rep.Kept != kept {
			t.Errorf("added %d, kept %d, want %d", rep.Added, rep.Kept, kept)
		}
	}
	gone()
	if _, err := f.Reindex(t.Context(), rag.ReindexRequest{}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f.open()
	back(prune, 3)
	f.wantGiven("old.md", "Old fees", "united_kingdom")

	gone()
	back(func(r *rag.IngestRequest) { r.Sources = told(t, f, d) }, 0) // a manifest that is named goes before
	gone()
	back(func(r *rag.IngestRequest) { r.Forget = true }, 0)
	f.wantGiven("old.md", "Old", "")
	f.rename(f.file("old.md"), away)
	f.ingest(prune)
	back(nil, 0)
}

// An explicit delete forgets: of a document that is there, and of a file that is gone.
func TestADeleteForgets(t *testing.T) {
	f, _ := ruledFixture(t)
	uri := rag.FileURI(f.file("old.md"))
	if _, err := f.Delete(t.Context(), rag.DeleteRequest{URIs: []string{uri}}); err != nil {
		t.Fatal(err)
	}
	f.ingest(nil)
	f.wantGiven("old.md", "Old", "")

	if err := os.Remove(f.file("new.md")); err != nil {
		t.Fatal(err)
	}
	f.ingest(func(r *rag.IngestRequest) { r.Prune = true })
	below := rag.FileURI(f.docs) + "/"
	for i, tt := range []struct {
		req       rag.DeleteRequest
		forgotten int
		notFound  int
	}{
		{rag.DeleteRequest{URIs: []string{rag.FileURI(f.file("new.md"))}, DryRun: true}, 1, 0},
		{rag.DeleteRequest{URIs: []string{rag.FileURI(f.file("new.md"))}}, 1, 0},
		{rag.DeleteRequest{URIs: []string{rag.FileURI(f.file("new.md"))}}, 0, 1},
		{rag.DeleteRequest{URIs: []string{below}, DryRun: true}, 0, 0},
	} {
		rep, err := f.Delete(t.Context(), tt.req)
		if err != nil || rep.Forgotten != tt.forgotten || len(rep.NotFound) != tt.notFound {
			t.Errorf("%d: %+v, %v", i, rep, err)
		}
	}
	f.write("new.md", "# New\n\nThe tuition fee is 98.")
	if rep := f.ingest(nil); rep.Added != 1 || rep.Kept != 1 { // own.md
		t.Errorf("%+v", rep)
	}
	f.wantGiven("new.md", "New", "")
}

// What is said belongs to the path as long as there is a file: files that change names keep the metadata of their paths, and
// the report says so.
func TestFilesThatChangeNames(t *testing.T) {
	f, _ := ruledFixture(t)
	f.rename(f.file("old.md"), f.file("x.md"))
	f.rename(f.file("new.md"), f.file("old.md"))
	f.rename(f.file("x.md"), f.file("new.md"))
	rep := f.ingest(nil)
	if rep.Updated != 2 || rep.Kept != 3 || len(rep.Warnings) != 2 || !strings.Contains(rep.Warnings[1].Message, "stay with the path") {
		t.Errorf("%+v", rep)
	}
	f.wantGiven("old.md", "Old fees", "united_kingdom")
	f.wantGiven("new.md", "Old", "france") // its own heading
	if rep := f.ingest(nil); rep.Unchanged != 3 || len(rep.Warnings) != 0 {
		t.Errorf("%+v", rep)
	}
}

// Documents of an export come into a collection with another domain only where the request says whose rules hold.
func TestAnImportIntoAnotherDomain(t *testing.T) {
	f, d := ruledFixture(t)
	var out bytes.Buffer
	if _, err := f.Export(t.Context(), "", &out); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "export.jsonl")
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	exported, err := rag.Exported(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		has    rag.Domain // of the collection that is there
		follow string
		want   *rag.DomainUse // nil: it is refused
	}{
		"the same":          {d, "", &rag.DomainUse{Name: "fees", Remembered: true}},
		"another version":   {fees(t, "flag"), "", nil},
		"another":           {rates(t), "", nil},
		"none":              {nil, "", nil},
		"an unknown word":   {rates(t), "both", nil},
		"the collection's":  {rates(t), rag.FollowCollection, &rag.DomainUse{Name: "rates", Remembered: true, Export: "fees"}},
		"the export's":      {rates(t), rag.FollowExport, &rag.DomainUse{Name: "fees", Was: "rates"}},
		"to none":           {nil, rag.FollowCollection, &rag.DomainUse{Remembered: true, Export: "fees"}},
		"the export's only": {nil, rag.FollowExport, &rag.DomainUse{Name: "fees"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := newFixture(t)
			o.write("there.md", "# There\n\nThe tuition fee was there.")
			o.ingest(func(r *rag.IngestRequest) { r.Domain = tt.has })
			rep, err := o.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{exported}, Follow: tt.follow})
			if tt.want == nil {
				if !errors.Is(err, rag.ErrInvalid) || rep.Added > 0 {
					t.Errorf("%+v, %v", rep, err)
				}
				return
			}
			if err != nil || rep.Added != 3 {
				t.Fatalf("%+v, %v", rep, err)
			}
			if diff := cmp.Diff(tt.want, rep.Domain); diff != "" {
				t.Error(diff)
			}
			if now, err := o.Domain(t.Context(), ""); err != nil || (now == nil) != (tt.want.Name == "") || now != nil && now.Record().Name != tt.want.Name {
				t.Errorf("the collection follows %v, %v", now, err)
			}
		})
	}
}

// A collection remembers so many files that are gone and no more, and says of which it does not.
func TestMoreFilesAreGoneThanAreRemembered(t *testing.T) {
	store := catalog.NewMemory()
	f := newFixture(t, rag.WithCatalog(store))
	header := func() rag.Header {
		t.Helper()
		all, err := f.Collections(t.Context())
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		return all[0].Header
	}
	uri := rag.FileURI(f.file("a.md"))
	f.write("a.md", "# A\n\nOne text.")
	said := rag.Sources{All: func(yield func(rag.Source, error) bool) {
		for src, err := range rag.Dir(f.docs).All {
			src.Title = "Said"
			yield(src, err)
		}
	}}
	f.ingest(func(r *rag.IngestRequest) { r.Sources = []rag.Sources{said} })
	full := header()
	for i := range 4096 {
		full.Away = append(full.Away, rag.AwaySource{URI: fmt.Sprintf("file:///gone/%d.md", i), Given: rag.Given{Title: "Gone"}})
	}
	if err := store.Commit(t.Context(), "default", []rag.Change{{Header: &full}}); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(f.file("a.md")); err != nil {
		t.Fatal(err)
	}
	rep := f.ingest(func(r *rag.IngestRequest) { r.Prune = true })
	if len(rep.Warnings) != 2 || rep.Warnings[0].URI != "file:///gone/0.md" && rep.Warnings[1].URI != "file:///gone/0.md" {
		t.Errorf("%+v", rep.Warnings)
	}
	away := header().Away
	if len(away) != 4096 || away[0].URI != "file:///gone/1.md" || away[4095].URI != uri {
		t.Errorf("%d are remembered, from %s to %s", len(away), away[0].URI, away[len(away)-1].URI)
	}
}
