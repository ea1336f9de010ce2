package rag_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/catalog"
	_ "github.com/seed-d8745b77/rag/fusion"
	_ "github.com/seed-d8745b77/rag/loader"
	_ "github.com/seed-d8745b77/rag/sparse"
	_ "github.com/seed-d8745b77/rag/splitter"
	_ "github.com/seed-d8745b77/rag/trace"
	_ "github.com/seed-d8745b77/rag/transform"
	_ "github.com/seed-d8745b77/rag/vectorstore"
)

func TestUnchangedSourcesAreSkippedAndNothingIsWritten(t *testing.T) {
	f := newFixture(t)
	for i := range 20 {
		f.write(fmt.Sprintf("doc%02d.txt", i), prose(fmt.Sprintf("subject%d", i), 3))
	}
	f.ingest(nil)
	before, err := os.ReadFile(filepath.Join(f.dir, "rag.db"))
	if err != nil {
		t.Fatal(err)
	}
	embedded := f.embedder.Texts()
	rep := f.ingest(nil)
	if rep.Unchanged != 20 || rep.Added+rep.Updated+rep.Embedded+rep.Chunks.New != 0 {
		t.Errorf("report: %+v", rep)
	}
	if f.embedder.Texts() != embedded {
		t.Error("the second ingest embedded something")
	}
	after, err := os.ReadFile(filepath.Join(f.dir, "rag.db"))
	if err != nil {
		t.Fatal(err)
	}
	if string(before) != string(after) {
		t.Error("the second ingest changed rag.db")
	}
}

func TestOneChangedParagraphReembedsAtMostThreeChunks(t *testing.T) {
	f := newFixture(t)
	text := prose("lighthouses", 1100)
	f.write("long.txt", text)
	rep := f.ingest(nil)
	if rep.Chunks.New < 350 {
		t.Fatalf("only %d chunks: make the text longer", rep.Chunks.New)
	}
	for _, at := range []int{0, 217, 550, 1099} {
		before := f.chunkIDs()
		mark := fmt.Sprintf("Paragraph %d is about", at)
		text = strings.Replace(text, mark, mark+" nothing if not", 1)
		f.write("long.txt", text)
		rep = f.ingest(nil)
		if rep.Updated != 1 || rep.Embedded > 3 || rep.Chunks.New > 3 {
			t.Errorf("paragraph %d: %+v", at, rep)
		}
		if kept := intersect(before, f.chunkIDs()); len(kept) < len(before)-3 {
			t.Errorf("paragraph %d: %d of %d chunk IDs kept", at, len(kept), len(before))
		}
		f.sound()
	}
}

func intersect(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return !slices.Contains(b, s) })
}

func TestARenamedFileIsMovedWithoutEmbedding(t *testing.T) {
	f := newFixture(t)
	f.write("old.md", "# Tides\n\n"+prose("tides", 8))
	f.ingest(nil)
	embedded := f.embedder.Texts()
	if err := os.Rename(filepath.Join(f.docs, "old.md"), filepath.Join(f.docs, "new.md")); err != nil {
		t.Fatal(err)
	}
	rep := f.ingest(nil)
	if rep.Moved != 1 || rep.Added+rep.Updated+rep.Deleted != 0 || rep.Embedded != 0 {
		t.Errorf("report: %+v", rep)
	}
	if f.embedder.Texts() != embedded {
		t.Error("the move embedded something")
	}
	if got := names(f.search(rag.Query{Text: "tides origin"})); slices.Contains(got, "old.md") || !slices.Contains(got, "new.md") {
		t.Errorf("hits in %v", got)
	}
	f.sound()
}

func TestACopyIsAddedNotMoved(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", prose("moss", 4))
	f.ingest(nil)
	f.write("b.txt", prose("moss", 4))
	if rep := f.ingest(nil); rep.Added != 1 || rep.Moved != 0 {
		t.Errorf("report: %+v", rep)
	}
}

func TestOfTwoEqualFilesOneCanBeDeleted(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", prose("copper", 4))
	f.write("b.txt", prose("copper", 4))
	f.ingest(nil)
	rep, err := f.Delete(t.Context(), rag.DeleteRequest{URIs: []string{rag.FileURI(filepath.Join(f.docs, "a.txt"))}})
	if err != nil || rep.Documents != 1 {
		t.Fatalf("delete: %+v, %v", rep, err)
	}
	got := names(f.search(rag.Query{Text: "copper growth"}))
	if len(got) == 0 || slices.Contains(got, "a.txt") {
		t.Errorf("hits in %v", got)
	}
	f.sound()
}

func TestDeleteOfAFolderTakesWhatLiesBelowIt(t *testing.T) {
	f := newFixture(t)
	f.write("sub/a.txt", "About tin.")
	f.write("sub/deep/b.txt", "About lead.")
	f.write("subway.txt", "About trains.")
	f.ingest(nil)
	folder := rag.FileURI(filepath.Join(f.docs, "sub")) + "/"
	rep, err := f.Delete(t.Context(), rag.DeleteRequest{URIs: []string{folder, folder + "a.txt", folder + "none.txt"}})
	if err != nil || rep.Documents != 2 || len(rep.NotFound) != 1 {
		t.Errorf("%+v, %v", rep, err)
	}
	if ids := f.chunkIDs(); len(ids) != 1 || !strings.HasPrefix(ids[0], "subway.txt/") {
		t.Errorf("left: %v", ids)
	}
	f.sound()
}

