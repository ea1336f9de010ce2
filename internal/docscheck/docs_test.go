package docscheck_test

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/internal/docscheck"
)

// root is the module's directory, seen from this package.
const root = "../.."

var update = flag.Bool("update", false, "rewrite what is generated in the documentation")

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if binDir != "" {
		_ = os.RemoveAll(binDir)
	}
	os.Exit(code)
}

// binDir holds the program the tests built; "" if none did.
var binDir string

// ragProgram builds cmd/rag once and returns its path.
var ragProgram = sync.OnceValues(func() (string, error) {
	var err error
	if binDir, err = os.MkdirTemp("", "docscheck"); err != nil {
		return "", err
	}
	path := filepath.Join(binDir, "rag")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	build := exec.CommandContext(context.Background(), "go", "build", "-o", path, "./cmd/rag")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build cmd/rag: %w\n%s", err, out)
	}
	return path, nil
})

// rag runs the program in dir and returns its standard output.
func rag(ctx context.Context, dir string, args ...string) (string, error) {
	program, err := ragProgram()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "RAG_DIR=")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("rag %s: %w\n%s%s", strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out), nil
}

// The picture of the layout has every directory, also those that hold only other directories.
func TestLayoutNamesEveryDirectory(t *testing.T) {
	page := read(t, "docs/ARCHITECTURE.md")
	_, page, _ = strings.Cut(page, "## 2. Layout")
	page, _, _ = strings.Cut(page, "## 3.")
	_, cellar, _ := strings.Cut(page, "  internal/ ")
	cellar, _, _ = strings.Cut(cellar, "  docs/ ")
	check := func(below, text, pattern string) {
		dirs, err := os.ReadDir(filepath.Join(root, below))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range dirs {
			if !d.IsDir() || strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" && below == "." || d.Name() == "bin" || d.Name() == "dist" {
				continue
			}
			if !regexp.MustCompile(fmt.Sprintf(pattern, d.Name())).MatchString(text) {
				t.Errorf("docs/ARCHITECTURE.md does not name %s", filepath.Join(below, d.Name()))
			}
		}
	}
	check(".", page, `(?m)^  %s/`)
	check("internal", cellar, `\b%s\b`)
}

func TestCommandHelpIsDocumented(t *testing.T) {
	want, err := rag(t.Context(), t.TempDir(), "help-all")
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(filepath.Join(root, "docs", "cli.md"))
	if err != nil && !*update {
		t.Fatal(err)
	}
	compareOrUpdate(t, "docs/cli.md", string(have), want)
}

func TestPathsInDocsExist(t *testing.T) {
	for _, file := range markdownFiles(t) {
		for _, dead := range docscheck.DeadPaths(root, file, read(t, file)) {
			t.Error(dead)
		}
	}
}

func TestThirdPartyListsWhatIsLinked(t *testing.T) {
	var linked []string
	for _, module := range []string{root, filepath.Join(root, "postgres")} {
		mods, err := docscheck.LinkedModules(t.Context(), module, "./cmd/rag")
		if err != nil {
			t.Fatal(err)
		}
		linked = append(linked, slices.DeleteFunc(mods, func(m string) bool { return strings.HasPrefix(m, "github.com/seed-d8745b77/") })...)
	}
	slices.Sort(linked)
	linked = slices.Compact(linked)
	if diff := cmp.Diff(linked, docscheck.ListedModules(read(t, "THIRD_PARTY.md"))); diff != "" {
		t.Errorf("THIRD_PARTY.md lists other modules than the released programs link (- linked, + listed):\n%s", diff)
	}
}

func TestMakeTargetsInDocsExist(t *testing.T) {
	makefile := read(t, "Makefile")
	command := regexp.MustCompile("(?m)(?:^|`)make ([a-z]+)")
	for _, file := range markdownFiles(t) {
		for _, m := range command.FindAllStringSubmatch(read(t, file), -1) {
			if !strings.Contains("\n"+makefile, "\n"+m[1]+":") {
				t.Errorf("%s: `make %s` is not in the Makefile", file, m[1])
			}
		}
	}
}

// The test command a reader is told is the first thing that continuous integration runs.
func TestCIRunsTheReadmesTestCommand(t *testing.T) {
	const command = "go test ./..."
	cmds := read(t, "README.md")
	if !strings.Contains(cmds, "\n"+command+"\n") {
		t.Errorf("README.md does not name the test command %q on a line of its own", command)
	}
	first := regexp.MustCompile(`(?m)^step .*$`).FindString(read(t, ".ci/run"))
	if !strings.HasSuffix(first, " "+command) {
		t.Errorf(".ci/run: its first step is %q, not %q", first, command)
	}
}

func TestDecisionsAreComplete(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "docs", "adr", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range files {
		name := filepath.Base(f)
		if want := fmt.Sprintf("%04d-", i+1); !strings.HasPrefix(name, want) {
			t.Errorf("%s: the %d. decision begins with %s", name, i+1, want)
		}
		text := read(t, "docs/adr/"+name)
		for _, part := range []string{"# ", "## Context\n", "## Decision\n", "## Rejected\n", "## Consequence\n"} {
			if !strings.Contains("\n"+text, "\n"+part) {
				t.Errorf("%s has no part %q", name, strings.TrimSpace(part))
			}
		}
	}
}

func TestChangelogEntriesHaveTheirForm(t *testing.T) {
	form := regexp.MustCompile(`^(added|changed|fixed|removed|security): [^\n]+\.\n\n[^\n]`)
	files, err := filepath.Glob(filepath.Join(root, "changelog", "unreleased", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name := "changelog/unreleased/" + filepath.Base(f); !form.MatchString(read(t, name)) {
			t.Errorf("%s: want `kind: one sentence.`, a blank line, and why", name)
		}
	}
}

// compareOrUpdate reports a difference, or writes want into the file under -update.
func compareOrUpdate(t *testing.T, file, have, want string) {
	t.Helper()
	if have == want {
		return
	}
	if !*update {
		t.Errorf("%s is out of date, `make docs` rewrites it (- is, + should be):\n%s", file, cmp.Diff(have, want))
		return
	}
	if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(file)), []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// markdownFiles returns the project's own Markdown files, relative to root, with slashes.
func markdownFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || path == "examples/handbook" || path == "bin"):
			return fs.SkipDir
		case strings.HasSuffix(path, ".md"):
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(b), "\r\n", "\n")
}
