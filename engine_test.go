package rag_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/catalog"
	_ "github.com/seed-d8745b77/rag/fusion"
	_ "github.com/seed-d8745b77/rag/loader"
	"github.com/seed-d8745b77/rag/ragtest"
	_ "github.com/seed-d8745b77/rag/sparse"
	_ "github.com/seed-d8745b77/rag/splitter"
	_ "github.com/seed-d8745b77/rag/trace"
	_ "github.com/seed-d8745b77/rag/transform"
	_ "github.com/seed-d8745b77/rag/vectorstore"
)

// fixture is an engine over real stores and a model-free embedder, with a folder of sources.
type fixture struct {
	*rag.Engine
	t        *testing.T
	dir      string // data
	docs     string // sources
	embedder *ragtest.HashEmbedder
}

func newFixture(t *testing.T, opts ...rag.Option) *fixture {
	t.Helper()
	f := &fixture{t: t, dir: t.TempDir(), docs: t.TempDir(), embedder: &ragtest.HashEmbedder{}}
	f.open(opts...)
	return f
}

func (f *fixture) open(opts ...rag.Option) {
	f.t.Helper()
	eng, err := rag.Open(f.dir, append([]rag.Option{rag.WithEmbedder(f.embedder)}, opts...)...)
	if err != nil {
		f.t.Fatal(err)
	}
	f.Engine = eng
	f.t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			f.t.Error(err)
		}
	})
}

func (f *fixture) write(name, text string) {
	f.t.Helper()
	p := filepath.Join(f.docs, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) ingest(change func(*rag.IngestRequest)) *rag.IngestReport {
	f.t.Helper()
	req := rag.IngestRequest{Sources: []rag.Sources{rag.Dir(f.docs)}}
	if change != nil {
		change(&req)
	}
	rep, err := f.Ingest(f.t.Context(), req)
	if err != nil && !errors.Is(err, rag.ErrPartial) {
		f.t.Fatal(err)
	}
	return rep
}

func (f *fixture) search(q rag.Query) *rag.Result {
	f.t.Helper()
	res, err := f.Search(f.t.Context(), q)
	if err != nil {
		f.t.Fatal(err)
	}
	return res
}

// names lists the files of the hits.
func names(res *rag.Result) []string {
	var out []string
	for _, h := range res.Hits {
		out = append(out, filepath.Base(h.Chunk.URI))
	}
	return out
}

// chunkIDs lists the live chunks of the default collection by document and place.
func (f *fixture) chunkIDs() []string {
	f.t.Helper()
	var ids []string
	for entry, err := range f.Documents(f.t.Context(), "") {
		if err != nil {
			f.t.Fatal(err)
		}
		for _, ref := range entry.Chunks {
			ids = append(ids, filepath.Base(entry.URI)+"/"+ref.ID)
		}
	}
	return ids
}

// sound asserts that verify finds nothing.
func (f *fixture) sound() {
	f.t.Helper()
	rep, err := f.Verify(f.t.Context(), "")
	if err != nil {
		f.t.Fatal(err)
	}
	if !rep.OK || rep.Vectors != rep.Chunks || rep.Postings != rep.Chunks {
		f.t.Errorf("verify: %+v", rep)
	}
}

func prose(topic string, paragraphs int) string {
	var b strings.Builder
	for i := range paragraphs {
		fmt.Fprintf(&b, "Paragraph %d is about %s and its %s. ", i, topic, numbered(i))
		for j := range 6 {
			fmt.Fprintf(&b, "It states fact %s%d%d, which nobody else mentions. ", topic, i, j)
		}
		b.WriteString("\n\n")
	}
	return b.String()
}

func numbered(i int) string { return []string{"origin", "growth", "decline", "legacy"}[i%4] }

func TestIngestAndSearch(t *testing.T) {
	f := newFixture(t)
	f.write("ferns.md", "---\nkind: plant\n---\n# Ferns\n\nFerns reproduce by spores, not by seeds.\n\n## Habitat\n\nThey like shade.\n")
	f.write("oaks.txt", "Acorns of the oak feed squirrels in autumn.")
	rep := f.ingest(nil)
	if rep.Added != 2 || rep.Embedded != rep.Chunks.New || rep.Chunks.New < 2 || len(rep.Failed) != 0 {
		t.Fatalf("report: %+v", rep)
	}
	f.sound()
	res := f.search(rag.Query{Text: "how do ferns reproduce, by spores?", Explain: true})
	top := res.Hits[0]
	if got := filepath.Base(top.Chunk.URI); got != "ferns.md" || top.Chunk.Title != "Ferns" {
		t.Errorf("top hit is %s, title %q", got, top.Chunk.Title)
	}
	if res.Mode != rag.Hybrid {
		t.Errorf("mode %s", res.Mode)
	}
	for _, stage := range []string{rag.StageDense, rag.StageSparse, rag.StageFusion} {
		if r, ok := top.RankAt(stage); !ok || r.Position != 1 {
			t.Errorf("rank at %s: %+v, %v", stage, r, ok)
		}
	}
	doc, err := f.Document(t.Context(), "", top.Chunk.URI)
	if err != nil {
		t.Fatal(err)
	}
	if doc.Text[top.Chunk.Start:top.Chunk.End] != top.Chunk.Text {
		t.Error("the chunk is not the document's text at its offsets")
	}
	if got := names(f.search(rag.Query{Text: "reproduce spores acorns", Filter: rag.Eq("kind", "plant")})); slices.Contains(got, "oaks.txt") {
		t.Errorf("filter let %v through", got)
	}
}

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

func TestAnotherEmbedderIsRefused(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", "Some text.")
	f.ingest(nil)
	other, err := rag.Open(f.dir, rag.WithEmbedder(&ragtest.HashEmbedder{Revision: "2"}))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	_, err = other.Search(t.Context(), rag.Query{Text: "text"})
	if !errors.Is(err, rag.ErrFingerprint) || !strings.Contains(err.Error(), "hash/1") || !strings.Contains(err.Error(), "hash/2") {
		t.Errorf("search: %v", err)
	}
	if _, err := other.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(f.docs)}}); !errors.Is(err, rag.ErrFingerprint) {
		t.Errorf("ingest: %v", err)
	}
	if _, err := other.Search(t.Context(), rag.Query{Text: "text", Mode: rag.Sparse}); err != nil {
		t.Errorf("sparse search needs no embedder: %v", err)
	}
}

