package rag_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
)

// What a limit left out comes in when the limit is raised, and until then the source is left alone.
func TestARaisedLimitIsMadeGood(t *testing.T) {
	long := strings.Repeat("Ferns reproduce by spores in the forest of the north. ", 200)
	for name, test := range map[string]struct {
		set   func(*rag.Config, int)
		write func(*fixture)
		left  func(*rag.IngestReport) bool // something was left out
	}{
		"max_chunks": {
			func(c *rag.Config, n int) { c.Ingest.MaxChunks = n },
			func(f *fixture) { f.write("a.md", long) }, nil,
		},
		"max_images": {
			func(c *rag.Config, n int) { c.Ingest.MaxImages = n },
			func(f *fixture) { f.write("a.html", withPictures(long, picture(1), picture(2))) }, nil,
		},
		"max_images beside": {
			func(c *rag.Config, n int) { c.Ingest.MaxImages = n },
			func(f *fixture) {
				f.write("a.md", "![one](1.png)\n\n![two](2.png)\n\n"+long)
				f.write("1.png", string(picture(1)))
				f.write("2.png", string(picture(2)))
			},
			func(rep *rag.IngestReport) bool { return len(rep.Warnings) > 0 },
		},
	} {
		t.Run(name, func(t *testing.T) {
			left := test.left
			if left == nil {
				left = func(rep *rag.IngestReport) bool { return rep.Partial > 0 }
			}
			setting, _, _ := strings.Cut(name, " ")
			c := rag.DefaultConfig()
			test.set(&c, 1)
			f := newFixture(t, rag.WithConfig(c))
			test.write(f)
			f.write("whole.md", "Mosses have no roots.\n")
			if rep := f.ingest(nil); !left(rep) {
				t.Fatalf("nothing was left out: %+v", rep)
			}
			if rep := f.ingest(nil); rep.Updated != 0 {
				t.Errorf("with the limit as it was: %+v", rep)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			test.set(&c, 1000)
			f.open(rag.WithConfig(c))
			verified, err := f.Verify(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			if stale := verified.Stale; len(stale) != 1 || !strings.Contains(stale[0].Reason, "ingest."+setting+" 1 → 1000") {
				t.Errorf("verify: %+v", stale)
			}
			plan := f.ingest(func(r *rag.IngestRequest) { r.DryRun = true })
			if text, _ := json.Marshal(plan.Plan); !strings.Contains(string(text), "ingest."+setting+" 1 → 1000") {
				t.Errorf("the plan is %s", text)
			}
			if rep := f.ingest(nil); rep.Updated != 1 || left(rep) {
				t.Errorf("with the limit raised: %+v", rep)
			}
			if rep := f.ingest(nil); rep.Updated != 0 {
				t.Errorf("again: %+v", rep)
			}
		})
	}
}
