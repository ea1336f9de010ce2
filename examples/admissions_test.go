package examples_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
	"github.com/seed-d8745b77/rag/internal/systemtest"
)

// businessDay is the day on which the questions of the admissions example are asked.
const businessDay = "2026-03-01"

// admissionsIngest is the command that brings the example up to date.
var admissionsIngest = []string{"ingest", "--domain", "admissions.yaml", "--manifest", "manifest.jsonl", "--json"}

// admissionsHits is the JSON of a search.
type admissionsHits struct {
	Hits []struct {
		ChunkID string `json:"chunk_id"`
		DocID   string `json:"doc_id"`
		URI     string
		Text    string
		Status  string
		Meta    rag.Meta
		Title   string
		Images  []struct{ Caption string }
	}
	Trace *rag.Trace
}

// sources are the names of the files in the order of the hits.
func (h *admissionsHits) sources() (names []string) {
	for _, hit := range h.Hits {
		names = append(names, filepath.Base(hit.URI))
	}
	return names
}

// admissionsFind searches under the rules of the domain on the business day.
func admissionsFind(s *systemtest.System, question string, args ...string) *admissionsHits {
	var out admissionsHits
	s.Run(append([]string{"search", question, "--domain", "admissions.yaml", "--as-of", businessDay, "--json"}, args...)...).Done().JSON(&out)
	return &out
}

// admissionsPassages are the IDs of a document's passages, in order.
func admissionsPassages(s *systemtest.System, file string) (ids []string) {
	var shown struct {
		Document struct {
			Chunks []struct {
				ID string `json:"chunk_id"`
			}
		}
	}
	s.Run("show", file, "--json").Done().JSON(&shown)
	for _, c := range shown.Document.Chunks {
		ids = append(ids, c.ID)
	}
	return ids
}

// TestAdmissions walks through the rows of System B: an empty folder, the built command, an MCP client, a dashboard. The
// pages of the dashboard in a browser are in dashboard/browser.
func TestAdmissions(t *testing.T) {
	if raceDetector {
		t.Skip("skipped: the command that it runs has no race detector")
	}
	s := systemtest.New(t, "admissions")
	t.Run("B19 samples", func(t *testing.T) { admissionsSamples(t, s.In(t)) })
	t.Run("B6-B8 manifest", func(t *testing.T) { admissionsManifest(t, s.In(t)) })
	var report rag.IngestReport
	s.Run(append(admissionsIngest, "--path", "documents", "--collection", "admissions_knowledge")...).Done().JSON(&report)
	if report.Added != 14 || report.Embedded == 0 {
		t.Fatalf("%+v", report)
	}
	t.Run("B1-B4 tool", func(t *testing.T) { admissionsTool(t, s.In(t)) })
	t.Run("B5 stdio", func(t *testing.T) { admissionsStdio(t, s.In(t)) })
	t.Run("B15 dashboard", func(t *testing.T) { admissionsDashboard(t, s.In(t)) })
	t.Run("B16 acceptance", func(t *testing.T) { admissionsAcceptance(t, s.In(t)) })
	t.Run("B10 metadata alone", func(t *testing.T) { admissionsMetadata(t, s.In(t)) })
	t.Run("B11 B13 sync", func(t *testing.T) { admissionsSync(t, s.In(t)) })
	t.Run("B12 history without metadata", func(t *testing.T) { admissionsHistory(t, s.In(t)) })
	t.Run("B14 commands", func(t *testing.T) { admissionsCommands(t, s.In(t)) })
	t.Run("B9 B17 B18 services", func(t *testing.T) { admissionsServices(t) })
	t.Run("B18 B20 answers", func(t *testing.T) { admissionsAnswers(t, s.In(t)) })
	t.Run("program", func(t *testing.T) { admissionsProgram(t, s.In(t)) })
	t.Run("readme", func(t *testing.T) { systemtest.New(t, "admissions").Transcript("README.md") })
}

