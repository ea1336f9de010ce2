package cite

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-d8745b77/rag/internal/prompt"
)

// Overlap returns the share of a claim's words that a passage has, 0 to 1; 0 for a claim without words. Words are
// compared by their beginnings, which sees through most endings, numbers as they are; of scripts without blanks pairs of
// characters are compared. Words that every text has do not count, and no character that nobody sees parts a word: a model
// was not shown it.
func Overlap(claim, passage string) float64 {
	have := map[string]bool{}
	for w := range words(prompt.Visible(passage)) {
		have[w] = true
	}
	seen := map[string]bool{}
	shared := 0
	for w := range words(prompt.Visible(claim)) {
		if !seen[w] {
			seen[w] = true
			if have[w] {
				shared++
			}
		}
	}
	if len(seen) == 0 {
		return 0
	}
	return float64(shared) / float64(len(seen))
}

// Closest returns the sentence of a passage that has most of a claim's words, the first of equals; empty if the passage
// has no sentence.
func Closest(claim, passage string) Span {
	best, most := Span{}, -1.0
	for _, s := range Sentences(passage) {
		if o := Overlap(claim, passage[s.Start:s.End]); o > most {
			best, most = s, o
		}
	}
	return best
}

// stemRunes is how much of a word is compared.
const stemRunes = 6

// words yields what a text is compared by.
func words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		text = strings.ToLower(text)
		var before string // the character before, of a script without blanks
		for at := 0; at < len(text); {
			r, size := utf8.DecodeRuneInString(text[at:])
			switch {
			case r >= unspaced && isWord(r):
				char := text[at : at+size]
				if before != "" && !yield(before+char) {
					return
				}
				before = char
				at += size
				continue
			case !isWord(r):
				at += size
			default:
				end := at
				for end < len(text) {
					r, size := utf8.DecodeRuneInString(text[end:])
					if r >= unspaced || !isWord(r) && !unicode.IsMark(r) && !(joins(r) && end > at && inNumber(text, end, size)) {
						break
					}
					end += size
				}
				if word := text[at:end]; !common[word] && !yield(begin(word)) {
					return
				}
				at = end
			}
			before = ""
		}
	}
}

func joins(r rune) bool { return r == '.' || r == ',' }

// inNumber reports whether a point or comma stands between digits.
func inNumber(text string, at, size int) bool {
	isDigit := func(i int) bool { return i < len(text) && text[i] >= '0' && text[i] <= '9' }
	return isDigit(at-1) && isDigit(at+size)
}

// begin returns the beginning of a word, or the whole of one with a digit.
func begin(word string) string {
	if strings.ContainsAny(word, "0123456789") {
		return word
	}
	n := 0
	for i := range word {
		if n == stemRunes {
			return word[:i]
		}
		n++
	}
	return word
}

// common are words of English and French that tell no texts apart.
var common = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`a an the of to in on at by for from with and or is are was were be been it its this that these
		those as do does did has have had will would can could may what which who whom how when where why i you he she we they
		my your his her our their there if than then so not no
		le la les l un une des de du d au aux à et ou est sont était être en dans sur par pour avec ce cet cette ces que qui
		quoi quel quelle quels quelles comment quand où pourquoi je j tu il elle on nous vous ils elles mon ton son sa ses
		se s ne n pas plus y c qu`) {
		m[w] = true
	}
	return m
}()