func TestOneLaneFailingLeavesTheOther(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", "A text about opals.")
	f.ingest(nil)
	f.embedder.Before = func(_ context.Context, role rag.EmbedRole, _ []string) error {
		if role == rag.AsQuestion {
			return rag.ErrUnavailable
		}
		return nil
	}
	res := f.search(rag.Query{Text: "opals"})
	if len(res.Hits) != 1 || res.Mode != rag.Sparse || len(res.Notes) != 1 || res.Notes[0].Stage != rag.StageDense {
		t.Errorf("%+v", res)
	}
	res, err := f.Search(t.Context(), rag.Query{Text: "opals", Mode: rag.Dense})
	if !errors.Is(err, rag.ErrUnavailable) || res == nil || len(res.Hits) != 0 {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestAQuestionInAForeignLanguageLeavesTheDenseLaneOut(t *testing.T) {
	f := newFixture(t)
	f.embedder.Languages = []string{"en"}
	f.write("a.txt", "年假有十五天。The annual leave is fifteen days.")
	f.ingest(nil)
	res := f.search(rag.Query{Text: "年假有几天？"})
	if res.Mode != rag.Sparse || len(res.Notes) != 1 || len(res.Hits) != 1 {
		t.Errorf("%+v", res)
	}
	if res := f.search(rag.Query{Text: "how long is the annual leave?"}); res.Mode != rag.Hybrid || len(res.Notes) != 0 {
		t.Errorf("%+v", res)
	}
}

func TestRerankOrdersAndFallsBack(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", "Short opal.")
	f.write("b.txt", "A longer text about the opal and its colours.")
	f.ingest(nil)
	f.Close()
	f.open(rag.WithReranker(byLength{}))
	res := f.search(rag.Query{Text: "opal", Explain: true})
	if got := names(res); !slices.Equal(got, []string{"b.txt", "a.txt"}) {
		t.Errorf("order %v", got)
	}
	span := res.Trace.Stages[4]
	if span.Moves == nil || span.Moves.MovedUp != 1 || span.Moves.MovedDown != 1 || span.Moves.MaxGain != 1 {
		t.Errorf("moves %+v", span.Moves)
	}
	f.Close()
	f.open(rag.WithReranker(byLength{err: errors.New("model is asleep")}))
	res = f.search(rag.Query{Text: "opal"})
	if len(res.Hits) != 2 || len(res.Notes) != 1 || res.Notes[0].Stage != rag.StageRerank {
		t.Errorf("%+v", res)
	}
	if _, ok := res.Hits[0].RankAt(rag.StageRerank); ok {
		t.Error("a failed reranker left a rank")
	}
}

// byLength prefers long texts.
type byLength struct{ err error }

func (r byLength) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	scores := make([]float64, len(texts))
	for i, s := range texts {
		scores[i] = float64(len(s))
	}
	return scores, r.err
}

func TestExplainSaysWhereAChunkWasLost(t *testing.T) {
	f := newFixture(t)
	for i := range 30 {
		f.write(fmt.Sprintf("d%02d.txt", i), strings.Repeat("opal ", 30-i)+fmt.Sprintf("filler%d words.", i))
	}
	f.write("other.md", "---\nkind: rock\n---\nNothing in common.")
	f.ingest(nil)
	var last rag.Chunk
	for c, err := range f.Chunks(t.Context(), "", rag.Eq("kind", "rock")) {
		if err != nil {
			t.Fatal(err)
		}
		last = c
	}
	q := rag.Query{Text: "opal", TopK: 3}
	x, err := f.Explain(t.Context(), q, rag.ExplainTarget{ChunkID: last.ID})
	if err != nil {
		t.Fatal(err)
	}
	if x.Returned || x.Stages[1].Rank != nil || !strings.Contains(x.Stages[1].Reason, "no word in common") {
		t.Errorf("%+v", x)
	}
	q.Filter = rag.Not(rag.Eq("kind", "rock"))
	if x, err = f.Explain(t.Context(), q, rag.ExplainTarget{ChunkID: last.ID}); err != nil || !strings.Contains(x.Verdict, "filter") {
		t.Errorf("%+v, %v", x, err)
	}
	hit := f.search(q).Hits[0].Chunk.ID
	if x, err = f.Explain(t.Context(), q, rag.ExplainTarget{ChunkID: hit}); err != nil || !x.Returned || *x.Rank != 1 {
		t.Errorf("%+v, %v", x, err)
	}
	if _, err := f.Explain(t.Context(), q, rag.ExplainTarget{ChunkID: "nope"}); !errors.Is(err, rag.ErrNotFound) {
		t.Errorf("unknown chunk: %v", err)
	}
}

func TestAFilterOnAnUnknownFieldIsSaid(t *testing.T) {
	f := newFixture(t)
	f.write("a.md", "---\ntopic: kitchen\n---\nHow to sharpen a knife.")
	f.ingest(nil)
	res := f.search(rag.Query{Text: "knife", Filter: rag.Not(rag.Not(rag.Eq("topc", "kitchen")))})
	if len(res.Hits) != 0 || len(res.Notes) != 1 || !strings.Contains(res.Notes[0].Reason, `did you mean "topic"`) {
		t.Errorf("%+v", res)
	}
	if res = f.search(rag.Query{Text: "knife", Filter: rag.Eq("topic", "garden")}); len(res.Notes) != 0 {
		t.Errorf("a known field without a match: %+v", res.Notes)
	}
}

func TestValidityStatedInMetadata(t *testing.T) {
	f := newFixture(t)
	f.write("old.md", "---\nvalid_until: 2025-12-31\n---\nThe fee is 90.")
	f.write("new.md", "---\nvalid_from: 2026-01-01\nvalid_until: 2026-12-31\n---\nThe fee is 98.")
	f.write("undated.md", "---\nvalid_until: soon\n---\nThe fee is due in May.")
	f.ingest(nil)
	for day, want := range map[string]map[string]string{
		"2025-12-31": {"old.md": "current", "undated.md": "needs_review"}, // the last day counts
		"2026-01-01": {"new.md": "current", "undated.md": "needs_review"},
	} {
		at, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		for _, mode := range []rag.Mode{rag.Dense, rag.Sparse} {
			got := map[string]string{}
			for _, h := range f.search(rag.Query{Text: "the fee", AsOf: at, Mode: mode}).Hits {
				got[filepath.Base(h.Chunk.URI)] = h.Status
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s %s: %s", day, mode, diff)
			}
		}
	}
}

func TestAnEmptyFileIsAnEmptyDocument(t *testing.T) {
	f := newFixture(t)
	f.write("empty.md", "")
	f.write("blank.txt", " \n")
	rep := f.ingest(nil)
	if rep.Added != 2 || rep.Empty != 2 || len(rep.Warnings) != 2 || rep.Warnings[1].Stage != rag.StageLoad || rep.Warnings[1].Message != "the file is empty" {
		t.Errorf("%+v", rep)
	}
}

// several is a loader whose sources hold a document for each line.
type several struct{}

func (several) Formats() []rag.Format {
	return []rag.Format{{Name: "lines", Extensions: []string{".lines"}}}
}

func (several) Load(ctx context.Context, src rag.Source) iter.Seq2[rag.Document, error] {
	return func(yield func(rag.Document, error) bool) {
		r, err := src.Open(ctx)
		if err != nil {
			yield(rag.Document{}, err)
			return
		}
		defer r.Close()
		text, err := io.ReadAll(r)
		if err != nil {
			yield(rag.Document{}, err)
			return
		}
		for line := range strings.Lines(string(text)) {
			if !yield(rag.Document{Text: line}, nil) {
				return
			}
		}
	}
}

func TestASourceOfSeveralDocuments(t *testing.T) {
	f := newFixture(t, rag.WithLoader("lines", several{}))
	uris := func() (out []string) {
		for entry, err := range f.Documents(t.Context(), "") {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, filepath.Base(entry.URI))
		}
		return out
	}
	f.write("a.lines", "About tin.\nAbout lead.\nAbout zinc.\n")
	f.ingest(nil)
	if diff := cmp.Diff([]string{"a.lines", "a.lines#2", "a.lines#3"}, uris()); diff != "" {
		t.Error(diff)
	}
	f.write("a.lines", "About tin.\nAbout lead.\n")
	f.ingest(nil)
	if diff := cmp.Diff([]string{"a.lines", "a.lines#2"}, uris()); diff != "" {
		t.Errorf("shorter: %s", diff)
	}
	if err := os.Rename(filepath.Join(f.docs, "a.lines"), filepath.Join(f.docs, "b.lines")); err != nil {
		t.Fatal(err)
	}
	if rep := f.ingest(nil); rep.Moved != 1 || rep.Embedded != 0 {
		t.Errorf("%+v", rep)
	}
	if diff := cmp.Diff([]string{"b.lines", "b.lines#2"}, uris()); diff != "" {
		t.Errorf("moved: %s", diff)
	}
	f.sound()
	if err := os.Remove(filepath.Join(f.docs, "b.lines")); err != nil {
		t.Fatal(err)
	}
	f.ingest(func(r *rag.IngestRequest) { r.Prune = true })
	if left := uris(); len(left) != 0 {
		t.Errorf("pruned: %v", left)
	}
	f.sound()
}