// admissionsSamples: a current document, one without a date, one out of force, and one with a flow chart.
func admissionsSamples(t *testing.T, s *systemtest.System) {
	kinds := map[string]int{}
	for line := range strings.Lines(s.Read("manifest.jsonl")) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		until, ok := m["valid_until"].(string)
		switch {
		case !ok:
			kinds["no date"]++
		case until >= businessDay:
			kinds["current"]++
		default:
			kinds["expired"]++
		}
	}
	for _, kind := range []string{"no date", "current", "expired"} {
		if kinds[kind] == 0 {
			t.Errorf("no document with %s", kind)
		}
	}
	var loaded struct {
		Documents []struct {
			Images []struct{ Page *int }
			Text   string
		}
	}
	s.Run("load", "documents/westmoor-how-to-apply-2026.pdf", "--json").Done().JSON(&loaded)
	if d := loaded.Documents; len(d) != 1 || len(d[0].Images) != 1 || strings.Contains(d[0].Text, "Reminder") {
		t.Errorf("the flow chart is not a picture alone: %+v", d)
	}
}

// admissionsManifest: whatever is wrong with a manifest is told before anything is written.
func admissionsManifest(t *testing.T, s *systemtest.System) {
	good := s.Read("manifest.jsonl")
	first, rest, _ := strings.Cut(good, "\n")
	for name, c := range map[string]struct{ manifest, says string }{
		"unknown field":   {strings.Replace(good, `"tags"`, `"colour"`, 1), "colour"},
		"duplicate path":  {good + first + "\n", "westmoor-requirements-2026.md"},
		"invalid word":    {strings.Replace(good, `"official_page"`, `"rumour"`, 1), "rumour"},
		"inverted dates":  {strings.Replace(good, `"2025-09-01"`, `"2027-09-01"`, 1), "published_at"},
		"missing country": {strings.Replace(good, `"country": "UK", `, "", 1), "country"},
		"no such file":    {strings.Replace(good, "port-selby-faq", "port-selby-faqs", 1), "port-selby-faqs.md"},
		"file not named":  {rest, "westmoor-requirements-2026.md"},
		"not UTF-8":       {strings.Replace(good, "UK student", "\xff student", 1), "UTF-8"},
		"no JSON":         {good + "{broken\n", "line 15"},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.In(t)
			s.Write("manifest.jsonl", c.manifest)
			s.Run("ingest", "--path", "documents", "--domain", "admissions.yaml", "--manifest", "manifest.jsonl").Exit(1).Says(c.says)
			if _, err := os.Stat(filepath.Join(s.Dir, ".rag")); err == nil {
				t.Error("something was written")
			}
		})
	}
	// A relative path is seen from the manifest's folder, wherever the command runs.
	s.Write("lists/all.jsonl", strings.ReplaceAll(good, `"documents/`, `"../documents/`))
	var report rag.IngestReport
	s.Run("ingest", "documents", "--domain", "admissions.yaml", "--manifest", "lists/all.jsonl", "--dry-run", "--json").Done().JSON(&report)
	if len(report.Plan) != 14 {
		t.Errorf("%d files are planned", len(report.Plan))
	}
	s.Write("manifest.jsonl", good)
}

