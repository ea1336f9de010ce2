// Command coverage writes docs/coverage.md: for each package of this module that a program can link, how many of its
// statements the tests run. From the project's folder, over one profile for each package with tests:
//
//	go test -coverpkg=./... -coverprofile=PROFILES/embed_local.out ./embed/local
//	go run ./scripts/coverage PROFILES
//
// `make coverage` does both. reasons.txt says why a package is below the bound; one below it without a reason, and a reason
// of one above it, are errors.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// least is the percentage of statements that tests must run where no reason is given.
const least = 85

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: coverage PROFILES")
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, profiles string) error {
	pkgs, err := list(ctx, ".")
	if err != nil {
		return err
	}
	rooms, err := sum(pkgs, profiles)
	if err != nil {
		return err
	}
	why, err := readReasons("scripts/coverage/reasons.txt")
	if err != nil {
		return err
	}
	if err := os.WriteFile("docs/coverage.md", page(rooms, why), 0o644); err != nil {
		return err
	}
	return verdict(rooms, why)
}

// pkg is a package of the module.
type pkg struct {
	path  string // import path
	name  string // from the module on, such as embed/local; "rag" is the root
	tests bool
}

// list returns the packages of the page, sorted by path. root is where its go.mod stands.
func list(ctx context.Context, root string) ([]pkg, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-f", "{{.ImportPath}} {{.Module.Path}} {{len .TestGoFiles}} {{len .XTestGoFiles}}", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var pkgs []pkg
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		name := strings.TrimPrefix(strings.TrimPrefix(f[0], f[1]), "/")
		if name == "" {
			name = path.Base(f[1])
		}
		if !unlisted.MatchString(name) {
			pkgs = append(pkgs, pkg{f[0], name, f[2] != "0" || f[3] != "0"})
		}
	}
	return pkgs, nil
}

// unlisted are the packages that nobody links: programs, and what checks the project or drives its built command. Their tests
// are not run either.
var unlisted = regexp.MustCompile(`^(bench|examples|scripts|internal/(arch|docscheck|systemtest))(/|$)`)

// room is what was counted of a package.
type room struct {
	pkg
	statements, own, all int // all there are; those that the package's own tests run; those that any test runs
}

// percent of the statements that tests run; 100 of none.
func (r room) percent(run int) float64 {
	if r.statements == 0 {
		return 100
	}
	return 100 * float64(run) / float64(r.statements)
}

// block is a run of statements.
type block struct {
	statements int
	own, all   bool
}

// sum reads the profiles of packages.
func sum(pkgs []pkg, folder string) ([]room, error) {
	blocks := map[string]map[string]block{} // by import path and place
	for _, p := range pkgs {
		if !p.tests {
			continue
		}
		content, err := os.ReadFile(filepath.Join(folder, strings.ReplaceAll(p.name, "/", "_")+".out"))
		if err != nil {
			return nil, err
		}
		if err := read(content, p.path, blocks); err != nil {
			return nil, fmt.Errorf("profile of %s: %w", p.name, err)
		}
	}
	var rooms []room
	for _, p := range pkgs {
		r := room{pkg: p}
		for _, b := range blocks[p.path] {
			r.statements += b.statements
			if b.own {
				r.own += b.statements
			}
			if b.all {
				r.all += b.statements
			}
		}
		rooms = append(rooms, r)
	}
	return rooms, nil
}

// read adds the profile that the tests of a package left.
func read(profile []byte, of string, blocks map[string]map[string]block) error {
	for lines := bufio.NewScanner(bytes.NewReader(profile)); lines.Scan(); {
		f := strings.Fields(lines.Text()) // file.go:1.2,3.4 statements times
		if len(f) == 2 && f[0] == "mode:" {
			continue
		}
		if len(f) != 3 {
			return fmt.Errorf("line %q", lines.Text())
		}
		n, err := strconv.Atoi(f[1])
		if err != nil {
			return err
		}
		in := path.Dir(strings.Split(f[0], ":")[0])
		if blocks[in] == nil {
			blocks[in] = map[string]block{}
		}
		b, runs := blocks[in][f[0]], f[2] != "0"
		blocks[in][f[0]] = block{n, b.own || runs && in == of, b.all || runs}
	}
	return nil
}

// readReasons reads lines of a package and why it is below the bound, with a blank between.
func readReasons(file string) (map[string]string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	why := map[string]string{}
	for line := range strings.Lines(string(content)) {
		if name, reason, ok := strings.Cut(strings.TrimSpace(line), " "); ok && !strings.HasPrefix(line, "#") {
			why[name] = reason
		}
	}
	return why, nil
}

// verdict holds the packages against the bound.
func verdict(rooms []room, why map[string]string) error {
	var errs []error
	for _, r := range rooms {
		low := r.percent(r.all) < least
		switch {
		case low && why[r.name] == "":
			errs = append(errs, fmt.Errorf("%s: %.1f %% of the statements are tested, and reasons.txt does not say why", r.name, r.percent(r.all)))
		case !low && why[r.name] != "":
			errs = append(errs, fmt.Errorf("reasons.txt: %s is not below the bound", r.name))
		}
	}
	return errors.Join(errs...)
}

func page(rooms []room, why map[string]string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Coverage

How many of the statements of each package the tests run. `+"`make coverage`"+` writes this page; it takes a quarter of an hour. *Own* counts what the package's own tests run, *all*
what those of any package run: a provider is driven by the suites of ragtest from its own tests, and the engine from those of every room, so *all* is what a fault would have to pass.
It says that a statement was run, not that anything looked at the outcome; for the packages where that matters most [mutation testing](../bench/mutation.md) says it. Left out are
what nobody links (the programs under bench, examples and scripts; what checks the project or drives the built command), and the modules of their own, which are tested by
themselves (`+"`make modules`"+`). What only a process runs that a test starts is not counted. Tests that need a service count where it was installed.

| package | statements | own %% | all %% |
|---|---|---|---|
`)
	for _, r := range rooms {
		own := "–"
		if r.tests {
			own = fmt.Sprintf("%.1f", r.percent(r.own))
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %.1f |\n", r.name, r.statements, own, r.percent(r.all))
	}
	fmt.Fprintf(&b, "\n## Below %d %%\n\n", least)
	for _, r := range rooms {
		if r.percent(r.all) < least {
			fmt.Fprintf(&b, "- %s: %s\n", r.name, why[r.name])
		}
	}
	return b.Bytes()
}
