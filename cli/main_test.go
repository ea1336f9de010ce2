package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/ragtest"
)

// The tests run this test binary as the command: a child process with role set is no test run.
const (
	role     = "RAG_TEST_ROLE"
	roleMain = "main" // be the command
	roleHold = "hold" // open the data folder given as argument, and keep it until standard input ends
	roleHost = "host" // have the command given as arguments serve, and wait to be killed

	restriction = "RAG_TEST_RESTRICTION" // what the process takes from itself first; see restrict
)

func TestMain(m *testing.M) {
	registerTestProviders()
	if err := restrict(os.Getenv(restriction)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	switch os.Getenv(role) {
	case roleMain:
		Main()
	case roleHost:
		if err := host(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case roleHold:
		if err := hold(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// registerTestProviders adds embedders that need no model: hash, other (another model) and hang, which says
// "embedding" and then waits for the end of its context; halfway, which does so at its halfwayAt-th batch; keyed, which needs a key in the environment; and the reranker
// backwards, which turns the list round.
func registerTestProviders() {
	register := func(name string, e *ragtest.HashEmbedder) {
		rag.Default.Embedders.Register(name, rag.Typed(func(rag.Env, struct{}) (rag.Embedder, error) { return e, nil }))
	}
	registerCareless()
	register("hash", &ragtest.HashEmbedder{})
	register("other", &ragtest.HashEmbedder{Revision: "2"})
	register("hang", &ragtest.HashEmbedder{Before: func(ctx context.Context, role rag.EmbedRole, _ []string) error {
		if role == rag.AsPassage {
			fmt.Fprintln(os.Stderr, "embedding")
			<-ctx.Done()
		}
		return ctx.Err()
	}})
	batches := 0
	register("halfway", &ragtest.HashEmbedder{Before: func(ctx context.Context, role rag.EmbedRole, _ []string) error {
		if batches++; batches == halfwayAt { // one batch at a time
			fmt.Fprintln(os.Stderr, "halfway")
			<-ctx.Done()
		}
		return ctx.Err()
	}})
	rag.Default.Embedders.Register("keyed", rag.Typed(func(env rag.Env, _ struct{}) (rag.Embedder, error) {
		if env.Getenv == nil || env.Getenv("RAG_TEST_KEY") == "" {
			return nil, errors.New("keyed has no key")
		}
		return &ragtest.HashEmbedder{}, nil
	}))
	register("prints", &ragtest.HashEmbedder{Before: atQuestions(func(context.Context) error {
		fmt.Println("loading weights")
		_, err := os.NewFile(1, "stdout").WriteString("loaded\n") // as C code and child processes do
		return err
	})})
	register("panics", &ragtest.HashEmbedder{Before: atQuestions(func(context.Context) error { panic("nothing is well") })})
	register("waits", &ragtest.HashEmbedder{Before: atQuestions(func(ctx context.Context) error {
		fmt.Fprintln(os.Stderr, "waiting")
		<-ctx.Done()
		fmt.Fprintln(os.Stderr, "waited")
		return ctx.Err()
	})})
	register("stuck", &ragtest.HashEmbedder{Before: atQuestions(func(context.Context) error {
		<-time.After(time.Hour) // and does not look at its context
		return nil
	})})
	rag.Default.Rerankers.Register("backwards", rag.Typed(func(rag.Env, struct{}) (rag.Reranker, error) { return backwards{}, nil }))
}

// halfwayAt is the batch at which the embedder halfway stops: about 500 short documents are committed by then.
const halfwayAt = 10

// atQuestions does something before a question is embedded.
func atQuestions(do func(context.Context) error) func(context.Context, rag.EmbedRole, []string) error {
	return func(ctx context.Context, role rag.EmbedRole, _ []string) error {
		if role == rag.AsQuestion {
			return do(ctx)
		}
		return nil
	}
}

type backwards struct{}

func (backwards) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	scores := make([]float64, len(texts))
	for i := range scores {
		scores[i] = float64(i)
	}
	return scores, nil
}

func hold(dir string) error {
	c := rag.DefaultConfig()
	c.Embedder.Provider = rag.None
	eng, err := rag.Open(dir, rag.WithConfig(c))
	if err != nil {
		return err
	}
	fmt.Println("open")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return eng.Close()
}

// shell is a working directory in which a test runs the command.
type shell struct {
	t   *testing.T
	dir string
}

// newShell makes a working directory with a configuration whose embedder needs no model.
func newShell(t *testing.T) *shell {
	t.Helper()
	s := &shell{t: t, dir: t.TempDir()}
	s.write("hash.yaml", "embedder: hash\n")
	return s
}

// in returns the shell for a subtest.
func (s *shell) in(t *testing.T) *shell { return &shell{t: t, dir: s.dir} }

// write makes a file below the working directory.
func (s *shell) write(name, content string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// outcome is what a run of the command left.
type outcome struct {
	t              *testing.T
	line           string
	stdout, stderr string
	code           int
}

// command prepares a run; --config names the test configuration unless the arguments name another.
func (s *shell) command(args ...string) *exec.Cmd {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	if !strings.Contains(strings.Join(args, " "), "--config") && !strings.Contains(strings.Join(args, " "), "--help") {
		args = append(args, "--config", filepath.Join(s.dir, "hash.yaml"))
	}
	cmd := exec.CommandContext(s.t.Context(), self, args...)
	cmd.Dir = s.dir
	// The race detector makes a process wait for a second at its end, in case a race is still to be reported: too long
	// for so many short runs.
	cmd.Env = append(os.Environ(), role+"="+roleMain, "RAG_DIR=", "PWD="+s.dir, "GORACE=atexit_sleep_ms=0 halt_on_error=1")
	return cmd
}

// rag runs the command to its end.
func (s *shell) rag(args ...string) outcome {
	s.t.Helper()
	cmd := s.command(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return outcome{s.t, "rag " + strings.Join(args, " "), stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// want checks the exit code.
func (o outcome) want(code int) outcome {
	o.t.Helper()
	if o.code != code {
		o.t.Fatalf("%s: exit code %d, want %d\nstdout: %s\nstderr: %s", o.line, o.code, code, o.stdout, o.stderr)
	}
	return o
}

// prints checks that standard output has each of the texts.
func (o outcome) prints(texts ...string) outcome {
	o.t.Helper()
	for _, text := range texts {
		if !strings.Contains(o.stdout, text) {
			o.t.Errorf("%s: standard output lacks %q:\n%s", o.line, text, o.stdout)
		}
	}
	return o
}

// says checks that standard error has each of the texts.
func (o outcome) says(texts ...string) outcome {
	o.t.Helper()
	for _, text := range texts {
		if !strings.Contains(o.stderr, text) {
			o.t.Errorf("%s: standard error lacks %q:\n%s", o.line, text, o.stderr)
		}
	}
	return o
}

// into decodes standard output, which must be exactly one JSON object.
func (o outcome) into(v any) outcome {
	o.t.Helper()
	dec := json.NewDecoder(strings.NewReader(o.stdout))
	if err := dec.Decode(v); err != nil {
		o.t.Fatalf("%s: %v\nstdout: %s\nstderr: %s", o.line, err, o.stdout, o.stderr)
	}
	if _, err := dec.Token(); err != io.EOF || !strings.HasPrefix(o.stdout, "{") {
		o.t.Fatalf("%s: standard output is not one JSON object:\n%s", o.line, o.stdout)
	}
	return o
}

// handbook is a folder of small documents.
func (s *shell) handbook() {
	s.write("docs/leave.md", "---\nyear: 2026\ndepartment: people\n---\n# Leave policy\n\n## Annual leave\n\nEverybody has thirty days of annual leave a year.\n\n"+
		"## Notice period\n\nThe notice period is three months to the end of a quarter.\n")
	s.write("docs/travel.md", "# Travel\n\nThe head of finance signs off every trip abroad.\n\n## Hotels\n\nA hotel may cost up to 150 euros a night.\n")
	s.write("docs/notes.txt", "The coffee machine on the second floor is cleaned on Fridays.\n")
}
