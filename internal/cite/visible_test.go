package cite_test

import (
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag/internal/cite"
)

// A model quotes what it was shown, which is without the characters that nobody sees.
func TestOverlapSeesWhatShows(t *testing.T) {
	const passage = "A carrier is a person.\nA car\u00adrier pig\u200beon costs nine\u2060teen eu\u2060ros."
	const claim = "A carrier pigeon costs nineteen euros."
	if got := cite.Overlap(claim, passage); got != 1 {
		t.Errorf("overlap %v", got)
	}
	if s := cite.Closest(claim, passage); !strings.HasPrefix(passage[s.Start:s.End], "A car\u00adrier") {
		t.Errorf("closest %q", passage[s.Start:s.End])
	}
}
