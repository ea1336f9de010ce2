package cite

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestListed(t *testing.T) {
	names := []string{"Leave Policy 2026", "file:///kb/leave-policy-2026.md", "2 Annual leave"}
	for name, c := range map[string]struct {
		text string
		want []bool
	}{
		"no list":                  {"27 days [1].\n28 days [2].", []bool{false, false}},
		"names of files":           {"27 days [1].\n\nSources:\n[1] leave-policy-2026.md", []bool{false, true}},
		"bullets, bold":            {"27 days [1].\n\n**Sources**\n\n- [1] *Leave Policy 2026*", []bool{false, true}},
		"numbered, with a section": {"27 days [1].\n## Sources\n1. [1] leave-policy-2026.md › 2 Annual leave", []bool{false, true}},
		"as a footnote, a page":    {"27 days [1].\n\n[1]: Leave Policy 2026, p. 17, section 3", []bool{false, true}},
		"on one line":              {"27 days [1].\n\nSources: [1], [3]", []bool{false, true, false}},
		"on one line, Chinese":     {"27 天[1]。\n\n来源：[1]", []bool{false, true}},
		"a claim in the list":      {"27 days [1].\n\nSources:\n[2] Annual leave is 40 days", []bool{false, false}},
		"a number in the list":     {"27 days [1].\n\n[2] Annual leave 40", []bool{false, false}},
		"nothing else cites":       {"27 days.\n\nSources: [1]", []bool{false}},
		"the answer is a list":     {"[1] Leave Policy 2026\n[2] Annual leave", []bool{false, false}},
		"begins with a word":       {"27 days [1].\nAnnual leave [2]", []bool{false, false}},
		"no text":                  {"", []bool{}},
	} {
		if diff := cmp.Diff(c.want, Listed(c.text, Markers(c.text), names)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Every word that stands in front of a list, or of a page, is known in the list as it is meant.
func TestListedKnowsItsWords(t *testing.T) {
	for label := range listLabels {
		text := "27 days [1].\n\n" + label + ": [1]"
		if diff := cmp.Diff([]bool{false, true}, Listed(text, Markers(text), nil)); diff != "" {
			t.Errorf("%s: %s", label, diff)
		}
	}
	for word := range pageWords {
		text := "27 days [1].\n\n[1] handbook, " + word + " 3"
		if diff := cmp.Diff([]bool{false, true}, Listed(text, Markers(text), []string{"handbook"})); diff != "" {
			t.Errorf("%s: %s", word, diff)
		}
	}
}

func TestThoughts(t *testing.T) {
	for reply, want := range map[string]string{
		"28 days [1].": "28 days [1].",
		" <think>is it [3]?</think>\n\n28 days [1].":      "28 days [1].",
		"<think>a</think><think>b < c</think>28 </think>": "28 </think>",
		"28 <think>days</think>":                          "28 <think>days</think>",
		"<think>it has no end":                            "",
		"<think>":                                         "",
		"<thin":                                           "<thin",
		"":                                                "",
	} {
		for size := 1; size <= len(reply)+1; size++ {
			var thoughts Thoughts
			got := ""
			for rest := reply; rest != ""; {
				n := min(size, len(rest))
				got += thoughts.Write(rest[:n])
				rest = rest[n:]
			}
			if got += thoughts.Close(); got != want {
				t.Errorf("%q in pieces of %d: %q", reply, size, got)
			}
		}
	}
}