// A document that was deleted by its own name leaves a gap among those of its source: those behind it still go when the
// source gets shorter, when it is moved, and when it is deleted.
func TestDocumentsBehindAGap(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(f *fixture)
		want []string
	}{
		{"shorter", func(f *fixture) { f.write("a.lines", "About tin.\n"); f.ingest(nil) }, []string{"a.lines", "a.lines#part"}},
		{"the gap is filled", func(f *fixture) {
			f.write("a.lines", "About tin.\nAbout lead.\nAbout gold.\n")
			f.ingest(nil)
		}, []string{"a.lines", "a.lines#2", "a.lines#3", "a.lines#part"}},
		{"moved", func(f *fixture) {
			if err := os.Rename(filepath.Join(f.docs, "a.lines"), filepath.Join(f.docs, "b.lines")); err != nil {
				f.t.Fatal(err)
			}
			f.ingest(nil)
		}, []string{"a.lines#part", "b.lines", "b.lines#10", "b.lines#11", "b.lines#12", "b.lines#2", "b.lines#3", "b.lines#4", "b.lines#5", "b.lines#6", "b.lines#7", "b.lines#8", "b.lines#9"}},
		{"deleted", func(f *fixture) {
			if _, err := f.Delete(f.t.Context(), rag.DeleteRequest{URIs: []string{f.uri("a.lines")}}); err != nil {
				f.t.Fatal(err)
			}
		}, []string{"a.lines#part"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, rag.WithLoader("lines", several{}))
			f.write("a.lines", strings.Repeat("About tin.\n", 12))
			f.ingest(nil)
			if _, err := f.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Bytes(f.uri("a.lines")+"#part", []byte("About a part."))}}); err != nil {
				t.Fatal(err)
			}
			for _, n := range []string{"#2", "#4", "#5"} {
				if _, err := f.Delete(t.Context(), rag.DeleteRequest{URIs: []string{f.uri("a.lines") + n}}); err != nil {
					t.Fatal(err)
				}
			}
			test.do(f)
			var left []string
			for _, entry := range f.stored() {
				left = append(left, filepath.Base(entry.URI))
			}
			if diff := cmp.Diff(test.want, left); diff != "" {
				t.Error(diff)
			}
			f.sound()
		})
	}
}

