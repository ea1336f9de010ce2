package cli

import "testing"

func TestDeleteByFilter(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.rag("ingest", "docs").want(exitDone)
	s.rag("delete", "--filter", "department = people").want(exitDone).prints("1 document and")
	s.rag("delete", "--filter", "department = people").want(exitDone).prints("0 documents")
	s.rag("delete", "--filter", "everything").want(exitUsage).says("--all")
	s.rag("delete", "--filter", "department =").want(exitUsage).says("--filter")
	s.rag("delete", "docs/travel.md", "--filter", "year exists").want(exitDone).prints("0 documents")
	s.rag("list", "documents").want(exitDone).prints("travel.md", "notes.txt")
}
