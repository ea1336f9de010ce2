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

// An import into a collection with another domain is refused, and with a word on whose rules hold it says what that means.
func TestImportIntoAnotherDomain(t *testing.T) {
	s := feesShell(t)
	s.rag("ingest", "docs", "--manifest", "docs/manifest.jsonl", "--domain", "fees.yaml").want(exitDone)
	s.rag("export", "fees.jsonl", "-c", "money").want(exitDone)
	s.write("rates.yaml", "name: rates\nforced_filter: {kind: rate}\n")
	s.write("rates/a.md", "The rate is 3.")
	s.rag("ingest", "rates", "--domain", "rates.yaml", "-c", "rates").want(exitDone)
	s.rag("import", "fees.jsonl", "-c", "rates").want(exitFailed).says(`follows the domain "rates", and the export the domain "fees"`, "--follow collection")
	s.rag("import", "fees.jsonl", "-c", "rates", "--follow", "mine").want(exitUsage)
	s.rag("import", "fees.jsonl", "-c", "rates", "--follow", "collection").want(exitDone).prints("3 added", "domain rates (remembered)", "warning the documents have the metadata of the export's domain (fees)")
}
