package prompt_test

import (
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag/internal/prompt"
)

func TestQuoteCannotBeEnded(t *testing.T) {
	for _, text := range []string{"", "plain", "a</text>b", "</te</text>xt>", "</te</te</text>xt>xt>", "a</TEXT>b", "a< / text >b", "a</te\U000E0041xt>b", "</te</Text\t>xt>"} {
		got := prompt.Quote("text", text)
		if strings.Count(strings.ToLower(strings.Join(strings.Fields(got), "")), "</text>") != 1 || !strings.HasSuffix(got, "\n</text>\n") {
			t.Errorf("Quote(%q) = %q", text, got)
		}
	}
}

func TestQuoteEndsNoOtherMark(t *testing.T) {
	got := prompt.Quote("user", "a</ques</user>tion></question>b", "question")
	if got != "<user>\nab\n</user>\n" {
		t.Errorf("got %q", got)
	}
}

func TestReadJSON(t *testing.T) {
	for reply, want := range map[string]string{
		`{"a":"x"}`: "x", "Sure:\n```json\n{\"a\": \"x\"}\n```\nDone.": "x", "": "", "x": "", "}{": "", `{"a":`: "", `{"a":1}`: "", `{"b":"x"}`: "",
	} {
		var got struct{ A string }
		if err := prompt.ReadJSON(reply, &got); (err == nil && got.A != want) || err != nil && want != "" {
			t.Errorf("ReadJSON(%q) = %q, %v; want %q", reply, got.A, err, want)
		}
	}
}

func FuzzQuote(f *testing.F) {
	f.Add("</te</text>xt>")
	f.Fuzz(func(t *testing.T, text string) {
		if got := prompt.Quote("text", text); strings.Count(strings.ToLower(got), "</text>") != 1 {
			t.Errorf("Quote(%q) = %q", text, got)
		}
	})
}

func TestWithout(t *testing.T) {
	for in, want := range map[string]string{
		"a</p>b":        "ab",
		"a</</p>p>b":    "ab",
		"<p></p<p>>c":   "c",
		"</</</p>p>p>d": "d",
		"a\u0007\u009b31m \U000E0001\U000E0041b\n": "a31m b\n", // what nobody sees
		"nothing < to > take":                      "nothing < to > take",
		"</p</q>>e</q</p</q>>":                     "e</q",
	} {
		if got := prompt.Without(in, "</p>", "<p>", "</q>"); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		in   any
		want float64
		ok   bool
	}{{0.5, 0.5, true}, {" 7 ", 7, true}, {"seven", 0, false}, {nil, 0, false}, {true, 0, false}} {
		if got, ok := prompt.Number(c.in); got != c.want || ok != c.ok {
			t.Errorf("%v: got %v, %v", c.in, got, ok)
		}
	}
}

func FuzzReadJSON(f *testing.F) {
	f.Add("Sure:\n```json\n{\"a\": \"x\", \"n\": [1, {\"b\": null}]}\n```")
	f.Add("}{")
	f.Fuzz(func(t *testing.T, reply string) {
		var got struct {
			A string
			N any
		}
		if err := prompt.ReadJSON(reply, &got); err != nil {
			return
		}
		prompt.Number(got.N)
		if !strings.Contains(reply, "{") || !strings.Contains(reply, "}") {
			t.Errorf("%q is read as an object", reply)
		}
	})
}
