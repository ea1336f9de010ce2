package docscheck_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/internal/docscheck"
)

// Every threat, limit and parser of docs/security.md has a test that is there, and every target of fuzzing stands in it.
func TestSecurityIsProved(t *testing.T) {
	for _, problem := range docscheck.SecurityProblems(root, read(t, "docs/security.md")) {
		t.Errorf("docs/security.md: %s", problem)
	}
}

func TestSecurityProblems(t *testing.T) {
	dir := project(t, map[string]string{
		"root_test.go":           "package x\n\nfunc FuzzRoot(f *testing.F) {}\n",
		"cli/a_test.go":          "package cli\n\nfunc TestSecrets(t *testing.T) {}\n\nfunc FuzzWrap(f *testing.F) {}\n",
		"cli/testdata/b_test.go": "package cli\n\nfunc FuzzNothing(f *testing.F) {}\n",
	})
	head := "| threat | tests |\n|---|---|\n"
	all := "| parsers | `rag: FuzzRoot`, `cli: FuzzWrap` |\n"
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"all is there":         {head + "| keys | `cli: TestSecrets` |\n" + all + "\nText | without tests.\n", nil},
		"no test":              {head + "| keys | by care |\n" + all, []string{"line 3: names no test"}},
		"a test that is gone":  {head + all + "\nSee `cli: TestGone`.\n", []string{"line 5: there is no test cli: TestGone"}},
		"a parser that is new": {head + "| wrap | `cli: FuzzWrap` |\n", []string{"rag: FuzzRoot stands in no row"}},
	} {
		if diff := cmp.Diff(c.want, docscheck.SecurityProblems(dir, c.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
