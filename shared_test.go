package rag_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/catalog"
)

// Two documents say the same and show the same picture; a shows another besides.
var (
	sharedPicture, ownPicture = picture(1), picture(2)

	sharedText = "Ferns reproduce by spores, which lie in sporangia."
)

func imageID(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// twins is an engine that has the two documents.
func twins(t *testing.T, opts ...rag.Option) *fixture {
	f := newFixture(t, opts...)
	f.write("a.html", withPictures(sharedText, sharedPicture, ownPicture, sharedPicture))
	f.write("b.html", withPictures(sharedText, sharedPicture))
	f.ingest(nil)
	f.wantTwins("a.html", "b.html")
	return f
}

func (f *fixture) uri(name string) string { return rag.FileURI(filepath.Join(f.docs, name)) }

// wantTwins checks that these files, and nothing else, are found by text, with their pictures, and that the catalog has
// the pictures that they show.
func (f *fixture) wantTwins(files ...string) {
	f.t.Helper()
	f.sound()
	for _, mode := range []rag.Mode{rag.Dense, rag.Sparse, rag.Hybrid} {
		res := f.search(rag.Query{Text: "ferns spores sporangia", Mode: mode})
		got := names(res)
		slices.Sort(got)
		if !slices.Equal(got, files) {
			f.t.Errorf("%s finds %v, want %v", mode, got, files)
		}
		for _, h := range res.Hits {
			if len(h.Chunk.Images) == 0 || h.Chunk.Images[0].ID != imageID(sharedPicture) {
				f.t.Errorf("%s shows %+v", h.Chunk.URI, h.Chunk.Images)
			}
		}
	}
	for _, name := range files {
		if doc, err := f.Document(f.t.Context(), "", f.uri(name)); err != nil || len(doc.Images) == 0 || !bytes.Equal(doc.Images[0].Data, sharedPicture) {
			f.t.Errorf("%s has %d pictures, %v", name, len(doc.Images), err)
		}
	}
	want := 0
	for _, p := range []struct {
		data []byte
		live bool
	}{{sharedPicture, len(files) > 0}, {ownPicture, len(files) > 0 && files[0] != "b.html"}} {
		data, err := f.Image(f.t.Context(), "", imageID(p.data))
		if p.live {
			want++
		}
		if p.live && !bytes.Equal(data, p.data) || !p.live && !errors.Is(err, rag.ErrNotFound) {
			f.t.Errorf("picture: %d bytes, %v; want it to be there: %v", len(data), err, p.live)
		}
	}
	infos, err := f.Collections(f.t.Context())
	if err != nil || len(infos) != 1 || infos[0].Images != want {
		f.t.Errorf("collections %+v, %v; want one with %d pictures", infos, err, want)
	}
}

// chunksOf are the passages of a file.
func (f *fixture) chunksOf(name string) (chunks []rag.Chunk) {
	f.t.Helper()
	for c, err := range f.Chunks(f.t.Context(), "", rag.Eq(rag.FieldURI, f.uri(name))) {
		if err != nil {
			f.t.Fatal(err)
		}
		chunks = append(chunks, c)
	}
	return chunks
}

// The ways in which a document can go.
var goings = map[string]func(*fixture, string) (images int){
	"delete": func(f *fixture, name string) int {
		rep, err := f.Delete(f.t.Context(), rag.DeleteRequest{URIs: []string{f.uri(name)}})
		if err != nil || !rep.Existed || rep.Documents != 1 || rep.Chunks == 0 {
			f.t.Errorf("delete: %+v, %v", rep, err)
		}
		return rep.Images
	},
	"delete by filter": func(f *fixture, name string) int {
		rep, err := f.Delete(f.t.Context(), rag.DeleteRequest{Filter: rag.Eq(rag.FieldURI, f.uri(name))})
		if err != nil || rep.Documents != 1 {
			f.t.Errorf("delete: %+v, %v", rep, err)
		}
		return rep.Images
	},
	"prune": func(f *fixture, name string) int {
		if err := os.Remove(filepath.Join(f.docs, name)); err != nil {
			f.t.Fatal(err)
		}
		if rep := f.ingest(func(r *rag.IngestRequest) { r.Prune = true }); rep.Deleted != 1 {
			f.t.Errorf("prune: %+v", rep)
		}
		return 1
	},
	"change": func(f *fixture, name string) int {
		f.write(name, "")
		if rep := f.ingest(nil); rep.Updated != 1 {
			f.t.Errorf("change: %+v", rep)
		}
		return 1
	},
}

func TestWhatIsSharedStaysWithTheLastOwner(t *testing.T) {
	for way, goes := range goings {
		t.Run(way, func(t *testing.T) {
			f := twins(t)
			before := f.chunksOf("b.html")
			if n := goes(f, "a.html"); n != 1 {
				t.Errorf("%d pictures went with the first, want its own", n)
			}
			f.wantTwins("b.html")
			if diff := cmp.Diff(before, f.chunksOf("b.html")); diff != "" {
				t.Errorf("the passages of the other changed:\n%s", diff)
			}
			if n := goes(f, "b.html"); n != 1 {
				t.Errorf("%d pictures went with the last, want the shared one", n)
			}
			f.wantTwins()
			if rep, err := f.Verify(t.Context(), ""); err != nil || rep.Chunks+rep.Vectors+rep.Postings != 0 {
				t.Errorf("left in the indexes: %+v, %v", rep, err)
			}
		})
	}
}

func TestSharedPicturesOverARename(t *testing.T) {
	f := twins(t)
	if err := os.Rename(filepath.Join(f.docs, "a.html"), filepath.Join(f.docs, "c.html")); err != nil {
		t.Fatal(err)
	}
	if rep := f.ingest(nil); rep.Moved != 1 || rep.Embedded != 0 {
		t.Errorf("report %+v", rep)
	}
	if _, err := f.Image(t.Context(), "", imageID(ownPicture)); err != nil {
		t.Errorf("the picture of the moved document: %v", err)
	}
	goings["delete"](f, "b.html")
	if got := names(f.search(rag.Query{Text: "ferns spores"})); !slices.Equal(got, []string{"c.html"}) {
		t.Errorf("found %v", got)
	}
	if n := goings["delete"](f, "c.html"); n != 2 {
		t.Errorf("%d pictures went, want both", n)
	}
	f.wantTwins()
}

func TestSharedPicturesOverCollections(t *testing.T) {
	f := twins(t)
	f.ingest(func(r *rag.IngestRequest) { r.Collection = "other" })
	rep, err := f.Delete(t.Context(), rag.DeleteRequest{All: true})
	if err != nil || rep.Images != 2 || rep.Documents != 2 {
		t.Errorf("delete: %+v, %v", rep, err)
	}
	for _, data := range [][]byte{sharedPicture, ownPicture} {
		if got, err := f.Image(t.Context(), "other", imageID(data)); err != nil || !bytes.Equal(got, data) {
			t.Errorf("picture of the other collection: %d bytes, %v", len(got), err)
		}
		if _, err := f.Image(t.Context(), "", imageID(data)); !errors.Is(err, rag.ErrNotFound) {
			t.Errorf("picture of the deleted collection: %v", err)
		}
	}
	if res := f.search(rag.Query{Text: "ferns spores", Collection: "other"}); len(res.Hits) != 2 {
		t.Errorf("%d hits in the other collection", len(res.Hits))
	}
	if rep, err = f.Delete(t.Context(), rag.DeleteRequest{Collection: "other", All: true}); err != nil || rep.Images != 2 {
		t.Errorf("delete: %+v, %v", rep, err)
	}
	if _, err := f.Image(t.Context(), "other", imageID(sharedPicture)); !errors.Is(err, rag.ErrNotFound) {
		t.Errorf("picture of the last collection: %v", err)
	}
}

func TestSharedPicturesOverExportAndBackup(t *testing.T) {
	f := twins(t)
	file, rep := f.export()
	if rep.Images != 4 {
		t.Errorf("export: %+v", rep)
	}
	imported := newFixture(t)
	imported.docs = f.docs
	set, err := rag.Exported(file)
	if err != nil {
		t.Fatal(err)
	}
	imported.ingest(func(r *rag.IngestRequest) { r.Sources = []rag.Sources{set} })

	restored := &fixture{t: t, dir: t.TempDir(), docs: f.docs, embedder: f.embedder}
	backup := filepath.Join(t.TempDir(), "backup")
	if err := f.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	if err := catalog.RestoreBolt(restored.dir, backup); err != nil {
		t.Fatal(err)
	}
	restored.open()
	for _, name := range []string{"a.html", "b.html"} { // what goes here stays there
		goings["delete"](f, name)
	}
	f.wantTwins()
	for name, g := range map[string]*fixture{"imported": imported, "restored": restored} {
		t.Run(name, func(t *testing.T) {
			g.t = t
			g.wantTwins("a.html", "b.html")
			goings["delete"](g, "a.html")
			g.wantTwins("b.html")
			goings["delete"](g, "b.html")
			g.wantTwins()
		})
	}
}
