package rag_test

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

func TestEverySourceIsFollowedThroughItsStages(t *testing.T) {
	f := newFixture(t)
	f.write("a.md", "# One\n\n"+prose("otters", 3))
	f.write("b.zzz", "\x00\x01\x02")
	got := map[string][]string{}
	run := func() {
		clear(got)
		f.ingest(func(r *rag.IngestRequest) {
			r.EachSource = func(s rag.SourceStep) {
				name, step := path.Base(s.URI), s.Stage+s.Action
				if s.Total > 0 {
					step += fmt.Sprintf(" %d/%d", s.Done, s.Total)
				}
				got[name] = append(got[name], step)
			}
		})
	}
	run()
	n := len(f.chunkIDs())
	want := map[string][]string{
		"a.md":  {"check", "load", "split", fmt.Sprintf("embed 0/%d", n), fmt.Sprintf("embed %d/%d", n, n), "upsert", "add"},
		"b.zzz": {"check", "load", "skipped"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if rep := f.ingest(func(r *rag.IngestRequest) { r.DryRun = true }); rep.TraceID != "" {
		t.Errorf("a dry run left the trace %s", rep.TraceID)
	}
	run()
	want["a.md"] = []string{"check", "load", "unchanged"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A picture that is named beside its page is a part of it; named alone, no loader reads it.
func TestAPictureNamedBesideItsPageIsNoFailure(t *testing.T) {
	f := newFixture(t)
	f.write("page.md", "# Page\n\nIt shows ![a dot](dot.png) here.\n")
	f.write("dot.png", string(picture(1)))
	page, dot := filepath.Join(f.docs, "page.md"), filepath.Join(f.docs, "dot.png")
	var last rag.SourceStep
	both := func(r *rag.IngestRequest) {
		r.Sources = []rag.Sources{rag.Files(dot, page)}
		r.EachSource = func(s rag.SourceStep) {
			if s.URI == rag.FileURI(dot) {
				last = s
			}
		}
	}
	for _, run := range []string{"new", "unchanged"} {
		if rep := f.ingest(both); len(rep.Failed) != 0 || last.Action != rag.ActionPart {
			t.Errorf("%s: %+v, %+v", run, rep.Failed, last)
		}
	}
	if rep := f.ingest(func(r *rag.IngestRequest) { r.Sources = []rag.Sources{rag.Files(dot)} }); len(rep.Failed) != 1 {
		t.Errorf("alone: %+v", rep)
	}
}

func TestAnIngestTraceHasItsWarnings(t *testing.T) {
	for level, want := range map[string]bool{"minimal": false, "standard": true} {
		f, ring := tracedAt(t, level)
		f.write("page.md", "# Page\n\nIt shows ![a dot](lost.png) here.\n")
		f.ingest(nil)
		all := tracesAsJSON(t, ring)
		last := all[len(all)-1]
		if got := strings.Contains(last, "lost.png"); got != want || !strings.Contains(last, `"warnings":[{`) {
			t.Errorf("%s: %s", level, last)
		}
	}
}
