package cite

import (
	"strings"
	"unicode"
)

// Thoughts takes out of a reply, while it comes, what a model thought aloud before it: blocks of <think>…</think> at its
// beginning, as DeepSeek-R1 and Qwen3 write them where the server leaves them in. White space in front of the answer goes
// too. The zero value is ready.
type Thoughts struct {
	pending      string
	inside, over bool // of a block; of the beginning
}

const thinkOpen, thinkClose = "<think>", "</think>"

// Write takes a piece of the reply and returns what of it belongs to the answer.
func (t *Thoughts) Write(piece string) string {
	if t.over {
		return piece
	}
	t.pending += piece
	for {
		if !t.inside {
			t.pending = strings.TrimLeftFunc(t.pending, unicode.IsSpace)
			rest, opens := strings.CutPrefix(t.pending, thinkOpen)
			if !opens && strings.HasPrefix(thinkOpen, t.pending) {
				return "" // it cannot be told yet
			}
			if !opens {
				t.over = true
				return t.Close()
			}
			t.inside, t.pending = true, rest
		}
		_, rest, closes := strings.Cut(t.pending, thinkClose)
		if !closes {
			t.pending = t.pending[max(0, len(t.pending)-len(thinkClose)+1):] // the close may be cut in two
			return ""
		}
		t.inside, t.pending = false, rest
	}
}

// Close returns the rest. A thought that has no end is no answer.
func (t *Thoughts) Close() string {
	rest := t.pending
	if t.pending = ""; t.inside {
		return ""
	}
	return rest
}
