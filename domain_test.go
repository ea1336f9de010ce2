package rag_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/catalog"
	"github.com/seed-d8745b77/rag/domain"
	"github.com/seed-d8745b77/rag/ragtest"
)

// fees is a domain with a vocabulary, dates and a policy for them.
func fees(t *testing.T, expired string) *domain.Domain {
	t.Helper()
	d, err := domain.Parse("fees.yaml", []byte(`
name: fees
fields: {country: {enum: {united_kingdom: [uk], france: ~}}, until: {type: date}}
validity: {until: until, expired: `+expired+`}
`))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// rates is another domain, in which everything is of one kind.
func rates(t *testing.T) *domain.Domain {
	t.Helper()
	d, err := domain.Parse("rates.yaml", []byte("name: rates\nforced_filter: {kind: rate}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// ruledFixture is an engine in the spring of 2026 over two documents of the domain fees, of which a manifest has told, and one
// that speaks for itself.
func ruledFixture(t *testing.T, opts ...rag.Option) (*fixture, *domain.Domain) {
	t.Helper()
	f := newFixture(t, append(opts, rag.WithClock(func() time.Time { return time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC) }))...)
	f.write("old.md", "# Old\n\nThe tuition fee is 90.")
	f.write("new.md", "# New\n\nThe tuition fee is 98.")
	f.write("own.md", "---\ncountry: uk\nuntil: 2026-04-01\n---\n# Own\n\nThe tuition fee was 95.")
	d := fees(t, "exclude")
	rep := f.ingest(func(r *rag.IngestRequest) { r.Domain, r.Sources = d, told(t, f, d) })
	if rep.Added != 3 || rep.Kept != 0 || !cmp.Equal(rep.Domain, &rag.DomainUse{Name: "fees"}) {
		t.Fatalf("%+v, domain %+v", rep, rep.Domain)
	}
	return f, d
}

// told are the documents with what a manifest says of them.
func told(t *testing.T, f *fixture, d *domain.Domain) []rag.Sources {
	t.Helper()
	manifest := filepath.Join(t.TempDir(), "manifest.jsonl")
	var lines strings.Builder
	for name, rest := range map[string]string{"old.md": `"title": "Old fees", "country": "uk", "until": "2026-03-01"`, "new.md": `"country": "france", "until": "2026-12-31"`, "own.md": `"title": "Own"`} {
		lines.WriteString(`{"document_path": "` + filepath.ToSlash(filepath.Join(f.docs, name)) + `", ` + rest + "}\n")
	}
	if err := os.WriteFile(manifest, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	sets, err := d.Manifest(manifest, f.docs)
	if err != nil {
		t.Fatal(err)
	}
	return sets
}

// inForce are the documents that a search finds, with their status.
func (f *fixture) inForce(q rag.Query) map[string]string {
	f.t.Helper()
	q.Text = "tuition fee"
	got := map[string]string{}
	for _, h := range f.search(q).Hits {
		got[filepath.Base(h.Chunk.URI)] = h.Status
	}
	return got
}

// ledger is what the catalog says of a document, but for when that was.
func (f *fixture) ledger(name string) rag.Entry {
	f.t.Helper()
	e, err := f.Entry(f.t.Context(), "", rag.FileURI(filepath.Join(f.docs, name)))
	if err != nil {
		f.t.Fatal(err)
	}
	e.Ingested = time.Time{}
	return e
}

// Who forgets the domain and the manifest once loses nothing: the collection remembers the one, each document the other.
func TestACollectionRemembersItsDomain(t *testing.T) {
	f, _ := ruledFixture(t)
	before := f.ledger("old.md")
	rep := f.ingest(nil)
	if rep.Unchanged != 3 || rep.Kept != 3 || !cmp.Equal(rep.Domain, &rag.DomainUse{Name: "fees", Remembered: true}) {
		t.Errorf("nothing changed: %+v, domain %+v", rep, rep.Domain)
	}
	if diff := cmp.Diff(before, f.ledger("old.md")); diff != "" {
		t.Error(diff)
	}

	f.write("old.md", "# Old\n\nThe tuition fee is 91.") // another text keeps what is said of it, and so does another name
	if err := os.Rename(filepath.Join(f.docs, "new.md"), filepath.Join(f.docs, "newer.md")); err != nil {
		t.Fatal(err)
	}
	if rep := f.ingest(nil); rep.Updated != 1 || rep.Moved != 1 || rep.Kept != 3 {
		t.Errorf("%+v", rep)
	}
	for name, want := range map[string]rag.Meta{"old.md": {"country": "united_kingdom", "until": "2026-03-01"}, "newer.md": {"country": "france", "until": "2026-12-31"}} {
		if got := f.ledger(name); !cmp.Equal(got.Meta, want) || !got.Validity.Stated {
			t.Errorf("%s has %v, %+v", name, got.Meta, got.Validity)
		}
	}
	if got := f.ledger("old.md").Title; got != "Old fees" {
		t.Errorf("title %q", got)
	}

	// A search follows it: what is in force today, and words of the vocabulary. The engine is another one by now.
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f.open(rag.WithClock(func() time.Time { return time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC) }))
	for name, tt := range map[string]struct {
		q    rag.Query
		want map[string]string
	}{
		"today":         {rag.Query{}, map[string]string{"newer.md": "current"}},
		"another day":   {rag.Query{AsOf: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), Filter: rag.Eq("country", "UK")}, map[string]string{"old.md": "current", "own.md": "current"}},
		"also expired":  {rag.Query{Expired: true}, map[string]string{"newer.md": "current", "old.md": "expired", "own.md": "expired"}},
		"without rules": {rag.Query{NoDomain: true}, map[string]string{"newer.md": "", "old.md": "", "own.md": ""}},
	} {
		if diff := cmp.Diff(tt.want, f.inForce(tt.q)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if _, err := f.Search(t.Context(), rag.Query{Text: "fee", Filter: rag.Eq("country", "Narnia")}); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("a value in no vocabulary: %v", err)
	}
	ask, err := f.Ask(t.Context(), rag.AskRequest{Query: rag.Query{Text: "How much is the tuition fee?"}})
	if err != nil || len(ask.Sources) != 1 {
		t.Errorf("an answer has %d sources, %v", len(ask.Sources), err)
	}
	x, err := f.Explain(t.Context(), rag.Query{Text: "tuition fee"}, rag.ExplainTarget{Text: "fee is 91"})
	if err != nil || !strings.Contains(x.Verdict, "not in force at 2026-05-01") {
		t.Errorf("%+v, %v", x, err)
	}
}

// Another domain takes the place of the first, one that is not wanted goes, and both are said.
func TestAnotherDomainAndNone(t *testing.T) {
	f, d := ruledFixture(t)
	if rep := f.ingest(func(r *rag.IngestRequest) { r.Domain = fees(t, "flag") }); rep.Unchanged != 3 || !cmp.Equal(rep.Domain, &rag.DomainUse{Name: "fees"}) {
		t.Errorf("a rule of searches alone: %+v", rep)
	}
	if got := f.inForce(rag.Query{}); got["old.md"] != "expired" || got["new.md"] != "current" {
		t.Errorf("by the new rule: %v", got)
	}
	dry := f.ingest(func(r *rag.IngestRequest) { r.Domain, r.DryRun = rates(t), true })
	if dry.Updated != 3 || !cmp.Equal(dry.Domain, &rag.DomainUse{Name: "rates", Was: "fees"}) {
		t.Errorf("a dry run: %+v, domain %+v", dry, dry.Domain)
	}
	if got, err := domain.Of(t.Context(), f.Engine, ""); err != nil || got.Name != "fees" {
		t.Fatalf("a dry run leaves %v, %v", got, err)
	}
	rep := f.ingest(func(r *rag.IngestRequest) { r.Domain = rates(t) })
	if rep.Updated != 3 || rep.Embedded != 0 || rep.Kept != 3 || !cmp.Equal(rep.Domain, &rag.DomainUse{Name: "rates", Was: "fees"}) {
		t.Errorf("%+v, domain %+v", rep, rep.Domain)
	}
	if got := f.ledger("old.md"); !cmp.Equal(got.Meta, rag.Meta{"kind": "rate", "country": "united_kingdom", "until": "2026-03-01"}) || got.Validity.Stated {
		t.Errorf("under the other domain: %v %+v", got.Meta, got.Validity)
	}
	rep = f.ingest(func(r *rag.IngestRequest) { r.NoDomain = true })
	if rep.Updated != 3 || rep.Kept != 3 || !cmp.Equal(rep.Domain, &rag.DomainUse{Was: "rates"}) {
		t.Errorf("%+v, domain %+v", rep, rep.Domain)
	}
	if got := f.ledger("own.md"); !cmp.Equal(got.Meta, rag.Meta{"country": "uk", "until": "2026-04-01"}) || got.Title != "Own" {
		t.Errorf("without a domain: %v %q", got.Meta, got.Title)
	}
	if rep := f.ingest(nil); rep.Unchanged != 3 || rep.Domain != nil {
		t.Errorf("%+v, domain %+v", rep, rep.Domain)
	}
	if rep := f.ingest(func(r *rag.IngestRequest) { r.Forget = true }); rep.Updated != 3 || rep.Kept != 0 {
		t.Errorf("%+v", rep)
	}
	if got := f.ledger("old.md"); len(got.Meta) != 0 || got.Title == "Old fees" {
		t.Errorf("of a manifest that is forgotten there is left %v %q", got.Meta, got.Title)
	}
	if _, err := f.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(f.docs)}, Domain: d, NoDomain: true}); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("a domain and none: %v", err)
	}
}