func TestPruneRemovesWhatIsGone(t *testing.T) {
	f := newFixture(t)
	f.write("keep.txt", prose("iron", 2))
	f.write("sub/gone.txt", prose("tin", 2))
	f.ingest(nil)
	if err := os.RemoveAll(filepath.Join(f.docs, "sub")); err != nil {
		t.Fatal(err)
	}
	if rep := f.ingest(nil); rep.Deleted != 0 || rep.Unchanged != 1 {
		t.Errorf("without prune: %+v", rep)
	}
	dry := f.ingest(func(r *rag.IngestRequest) { r.Prune, r.DryRun = true, true })
	if dry.Deleted != 1 || len(dry.Plan) != 2 || dry.Plan[1].Action != "delete" {
		t.Errorf("dry run: %+v", dry)
	}
	if got := names(f.search(rag.Query{Text: "tin legacy"})); !slices.Contains(got, "gone.txt") {
		t.Errorf("the dry run deleted: %v", got)
	}
	if rep := f.ingest(func(r *rag.IngestRequest) { r.Prune = true }); rep.Deleted != 1 || rep.Chunks.Removed == 0 {
		t.Errorf("with prune: %+v", rep)
	}
	if got := names(f.search(rag.Query{Text: "tin legacy"})); slices.Contains(got, "gone.txt") {
		t.Errorf("still found: %v", got)
	}
	f.sound()
}

func TestPruneSparesWhatCouldNotBeListed(t *testing.T) {
	f := newFixture(t)
	f.write("sub/a.txt", prose("zinc", 2))
	f.ingest(nil)
	set := rag.Sources{Scope: rag.FileURI(f.docs) + "/", All: func(yield func(rag.Source, error) bool) {
		yield(rag.Source{URI: rag.FileURI(filepath.Join(f.docs, "sub"))}, os.ErrPermission)
	}}
	rep, err := f.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{set}, Prune: true})
	if !errors.Is(err, rag.ErrPartial) || rep.Deleted != 0 || len(rep.Failed) != 1 {
		t.Errorf("%+v, %v", rep, err)
	}
}

func TestAFailingSourceKeepsItsOldVersionAndTheRunGoesOn(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", "A text about quartz.")
	f.write("b.txt", "A text about basalt.")
	f.ingest(nil)
	f.write("a.txt", "\x00\x01\x02 binary now \xff\xfe\x00")
	f.write("c.txt", "A text about granite.")
	rep, err := f.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(f.docs)}})
	if !errors.Is(err, rag.ErrPartial) {
		t.Fatalf("error %v", err)
	}
	var stage *rag.StageError
	if !errors.As(err, &stage) || stage.Stage != rag.StageLoad || !strings.HasSuffix(stage.URI, "/a.txt") {
		t.Errorf("stage error %+v", stage)
	}
	if rep.Added != 1 || rep.Unchanged != 1 || len(rep.Failed) != 1 || rep.Failed[0].Stage != rag.StageLoad {
		t.Errorf("report: %+v", rep)
	}
	if got := names(f.search(rag.Query{Text: "quartz", Mode: rag.Sparse})); !slices.Equal(got, []string{"a.txt"}) {
		t.Errorf("the old version answers no more: %v", got)
	}
}

// panicky is a loader that stands on a parser with a bug.
type panicky struct{}

func (panicky) Formats() []rag.Format {
	return []rag.Format{{Name: "boom", Extensions: []string{".boom"}}}
}

func (panicky) Load(context.Context, rag.Source) iter.Seq2[rag.Document, error] {
	return func(func(rag.Document, error) bool) { panic("index out of range") }
}

func TestAPanicInALoaderIsTheFilesFailure(t *testing.T) {
	f := newFixture(t, rag.WithLoader("boom", panicky{}))
	f.write("a.boom", "x")
	f.write("b.txt", "A text about slate.")
	rep, err := f.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(f.docs)}})
	if !errors.Is(err, rag.ErrPartial) || !errors.Is(err, rag.ErrInvalid) || rep.Added != 1 || len(rep.Failed) != 1 {
		t.Errorf("%+v, %v", rep, err)
	}
}

func TestMetadataChangeKeepsChunkIDsAndEmbedsNothing(t *testing.T) {
	f := newFixture(t)
	text := prose("amber", 5)
	src := func(country string) rag.Sources {
		set := rag.Bytes("mem:///amber.txt", []byte(text))
		return rag.Sources{All: func(yield func(rag.Source, error) bool) {
			for s, err := range set.All {
				s.Meta = rag.Meta{"country": country}
				yield(s, err)
			}
		}}
	}
	if _, err := f.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{src("UK")}}); err != nil {
		t.Fatal(err)
	}
	ids := f.chunkIDs()
	rep, err := f.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{src("FR")}})
	if err != nil || rep.Updated != 1 || rep.Embedded != 0 {
		t.Errorf("%+v, %v", rep, err)
	}
	if diff := cmp.Diff(ids, f.chunkIDs()); diff != "" {
		t.Error(diff)
	}
	for _, mode := range []rag.Mode{rag.Dense, rag.Sparse} {
		if n := len(f.search(rag.Query{Text: "amber", Mode: mode, Filter: rag.Eq("country", "FR")}).Hits); n == 0 {
			t.Errorf("%s: the new metadata is not filtered on", mode)
		}
		if n := len(f.search(rag.Query{Text: "amber", Mode: mode, Filter: rag.Eq("country", "UK")}).Hits); n != 0 {
			t.Errorf("%s: the old metadata still matches %d chunks", mode, n)
		}
	}
}
