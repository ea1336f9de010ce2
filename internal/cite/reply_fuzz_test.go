package cite

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzThoughts cuts a reply at two places: the answer is the same as of the whole one, and the end of it.
func FuzzThoughts(f *testing.F) {
	for _, s := range []string{
		"<think>why</think>\n\nBecause [1].", " <think></think><think>again</think>x", "<think>no end", "<thin", "</think>x", "a <think>b</think>",
		"<think>a</think", "\n\t", "<think><think></think></think>",
	} {
		f.Add(s, 3, 9)
	}
	f.Fuzz(func(t *testing.T, reply string, a, b int) {
		a, b = min(max(a, 0), len(reply)), min(max(b, 0), len(reply))
		a, b = min(a, b), max(a, b)
		if !utf8.ValidString(reply[:a]) || !utf8.ValidString(reply[a:b]) {
			return // pieces of a reply are whole characters
		}
		answer := func(pieces ...string) string {
			var th Thoughts
			var out strings.Builder
			for _, p := range pieces {
				out.WriteString(th.Write(p))
			}
			out.WriteString(th.Close())
			return out.String()
		}
		whole := answer(reply)
		if cut := answer(reply[:a], reply[a:b], reply[b:]); cut != whole {
			t.Errorf("%q cut at %d and %d is answered by %q, whole by %q", reply, a, b, cut, whole)
		}
		if !strings.HasSuffix(reply, whole) {
			t.Errorf("%q is answered by %q, which is not its end", reply, whole)
		}
		if rest, more := strings.CutPrefix(whole, thinkOpen); more && strings.Contains(rest, thinkClose) {
			t.Errorf("%q is answered by %q, which begins with a thought", reply, whole)
		}
	})
}

// FuzzListed: an entry of a list of sources stands behind a statement that cites the same source.
func FuzzListed(f *testing.F) {
	for _, s := range []string{
		"Because [1].\n\nSources:\n[1] leave.md\n[2] other.md", "x [1]\n- [1]\n* 1. [1] leave p. 4", "来源：[1]", "[1][1]\n[1] leave.md says no",
	} {
		f.Add(s, "leave.md", 3)
	}
	f.Fuzz(func(t *testing.T, reply, name string, sources int) {
		text, _ := Clean(reply, max(0, min(sources, 50)))
		markers := Markers(text)
		listed := Listed(text, markers, []string{name})
		if len(listed) != len(markers) {
			t.Fatalf("%d verdicts for %d citations of %q", len(listed), len(markers), text)
		}
		stated := map[int]bool{}
		for i, m := range markers {
			if listed[i] && !stated[m.Number] {
				t.Errorf("[%d] at %d of %q is listed, and nothing in front of it cites it", m.Number, m.Start, text)
			}
			if !listed[i] {
				stated[m.Number] = true
			}
		}
	})
}
