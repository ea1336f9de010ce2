package agent

import (
	"strings"

	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// maxReply is how many bytes of a reply are read: what is longer has no end.
const maxReply = 256 << 10

// observed is how many characters of an observation a step keeps, as in System C.
const observed = 200

// clip cuts a text to what a step keeps of it, in one line.
func clip(s string) string {
	return mdtext.Clip(strings.Join(strings.Fields(s), " "), observed)
}
