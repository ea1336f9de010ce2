package main

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

var lineHyphen = regexp.MustCompile(`(\p{L})[-\x{00AD}\x{2010}]\s*\n\s*(\p{Ll})`)

// words are the runs of letters and digits of a text in order, under compatibility forms; an ideograph, a kana and a
// syllable of Korean, which is broken at any, is one.
// A hyphen at a line's end joins.
func words(text string) []string {
	text = norm.NFKC.String(lineHyphen.ReplaceAllString(text, "$1$2"))
	var out []string
	var run strings.Builder
	flush := func() {
		if run.Len() > 0 {
			out = append(out, run.String())
			run.Reset()
		}
	}
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			flush()
			out = append(out, string(r))
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			run.WriteRune(r)
		default:
			flush()
		}
	}
	flush()
	return out
}

// recall is the share of the reference's words, with how often each stands there, that got has; 1 for no reference.
func recall(reference, got []string) float64 {
	if len(reference) == 0 {
		return 1
	}
	have := map[string]int{}
	for _, w := range got {
		have[w]++
	}
	found := 0
	for _, w := range reference {
		if have[w] > 0 {
			have[w]--
			found++
		}
	}
	return float64(found) / float64(len(reference))
}

// inOrder is the length of the longest common subsequence of both lists over the reference's length: the share of the
// reference's words that can be found in its order.
func inOrder(reference, got []string) float64 {
	if len(reference) == 0 {
		return 1
	}
	row := make([]int, len(got)+1)
	for _, w := range reference {
		diagonal := 0
		for j, g := range got {
			above := row[j+1]
			if w == g {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return float64(row[len(got)]) / float64(len(reference))
}