// admissionsTool: the three general tools and that of the domain, which is the same search under forced filter, vocabulary
// and policy.
func admissionsTool(t *testing.T, s *systemtest.System) {
	c := s.MCP("--tools", "hub", "--domain", "admissions.yaml")
	if diff := cmp.Diff([]string{"get_document_summary", "list_collections", "query_knowledge_hub", "search_admissions_knowledge"}, slices.Sorted(slices.Values(c.Tools()))); diff != "" {
		t.Error(diff)
	}
	list, err := c.Session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if tool.Annotations == nil || !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s is not said to change nothing", tool.Name) // B20: no action outside
		}
		if tool.Name != "search_admissions_knowledge" {
			continue
		}
		schema, _ := tool.InputSchema.(map[string]any)
		properties, _ := schema["properties"].(map[string]any)
		want := []string{"application_round", "business_date", "country", "degree_level", "institution", "intake", "program", "query", "source_type", "top_k"}
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(properties))); diff != "" {
			t.Errorf("parameters: %s", diff)
		}
	}
	found := func(args map[string]any) map[string]string {
		t.Helper()
		args["top_k"] = 20
		_, _, data := c.Call("search_admissions_knowledge", args)
		got := map[string]string{}
		for _, one := range data["citations"].([]any) {
			cite := one.(map[string]any)
			got[cite["source"].(string)] = cite["status"].(string)
		}
		return got
	}
	for _, tt := range []struct {
		name string
		args map[string]any
		want map[string]string
	}{
		{"country, by another name", map[string]any{"query": "IELTS score", "country": "GB", "degree_level": "postgraduate"}, map[string]string{"westmoor-requirements-2026.md": "current", "westmoor-how-to-apply-2026.pdf": "current"}},
		{"the year before", map[string]any{"query": "IELTS score", "program": "computer science", "business_date": "2025-03-01"}, map[string]string{"westmoor-requirements-2025.md": "current"}},
		{"its last day", map[string]any{"query": "scholarship", "source_type": "scholarship", "business_date": "2025-05-15"}, map[string]string{"westmoor-scholarship-2025.md": "current"}},
		{"the day after", map[string]any{"query": "scholarship", "source_type": "scholarship", "business_date": "2025-05-16"}, map[string]string{}},
		{"no date", map[string]any{"query": "proof of funds", "source_type": "visa_guide"}, map[string]string{"uk-student-visa.md": "needs_review"}},
		{"a date that cannot be read", map[string]any{"query": "insurance", "country": "calderia", "source_type": "guide"}, map[string]string{"calderia-health-insurance.md": "needs_review"}},
		{"institution and intake", map[string]any{"query": "fees", "institution": "Halden Technical University", "intake": "2026-autumn", "source_type": "fee_table"}, map[string]string{"halden-fees-2026.md": "current"}},
		{"round", map[string]any{"query": "vaccinations", "application_round": "rolling"}, map[string]string{"port-selby-nursing.md": "current"}},
	} {
		if tt.args["business_date"] == nil {
			tt.args["business_date"] = businessDay
		}
		if diff := cmp.Diff(tt.want, found(tt.args)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	res, err := c.Session.CallTool(t.Context(), &mcp.CallToolParams{Name: "search_admissions_knowledge", Arguments: map[string]any{"query": "fee", "country": "Narnia"}})
	if err != nil || !res.IsError {
		t.Errorf("an unknown country: %+v, %v", res, err)
	}

	// B4: passages, order, pictures and stages are those of any search.
	question := "the way of an application, step by step"
	out, _, data := c.Call("search_admissions_knowledge", map[string]any{"query": question, "business_date": businessDay, "top_k": 5})
	var ids, tool []string
	same := admissionsFind(s, question, "--top-k", "5", "--explain")
	for _, h := range same.Hits {
		ids = append(ids, h.ChunkID)
	}
	for _, one := range data["citations"].([]any) {
		tool = append(tool, one.(map[string]any)["chunk_id"].(string))
	}
	if diff := cmp.Diff(ids, tool); diff != "" {
		t.Errorf("the tool finds other passages than the command: %s", diff)
	}
	if !slices.ContainsFunc(out.Content, func(c mcp.Content) bool { i, ok := c.(*mcp.ImageContent); return ok && len(i.Data) > 0 }) {
		t.Error("the flow chart does not come along")
	}
	var stages []string
	for _, span := range same.Trace.Stages {
		stages = append(stages, span.Stage)
	}
	for _, want := range []string{rag.StageDense, rag.StageSparse, rag.StageFusion, rag.StageRerank} {
		if !slices.Contains(stages, want) {
			t.Errorf("stages %v lack %s", stages, want)
		}
	}
	// The collection remembers its domain: what somebody puts into it without naming one follows the rules, and is found by them.
	s.Write("stray.md", "# Gym\n\nThe fee of the gym is 9,999 doubloons.\n")
	s.Run("ingest", "stray.md").Done().Prints("domain admissions (remembered)", "country: is required and not given")
	if got := admissionsFind(s, "the fee of the gym in doubloons").sources(); !slices.Contains(got, "stray.md") {
		t.Errorf("found %v", got)
	}
	s.Run("delete", "stray.md").Done()
}

// admissionsStdio: standard output carries the protocol and nothing else, and no port is opened.
func admissionsStdio(t *testing.T, s *systemtest.System) {
	cmd := exec.CommandContext(t.Context(), filepath.Join(systemtest.Bin(t), "rag"), "serve", "mcp", "--domain", "admissions.yaml", "--verbose")
	cmd.Dir = s.Dir
	cmd.Env = []string{"HOME=" + t.TempDir()}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(stdin, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search_admissions_knowledge","arguments":{"query":"IELTS score"}}}`+"\n")
	if err != nil {
		t.Fatal(err)
	}
	answered := 0
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m struct {
			JSONRPC string
			ID      int
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil || m.JSONRPC != "2.0" {
			t.Errorf("on standard output: %q, %v", lines.Text(), err)
		}
		if m.ID > 0 {
			answered++
		}
		if answered == 2 {
			admissionsNoSockets(t, cmd.Process.Pid) // B18
			stdin.Close()                           // ends the server
		}
	}
	if err := cmd.Wait(); err != nil || answered != 2 || stderr.Len() == 0 {
		t.Errorf("%v, %d answers, logged %q", err, answered, &stderr)
	}
}

// admissionsNoSockets: the process has no connection and listens nowhere, where that can be seen.
func admissionsNoSockets(t *testing.T, pid int) {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	files, _ := os.ReadDir(dir) // elsewhere there are none
	for _, f := range files {
		if to, err := os.Readlink(filepath.Join(dir, f.Name())); err == nil && strings.HasPrefix(to, "socket:") {
			t.Errorf("the server has a socket, %s", to)
		}
	}
}

// admissionsDashboard: the counts, the filters and the pages are there; a browser walks through them in dashboard/browser.
func admissionsDashboard(t *testing.T, s *systemtest.System) {
	url := s.Dashboard("--domain", "admissions.yaml")
	if !strings.HasPrefix(url, "http://127.0.0.1:") { // B18: no other machine reaches it
		t.Errorf("it serves at %s", url)
	}
	get := func(path string, into any) {
		t.Helper()
		res, err := http.Get(url + path + "&format=json&collection=admissions_knowledge&as_of=" + businessDay)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if err := json.NewDecoder(res.Body).Decode(into); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", path, res.Status, err)
		}
	}
	var validity struct{ Counts rag.StatusCounts }
	if get("/validity?", &validity); validity.Counts != (rag.StatusCounts{Current: 8, NeedsReview: 3, Expired: 3}) {
		t.Errorf("counts %+v", validity.Counts)
	}
	for filter, want := range map[string]int{
		"": 14, "f.country=GB": 5, "f.institution=University+of+Estmark": 2, "f.program=computer+science": 2, "f.degree_level=master": 6, "f.intake=2026-autumn": 7,
		"f.application_round=rolling": 1, "f.source_type=faq": 1, "status=current": 8, "status=needs_review": 3, "status=expired": 3, "f.country=calderia&status=needs_review": 2,
	} {
		var page struct{ Documents []any }
		if get("/browse?"+filter, &page); len(page.Documents) != want {
			t.Errorf("%s: %d documents, want %d", filter, len(page.Documents), want)
		}
	}
}

// admissionsAcceptance: the test set's filters, dates, policies and statuses are met by the collection, and by the tool.
func admissionsAcceptance(t *testing.T, s *systemtest.System) {
	accept := []string{"evaluate", "--no-search", "--domain", "admissions.yaml", "--collection", "admissions_knowledge", "--test-set"}
	s.Run(append(accept, "questions.jsonl")...).Done().Prints("20 questions", " 0 not met")
	s.Write("wrong.jsonl", strings.Replace(s.Read("questions.jsonl"), `"expected_status": "current"`, `"expected_status": "expired"`, 1))
	s.Run(append(accept, "wrong.jsonl")...).Exit(1).Prints("1 not met", "line 1 (b01) expected_status")

	set, err := eval.Load(filepath.Join(s.Dir, "questions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	c := s.MCP("--tools", "hub", "--domain", "admissions.yaml")
	asked := 0
	for i := range set.Questions {
		q := &set.Questions[i]
		args, ok := admissionsArguments(q)
		if !ok {
			continue
		}
		asked++
		_, _, data := c.Call("search_admissions_knowledge", args)
		status := map[string]string{}
		for _, one := range data["citations"].([]any) {
			cite := one.(map[string]any)
			status["documents/"+cite["source"].(string)] = cite["status"].(string)
		}
		for name := range q.Documents {
			if status[name] != q.Status {
				t.Errorf("%s: %s has the status %q, want %q", q.ID, name, status[name], q.Status)
			}
		}
		for _, name := range q.Excluded {
			if got, found := status[name]; found {
				t.Errorf("%s: %s is found, %s", q.ID, name, got)
			}
		}
	}
	if asked < 15 {
		t.Errorf("the tool was asked %d questions", asked)
	}
}

// admissionsArguments are those of the tool for a question; not ok if the question wants what the tool does not offer.
func admissionsArguments(q *eval.Question) (args map[string]any, ok bool) {
	args = map[string]any{"query": q.Text, "business_date": q.AsOf.Format("2006-01-02"), "top_k": 20}
	conditions := append([]rag.Filter{q.Filter}, q.Filter.Args...)
	for _, f := range conditions {
		switch {
		case f.IsZero() || f.Op == rag.OpAnd:
		case f.Op == rag.OpEq && f.Field != "tags":
			args[f.Field] = f.Value
		default:
			return nil, false
		}
	}
	return args, q.Expiry != eval.ExpiryFlag
}

// admissionsMetadata: a change in the manifest alone takes the document in again, under the same passages, without a vector.
func admissionsMetadata(t *testing.T, s *systemtest.System) {
	good := s.Read("manifest.jsonl")
	file := "documents/halden-fees-2026.md"
	before := admissionsPassages(s, file)
	var report rag.IngestReport
	s.Run(admissionsIngest...).Done().JSON(&report)
	if report.Unchanged != 14 {
		t.Errorf("nothing has changed: %+v", report)
	}
	s.Write("manifest.jsonl", strings.Replace(good, `"valid_until": "2027-07-31", "tags": ["fees"]`, `"valid_until": "2026-02-28", "tags": ["fees", "costs"]`, 1))
	s.Run(admissionsIngest...).Done().JSON(&report)
	if report.Updated != 1 || report.Unchanged != 13 || report.Embedded != 0 || len(before) == 0 {
		t.Errorf("metadata alone: %+v", report)
	}
	if diff := cmp.Diff(before, admissionsPassages(s, file)); diff != "" {
		t.Errorf("passages: %s", diff)
	}
	if got := admissionsFind(s, "tuition per year", "--filter", "tags = costs").sources(); len(got) != 0 {
		t.Errorf("it is not in force any more, and found: %v", got)
	}
	if got := admissionsFind(s, "tuition per year", "--filter", "tags = costs", "--as-of", "2026-02-28").sources(); !slices.Contains(got, "halden-fees-2026.md") {
		t.Errorf("on its last day found: %v", got)
	}
	// The same in other words of the vocabulary, and in another order, is no change.
	s.Write("manifest.jsonl", strings.ReplaceAll(good, `"country": "Norvania"`, `"country": "诺凡尼亚"`))
	s.Run(admissionsIngest...).Done().JSON(&report)
	if report.Updated != 1 || report.Unchanged != 13 { // the one is set back
		t.Errorf("other words: %+v", report)
	}
	s.Write("manifest.jsonl", good)
}

// admissionsSync: a new version takes the place of the old one whole, and a delete tells what it could not do.
func admissionsSync(t *testing.T, s *systemtest.System) {
	file := "documents/port-selby-faq.md"
	old, before := s.Read(file), admissionsPassages(s, file)
	var report rag.IngestReport
	s.Run(append(admissionsIngest, "--force")...).Done().JSON(&report)
	if report.Updated != 14 || report.Chunks.New != 0 || report.Chunks.Removed != 0 {
		t.Errorf("everything written once more: %+v", report)
	}
	if diff := cmp.Diff(before, admissionsPassages(s, file)); diff != "" {
		t.Errorf("passages: %s", diff)
	}
	s.Write(file, strings.Replace(old, "220 rooms", "345 rooms", 1))
	s.Run(admissionsIngest...).Done().JSON(&report)
	if report.Updated != 1 || report.Chunks.New == 0 || report.Chunks.Removed == 0 {
		t.Errorf("another text: %+v", report)
	}
	hits := admissionsFind(s, "how many rooms does the college have?")
	for _, h := range hits.Hits {
		if strings.Contains(h.Text, "220 rooms") {
			t.Error("the old version is still found")
		}
	}
	if len(hits.Hits) == 0 || !strings.Contains(hits.Hits[0].Text, "345 rooms") {
		t.Errorf("found %v", hits.sources())
	}
	s.Run("verify").Done()

	// The picture goes with its document; a name that is not there is reported, and the exit code is that of a part.
	var deleted rag.DeleteReport
	s.Run("delete", "documents/westmoor-how-to-apply-2026.pdf", "documents/none.md", "--json").Exit(3).JSON(&deleted)
	if deleted.Documents != 1 || deleted.Images != 1 || len(deleted.NotFound) != 1 || len(deleted.Failed) != 0 {
		t.Errorf("%+v", deleted)
	}
	s.Run("verify").Done()
	s.Run(admissionsIngest...).Done().JSON(&report)
	if report.Added != 1 {
		t.Errorf("taken in again: %+v", report)
	}
}

// admissionsHistory: documents that were ingested before there was a manifest get their metadata by the next ingest.
func admissionsHistory(t *testing.T, s *systemtest.System) {
	s.Write("words.yaml", "collection: admissions_knowledge\nembedder: none\n")
	old := []string{"--dir", "old", "--config", "words.yaml"}
	var report rag.IngestReport
	s.Run(append(old, "ingest", "documents", "--json")...).Done().JSON(&report)
	if got := admissionsFind(s, "IELTS score", old...); report.Added != 14 || len(got.Hits) != 0 {
		t.Fatalf("without metadata: %+v, found %v", report, got.sources())
	}
	s.Run(append(admissionsIngest, old...)...).Done().JSON(&report)
	if report.Updated != 14 {
		t.Errorf("with a manifest: %+v", report)
	}
	s.Run(append(admissionsIngest, old...)...).Done().JSON(&report)
	if got := admissionsFind(s, "IELTS score", append(old, "--filter", "country = uk")...); report.Unchanged != 14 || len(got.Hits) == 0 {
		t.Errorf("after that: %+v, found %v", report, got.sources())
	}
	s.Run(append(old, "verify")...).Done()
}

// admissionsCommands: the flags of that system's commands.
func admissionsCommands(t *testing.T, s *systemtest.System) {
	s.Run("query", "--query", "IELTS score", "--collection", "admissions_knowledge", "--domain", "admissions.yaml", "--verbose").Done().Prints("dense", "sparse", "fusion", "rerank")
	s.Run("evaluate", "--test-set", "questions.jsonl", "--collection", "admissions_knowledge", "--domain", "admissions.yaml", "--retrieval-only", "--label", "offline", "--results", "results/offline").Done().Prints("document/hit@5")
	run, err := eval.LoadRun(filepath.Join(s.Dir, "results", "offline", "offline.json"))
	if err != nil {
		t.Fatal(err)
	}
	for metric, least := range map[string]float64{"document/hit@5": 1, "key_sentence/hit@5": 0.9} { // B17: recall must not fall
		if got := run.Metrics[metric]; got.Mean == nil || *got.Mean < least {
			t.Errorf("%s is %v, want at least %v", metric, got.Mean, least)
		}
	}
	s.Run("dashboard", "--help").Done().Prints("127.0.0.1:8501")
}

// admissionsServices: with a service for texts and pictures the flow chart is found by its words, nothing generated replaces
// the manifest, online results are kept apart, and the key is nowhere.
func admissionsServices(t *testing.T) {
	const key = "sk-admissions-secret-0123456789"
	service := newScripted(t, func(a asked) (string, int) {
		switch {
		case strings.HasPrefix(a.Task, "You describe a picture"):
			return `{"caption": "Flow chart. Missing documents: reminder, 7 days to send the rest, else the file is closed. Refusal: appeal within 14 days."}`, 0
		case strings.HasPrefix(a.Task, "You describe a passage"):
			return `{"title": "Generated heading", "tags": ["generated"], "summary": "Generated summary."}`, 0
		case strings.HasPrefix(a.Task, "You answer questions from numbered sources"):
			return "The source says so [1].", 0
		case strings.Contains(a.Task, "claims"):
			return "no verdict", 0
		}
		return `{"intent": "search"}`, 0
	})
	s := systemtest.New(t, "admissions", "LLM_PROVIDER=openai", "OPENAI_API_KEY="+key, "OPENAI_BASE_URL="+service.URL, "OPENAI_MODEL=tiny")
	s.Write("rag.yaml", strings.NewReplacer("- enrich", "- {provider: enrich, mode: llm}", "rerank: maxsim", "embedder: none").Replace(s.Read("rag.yaml")))
	said := s.Run(admissionsIngest...).Done()
	hits := admissionsFind(s, "reminder: days to send the rest, appeal")
	if len(hits.Hits) == 0 || hits.sources()[0] != "westmoor-how-to-apply-2026.pdf" || len(hits.Hits[0].Images) != 1 || !strings.HasPrefix(hits.Hits[0].Images[0].Caption, "Flow chart") {
		t.Errorf("the flow chart is not found by its caption: %v", hits.sources())
	}
	for _, h := range hits.Hits {
		if h.Meta["tags"] == nil || slices.Contains(h.Meta["tags"].([]any), any("generated")) || h.Title == "Generated heading" || h.Meta["generated_title"] != "Generated heading" {
			t.Errorf("%s: title %q, metadata %v", h.URI, h.Title, h.Meta)
		}
	}
	online := s.Run("eval", "--test-set", "questions.jsonl", "--domain", "admissions.yaml", "--label", "online", "--results", "results/online", "--evaluators", "overlap")
	online.Done()
	if _, err := os.Stat(filepath.Join(s.Dir, "results", "online", "online.json")); err != nil {
		t.Error(err)
	}
	if len(service.requests("/chat/completions")) == 0 || service.requests("/chat/completions")[0].Key != key {
		t.Error("the service was not asked with the key")
	}
	s.Run("config", "print").Done().Prints("***")
	texts := map[string]string{"ingest": said.Stdout + said.Stderr, "eval": online.Stdout + online.Stderr, "config": s.Run("config", "print").Stdout}
	err := filepath.WalkDir(s.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		texts[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range texts {
		if strings.Contains(text, key) {
			t.Errorf("the key stands in %s", name)
		}
	}
}

// admissionsAnswers: an answer has sources, and without evidence there is none.
func admissionsAnswers(t *testing.T, s *systemtest.System) {
	type answer struct {
		Answer      string
		Refused     bool
		Reliability string
		NeedsReview bool `json:"needs_review"`
		Citations   []struct{ URI string }
	}
	ask := func(question string) *answer {
		var a answer
		s.Run("ask", question, "--domain", "admissions.yaml", "--as-of", businessDay, "--json").Done().JSON(&a)
		return &a
	}
	if a := ask("Which IELTS score does Westmoor require?"); a.Refused || len(a.Citations) == 0 || !strings.Contains(a.Answer, "6.5") || a.NeedsReview {
		t.Errorf("%+v", a)
	}
	if a := ask("How long must the proof of funds have been in the account?"); a.Refused || !a.NeedsReview {
		t.Errorf("the guide gives no date: %+v", a)
	}
	if a := ask("Who won the football final on Sunday?"); !a.Refused || a.Reliability != rag.NoAnswer || len(a.Citations) != 0 {
		t.Errorf("%+v", a)
	}
	c := s.MCP("--domain", "admissions.yaml")
	_, text, data := c.Call("search_admissions_knowledge", map[string]any{"query": "scholarship", "institution": "University of Westmoor", "source_type": "scholarship", "business_date": businessDay})
	if len(data["citations"].([]any)) != 0 || text == "" {
		t.Errorf("nothing is in force: %s", text)
	}
}

// admissionsProgram: the example's program compiles, and says what will not hold much longer.
func admissionsProgram(t *testing.T, s *systemtest.System) {
	cmd := exec.CommandContext(t.Context(), "go", "run", "./examples/admissions", s.Dir, "2026-07-15")
	cmd.Dir = systemtest.Root(t)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"port-selby-nursing.md", "westmoor-requirements-2026.md", "b01"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the program does not say %q:\n%s", want, out)
		}
	}
	if strings.Contains(string(out), "halden-fees-2026.md") {
		t.Errorf("a document of the next year is due:\n%s", out)
	}
}

// TestAdmissionsOnline asks a real service, which costs money: RAG_TEST_ONLINE and OPENAI_API_KEY must be set; OPENAI_BASE_URL
// and OPENAI_MODEL may be.
func TestAdmissionsOnline(t *testing.T) {
	if os.Getenv("RAG_TEST_ONLINE") == "" || os.Getenv("OPENAI_API_KEY") == "" {
		t.Skip("skipped: needs RAG_TEST_ONLINE and OPENAI_API_KEY")
	}
	env := []string{"LLM_PROVIDER=openai"}
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"} {
		env = append(env, fmt.Sprintf("%s=%s", name, os.Getenv(name)))
	}
	s := systemtest.New(t, "admissions", env...)
	s.Run(admissionsIngest...).Done()
	s.Run("eval", "--test-set", "questions.jsonl", "--domain", "admissions.yaml", "--label", "online", "--results", "results/online").Done().Prints("faithfulness")
}
