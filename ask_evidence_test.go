package rag_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
)

func TestListMarksAreNotShown(t *testing.T) {
	for item, want := range map[string]string{
		"- The unicorn gets thirty apples.":               "The unicorn gets",
		"* The unicorn gets thirty apples.":               "The unicorn gets",
		"12. The unicorn gets thirty apples.":             "The unicorn gets",
		"3) The unicorn gets thirty apples.":              "The unicorn gets",
		"(b) The unicorn gets thirty apples.":             "The unicorn gets",
		"•The unicorn gets thirty apples.":                "The unicorn gets",
		"- [x] The unicorn gets thirty apples.":           "The unicorn gets",
		"> The unicorn gets thirty apples.":               "The unicorn gets",
		"3、独角兽每天得到三十个苹果。":                                 "独角兽每天",
		"-5 °C is what the unicorn likes with apples.":    "-5 °C is",
		"1.5 apples are what the unicorn gets each hour.": "1.5 apples",
		"A. Unicorn is who gets thirty apples each day.":  "A. Unicorn is",
	} {
		f := newFixture(t)
		f.write("a.txt", item+"\n")
		f.ingest(nil)
		q := "unicorn apples"
		if strings.Contains(item, "独角兽") {
			q = "独角兽每天得到几个苹果？"
		}
		a, err := f.Ask(t.Context(), question(q))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(a.Text, want) {
			t.Errorf("%q: got %q", item, a.Text)
		}
	}
}

func TestAQuestionIsQuotedWithItsAnswer(t *testing.T) {
	f := newFixture(t)
	f.write("faq.md", "# Frequent questions\n\n**Can I bring my dog?** Yes, on Wednesdays.\n\nWhere do I park?\n\nIn row P2.\n\n## Is that all?\n")
	f.ingest(nil)
	for q, want := range map[string]string{
		"can I bring my dog?": "**Can I bring my dog?** Yes, on Wednesdays.",
		"where do I park?":    "Where do I park? In row P2.",
	} {
		a, err := f.Ask(t.Context(), question(q))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(a.Text, want) {
			t.Errorf("%q: got %q", q, a.Text)
		}
	}
}

func TestWhatIsInDoubtIsToVerify(t *testing.T) {
	const part = "Part TX-17 fails when the pump valve overheats.\n"
	for _, tt := range []struct{ name, question, level, reason string }{
		{"said", "When does part TX-17 fail?", rag.Reliable, ""},
		{"written otherwise", "When does part tx 17 of the valve fail?", rag.Reliable, ""},
		{"another part", "When does part TX-19 fail when the pump valve overheats?", rag.ToVerify, "no passage names TX-19"},
		{"another year", "Which pump valve part fails in 2031 when it overheats?", rag.ToVerify, "no passage names 2031"},
		{"a number of the question", "Which part fails when 70 pump valve parts overheats?", rag.Reliable, ""},
		{"hardly said", "Which pump requires quarterly certificates from accredited laboratories?", rag.ToVerify, "the sentence quoted first has little of what is asked"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := rag.DefaultConfig()
			c.Answer.RefuseBelow, c.Answer.ReliableFrom = -1, 0.01
			f := newFixture(t, rag.WithConfig(c))
			f.write("a.txt", part)
			f.ingest(nil)
			a, err := f.Ask(t.Context(), question(tt.question))
			if err != nil {
				t.Fatal(err)
			}
			if a.Reliability != tt.level || a.Reason != tt.reason {
				t.Errorf("got %s, %q: %s", a.Reliability, a.Reason, a.Text)
			}
		})
	}
}

// A confidence that misses what is wanted by little is not written as equal to it.
func TestALowConfidenceIsNotWrittenAsEnough(t *testing.T) {
	confidence := 0.0
	for _, tt := range []struct{ refuse, reliable float64 }{{-1, 0.01}, {-1, 1e-5}, {1e-5, 0.5}} {
		c := rag.DefaultConfig()
		c.Answer.RefuseBelow, c.Answer.ReliableFrom = tt.refuse, tt.reliable
		if confidence > 0 && tt.refuse > 0 {
			c.Answer.RefuseBelow, c.Answer.ReliableFrom = confidence+tt.refuse, 1
		} else if confidence > 0 {
			c.Answer.ReliableFrom = confidence + tt.reliable
		}
		f := newFixture(t, rag.WithConfig(c))
		f.write("a.txt", "Part TX-17 fails when the pump valve overheats.\n")
		f.ingest(nil)
		a, err := f.Ask(t.Context(), question("When does part TX-17 fail?"))
		if err != nil {
			t.Fatal(err)
		}
		if confidence == 0 {
			confidence = a.Confidence
			continue
		}
		figures := regexp.MustCompile(`0\.\d+`).FindAllString(a.Reason, -1)
		if len(figures) != 2 || figures[0] >= figures[1] {
			t.Errorf("%q at confidence %v", a.Reason, a.Confidence)
		}
	}
}
