package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

func TestMarkedLines(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		ranges     []rag.TextRange
		want       []string
	}{
		{"none", "\n\nan opal", nil, []string{"an opal"}},
		{"words", "an opal glows", []rag.TextRange{{Start: 3, End: 7}, {Start: 8, End: 13}}, []string{"an <opal> <glows>"}},
		{"over a line end", "\n  an opal\nglows", []rag.TextRange{{Start: 6, End: 16}}, []string{"  an <opal>", "<glows>"}},
		{"wrapped", "opal opal opal opal", []rag.TextRange{{Start: 10, End: 14}}, []string{"opal opal <opal>", "opal"}},
		{"behind what is escaped", "a\tb\x1b opal", []rag.TextRange{{Start: 5, End: 9}}, []string{`a    b\x1b <opal>`}},
		{"what is escaped", "手\x1b册 opal", []rag.TextRange{{Start: 0, End: 4}}, []string{`<手\x1b>册 opal`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			shown, marks := visibleRanges(tt.text, tt.ranges)
			var got []string
			at := 0
			for _, line := range wrap(strings.Trim(shown, "\n"), 16) {
				at += strings.Index(shown[at:], line)
				bold := paint{true}.boldRanges(line, at, marks)
				got = append(got, strings.NewReplacer("\x1b[1m", "<", "\x1b[0m", ">").Replace(bold))
				at += len(line)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			a := &app{streams: streams{out: &bytes.Buffer{}}}
			for _, line := range a.markedLines(tt.text, tt.ranges, 16) {
				if strings.Contains(line, "\x1b") {
					t.Errorf("marked where no terminal is: %q", line)
				}
			}
		})
	}
}

func TestSearchShapesItsHits(t *testing.T) {
	s := newShell(t)
	s.handbook()
	s.write("docs/copy.md", "# Machine\n\nThe coffee machine is cleaned on Fridays.\n")
	s.write("docs/original.md", "# Machine\n\nThe coffee machine is cleaned on Fridays.\n")
	s.rag("ingest", "docs").want(exitDone)
	o := s.rag("search", "coffee machine cleaned", "--collapse", "0.7", "--neighbours", "1", "--parent", "-k", "1").want(exitDone)
	o.prints("shaped #1", "≈ docs"+string(filepath.Separator), "§ # ")
	var res struct {
		Hits []struct {
			Text       string
			Highlights []rag.TextRange
			Duplicates []rag.Duplicate
			Parent     *rag.Parent
			Ranks      struct{ Shaped *int }
		}
	}
	s.rag("search", "coffee machine cleaned", "--collapse", "0.7", "--parent", "-k", "1", "--json").want(exitDone).into(&res)
	h := res.Hits[0]
	if len(h.Duplicates) != 1 || h.Parent == nil || h.Ranks.Shaped == nil || len(h.Highlights) != 4 {
		t.Fatalf("got %+v", h)
	}
	if r := h.Highlights[1]; h.Text[r.Start:r.End] != "coffee" {
		t.Errorf("highlights %v of %q", h.Highlights, h.Text)
	}
	fell := h.Duplicates[0].ChunkID
	s.rag("explain", "coffee machine cleaned", "--collapse", "0.7", "--chunk", fell).want(exitDone).prints("dropped: near-duplicate of ", "left out in shaping")
	s.rag("search", "coffee", "--highlight=false", "--diversity", "0.5", "--max-per-document", "1", "--json").want(exitDone)
	s.rag("search", "coffee", "--diversity", "2").want(exitFailed).says("diversity is 2: it must be from 0 to 1")
}