// A manifest replaces what the one before it said, all of it.
func TestAnotherManifestReplacesWhatItNames(t *testing.T) {
	f, _ := ruledFixture(t)
	bare := func(m rag.Meta) []rag.Sources {
		return []rag.Sources{{All: func(yield func(rag.Source, error) bool) {
			for src, err := range rag.Files(filepath.Join(f.docs, "old.md")).All {
				src.Meta = m
				yield(src, err)
			}
		}}}
	}
	for _, m := range []rag.Meta{{"country": "france"}, {}} {
		if rep := f.ingest(func(r *rag.IngestRequest) { r.Sources = bare(m) }); rep.Updated != 1 || rep.Kept != 0 {
			t.Errorf("%+v", rep)
		}
		if got := f.ledger("old.md"); !cmp.Equal(got.Meta, m) || got.Title != "Old" {
			t.Errorf("got %v %q, want %v", got.Meta, got.Title, m)
		}
	}
	if got := f.ledger("new.md").Meta["country"]; got != "france" {
		t.Errorf("a document that it does not name has the country %v", got)
	}
}

// An ingest in which nothing could be read leaves the collection as it was.
func TestAFailedIngestChangesNoDomain(t *testing.T) {
	f, _ := ruledFixture(t)
	f.ingest(func(r *rag.IngestRequest) {
		r.Domain, r.Sources = rates(t), []rag.Sources{rag.Files(filepath.Join(f.docs, "none.md"))}
	})
	if got, err := domain.Of(t.Context(), f.Engine, ""); err != nil || got.Name != "fees" {
		t.Errorf("the domain is %v, %v", got, err)
	}
}

