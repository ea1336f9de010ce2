package cli

import (
	"bytes"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
)

// Where there is no terminal, a long work says now and then how far it is, in lines without control characters.
func TestProgressInALog(t *testing.T) {
	var log bytes.Buffer
	clock := time.Unix(0, 0)
	p := &progress{plain: &log, now: func() time.Time { return clock }, start: clock}
	for done := range 26 {
		p.step(rag.Progress{Stage: rag.StageLoad, Done: done, Total: 400, URI: "file:///docs/a.md"})
		clock = clock.Add(time.Second)
	}
	p.clear()
	if got, want := log.String(), "progress: 10/400 files · /docs/a.md\nprogress: 20/400 files · /docs/a.md\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProgressIsFor(t *testing.T) {
	for _, tt := range []struct {
		name          string
		verbose, json bool
		plain, log    bool
	}{
		{"a log", false, false, true, false},
		{"who wants to know all", true, false, false, true},
		{"no program", false, true, false, false},
	} {
		a := &app{streams: streams{err: &bytes.Buffer{}}, verbose: tt.verbose, json: tt.json}
		if p := a.progress(); (p.plain != nil) != tt.plain || (p.log != nil) != tt.log || p.tty != nil {
			t.Errorf("%s: %+v", tt.name, p)
		}
	}
}
