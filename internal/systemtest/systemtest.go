// Package systemtest walks through a project as its user would: the built command in a folder of its own, an MCP client,
// the dashboard, and the commands of a README as they stand there. For tests.
package systemtest

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
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Run runs the tests of a package, removes the command that they built, and returns the exit code. TestMain calls it.
func Run(m *testing.M) int {
	defer func() {
		if made != "" {
			_ = os.RemoveAll(made)
		}
	}()
	return m.Run()
}

// made is the folder of the built command; "" until a test needs it.
var made string

// build makes the command once for all tests of a package.
var build = sync.OnceValue(func() error {
	root, err := root()
	if err != nil {
		return err
	}
	if made, err = os.MkdirTemp("", "systemtest"); err != nil {
		return err
	}
	name := "rag"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	cmd := exec.CommandContext(context.Background(), "go", "build", "-o", filepath.Join(made, name), "./cmd/rag")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build cmd/rag: %w\n%s", err, out)
	}
	return nil
})

// Bin returns a folder that holds the built command rag and nothing else.
func Bin(t testing.TB) string {
	t.Helper()
	if err := build(); err != nil {
		t.Fatal(err)
	}
	return made
}

// Root is the project's folder.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := root()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "cmd", "rag", "main.go")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("no cmd/rag above the working directory")
		}
		dir = up
	}
}

// System is a project folder and the built command.
type System struct {
	t   *testing.T
	Dir string   // the project: commands run here
	env []string // of commands
}

// New makes a copy of examples/NAME in an empty folder; what a run would leave there (.rag) is not copied. Commands get an
// environment that has nothing of the machine's settings and keys, as programs started by an MCP client do; env adds to
// it.
func New(t *testing.T, example string, env ...string) *System {
	t.Helper()
	home := t.TempDir()
	dir := filepath.Join(t.TempDir(), example)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(Root(t), "examples", example))); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, ".rag")); err != nil {
		t.Fatal(err)
	}
	s := &System{t: t, Dir: dir}
	s.env = append([]string{"PATH=" + Bin(t) + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + home, "NO_COLOR=1"}, env...)
	for _, name := range []string{"SYSTEMROOT", "TEMP", "LOCALAPPDATA", "USERPROFILE", "XDG_CACHE_HOME"} { // the last keeps compiled PDFium
		if v, ok := os.LookupEnv(name); ok {
			s.env = append(s.env, name+"="+v)
		}
	}
	if os.Getenv("XDG_CACHE_HOME") == "" {
		if cache, err := os.UserCacheDir(); err == nil {
			s.env = append(s.env, "XDG_CACHE_HOME="+cache)
		}
	}
	return s
}

// In returns the system for a subtest.
func (s *System) In(t *testing.T) *System { return &System{t: t, Dir: s.Dir, env: s.env} }

// With returns the system with more in the environment of its commands, which goes before what is there.
func (s *System) With(env ...string) *System {
	return &System{t: s.t, Dir: s.Dir, env: append(slices.Clone(s.env), env...)}
}

// Write makes or replaces a file of the project.
func (s *System) Write(name, content string) {
	s.t.Helper()
	path := filepath.Join(s.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// Read returns a file of the project.
func (s *System) Read(name string) string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.Dir, filepath.FromSlash(name)))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

// command prepares a run of the command in the project's folder.
func (s *System) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.t.Context(), filepath.Join(Bin(s.t), "rag"), args...)
	cmd.Dir = s.Dir
	cmd.Env = append(s.env[:len(s.env):len(s.env)], "PWD="+s.Dir)
	return cmd
}

// Run runs the command to its end.
func (s *System) Run(args ...string) *Output {
	s.t.Helper()
	return s.run("rag "+strings.Join(args, " "), s.command(args...))
}

func (s *System) run(line string, cmd *exec.Cmd) *Output {
	s.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return &Output{t: s.t, line: line, Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}
}

// Output is what a run of the command left.
type Output struct {
	t              *testing.T
	line           string
	Stdout, Stderr string
	Code           int
}

// Done requires exit code 0.
func (o *Output) Done() *Output { o.t.Helper(); return o.Exit(0) }

// Exit requires an exit code.
func (o *Output) Exit(code int) *Output {
	o.t.Helper()
	if o.Code != code {
		o.t.Fatalf("%s: exit code %d, want %d\nstdout: %s\nstderr: %s", o.line, o.Code, code, o.Stdout, o.Stderr)
	}
	return o
}

// Prints requires texts in standard output.
func (o *Output) Prints(texts ...string) *Output {
	o.t.Helper()
	return o.has("standard output", o.Stdout, texts)
}

// Says requires texts in standard error.
func (o *Output) Says(texts ...string) *Output {
	o.t.Helper()
	return o.has("standard error", o.Stderr, texts)
}

func (o *Output) has(name, have string, texts []string) *Output {
	o.t.Helper()
	for _, text := range texts {
		if !strings.Contains(have, text) {
			o.t.Errorf("%s: %s lacks %q:\n%s", o.line, name, text, have)
		}
	}
	return o
}

// JSON decodes standard output, which must be exactly one JSON object.
func (o *Output) JSON(v any) *Output {
	o.t.Helper()
	dec := json.NewDecoder(strings.NewReader(o.Stdout))
	err := dec.Decode(v)
	if err == nil {
		if _, end := dec.Token(); end != io.EOF {
			err = fmt.Errorf("more follows the first value: %v", end)
		}
	}
	if err != nil {
		o.t.Fatalf("%s: %v\nstdout: %s\nstderr: %s", o.line, err, o.Stdout, o.Stderr)
	}
	return o
}