// Reindex, copy, export and import keep what is remembered.
func TestDomainsTravel(t *testing.T) {
	f, _ := ruledFixture(t)
	if _, err := f.Reindex(t.Context(), rag.ReindexRequest{}); err != nil {
		t.Fatal(err)
	}
	var export bytes.Buffer
	if _, err := f.Export(t.Context(), "", &export); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "export.jsonl")
	if err := os.WriteFile(file, export.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	exported, err := rag.Exported(file)
	if err != nil {
		t.Fatal(err)
	}
	other := func() *fixture {
		o := &fixture{t: t, dir: t.TempDir(), docs: f.docs, embedder: &ragtest.HashEmbedder{}}
		o.open(rag.WithClock(func() time.Time { return time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC) }))
		return o
	}
	imported, copied := other(), other()
	imported.ingest(func(r *rag.IngestRequest) { r.Sources = []rag.Sources{exported} })
	if _, err := copied.Copy(t.Context(), rag.CopyRequest{From: f.Engine}); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]*fixture{"reindexed": f, "imported": imported, "copied": copied} {
		if rep := o.ingest(nil); rep.Unchanged != 3 || rep.Kept != 3 || rep.Domain == nil || !rep.Domain.Remembered {
			t.Errorf("%s: %+v, domain %+v", name, rep, rep.Domain)
		}
		if got := o.inForce(rag.Query{}); len(got) != 1 || got["new.md"] != "current" {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A copy does not take away the rules that documents of the target are searched by, unless it makes it what the source is.
func TestACopyDropsNoDomain(t *testing.T) {
	f, _ := ruledFixture(t)
	plain := newFixture(t)
	plain.write("more.md", "# More\n\nThe tuition fee is 99.")
	plain.ingest(nil)
	if _, err := f.Copy(t.Context(), rag.CopyRequest{From: plain.Engine}); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), `"fees"`) {
		t.Errorf("error %v", err)
	}
	if d, err := f.Domain(t.Context(), ""); err != nil || d == nil {
		t.Errorf("the domain is %v, %v", d, err)
	}
	if _, err := f.Copy(t.Context(), rag.CopyRequest{From: plain.Engine, Prune: true}); err != nil {
		t.Error(err)
	}
	if d, err := f.Domain(t.Context(), ""); err != nil || d != nil {
		t.Errorf("made what the source is, the domain is %v, %v", d, err)
	}
}

