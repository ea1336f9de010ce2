package main

import (
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The figures are measured by hand, but a package that comes or goes must not be forgotten.
func TestThePageListsEveryPackage(t *testing.T) {
	pkgs, err := list(t.Context(), "../..")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, p := range pkgs {
		want = append(want, p.name)
	}
	content, err := os.ReadFile("../../docs/coverage.md")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^\| (\S+) \| \d`).FindAllSubmatch(content, -1) {
		got = append(got, string(m[1]))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/coverage.md, run make coverage (-want +got):\n%s", diff)
	}
}

func TestReadCountsOwnAndAll(t *testing.T) {
	blocks := map[string]map[string]block{}
	profiles := map[string]string{
		"m/a": "mode: set\nm/a/x.go:1.1,2.2 3 1\nm/a/x.go:3.1,4.2 2 0\nm/b/y.go:1.1,2.2 5 1\n",
		"m/b": "mode: set\nm/a/x.go:1.1,2.2 3 0\nm/a/x.go:3.1,4.2 2 7\nm/b/y.go:1.1,2.2 5 0\n",
	}
	for _, of := range []string{"m/a", "m/b"} {
		if err := read([]byte(profiles[of]), of, blocks); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]map[string]block{
		"m/a": {"m/a/x.go:1.1,2.2": {3, true, true}, "m/a/x.go:3.1,4.2": {2, false, true}},
		"m/b": {"m/b/y.go:1.1,2.2": {5, false, true}},
	}
	if diff := cmp.Diff(want, blocks, cmp.AllowUnexported(block{})); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	if err := read([]byte("m/a/x.go:1.1,2.2 3\n"), "m/a", blocks); err == nil {
		t.Error("a line without a count is taken")
	}
}

func TestTheBoundNeedsAReason(t *testing.T) {
	low, high := room{pkg: pkg{name: "low"}, statements: 100, all: 84}, room{pkg: pkg{name: "high"}, statements: 100, all: 85}
	for name, c := range map[string]struct {
		why  map[string]string
		fine bool
	}{
		"explained":   {map[string]string{"low": "because"}, true},
		"unexplained": {nil, false},
		"needless":    {map[string]string{"low": "because", "high": "because"}, false},
	} {
		if err := verdict([]room{low, high}, c.why); (err == nil) != c.fine {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
