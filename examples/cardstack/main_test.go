package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag/internal/onnx/onnxtest"
	"github.com/seed-d8745b77/rag/internal/racetest"
	"github.com/seed-d8745b77/rag/internal/testdata"
)

// project is the example in a folder of its own, with models and the command.
type project struct {
	t       testing.TB
	dir     string
	command string
	env     []string
}

// newProject builds a command, writes the published embedding model as ONNX, and takes a cross-encoder of random weights,
// since no trained one is among the shared data: it shows that the slot is filled, not what a reranker is worth.
func newProject(t testing.TB, program string, documents ...string) *project {
	t.Helper()
	racetest.Skip(t)
	encoder, cross := testdata.Shared(t, "models", "all-minilm-l6-v2"), testdata.Shared(t, "models", "test-cross-encoder")
	p := &project{t: t, dir: t.TempDir(), command: filepath.Join(t.TempDir(), "rag")}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", p.command, ".")
	build.Dir, build.Env = program, append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	models := t.TempDir()
	for _, name := range []string{"all-minilm-l6-v2", "cross-encoder"} {
		if err := os.Mkdir(filepath.Join(models, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	onnxtest.Write(t, encoder, filepath.Join(models, "all-minilm-l6-v2"), onnxtest.Options{})
	if err := os.CopyFS(filepath.Join(models, "cross-encoder"), os.DirFS(cross)); err != nil {
		t.Fatal(err)
	}
	copied := map[string]string{"rag.yaml": "rag.yaml", "questions.jsonl": "questions.jsonl"}
	for _, name := range documents {
		copied[filepath.Join("..", "handbook", name)] = filepath.Join("docs", name)
	}
	for from, to := range copied {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		p.write(to, string(data))
	}
	p.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "MODELS=" + models}
	return p
}

// write makes or replaces a file of the project.
func (p *project) write(name, content string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// run runs the command, which must end with this code.
func (p *project) run(code int, args ...string) (stdout, stderr string) {
	p.t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(p.t.Context(), p.command, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.dir, p.env, &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || cmd.ProcessState.ExitCode() != code {
		p.t.Fatalf("rag %s: %v, want exit code %d\n%s%s", strings.Join(args, " "), err, code, &out, &errs)
	}
	return out.String(), errs.String()
}

// TestCardStack runs the stack end to end. Without a licence of unipdf its file fails with the reason, and the rest is
// ingested, found through every slot, and verified.
func TestCardStack(t *testing.T) {
	p := newProject(t, ".", "leave-policy-2026.md", "code-of-conduct.docx", "incident-response.pdf")
	settings, _ := p.run(0, "config", "print")
	for _, provider := range []string{`"coderhnsw"`, `"hugot"`, `"bolt"`} {
		if !strings.Contains(settings, provider) {
			t.Errorf("no %s in the settings", provider)
		}
	}
	if loaded, _ := p.run(0, "load", "docs/code-of-conduct.docx"); !strings.Contains(loaded, "read by nguyendocx") {
		t.Errorf("Word files: %.300s", loaded)
	}
	if loaded, _ := p.run(0, "load", "docs/leave-policy-2026.md"); !strings.Contains(loaded, "read by markdown") {
		t.Errorf("Markdown: %.300s", loaded)
	}
	const partly = 3
	out, said := p.run(partly, "ingest", "docs")
	if !strings.Contains(out, "2 added") || !strings.Contains(out+said, "unipdf gives no text without a licence key: set license_key") {
		t.Errorf("ingest: %s%s", out, said)
	}
	for question, document := range map[string]string{"may I accept gifts from suppliers?": "code-of-conduct.docx", "days of annual leave": "leave-policy-2026.md"} {
		out, _ := p.run(0, "search", question, "--json")
		var found struct {
			Hits []struct {
				URI   string
				Ranks struct{ Dense, Sparse, Fused, Reranked *int }
			}
			Rerank struct{ Status string }
		}
		if err := json.Unmarshal([]byte(out), &found); err != nil {
			t.Fatal(err)
		}
		for _, h := range found.Hits { // the order is that of random weights
			if h.Ranks.Dense != nil && *h.Ranks.Dense == 1 && (!strings.HasSuffix(h.URI, document) || h.Ranks.Fused == nil || h.Ranks.Reranked == nil) {
				t.Errorf("%s: the nearest passage is %+v", question, h)
			}
		}
		if len(found.Hits) == 0 {
			t.Errorf("%s: nothing is found", question)
		}
	}
	if out, _ := p.run(0, "verify"); !strings.Contains(out, "ok") {
		t.Errorf("verify: %s", out)
	}
}

// TestWithLicence reads the PDF where there is a licence.
func TestWithLicence(t *testing.T) {
	file := os.Getenv("RAG_UNIPDF_LICENSE_FILE")
	if file == "" {
		t.Skip("skipped: needs a licence of unipdf; set RAG_UNIPDF_LICENSE_FILE and RAG_UNIPDF_CUSTOMER")
	}
	key, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := newProject(t, ".", "incident-response.pdf")
	p.env = append(p.env, "UNIDOC_LICENSE_KEY="+string(key), "UNIDOC_CUSTOMER="+os.Getenv("RAG_UNIPDF_CUSTOMER"))
	if out, _ := p.run(0, "ingest", "docs"); !strings.Contains(out, "1 added") {
		t.Error(out)
	}
}
