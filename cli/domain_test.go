package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const feesDomain = `name: fees
collection: money
forced_filter: {area: fees}
fields:
  country: {type: string, required: true, filterable: true, enum: {united_kingdom: [uk], france: ~}}
  until: {type: date}
validity: {until: until, time_zone: Asia/Shanghai}
`

// feesShell is a shell with a domain, three documents and a manifest.
func feesShell(t *testing.T) *shell {
	s := newShell(t)
	s.write("fees.yaml", feesDomain)
	s.write("docs/old.md", "# Old\n\nThe tuition fee is 90.")
	s.write("docs/new.md", "# New\n\nThe tuition fee is 98.")
	s.write("docs/undated.md", "# Undated\n\nThe tuition fee is due in May.")
	s.write("docs/manifest.jsonl", `{"document_path": "old.md", "country": "uk", "until": "2026-03-01"}
{"document_path": "new.md", "country": "uk", "until": "2026-12-31"}
{"document_path": "undated.md", "country": "france"}
`)
	return s
}

func TestManifestAndDomain(t *testing.T) {
	s := feesShell(t)
	manifest := filepath.Join("docs", "manifest.jsonl")
	s.rag("ingest", "docs", "--manifest", manifest, "--domain", "fees.yaml").want(exitDone).prints("collection money", "3 added")

	found := func(args ...string) map[string]string {
		t.Helper()
		var res searchOutput
		s.rag(append([]string{"search", "--json", "--domain", "fees.yaml", "tuition fee"}, args...)...).want(exitDone).into(&res)
		got := map[string]string{}
		for _, h := range res.Hits {
			got[filepath.Base(h.URI)] = *h.Status
		}
		return got
	}
	if got := found("--as-of", "2026-03-01"); len(got) != 3 || got["old.md"] != "current" || got["undated.md"] != "needs_review" {
		t.Errorf("on the last day: %v", got)
	}
	if got := found("--as-of", "2026-03-02"); len(got) != 2 || got["new.md"] != "current" {
		t.Errorf("on the day after: %v", got)
	}
	if got := found("--as-of", "2026-03-01T16:00:00Z"); len(got) != 2 { // midnight there
		t.Errorf("in another time zone: %v", got)
	}
	if got := found("--as-of", "2026-03-01", "--filter", "country=France"); len(got) != 1 {
		t.Errorf("in one country: %v", got)
	}
	s.rag("search", "fee", "--domain", "fees.yaml", "--filter", "country=Narnia").want(exitFailed).says("not in the vocabulary (united_kingdom, france)")
	s.rag("search", "fee", "--domain", "fees.yaml", "--as-of", "soon").want(exitUsage)
	s.rag("explain", "tuition fee", "--domain", "fees.yaml", "--as-of", "2026-03-02", "--text", "fee is 90").want(exitDone).prints("not in force at 2026-03-01T16:00:00Z: asking for what is expired too (--expired) would have returned it")
	s.rag("search", "tuition fee", "--domain", "fees.yaml", "--as-of", "2026-03-02", "--expired").want(exitDone).prints("fee is 90")

	s.write("asked.jsonl", `{"question": "tuition fee", "answerable": false}`+"\n"+`{"question": "tuition fee", "answerable": false, "filters": {"country": "Narnia"}}`+"\n")
	s.rag("eval", "validate", "asked.jsonl", "--domain", "fees.yaml").want(exitFailed).prints("problem line 2", "1 question can be used")

	var list struct {
		Collections []struct {
			Status struct {
				Current, Expired int
				NeedsReview      int `json:"needs_review"`
			}
		}
	}
	s.rag("list", "--domain", "fees.yaml", "--as-of", "2026-03-02", "--json").want(exitDone).into(&list)
	if c := list.Collections[0].Status; c.Current != 1 || c.NeedsReview != 1 || c.Expired != 1 {
		t.Errorf("counts: %+v", c)
	}
	s.rag("list", "--as-of", "2026-03-02").want(exitDone).prints("needs review")
	s.rag("list", "documents", "--domain", "fees.yaml", "--as-of", "2026-03-02").want(exitDone).prints("ok, expired", "ok, needs review", "ok, current")

	// Metadata alone.
	s.write("docs/manifest.jsonl", `{"document_path": "old.md", "country": "france", "until": "2027-03-01"}
{"document_path": "new.md", "country": "uk", "until": "2026-12-31"}
`)
	var r struct{ Updated, Unchanged, Deleted, Embedded, Cached int }
	s.rag("ingest", "--manifest", manifest, "--domain", "fees.yaml", "--json").want(exitDone).into(&r)
	if r.Updated != 1 || r.Unchanged != 1 || r.Embedded != 0 || r.Cached != 0 {
		t.Errorf("metadata alone: %+v", r)
	}
	if got := found("--as-of", "2026-03-02", "--filter", "country=france"); got["old.md"] != "current" {
		t.Errorf("after another manifest: %v", got)
	}
}