// A program that cannot read domains says so, and never answers as if there were no rules.
func TestAProgramWithoutDomains(t *testing.T) {
	f, _ := ruledFixture(t)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	read := rag.Default.Domain
	rag.Default.Domain = nil
	defer func() { rag.Default.Domain = read }()
	f.open()
	if _, err := f.Search(t.Context(), rag.Query{Text: "fee"}); !errors.Is(err, rag.ErrUnsupported) || !strings.Contains(err.Error(), `the domain "fees"`) {
		t.Errorf("search: %v", err)
	}
	if _, err := f.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(f.docs)}}); !errors.Is(err, rag.ErrUnsupported) {
		t.Errorf("ingest: %v", err)
	}
	if got := f.inForce(rag.Query{NoDomain: true}); len(got) != 3 {
		t.Errorf("without rules: %v", got)
	}
}

// forgetful is a catalog of a version that kept nothing of what was given with sources.
type forgetful struct {
	rag.Catalog
	forgets bool
}

func (c *forgetful) Commit(ctx context.Context, collection string, changes []rag.Change) error {
	changes = slices.Clone(changes)
	for i, change := range changes {
		if change.Put != nil && c.forgets {
			rec := *change.Put
			rec.Entry.Given = nil
			changes[i].Put = &rec
		}
	}
	return c.Catalog.Commit(ctx, collection, changes)
}

// What a version was given that kept none of it is not taken away without a word.
func TestMetadataOfEarlierVersionsIsNotLost(t *testing.T) {
	old := &forgetful{Catalog: catalog.NewMemory(), forgets: true}
	f, d := ruledFixture(t, rag.WithCatalog(old))
	old.forgets = false
	rep := f.ingest(nil)
	if len(rep.Failed) != 3 || !errors.Is(rep.Failed[0].Err, rag.ErrInvalid) || f.ledger("old.md").Meta["country"] != "united_kingdom" {
		t.Errorf("%+v", rep)
	}
	if rep := f.ingest(func(r *rag.IngestRequest) { r.Sources = told(t, f, d) }); rep.Updated != 3 || rep.Embedded != 0 {
		t.Errorf("given once more: %+v", rep)
	}
	if rep := f.ingest(nil); rep.Unchanged != 3 || rep.Kept != 3 {
		t.Errorf("from then on: %+v", rep)
	}
}