func TestAPassageWithoutAWordIsNotIndexed(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", "---\n\n***\n")
	if rep := f.ingest(nil); rep.Added != 1 || rep.Chunks.New != 0 {
		t.Errorf("%+v", rep)
	}
}

func TestAnEngineInMemory(t *testing.T) {
	eng, err := rag.Open("", rag.WithEmbedder(&ragtest.HashEmbedder{}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Bytes("mem:///a.txt", []byte("About marble."))}}); err != nil {
		t.Fatal(err)
	}
	res, err := eng.Search(t.Context(), rag.Query{Text: "marble"})
	if err != nil || len(res.Hits) != 1 {
		t.Errorf("%+v, %v", res, err)
	}
	if err := eng.Close(); err != nil {
		t.Error(err)
	}
	if _, err := eng.Search(t.Context(), rag.Query{Text: "marble"}); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "the engine is closed") {
		t.Errorf("after Close: %v", err)
	}
}

func TestALoaderThatCannotBeChosenIsRefused(t *testing.T) {
	_, err := rag.Open(t.TempDir(), rag.WithEmbedder(&ragtest.HashEmbedder{}), rag.WithLoader("csv", dotless{}))
	if !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "dot") {
		t.Errorf("%v", err)
	}
}

func TestALoaderCanBeLeftOut(t *testing.T) {
	var p rag.Providers
	for _, name := range []string{"first", "second"} {
		p.Loaders.Register(name, rag.Typed(func(rag.Env, struct{}) (rag.Loader, error) { return panicky{}, nil }))
	}
	for settings, want := range map[string][]string{"": {"first", "second"}, `{"first": "none"}`: {"second"}, `{"first": "none", "second": "none"}`: {}} {
		var c rag.Config
		if settings != "" {
			if err := json.Unmarshal([]byte(settings), &c.Loaders); err != nil {
				t.Fatal(err)
			}
		}
		loaders, err := rag.NewLoaders(c, rag.WithProviders(&p))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, loaders.Names()); diff != "" {
			t.Errorf("%s: %s", settings, diff)
		}
	}
	if _, err := rag.NewLoaders(rag.Config{Loaders: map[string]json.RawMessage{"third": json.RawMessage(`"none"`)}}, rag.WithProviders(&p)); !errors.Is(err, rag.ErrUnknownProvider) {
		t.Errorf("one that is not linked: %v", err)
	}
}

