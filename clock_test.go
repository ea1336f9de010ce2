package rag_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/trace"
)

// TestTheClockGoesBackwards: each reading of the clock is an hour before the one before it. What came last counts, and not
// what has the latest time.
func TestTheClockGoesBackwards(t *testing.T) {
	var readings atomic.Int64
	start := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	f := newFixture(t, rag.WithClock(func() time.Time { return start.Add(-time.Duration(readings.Add(1)) * time.Hour) }))
	f.write("a.md", "# A\n\nThe first text about basalt.\n")
	f.write("b.md", "# B\n\nA text about granite.\n")
	if rep := f.ingest(nil); rep.Added != 2 {
		t.Fatalf("%+v", rep)
	}
	f.write("a.md", "# A\n\nThe second text about slate.\n")
	if rep := f.ingest(nil); rep.Updated != 1 || rep.Unchanged != 1 {
		t.Errorf("the file that changed is not read again, or the other is: %+v", rep)
	}
	if rep := f.ingest(nil); rep.Unchanged != 2 {
		t.Errorf("files are read again: %+v", rep)
	}
	for word, want := range map[string]int{"slate": 1, "basalt": 0, "granite": 1} {
		if hits := f.search(rag.Query{Text: word, Mode: rag.Sparse}).Hits; len(hits) != want {
			t.Errorf("%s is found %d times, want %d", word, len(hits), want)
		}
	}
	if _, err := f.Reindex(t.Context(), rag.ReindexRequest{}); err != nil {
		t.Error(err)
	}
	f.sound()
	f.Close()
	f.open() // by the clock of the machine, which is ahead of all that is there
	if rep := f.ingest(nil); rep.Unchanged != 2 {
		t.Errorf("after it the files are read again: %+v", rep)
	}
	f.sound()
	page, err := trace.NewIndex(f.dir).List(t.Context(), trace.Query{Types: []string{rag.TraceIngest}})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Traces) != 4 {
		t.Errorf("%d ingests have a trace, want 4", len(page.Traces))
	}
}
