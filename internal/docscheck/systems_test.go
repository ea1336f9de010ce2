package docscheck_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/internal/docscheck"
)

// Every requirement of the systems stands in docs/systems.md with a test that is there, or is said to be not done.
func TestSystemsAreProved(t *testing.T) {
	var want []string
	for letter, n := range map[string]int{"A": 29, "B": 20, "C": 20, "D": 15, "E": 14, "F": 12} {
		for i := range n {
			want = append(want, fmt.Sprint(letter, i+1))
		}
	}
	want = append(want, "D6a", "D6b", "D6c")
	for _, problem := range docscheck.SystemProblems(root, read(t, "docs/systems.md"), want) {
		t.Errorf("docs/systems.md: %s", problem)
	}
}

func TestSystemProblems(t *testing.T) {
	dir := project(t, map[string]string{
		"root_test.go": "package x\n\nfunc TestRoot(t *testing.T) { t.Run(\"one\", nil) }\n",
		"cli/a_test.go": "package cli\n\nfunc TestTable(t *testing.T) {\n\tfor _, c := range []struct{ name string }{{\"a name\"}} {\n\t\tt.Run(c.name, nil)\n\t}\n}\n\n" +
			"func (s shell) TestMethod() {}\n",
		"examples/a_test.go": "package examples\n\nfunc TestModular(t *testing.T) {\n\tt.Run(\"A1-A3 ingest, A5\", nil)\n\tt.Run(\"D6a–D6c router\", nil)\n}\n",
	})
	row := func(id, tests string) string { return "| " + id + " | wanted | here | " + tests + " |\n" }
	cases := []struct {
		name, text string
		want       []string // rows
		problems   []string
	}{
		{"tests of several packages", row("A1", "`rag: TestRoot`, `cli: TestTable`"), []string{"A1"}, nil},
		{"subtests", row("A1", "`rag: TestRoot/one`") + row("A2", "`cli: TestTable/a name, TestTable`"), []string{"A1", "A2"}, nil},
		{"not done", row("A1", "not done: nobody asked"), []string{"A1"}, nil},
		{"a row is missing", row("A1", "`rag: TestRoot`"), []string{"A1", "A2"}, []string{"A2: is missing"}},
		{"no test", row("A1", "see above"), []string{"A1"}, []string{"line 1: A1: names no test, and does not say that it is not done"}},
		{"no such test", row("A1", "`cli: TestTable, TestNothing`"), []string{"A1"}, []string{"line 1: A1: there is no test cli: TestNothing"}},
		{"a method is no test", row("A1", "`cli: TestMethod`"), []string{"A1"}, []string{"line 1: A1: there is no test cli: TestMethod"}},
		{"no such subtest", row("A1", "`cli: TestTable/another`"), []string{"A1"}, []string{"line 1: A1: there is no test cli: TestTable/another"}},
		{"no such package", row("A1", "`nowhere: TestRoot`"), []string{"A1"}, []string{"line 1: A1: there is no test nowhere: TestRoot"}},
		{"twice, and unknown", row("A1", "`rag: TestRoot`") + row("A1", "`rag: TestRoot`") + row("B7", "`rag: TestRoot`"), []string{"A1"},
			[]string{"line 2: A1: stands there twice", "line 3: B7: there is no such row"}},
		{"a walk", "## A System A\n\n`examples: TestModular` walks through it.\n\n" + row("A2", "`rag: TestRoot`") + row("A4", "`rag: TestRoot`") + row("A5", "`rag: TestRoot`"),
			[]string{"A2", "A4", "A5"}, []string{"line 6: A4: no subtest of examples: TestModular is named by it"}},
		{"a walk that is not there", "## A System A\n\n`examples: TestGone` walks through it.\n\n" + row("A2", "`rag: TestRoot`"), []string{"A2"},
			[]string{"there is no test examples: TestGone"}},
		{"a range of letters", "## D System D\n\n`examples: TestModular`\n\n" + row("D6b", "`rag: TestRoot`"), []string{"D6b"}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.problems, docscheck.SystemProblems(dir, c.text, c.want)); diff != "" {
				t.Errorf("problems differ (- want, + got):\n%s", diff)
			}
		})
	}
}
