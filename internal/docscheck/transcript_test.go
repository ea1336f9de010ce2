package docscheck_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag/internal/docscheck"
)

// A reader who does what stands in the tutorial, in an empty folder and with nothing else, gets what it says.
func TestTutorialAsAFreshReaderDoesIt(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds two programs and runs the suites of their stores")
	}
	reader := newReader(t)
	printed := ""
	page := read(t, "docs/tutorial.md")
	lines := strings.Split(page, "\n")
	for _, b := range docscheck.Blocks(page) {
		switch {
		case b.Lang == "go":
			above := strings.TrimSpace(lines[b.Line-4]) // then a blank line, the mark, and the fence
			file := fileAbove.FindStringSubmatch(above)
			if file == nil {
				t.Fatalf("docs/tutorial.md:%d: nothing above the block says which file it is: %q", b.Line, above)
			}
			reader.write(file[1], b.Body)
		case b.Lang == "sh" && b.Mark == "transcript":
			printed = ""
			for line := range strings.Lines(b.Body) {
				printed += reader.do(strings.TrimSpace(line))
			}
		case b.Lang == "text":
			for line := range strings.Lines(b.Body) {
				if line = strings.TrimSpace(line); !strings.Contains(printed, line) {
					t.Errorf("docs/tutorial.md:%d: %q was not printed, but\n%s", b.Line, line, printed)
				}
			}
		default:
			t.Errorf("docs/tutorial.md:%d: nobody could do this block", b.Line)
		}
	}
}

// fileAbove is what tells a reader where a block goes.
var fileAbove = regexp.MustCompile("^`(\\w+/\\w+\\.go)`:$")

// reader is somebody with an empty folder and the module at hand.
type reader struct {
	*testing.T
	dir, module string
}

func newReader(t *testing.T) *reader {
	t.Helper()
	module, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	return &reader{t, t.TempDir(), module}
}

func (r *reader) write(file, text string) {
	r.Helper()
	file = filepath.Join(r.dir, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		r.Fatal(err)
	}
}

// times are what `go test` says of how long it took.
var times = regexp.MustCompile(`(?m)^ok\s+(\S+)\s+\S+$`)

// required are the lines of a go.mod that name a module and its version.
var required = regexp.MustCompile(`(?m)^\t(\S+) (v\S+)`)

// requirements are the arguments that require all that the module does, as go get has it: without them the go command looks
// for more than was fetched for the working copy. It has the sums from there, too.
func (r *reader) requirements() []string {
	r.Helper()
	sums, err := os.ReadFile(filepath.Join(r.module, "go.sum"))
	if err != nil {
		r.Fatal(err)
	}
	r.write("go.sum", string(sums))
	mod, err := os.ReadFile(filepath.Join(r.module, "go.mod"))
	if err != nil {
		r.Fatal(err)
	}
	var args []string
	for _, m := range required.FindAllStringSubmatch(string(mod), -1) {
		args = append(args, "-require="+m[1]+"@"+m[2])
	}
	return args
}

// do runs a command line of the tutorial and returns what it printed. The module is taken from the working copy in place of
// the network.
func (r *reader) do(line string) string {
	r.Helper()
	words := strings.Fields(line)
	switch {
	case words[0] == "mkdir" || words[0] == "cd":
		return ""
	case strings.HasPrefix(line, "go get "):
		module, _, _ := strings.Cut(words[2], "@")
		words = append([]string{"go", "mod", "edit", "-require=" + module + "@v0.0.0", "-replace=" + module + "=" + r.module}, r.requirements()...)
	case words[0] != "go":
		r.Fatalf("%s: a reader has the go command and nothing else", line)
	}
	cmd := exec.CommandContext(r.Context(), words[0], words[1:]...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GOPROXY=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.Fatalf("%s: %v\n%s", line, err, out)
	}
	return times.ReplaceAllString(string(out), "ok $1")
}
