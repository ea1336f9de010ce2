package postgres_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/internal/testdata"
	"github.com/seed-d8745b77/rag/postgres"
)

// command is the command with the providers of this module, over a database of its own.
type command struct {
	t      *testing.T
	binary string
	dir    string // works here
	env    []string
}

// buildCommand builds the command, and writes the settings of docs/postgres.md where it finds them.
func buildCommand(t *testing.T, at postgres.Config) *command {
	t.Helper()
	c := &command{t: t, dir: t.TempDir(), env: append(os.Environ(), "RAG_DSN="+at.DSN, "RAG_DIR=")}
	c.binary = filepath.Join(c.dir, "rag.exe")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", c.binary, "./cmd/rag").CombinedOutput(); err != nil {
		t.Fatalf("build: %v: %s", err, out)
	}
	page, err := os.ReadFile("../docs/postgres.md")
	if err != nil {
		t.Fatal(err)
	}
	settings := strings.ReplaceAll(block(t, string(page), "yaml"), `"${RAG_DSN}"`, `"${RAG_DSN}", schema: `+at.Schema)
	if err := os.WriteFile(filepath.Join(c.dir, "rag.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(c.dir, "handbook"), os.DirFS(filepath.Join(testdata.ModuleRoot(t), "..", "examples", "handbook"))); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *command) start(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(c.t.Context(), c.binary, args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	return cmd
}

// run runs the command to its end and returns what it printed.
func (c *command) run(code int, args ...string) string {
	c.t.Helper()
	cmd := c.start(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || cmd.ProcessState.ExitCode() != code {
		c.t.Fatalf("rag %s: %v, want exit code %d\n%s%s", strings.Join(args, " "), err, code, &out, &errs)
	}
	return out.String()
}

// json runs the command with --json and decodes what it printed.
func (c *command) json(code int, into any, args ...string) {
	c.t.Helper()
	if err := json.Unmarshal([]byte(c.run(code, append(args, "--json")...)), into); err != nil {
		c.t.Fatal(err)
	}
}

// found are the URIs and passages that a question finds, best first.
func (c *command) found(args ...string) (list []string) {
	c.t.Helper()
	var res struct {
		Hits []struct {
			URI  string `json:"uri"`
			Text string `json:"text"`
		} `json:"hits"`
	}
	c.json(0, &res, append([]string{"search"}, args...)...)
	for _, h := range res.Hits {
		list = append(list, filepath.Base(h.URI)+": "+h.Text)
	}
	return list
}

// The command walks the quick start on a database, with the built-in model; workers make the same of the same files.
func TestCommand(t *testing.T) {
	racetest.Skip(t)
	c := buildCommand(t, database(t, ""))
	const question = "How many days of annual leave do I have?"
	c.run(0, "ingest", "handbook")
	direct := c.found(question)
	if len(direct) == 0 || !strings.HasPrefix(direct[0], "leave-policy-") {
		t.Errorf("found %q", direct)
	}
	if answer := c.run(0, "ask", question); !strings.Contains(answer, "leave-policy-") {
		t.Errorf("the answer names no source: %s", answer)
	}
	var verified rag.VerifyReport
	if c.json(0, &verified, "verify"); !verified.OK || verified.Documents != 10 {
		t.Errorf("verify: %+v", verified)
	}
	c.run(0, "delete", "handbook/code-of-conduct.docx")
	c.run(0, "delete", "--all", "--yes")

	var queued rag.EnqueueReport
	if c.json(0, &queued, "ingest", "--queue", "handbook"); queued.Queued != 10 {
		t.Errorf("queued %+v", queued)
	}
	one, two := c.start("worker", "--drain", "--json"), c.start("worker", "--drain", "--json", "--lease", "5s")
	var outs [2]bytes.Buffer
	for i, w := range []*exec.Cmd{one, two} {
		w.Stdout, w.Stderr = &outs[i], os.Stderr
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
	}
	added := 0
	for i, w := range []*exec.Cmd{one, two} {
		var rep rag.WorkReport
		if err := errors.Join(w.Wait(), json.Unmarshal(outs[i].Bytes(), &rep)); err != nil {
			t.Errorf("worker: %v: %s", err, &outs[i])
		}
		added += rep.Added
	}
	if added != 10 {
		t.Errorf("two workers added %d documents, want 10", added)
	}
	if diff := cmp.Diff(direct, c.found(question)); diff != "" {
		t.Errorf("workers make of the files something else than an ingest (-ingest +workers):\n%s", diff)
	}
	if c.json(0, &verified, "verify"); !verified.OK {
		t.Errorf("verify: %+v", verified)
	}

	torn := filepath.Join(c.dir, "torn.json")
	if err := os.WriteFile(torn, []byte(`{"half":`), 0o600); err != nil {
		t.Fatal(err)
	}
	c.run(0, "ingest", "--queue", "torn.json")
	c.run(1, "worker", "--drain")
	var status rag.QueueStatus
	if c.json(0, &status, "queue"); status.Failed != 1 || len(status.Failures) != 1 || status.Failures[0].Error == "" {
		t.Errorf("queue: %+v", status)
	}
	if text := c.run(0, "queue"); !strings.Contains(text, "1 failed") || !strings.Contains(text, "torn.json (1 try)") {
		t.Errorf("queue: %s", text)
	}
	c.run(2, "ingest", "--queue", "handbook", "--prune")
	c.run(2, "worker", "--lease", "1ms")
	if runtime.GOOS != "windows" {
		c.serves()
	}
}

// serves has a worker wait for work, do it, and end when it is told to.
func (c *command) serves() {
	c.t.Helper()
	w := c.start("worker")
	var out bytes.Buffer
	w.Stdout, w.Stderr = &out, os.Stderr
	if err := w.Start(); err != nil {
		c.t.Fatal(err)
	}
	late := filepath.Join(c.dir, "late.md")
	if err := os.WriteFile(late, []byte("# Late\n\nThe albatross came late.\n"), 0o600); err != nil {
		c.t.Fatal(err)
	}
	c.run(0, "ingest", "--queue", "late.md")
	for status := (rag.QueueStatus{Pending: 1}); status.Pending+status.Running > 0; {
		c.json(0, &status, "queue")
	}
	if err := w.Process.Signal(os.Interrupt); err != nil {
		c.t.Fatal(err)
	}
	if err := w.Wait(); err != nil {
		c.t.Errorf("a worker that is told to end: %v", err)
	}
	if !strings.Contains(out.String(), "1 added") {
		c.t.Errorf("the worker printed %s", &out)
	}
	if list := c.found("albatross"); len(list) == 0 || !strings.HasPrefix(list[0], "late.md") {
		c.t.Errorf("found %q", list)
	}
}
