package examples_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
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
	"github.com/seed-d8745b77/rag/internal/systemtest"
)

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
