package cli

import (
	"fmt"
	"strings"
	"testing"
)

// A collection goes to other providers and back, and stores that differ are told apart.
func TestCopyAndCompare(t *testing.T) {
	s := newShell(t)
	for i := range 12 {
		s.write(fmt.Sprintf("docs/%d.md", i), fmt.Sprintf("# Bird %d\n\nBird number %d eats seed %d in month %d.\n", i, i, i*7%5, i%12))
	}
	s.rag("ingest", "docs", "--dir", "one").want(exitDone)
	s.write("flat/rag.yaml", "embedder: hash\nvector_store: flat\n")
	out := s.rag("copy", "--from", "one", "--to", "flat/rag.yaml").want(exitDone)
	if !strings.Contains(out.stdout, "12 documents copied") || !strings.Contains(out.stdout, "overlap@10 1.000") {
		t.Errorf("copy says %s", out.stdout)
	}
	if out := s.rag("copy", "--from", "one", "--to", "flat", "--json").want(exitDone); !strings.Contains(out.stdout, `"unchanged":12`) && !strings.Contains(out.stdout, `"unchanged": 12`) {
		t.Errorf("the second copy says %s", out.stdout)
	}
	s.rag("verify", "--dir", "flat").want(exitDone)
	s.rag("verify", "--dir", "one", "--against", "flat").want(exitDone)
	s.rag("delete", "docs/3.md", "--dir", "flat").want(exitDone)
	if out := s.rag("verify", "--dir", "one", "--against", "flat/rag.yaml").want(exitFailed); !strings.Contains(out.stdout, "only here") || !strings.Contains(out.stdout, "3.md") {
		t.Errorf("verify says %s", out.stdout)
	}
	s.write("other/rag.yaml", "embedder: other\n")
	s.rag("copy", "--from", "one", "--to", "other").want(exitFingerprint)
	s.rag("copy", "--from", "one", "--to", "one").want(exitFailed)
	s.rag("copy", "--from", "one").want(exitUsage)
	for _, args := range [][]string{{"copy", "--from", "one", "--to", "docs"}, {"init", "--dir", "docs"}, {"ingest", "docs", "--dir", "docs"}, {"restore", "none", "--dir", "docs"}} {
		if out := s.rag(args...).want(exitFailed); !strings.Contains(out.stderr, "docs is no data folder and not empty, 0.md is in it") {
			t.Errorf("%q: %s", args, out.stderr)
		}
	}
	s.rag("copy", "--from", "none", "--to", "two").want(exitFailed)
	s.rag("verify", "--repair", "--against", "flat", "--dir", "one").want(exitUsage)
}
