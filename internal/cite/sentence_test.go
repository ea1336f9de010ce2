package cite

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSentences(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"two":           {"It is so. It is not.", []string{"It is so.", "It is not."}},
		"abbreviations": {"See Dr. Smith, e.g. on p. 3 of No. 5. Then go.", []string{"See Dr. Smith, e.g. on p. 3 of No. 5.", "Then go."}},
		"numbers":       {"It costs 3.50 a day. See example.com. Yes", []string{"It costs 3.50 a day.", "See example.com.", "Yes"}},
		"French":        {"L'art. 3 dit « oui. » Mme. Dupont le sait ! Et vous ?", []string{"L'art. 3 dit « oui. »", "Mme. Dupont le sait !", "Et vous ?"}},
		"Chinese":       {"年假为25天。病假另计！对吗？", []string{"年假为25天。", "病假另计！", "对吗？"}},
		"citations":     {"It is so. [1] It is not [2][3].", []string{"It is so. [1]", "It is not [2][3]."}},
		"wrapped":       {"It is\nso. And\nmore.", []string{"It is\nso.", "And\nmore."}},
		"blocks":        {"# Head\nText\n\n- one\n- two\n| a | b |\n| c | d |", []string{"# Head", "Text", "- one", "- two", "| a | b |", "| c | d |"}},
		"numbered":      {"1. Ask.\n2. Wait.", []string{"1. Ask.", "2. Wait."}},
		"blank":         {" \n ", nil},
	} {
		var got []string
		for _, s := range Sentences(tt.text) {
			got = append(got, tt.text[s.Start:s.End])
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestClaims(t *testing.T) {
	text := "Leave is 25 days [1]. Notice is three months. [2][3]"
	got := Claims(text, Markers(text))
	if diff := cmp.Diff([]string{"Leave is 25 days.", "Notice is three months.", "Notice is three months."}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOverlapAndClosest(t *testing.T) {
	passage := "Leave is 25 days. The notice period is 3.5 months."
	if got := Overlap("the notice periods are 3.5 months", passage); got != 1 {
		t.Errorf("overlap %v, want 1", got)
	}
	if got := Overlap("the notice period is 3.6 months", passage); got >= 1 {
		t.Errorf("another number is the same: %v", got)
	}
	if s := Closest("period of notice", passage); passage[s.Start:s.End] != "The notice period is 3.5 months." {
		t.Errorf("closest is %q", passage[s.Start:s.End])
	}
	if got := Overlap("it is 1.9 metres", "it is 1.8 metres"); got != 0.5 {
		t.Errorf("1.9 and 1.8: overlap %v, want that of metres", got)
	}
	if got := Overlap("article,5", "article 5"); got != 1 {
		t.Errorf("a comma that parts a word and a number: overlap %v", got)
	}
	if got := Overlap("年假25天", "员工年假为25天"); got < 0.6 {
		t.Errorf("Chinese overlap %v", got)
	}
	if got := Overlap("", passage); got != 0 {
		t.Errorf("no words: %v", got)
	}
}

func FuzzSentences(f *testing.F) {
	f.Add("a. B [1]. 年假。\n# x\n1. y")
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, s := range Sentences(text) {
			if s.Start < last || s.End <= s.Start || s.End > len(text) {
				t.Fatalf("%q: span %v after %d", text, s, last)
			}
			last = s.End
		}
	})
}