// dotless declares an extension without its dot.
type dotless struct{ panicky }

func (dotless) Formats() []rag.Format {
	return []rag.Format{{Name: "csv", Extensions: []string{"csv"}}}
}

func TestBadQueries(t *testing.T) {
	f := newFixture(t)
	if _, err := f.Search(t.Context(), rag.Query{Text: "x"}); !errors.Is(err, rag.ErrNotFound) {
		t.Errorf("empty engine: %v", err)
	}
	f.write("a.txt", "Some text.")
	f.ingest(nil)
	for name, q := range map[string]rag.Query{
		"empty":        {Text: " \n"},
		"top_k":        {Text: "x", TopK: -1},
		"large top_k":  {Text: "x", TopK: rag.MaxTopK + 1},
		"not UTF-8":    {Text: "caf\xe9"},
		"mode":         {Text: "x", Mode: "hybird"},
		"filter":       {Text: "x", Filter: rag.Filter{Op: "equals", Field: "a", Value: "b"}},
		"filter value": {Text: "x", Filter: rag.Eq("a", struct{}{})},
	} {
		if _, err := f.Search(t.Context(), q); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := f.Search(t.Context(), rag.Query{Text: "x", Collection: "default2"}); !errors.Is(err, rag.ErrNotFound) || !strings.Contains(err.Error(), `"default"`) {
		t.Errorf("collection: %v", err)
	}
}
