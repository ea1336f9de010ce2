package browser

import (
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
)

func TestAPersonLooksAtAnIngest(t *testing.T) {
	s := filled(t)
	if _, err := s.eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Bytes("broken.pdf", []byte("%PDF-1.7\nthis is none"))}}); err == nil {
		t.Fatal("a broken file was taken")
	}
	b := s.open(t)
	b.visit("/traces/ingest")
	if got := b.count(id("ingest-trace")); got != 2 {
		t.Fatalf("%d ingests are listed", got)
	}
	b.follow(id("ingest-trace") + " a") // the newest, which failed
	b.accessible()
	if got := b.text(id("failures")); !strings.Contains(got, "broken.pdf") && b.count(id("note-group")) == 0 {
		t.Errorf("failures: %q", got)
	}
	b.visit("/traces/ingest")
	b.follow(id("ingest-trace") + ":nth-child(2) a")
	b.accessible()
	b.picture("ingest-trace")
	if got := b.count(id("files") + " " + id("file")); got != 10 {
		t.Errorf("%d files", got)
	}
	if b.count(id("span")) < 5 {
		t.Error("the waterfall lacks stages")
	}
}