func TestManifestMistakesWriteNothing(t *testing.T) {
	s := feesShell(t)
	s.write("docs/manifest.jsonl", `{"document_path": "old.md", "country": "Narnia", "until": "2026-03-01"}
{"document_path": "old.md", "county": "uk"}
`)
	s.rag("ingest", "docs", "--manifest", "docs/manifest.jsonl", "--domain", "fees.yaml").want(exitFailed).
		says("6 problems", "no line names the file new.md", `line 1, column 29: country: "Narnia" is not`, "line 2: country: is required", "line 2, column 29: county: unknown field")
	if _, err := os.Stat(filepath.Join(s.dir, ".rag")); !os.IsNotExist(err) {
		t.Errorf("something was written: %v", err)
	}
	s.rag("ingest", "docs", "--manifest", "docs/manifest.jsonl").want(exitUsage).says("--manifest needs --domain")
	s.write("bad.yaml", "name: x\nfields: {a: {type: text}}\n")
	s.rag("ingest", "docs", "--domain", "bad.yaml").want(exitFailed).says("bad.yaml: line 2, column 20: fields.a.type")
	s.rag("search", "fee", "--domain", "none.yaml").want(exitFailed).says("none.yaml")
}

func TestDomainWithoutManifest(t *testing.T) {
	s := feesShell(t)
	s.write("docs/new.md", "---\ncountry: uk\nuntil: 2999-12-31\n---\nThe tuition fee is 98.")
	o := s.rag("search", "tuition fee", "--path", filepath.Join("docs", "new.md"), "--domain", "fees.yaml").want(exitDone)
	o.prints("new.md", "current")
	s.rag("ingest", "docs/old.md", "--domain", "fees.yaml").want(exitDone).prints("country: is required and not given")
}

