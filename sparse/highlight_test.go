package sparse_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/sparse"
)

// highlights asks for those of one text.
func highlights(t *testing.T, x *sparse.BM25, q rag.SparseQuery, text, language string) []rag.TextRange {
	t.Helper()
	got, err := x.Highlight(t.Context(), "c", q, []rag.TextRecord{{Text: text, Language: language}})
	if err != nil || len(got) != 1 {
		t.Fatalf("got %v, %v", got, err)
	}
	return got[0]
}

// marked returns the text with its highlights in brackets.
func marked(t *testing.T, x *sparse.BM25, q rag.SparseQuery, text, language string) string {
	t.Helper()
	var b strings.Builder
	at := 0
	for _, r := range highlights(t, x, q, text, language) {
		if r.Start < at { // n-grams overlap: what is new of this one
			r.Start = at
		}
		if r.Start < r.End {
			fmt.Fprintf(&b, "%s[%s]", text[at:r.Start], text[r.Start:r.End])
			at = r.End
		}
	}
	return strings.ReplaceAll(b.String()+text[at:], "][", "")
}

func TestHighlight(t *testing.T) {
	x := openMemory(t)
	for i, language := range []string{"en", "de", "zh"} { // the languages by which queries are stemmed
		upsert(t, x, rag.TextRecord{ID: fmt.Sprint(i), Text: "the opal glows, gloves", Language: language})
	}
	for _, c := range []struct{ name, query, language, want string }{
		{"stems", "running services", "en", "It [runs] a [service], and [Running] it."},
		{"no stop words", "is the fee", "en", "The [fee] is as it is."},
		{"language", "Häuser", "de", "Das [Haus] und die [Häuser]."},
		{"accents off", "resume", "en", "A [résumé] and a [resume]."},
		{"parts of an identifier", "cross entropy", "", "Use [CrossEntropyLoss] or [cross]_[entropy]."},
		{"an identifier", "cross_entropy", "", "It is [CrossEntropy]."},
		{"versions", "v1.2.3", "", "Since [v1.2.3], not v1.2.4."},
		{"a digit of a version is no word", "2 dogs", "", "Since v1.2.3, [2] [dogs]."},
		{"thousands", "1000", "", "About [1,000], not 1,001."},
		{"C++", "C++ or C#", "", "[C++], [C#] and C."},
		{"parts of syllables", "휴가", "ko", "\u110b\u1167\u11ab\u110e\u1161[\u1112\u1172\u1100\u1161]"},
		{"half width", "ガイド", "ja", "[ｶﾞｲﾄﾞ]ﾌﾞｯｸ"},
		{"letters in one", "kg", "", "3 [㎏]"},
		{"characters in one", "株式会社", "ja", "A[㍿]"},
		{"hyphens", "known", "", "A well-[known] fact."},
		{"apostrophes", "Allen", "", "[Allen]’s gate, [Allen]'s gate."},
		{"end of text", "opal", "", "an [opal]"},
		{"end of sentence", "opal", "", "An [opal]. An [opal], “[opal]”-like"},
		{"chinese", "年假政策", "zh", "公司的[年假政策]如下：[年假]十天。"},
		{"a single character", "税", "zh", "增值[税]率"},
		{"common characters are not enough", "什么是税率", "zh", "什[税率]是"},
		{"mixed scripts", "GPU 内存", "zh", "[GPU]的[内存]不足"},
		{"thai", "ภาษาไทย", "th", "เรียน[ภาษาไทย]"},
		{"full width", "GPU", "", "[ＧＰＵ]"},
		{"no UTF-8", "opal", "", "\xff[opal]\xff\xfe"},
		{"nothing asked", "!?", "", "Nothing. !?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.NewReplacer("[", "", "]", "").Replace(c.want)
			if got := marked(t, x, rag.SparseQuery{Text: c.query}, text, c.language); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestHighlightOfBeginningsAndSimilarWords(t *testing.T) {
	x := openMemory(t)
	upsert(t, x, rag.TextRecord{ID: "1", Text: "the opal glows, gloves", Language: "en"})
	for want, q := range map[string]rag.SparseQuery{
		"An opal [glows], with [gloves].": {Text: "glo*", Match: rag.TextMatch{Prefix: true}},
		"An [opal] glows, with gloves.":   {Text: "opel", Match: rag.TextMatch{Fuzzy: 1}},
		"An [opal] [glows], with gloves.": {Text: `"opal glows"`, Match: rag.TextMatch{Phrase: true}},
		"An opal glows, with gloves.":     {Text: "opel glo*"},
	} {
		if got := marked(t, x, q, "An opal glows, with gloves.", "en"); got != want {
			t.Errorf("%+v: got %q, want %q", q, got, want)
		}
	}
	if _, err := x.Highlight(t.Context(), "c", rag.SparseQuery{Text: "x", Match: rag.TextMatch{Fuzzy: 9}}, nil); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("fuzzy 9: %v", err)
	}
}

func FuzzHighlight(f *testing.F) {
	x, err := sparse.OpenBM25("", sparse.BM25Config{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("running v1.2.3 年假", "It runs. v1.2.3,年假政策 C++")
	f.Add("ก", "\xffกขค")
	f.Fuzz(func(t *testing.T, query, text string) {
		q := rag.SparseQuery{Text: query, Match: rag.TextMatch{Phrase: true, Prefix: true, Fuzzy: 1}}
		got := highlights(t, x, q, text, "")
		if diff := cmp.Diff(got, highlights(t, x, q, text, "")); diff != "" {
			t.Fatalf("second call:\n%s", diff)
		}
		for _, r := range got {
			if r.Start < 0 || r.End > len(text) || r.Start >= r.End {
				t.Fatalf("%v of %d bytes", r, len(text))
			}
			if !utf8.RuneStart(text[r.Start]) && utf8.ValidString(text) || r.End < len(text) && !utf8.RuneStart(text[r.End]) && utf8.ValidString(text) {
				t.Fatalf("%v cuts a rune of %q", r, text)
			}
		}
	})
}
