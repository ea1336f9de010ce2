package cli

import (
	"path/filepath"
	"testing"
)

// Documents have the names that they are listed by everywhere, those of a file with several as well as those of files
// whose own name holds a number sign.
func TestDocumentsAreFoundByTheNamesTheyAreListedBy(t *testing.T) {
	s := newShell(t)
	s.write("d/x.jsonl", `{"title": "Herons", "text": "Herons wade at dawn."}`+"\n"+`{"title": "Badgers", "text": "Badgers dig at night."}`+"\n")
	s.write("d/a.md", "# Otters\n\nOtters swim at noon.\n")
	s.write("d/a#2.md", "# Foxes\n\nFoxes hunt at dusk.\n")
	s.write("d/a.md#2", "# Voles\n\nVoles hide all day.\n")
	s.write("d/b#7", "# Moles\n\nMoles never see the sun.\n")
	s.rag("ingest", "d").want(exitDone)
	s.rag("list", "documents").want(exitDone).prints("d/x.jsonl ", "d/x.jsonl#2 ", "d/a.md ", "d/a#2.md ", "d/a.md%232 ")
	for name, title := range map[string]string{
		"d/x.jsonl": "Herons", "d/x.jsonl#2": "Badgers", filepath.Join(s.dir, "d/x.jsonl#2"): "Badgers", "d/a.md": "Otters", "d/a#2.md": "Foxes", "d/b#7": "Moles",
	} {
		s.rag("show", name).want(exitDone).prints(title)
		s.rag("explain", "animals at night", "--document", name).want(exitDone)
		s.rag("search", "animals", "--filter", `uri = "`+name+`"`).want(exitDone).prints(title)
	}
	s.rag("delete", "d/x.jsonl#2").want(exitDone).prints("1 document and 1 passage deleted", "d/x.jsonl#2 is one of several documents of d/x.jsonl: the others stay")
	s.rag("show", "d/x.jsonl#2").want(exitFailed)
	s.rag("show", "d/x.jsonl").want(exitDone)
	s.rag("delete", "d/b#7").want(exitDone).prints("1 document and 1 passage deleted")
	s.rag("delete", "d/x.jsonl").want(exitDone).prints("1 document and 1 passage deleted")
}
