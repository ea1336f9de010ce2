package lang

import (
	_ "embed" // the table
	"math"
	"strings"
	"sync"
	"unicode"
)

// A short text often has no function word: "congé parental", "Urlaubstage pro Jahr". What it is in shows in the spelling:
// in runs of two to four letters, each of which makes each language more or less likely than English. The table is made by
// scripts/lang/spelling.py, which says what it was fitted to.
//
//go:embed ngrams.txt
var ngramTable string

// Forms of the table: a line is a run, a blank and six letters, the weights of fr, de, es, pt, it and nl in quarters.
// The marks ^ and $ stand for the beginning and the end of a word.
const (
	weightLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	weightZero    = len(weightLetters) / 2
	weightUnit    = 4
	longestRun    = 4
)

// ngrams maps a run to its weights.
var ngrams = sync.OnceValue(func() map[string][languages]int8 {
	m := make(map[string][languages]int8, strings.Count(ngramTable, "\n"))
	for line := range strings.Lines(ngramTable) {
		run, letters, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		var w [languages]int8
		for i, c := range []byte(letters) {
			w[fr+language(i)] = int8(strings.IndexByte(weightLetters, c) - weightZero)
		}
		m[run] = w
	}
	return m
})

// Thresholds, in weights of a text or a word over the root of its number of runs, set so that of English texts, names
// and jargon hardly any is taken for another language.
const (
	mostShort     = 14  // words; a longer text has function words
	minLead       = 1.8 // over English
	minLeadNames  = 3.0 // over English, where each word may be a name, or there is one only
	minLeadKnown  = 0.8 // over English, where a content word is among the words
	minLeadSecond = 0.3 // over the next language
	mostOfWord    = 4.0 // what the spelling of one word may say: it may be borrowed (résumé template)
	contentWord   = 5.0 // what a content word says
	leastLetters  = 8   // a shorter text tells nothing: de novo
	loneWord      = 10  // letters, from which on a single word counts: shorter ones are in English too (zeitgeist)
	particle      = 3   // letters, up to which a word without a capital may be a part of a name (Rio de Janeiro)
)

// spelling is what the runs of a text say.
type spelling struct {
	leads   [languages]float64 // over English, by language
	words   int                // with a letter, without a digit
	longest int                // letters of the longest word
	letters int
	names   bool // each word but particles begins with a capital
	known   bool // a content word is among them
}

// detectShort guesses the language of a short text by its spelling; "" if it may be English.
func detectShort(text string) string {
	s := spell(text)
	if s.letters < leastLetters && !s.known || s.words > mostShort || s.words == 1 && s.longest < loneWord && !s.known {
		return ""
	}
	best, second := fr, math.Inf(-1)
	for l := fr; l < languages; l++ {
		if s.leads[l] > s.leads[best] {
			best = l
		}
	}
	for l := fr; l < languages; l++ {
		if l != best {
			second = max(second, s.leads[l])
		}
	}
	least := minLead
	switch {
	case s.known:
		least = minLeadKnown
	case s.names || s.words == 1:
		least = minLeadNames
	}
	if s.names && best != de || s.leads[best] < least || s.leads[best]-second < minLeadSecond { // German nouns have capitals
		return ""
	}
	return tags[best]
}

// spell adds up the runs of a text's words.
func spell(text string) spelling {
	s := spelling{names: true}
	all := 0
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }) {
		if strings.ContainsFunc(word, unicode.IsDigit) {
			continue
		}
		s.words++
		letters := []rune(word)
		s.letters += len(letters)
		s.longest = max(s.longest, len(letters))
		s.names = s.names && (unicode.IsUpper(letters[0]) || len(letters) <= particle)
		lower := strings.ToLower(word)
		weights, runs := spellWord(lower)
		all += runs
		root := math.Sqrt(float64(runs))
		if said := contentLanguages(lower); len(said) > 0 {
			s.known = true
			for _, l := range said {
				s.leads[l] += contentWord * root
			}
			continue
		}
		for l, w := range weights {
			s.leads[l] += min(float64(w)/weightUnit, mostOfWord*root)
		}
	}
	for l := range s.leads {
		s.leads[l] /= math.Sqrt(float64(max(all, 1)))
	}
	return s
}

// spellWord adds up the weights of the runs of a word in lower case and counts them.
func spellWord(word string) (weights [languages]int, runs int) {
	letters, table := []rune("^"+word+"$"), ngrams()
	for at := range letters {
		for end := at + 2; end <= min(at+longestRun, len(letters)); end++ {
			runs++
			for l, w := range table[string(letters[at:end])] {
				weights[l] += int(w)
			}
		}
	}
	return weights, runs
}