// What a filter of a delete means is what it means to the search that somebody looked first with.
func TestADeleteReadsItsFilterAsASearchDoes(t *testing.T) {
	f, _ := ruledFixture(t)
	planned := func(req rag.DeleteRequest) (names []string) {
		t.Helper()
		req.DryRun = true
		rep, err := f.Delete(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		for _, uri := range rep.Plan {
			names = append(names, filepath.Base(uri))
		}
		return names
	}
	uk := rag.Eq("country", "uk") // the word of the vocabulary is united_kingdom
	if diff := cmp.Diff([]string{"new.md"}, planned(rag.DeleteRequest{Filter: rag.Not(uk)})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"old.md", "own.md"}, planned(rag.DeleteRequest{Filter: uk})); diff != "" {
		t.Error(diff)
	}
	if got := planned(rag.DeleteRequest{Filter: uk, NoDomain: true}); len(got) > 0 {
		t.Errorf("without the domain's words %v are planned", got)
	}
	if _, err := f.Delete(t.Context(), rag.DeleteRequest{Filter: rag.Eq("contry", "uk")}); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("a field that the domain does not have: %v", err)
	}
}

// What a manifest said and the domain does not allow any more is told by whatever looks at it, until it is mended.
func TestMetadataThatTheDomainDoesNotAllow(t *testing.T) {
	f, _ := ruledFixture(t)
	parse := func(fields string) *domain.Domain {
		t.Helper()
		d, err := domain.Parse("fees.yaml", []byte("name: fees\nfields: {"+fields+"}\nvalidity: {until: valid_until}\n"))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	verify := func() *rag.VerifyReport {
		t.Helper()
		rep, err := f.Verify(t.Context(), "")
		if err != nil || !rep.OK {
			t.Fatalf("%+v, %v", rep, err)
		}
		return rep
	}
	if rep := verify(); len(rep.Unfit)+len(rep.Stale) > 0 {
		t.Errorf("nothing has changed: %+v", rep)
	}
	renamed := parse("country: {enum: [britain, france]}, valid_until: {type: date}")
	warned := func(rep *rag.IngestReport, want ...string) {
		t.Helper()
		var got []string
		for _, w := range rep.Warnings {
			field, rest, _ := strings.Cut(w.Message, ":")
			if strings.Contains(rest, "--manifest") {
				got = append(got, filepath.Base(w.URI)+" "+field)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	all := []string{"new.md until", "old.md country", "old.md until"}
	warned(f.ingest(func(r *rag.IngestRequest) { r.Domain, r.DryRun = renamed, true }), all...)
	f.ingest(func(r *rag.IngestRequest) {
		r.Domain, r.Sources = renamed, []rag.Sources{rag.Files(filepath.Join(f.docs, "new.md"))}
	})
	rep := verify()
	want := []rag.UnfitMeta{{Field: "until", Value: "2026-12-31"}, {Field: "country", Value: "united_kingdom"}, {Field: "until", Value: "2026-03-01"}}
	for i, name := range []string{"new.md", "old.md", "old.md"} {
		want[i].URI = rag.FileURI(filepath.Join(f.docs, name))
	}
	for i := range rep.Unfit {
		if !strings.Contains(rep.Unfit[i].Message, "--manifest") {
			t.Error(rep.Unfit[i].Message)
		}
		rep.Unfit[i].Message = ""
	}
	if diff := cmp.Diff(want, rep.Unfit); diff != "" {
		t.Error(diff)
	}
	if len(rep.Stale) != 2 || !strings.HasSuffix(rep.Stale[0].URI, "old.md") || rep.Stale[0].Reason != "domain changed" {
		t.Errorf("documents that were not read under the new domain: %+v", rep.Stale)
	}

	f.ingest(nil)
	warned(f.ingest(nil), all...) // nothing is read, and it is said still
	f.ingest(func(r *rag.IngestRequest) {
		r.Domain = parse("country: {enum: {britain: [united_kingdom], france: ~}}, valid_until: {type: date}, until: {type: date}")
	})
	if rep := verify(); len(rep.Unfit)+len(rep.Stale) > 0 || f.ledger("old.md").Meta["country"] != "britain" {
		t.Errorf("mended in the domain file: %+v, %v", rep.Unfit, f.ledger("old.md").Meta)
	}
}
