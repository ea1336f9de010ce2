package domain_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/catalog"
	"github.com/seed-d8745b77/rag/domain"
	_ "github.com/seed-d8745b77/rag/fusion"
	_ "github.com/seed-d8745b77/rag/loader"
	_ "github.com/seed-d8745b77/rag/loader/pdf"
	"github.com/seed-d8745b77/rag/ragtest"
	_ "github.com/seed-d8745b77/rag/sparse"
	_ "github.com/seed-d8745b77/rag/splitter"
	_ "github.com/seed-d8745b77/rag/trace"
	_ "github.com/seed-d8745b77/rag/transform"
	_ "github.com/seed-d8745b77/rag/vectorstore"
)

// load returns the domain of an example; a few documents for it are in testdata.
func load(t *testing.T, name string) *domain.Domain {
	t.Helper()
	d, err := domain.Load(filepath.Join("../examples", name, name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func open(t *testing.T) *rag.Engine {
	t.Helper()
	eng, err := rag.Open(t.TempDir(), rag.WithEmbedder(&ragtest.HashEmbedder{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { eng.Close() })
	return eng
}

func ingest(t *testing.T, eng *rag.Engine, d *domain.Domain, sets []rag.Sources) *rag.IngestReport {
	t.Helper()
	rep, err := eng.Ingest(t.Context(), rag.IngestRequest{Collection: d.Collection, Domain: d, Sources: sets})
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// What a manifest gave goes through an export and comes back as it was, lists among it.
func TestExportOfAnExample(t *testing.T) {
	d := load(t, "admissions")
	sets, err := d.Manifest("../examples/admissions/manifest.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	from, to := open(t), open(t)
	n := ingest(t, from, d, sets).Added
	export := func(eng *rag.Engine) string {
		t.Helper()
		var b bytes.Buffer
		if _, err := eng.Export(t.Context(), d.Collection, &b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	first := export(from)
	file := filepath.Join(t.TempDir(), "export.jsonl")
	if err := os.WriteFile(file, []byte(first), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := rag.Exported(file)
	if err != nil {
		t.Fatal(err)
	}
	rep, err := to.Ingest(t.Context(), rag.IngestRequest{Collection: d.Collection, Sources: []rag.Sources{set}})
	if err != nil || rep.Added != n {
		t.Fatalf("%v %+v", err, rep)
	}
	if second := export(to); first != second {
		t.Errorf("an export of the import differs:\n%s", cmp.Diff(first, second))
	}
}

// statuses asks a question of the domain and returns the status of each file that was found.
func statuses(t *testing.T, eng *rag.Engine, d *domain.Domain, q rag.Query, asOf string) map[string]string {
	t.Helper()
	var err error
	if q.AsOf, err = d.Instant(asOf); err != nil {
		t.Fatal(err)
	}
	if q, err = d.Query(q, time.Time{}); err != nil {
		t.Fatal(err)
	}
	res, err := eng.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, h := range res.Hits {
		got[filepath.Base(h.Chunk.URI)] = h.Status
	}
	return got
}

func TestAdmissionsExample(t *testing.T) {
	d, eng := load(t, "admissions"), open(t)
	const dir = "testdata/admissions"
	sets, err := d.Manifest(filepath.Join(dir, "manifest.jsonl"), dir)
	if err != nil {
		t.Fatal(err)
	}
	if rep := ingest(t, eng, d, sets); rep.Added != 3 || len(rep.Warnings) != 0 {
		t.Fatalf("%+v", rep)
	}
	fee := rag.Query{Text: "IELTS score, fee, visa"}
	for _, tt := range []struct {
		name, asOf string
		filter     rag.Filter
		want       map[string]string
	}{
		{"the last day of the scholarship", "2025-05-15", rag.Filter{}, map[string]string{"scholarship-2025.md": "current", "visa-guide.md": "needs_review"}},
		{"the day after", "2025-05-16", rag.Filter{}, map[string]string{"visa-guide.md": "needs_review"}},
		{"still the last day there, as an instant", "2025-05-15T15:59:59Z", rag.Filter{}, map[string]string{"scholarship-2025.md": "current", "visa-guide.md": "needs_review"}},
		{"the next day there, as an instant", "2025-05-15T16:00:00Z", rag.Filter{}, map[string]string{"visa-guide.md": "needs_review"}},
		{"published", "2025-09-01", rag.Filter{}, map[string]string{"requirements-2026.md": "current", "visa-guide.md": "needs_review"}},
		{"by another name", "2026-01-01", rag.Eq("country", "GB"), map[string]string{"requirements-2026.md": "current", "visa-guide.md": "needs_review"}},
		{"by two fields", "2026-01-01", rag.And(rag.Eq("country", "uk"), rag.Eq("tags", "fees")), map[string]string{"requirements-2026.md": "current"}},
		{"elsewhere", "2026-01-01", rag.Eq("country", "canada"), map[string]string{}},
	} {
		fee.Filter = tt.filter
		if diff := cmp.Diff(tt.want, statuses(t, eng, d, fee, tt.asOf)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	at, _ := d.Instant("2025-10-01")
	counts, err := eng.Statuses(t.Context(), d.Collection, at)
	if want := (rag.StatusCounts{Current: 1, NeedsReview: 1, Expired: 1}); err != nil || counts != want {
		t.Errorf("counts %+v, %v", counts, err)
	}
}

func TestForcedFilterHidesWhatIsNotOfTheDomain(t *testing.T) {
	d, eng := load(t, "admissions"), open(t)
	if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Collection: d.Collection, Sources: []rag.Sources{rag.Bytes("mem:x.md", []byte("The fee of a gym."))}}); err != nil {
		t.Fatal(err)
	}
	if got := statuses(t, eng, d, rag.Query{Text: "fee"}, "2026-01-01"); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

func TestMetadataAloneChangesWithoutEmbedding(t *testing.T) {
	d, eng := load(t, "admissions"), open(t)
	dir := folder(t, map[string]string{"a.md": "# Fee\n\nThe fee is 98.\n", "m.jsonl": ""})
	manifest := filepath.Join(dir, "m.jsonl")
	update := func(line string) *rag.IngestReport {
		t.Helper()
		if err := os.WriteFile(manifest, []byte(line), 0o644); err != nil {
			t.Fatal(err)
		}
		sets, err := d.Manifest(manifest)
		if err != nil {
			t.Fatal(err)
		}
		return ingest(t, eng, d, sets)
	}
	chunks := func() (ids []string, m rag.Meta, v rag.Validity) {
		t.Helper()
		for c, err := range eng.Chunks(t.Context(), d.Collection, rag.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			ids, m, v = append(ids, c.ID), c.Meta, c.Validity
		}
		return ids, m, v
	}
	const line = `{"document_path": "a.md", "title": "Fees", "country": "uk", "source_type": "faq", "valid_until": "2026-03-01"}`
	first := update(line)
	before, _, _ := chunks()
	if first.Added != 1 || first.Embedded != len(before) {
		t.Fatalf("%+v", first)
	}
	if rep := update(`{"title": "Fees", "document_path": "./a.md", "source_type": "faq", "country": "United_Kingdom", "valid_until": "2026-03-01", "tags": []}`); rep.Unchanged != 1 {
		t.Errorf("the same metadata in other words: %+v", rep)
	}
	rep := update(strings.Replace(line, `"2026-03-01"`, `"2026-09-30", "tags": ["fees"]`, 1))
	after, m, v := chunks()
	if rep.Updated != 1 || rep.Embedded != 0 || rep.Cached != 0 || !cmp.Equal(before, after) {
		t.Errorf("metadata alone changed: %+v", rep)
	}
	if !cmp.Equal(m["tags"], []string{"fees"}) || v.Until.Month() != time.September {
		t.Errorf("the chunk has %v %v", m, v)
	}
	for asOf, want := range map[string]int{"2026-09-30": 1, "2026-10-01": 0} {
		if got := statuses(t, eng, d, rag.Query{Text: "fee", Filter: rag.Eq("tags", "fees")}, asOf); len(got) != want {
			t.Errorf("%s: %v", asOf, got)
		}
	}
}

func TestModelsNeverReplaceWhatAManifestSays(t *testing.T) {
	script := &ragtest.Script{Reply: func(rag.ChatRequest) string {
		return `{"title": "Generated", "tags": ["generated"], "summary": "Generated summary."}`
	}}
	c := rag.DefaultConfig()
	c.Transforms = []rag.ProviderConfig{{Provider: "context"}, {Provider: "enrich", Settings: []byte(`{"mode": "llm"}`)}}
	eng, err := rag.Open(t.TempDir(), rag.WithConfig(c), rag.WithEmbedder(&ragtest.HashEmbedder{}), rag.WithChatModel(script))
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	d := load(t, "admissions")
	dir := folder(t, map[string]string{"a.md": "# Fee\n\nThe fee is 98.\n", "m.jsonl": ""})
	update := func(tags string) *rag.IngestReport {
		t.Helper()
		line := `{"document_path": "a.md", "title": "Fees of 2026", "country": "uk", "source_type": "faq", "tags": ["` + tags + `"]}`
		if err := os.WriteFile(filepath.Join(dir, "m.jsonl"), []byte(line), 0o644); err != nil {
			t.Fatal(err)
		}
		sets, err := d.Manifest(filepath.Join(dir, "m.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return ingest(t, eng, d, sets)
	}
	update("fees")
	asked := len(script.Requests())
	rep := update("money")
	if rep.Updated != 1 || rep.Embedded != 0 || len(script.Requests()) != asked || asked == 0 {
		t.Errorf("metadata alone: %+v, %d questions more", rep, len(script.Requests())-asked)
	}
	for c, err := range eng.Chunks(t.Context(), d.Collection, rag.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Title != "Fees of 2026" || !cmp.Equal(c.Meta["tags"], []string{"money"}) || !cmp.Equal(c.Meta["generated_tags"], []string{"generated"}) || !strings.HasPrefix(c.Context, "Fees of 2026") {
			t.Errorf("got %q %v %q", c.Title, c.Meta, c.Context)
		}
	}
}

func TestCourseExample(t *testing.T) {
	d, eng := load(t, "course"), open(t)
	rep := ingest(t, eng, d, []rag.Sources{rag.Dir("testdata/course/docs")})
	if rep.Added != 4 || len(rep.Warnings) != 1 || !strings.HasSuffix(rep.Warnings[0].URI, "timetable.md") {
		t.Fatalf("%+v", rep)
	}
	got := map[string][]any{}
	for e, err := range eng.Documents(t.Context(), d.Collection) {
		if err != nil {
			t.Fatal(err)
		}
		got[filepath.Base(e.URI)] = []any{e.Meta["subject"], e.Meta["type"], e.Meta["week"]}
	}
	want := map[string][]any{
		"01-vectors.md": {"algebra", "lectures", 1.0}, "2025-june.md": {"algebra", "exams", nil},
		"titration.md": {"chemistry", "tutorials", nil}, "timetable.md": {"unknown", "unknown", nil},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	q, err := d.Query(rag.Query{Text: "algebra", Filter: rag.Eq("type", "exam")}, time.Now())
	if err != nil || !q.AsOf.IsZero() {
		t.Fatalf("%+v, %v", q, err)
	}
	res, err := eng.Search(t.Context(), q)
	if err != nil || len(res.Hits) != 1 || res.Hits[0].Status != "" {
		t.Errorf("%+v, %v", res, err)
	}
}
