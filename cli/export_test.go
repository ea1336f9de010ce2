package cli

import (
	"strings"
	"testing"
)

func TestExportAndImport(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.rag("ingest", "docs").want(exitDone)
	s.rag("export", "all.jsonl").want(exitDone).prints("3 documents")
	s.rag("export", "all.jsonl").want(exitFailed).says("is there already")
	s.rag("import", "all.jsonl", "--dir", "new", "--dry-run").want(exitDone).prints("3 added")
	s.rag("import", "all.jsonl", "--dir", "new").want(exitDone).prints("3 added")
	s.rag("search", "how long is the notice period?", "--dir", "new").want(exitDone).prints("leave.md")
	s.rag("ingest", "docs", "--dir", "new").want(exitDone).prints("3 unchanged")
	o := s.rag("import", "docs/leave.md", "--dir", "new").want(exitFailed)
	o.says("docs/leave.md: line 1: this is no export")
	if strings.Contains(o.stderr, "line 2") {
		t.Errorf("of what is no export more than the first line is reported:\n%s", o.stderr)
	}
}