// Who forgets --domain or --manifest loses nothing, and is told which rules hold.
func TestTheDomainIsRemembered(t *testing.T) {
	s := feesShell(t)
	s.write("docs/manifest.jsonl", `{"document_path": "old.md", "country": "uk", "until": "2020-03-01"}
{"document_path": "new.md", "country": "uk", "until": "2999-12-31"}
{"document_path": "undated.md", "country": "france"}
`)
	manifest := filepath.Join("docs", "manifest.jsonl") // which is no document, also where no flag says so
	rag := func(args ...string) outcome { t.Helper(); return s.rag(append(args, "--collection", "money")...) }
	rag("ingest", "docs", "--manifest", manifest, "--domain", "fees.yaml").want(exitDone).prints("3 added", "domain fees\n")
	rag("ingest", "docs").want(exitDone).prints("3 unchanged", "domain fees (remembered)\n", "metadata of 3 documents as an earlier ingest was given it")

	found := func(args ...string) map[string]string {
		t.Helper()
		var res searchOutput
		rag(append([]string{"search", "--json", "tuition fee"}, args...)...).want(exitDone).into(&res)
		got := map[string]string{}
		for _, h := range res.Hits {
			got[filepath.Base(h.URI)] = ""
			if h.Status != nil {
				got[filepath.Base(h.URI)] = *h.Status
			}
		}
		return got
	}
	if got := found(); len(got) != 2 || got["new.md"] != "current" || got["undated.md"] != "needs_review" {
		t.Errorf("today: %v", got)
	}
	if got := found("--as-of", "2020-03-01T15:59:59Z"); len(got) != 3 { // the last second there
		t.Errorf("on the last day: %v", got)
	}
	if got := found("--as-of", "2020-03-02"); len(got) != 2 { // which begins at 16:00 the day before in UTC
		t.Errorf("on the day after: %v", got)
	}
	if got := found("--domain", "none"); len(got) != 3 || got["old.md"] != "" {
		t.Errorf("without rules: %v", got)
	}
	rag("search", "fee", "--filter", "country=Narnia").want(exitFailed).says("not in the vocabulary (united_kingdom, france)")
	if o := rag("ask", "How much is the tuition fee?").want(exitDone); strings.Contains(o.stdout, "old.md") {
		t.Errorf("an answer from what is not in force: %s", o.stdout)
	}
	rag("explain", "tuition fee", "--text", "fee is 90").want(exitDone).prints("not in force")
	rag("list").want(exitDone).prints("needs review", "domain", "fees")

	rag("ingest", "--manifest", manifest).want(exitDone).prints("3 unchanged", "domain fees (remembered)") // it reads the manifest, too
	rag("ingest", "--manifest", manifest, "--no-manifest").want(exitUsage)
	rag("ingest", "--manifest", manifest, "--domain", "none").want(exitUsage)
	rag("ingest", "docs", "--no-manifest", "--dry-run").want(exitDone).prints("1 added, 3 updated")
	s.write("rates.yaml", "name: rates\n")
	rag("ingest", "docs", "--domain", "rates.yaml").want(exitDone).prints("3 updated", "domain rates (it was fees")
	rag("ingest", "docs", "--domain", "none").want(exitUsage).says("--end-domain")
	rag("ingest", "docs", "--end-domain", "--domain", "fees.yaml").want(exitUsage)
	rag("search", "fee", "--path", "docs", "--domain", "none").want(exitDone).says("domain rates (remembered)")
	rag("list").want(exitDone).prints("rates") // nobody ends it in passing
	if err := os.Mkdir(filepath.Join(s.dir, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, more := range []string{"--json", "--dry-run"} { // what nothing is ingested with changes nothing, and is not said to
		var r struct {
			Domain struct{ Name, Was, Asked string }
		}
		rag("ingest", "empty", "--end-domain", "--json", more).want(exitDone).into(&r)
		if r.Domain.Name != "rates" || r.Domain.Was != "" || r.Domain.Asked != "none" {
			t.Errorf("%s: %+v", more, r.Domain)
		}
	}
	rag("ingest", "empty", "--domain", "fees.yaml").want(exitDone).prints("nothing was ingested, so the domain of the collection stays rates (fees was asked for)")
	rag("ingest", "docs").want(exitDone).prints("domain rates (remembered)")
	rag("ingest", "docs", "--end-domain").want(exitDone).prints("no domain any more (it was rates")
	if o := rag("ingest", "docs").want(exitDone).prints("3 unchanged", "metadata of 3 documents"); strings.Contains(o.stdout, "domain") {
		t.Errorf("there is no domain any more: %s", o.stdout)
	}
}

// A manifest that no flag names is a document, with a warning that says what to do.
func TestAManifestThatNobodyNamed(t *testing.T) {
	s := feesShell(t)
	const warning = "docs/manifest.jsonl: its lines look like those of a manifest"
	s.rag("ingest", "docs", "--domain", "fees.yaml", "--dry-run").want(exitDone).prints("4 added", warning)
	s.rag("ingest", "docs", "--domain", "fees.yaml").want(exitDone).prints("4 added", warning, "--manifest")
	s.rag("ingest", "docs", "--domain", "fees.yaml", "--manifest", "docs/manifest.jsonl").want(exitDone).prints("3 updated")
	s.rag("delete", "docs/manifest.jsonl", "-c", "money").want(exitDone)
	if o := s.rag("ingest", "docs", "-c", "money").want(exitDone).prints("3 unchanged"); strings.Contains(o.stdout, "manifest.jsonl") {
		t.Errorf("%s", o.stdout)
	}
	s.rag("ingest", "docs", "-c", "plain").want(exitDone).prints("4 added") // without a domain there are no manifests
}

// The message of a manifest with very many mistakes is cut; with --json there are all.
func TestEveryProblemOfAManifest(t *testing.T) {
	s := feesShell(t)
	const n = 60
	s.write("docs/manifest.jsonl", strings.Repeat(`{"document_path": "none.md", "country": "uk"}`+"\n", n-1)+`{"document_path": "old.md", "country": "Narnia"}`)
	args := []string{"ingest", "--manifest", "docs/manifest.jsonl", "--domain", "fees.yaml"}
	s.rag(args...).want(exitFailed).says("and 10 more")
	var e errorJSON
	s.rag(append(args, "--json")...).want(exitFailed).into(&e)
	if e.Error.Kind != "invalid" || len(e.Error.Problems) != n {
		t.Fatalf("%d problems: %+v", len(e.Error.Problems), e)
	}
	got := e.Error.Problems[n-1]
	if !strings.Contains(got.Message, "not in the vocabulary") {
		t.Errorf("%+v", got)
	}
	got.Message = ""
	if want := (problemJSON{Line: n, Column: 29, Field: "country", Kind: "invalid_enum"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	s.write("fees.yaml", feesDomain+"x: 1\n")
	s.rag(append(args, "--json")...).want(exitFailed).into(&e)
	if len(e.Error.Problems) != 1 || e.Error.Problems[0].Line == 0 {
		t.Errorf("a domain file: %+v", e)
	}
}

// What is gone can be told of folders alone.
func TestPruneNeedsAFolder(t *testing.T) {
	s := feesShell(t)
	const note = "--prune removes documents of folders"
	s.rag("ingest", "--manifest", "docs/manifest.jsonl", "--domain", "fees.yaml", "--prune").want(exitUsage).says(note, "such as docs")
	s.rag("ingest", "docs/old.md", "--prune", "-c", "plain").want(exitDone).says("note:", note)
	if o := s.rag("ingest", "docs", "docs/old.md", "--prune", "-c", "plain").want(exitDone); strings.Contains(o.stderr, note) {
		t.Errorf("%s", o.stderr)
	}
}
