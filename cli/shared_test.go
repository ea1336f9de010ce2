package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag/internal/testdata"
)

// example returns the path of the domain of an example.
func example(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "examples", name, name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Each bad manifest of the shared data is refused for its mistake, before anything is written.
func TestBadManifestsOfTheSharedData(t *testing.T) {
	dir := testdata.Shared(t, "data", "qa", "admissions", "bad_manifests")
	data, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var expected map[string]struct {
		Line  int
		Field string
	}
	if err := json.Unmarshal(data, &expected); err != nil {
		t.Fatal(err)
	}
	s := newShell(t)
	for name, want := range expected {
		o := s.rag("ingest", filepath.Join(dir, "files"), "--manifest", filepath.Join(dir, name), "--domain", example(t, "admissions")).want(exitFailed)
		if want.Line > 0 {
			o.says(fmt.Sprintf("line %d", want.Line))
		}
		o.says(want.Field)
		if strings.Contains(o.stderr, "problems") {
			t.Errorf("%s: more than one mistake: %s", name, o.stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(s.dir, ".rag")); !os.IsNotExist(err) {
		t.Errorf("something was written: %v", err)
	}
}

func TestAdmissionsOfTheSharedData(t *testing.T) {
	dir := testdata.Shared(t, "data", "qa", "admissions")
	s := newShell(t)
	admissions := []string{"--domain", example(t, "admissions"), "--as-of"}
	s.rag("ingest", filepath.Join(dir, "docs"), "--manifest", filepath.Join(dir, "manifest.jsonl"), "--domain", admissions[1]).want(exitDone).prints("9 added", "待定")
	for asOf, want := range map[string][3]int{ // current, needs review, expired or not yet in force
		"2025-09-30":           {2, 2, 5},
		"2025-09-30T16:00:00Z": {2, 2, 5}, // one begins as another ends
		"2025-10-02":           {2, 2, 5},
		"2026-06-01":           {5, 2, 2},
		"2026-08-31T15:59:59Z": {5, 2, 2}, // the last day of one, there
		"2026-08-31T16:00:00Z": {4, 2, 3},
	} {
		var list struct {
			Collections []struct {
				Status struct {
					Current, Expired int
					NeedsReview      int `json:"needs_review"`
				}
			}
		}
		s.rag(append([]string{"list", "--json"}, append(admissions, asOf)...)...).want(exitDone).into(&list)
		c := list.Collections[0].Status
		if got := [3]int{c.Current, c.NeedsReview, c.Expired}; got != want {
			t.Errorf("on %s: %v, want %v", asOf, got, want)
		}
	}
	s.rag(append([]string{"search", "tuition", "--filter", "country=Estmark and degree_level=bachelor"}, append(admissions, "2026-06-01")...)...).
		want(exitDone).prints("estmark-ba-portfolio-guide.pdf")
}

func TestCourseOfTheSharedData(t *testing.T) {
	dir := testdata.Shared(t, "data", "qa", "course", "docs")
	s := newShell(t)
	s.rag("ingest", dir, "--domain", example(t, "course")).want(exitDone).prints("10 added", "warning "+filepath.Join(dir, "reglement_evaluation.txt"))
	s.rag("search", "Bayes", "-m", "sparse", "--domain", example(t, "course"), "--filter", "subject=probability and type=tutorial").want(exitDone).prints("td_bayes.txt")
	s.rag("search", "Bayes", "-m", "sparse", "--domain", example(t, "course"), "--filter", "type=homework and subject=operating_systems").want(exitDone).prints("no passage matches")
}
