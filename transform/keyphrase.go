package transform

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// phrase is a candidate of a text with its score.
type phrase struct {
	words []string // lower case
	shown string   // as it stands in the text first
	count int
	score float64
}

// longestPhrase is the most words of a phrase; a longer run, which has a verb in it, is cut into such.
const longestPhrase = 3

// keyphrases returns up to n phrases that stand for a text, best first, by RAKE (Rose, Engel, Cramer and Cowley,
// "Automatic keyword extraction from individual documents", 2010): candidates are the runs of words between stop words
// and punctuation, and a word's score is its degree (how many words stand with it, itself included) over its frequency.
// A phrase has the sum of its words' scores, here times how often it comes, since in passages rather than in abstracts
// what is said twice is what they are about. Ties go to the first in the text.
func keyphrases(text string, n int) []string {
	var list []*phrase
	byKey := map[string]*phrase{}
	frequency, degree := map[string]float64{}, map[string]float64{}
	for _, run := range candidates(text) {
		words := strings.Fields(strings.ToLower(run))
		for _, w := range words {
			frequency[w]++
			degree[w] += float64(len(words))
		}
		key := strings.Join(words, " ")
		if byKey[key] == nil {
			byKey[key] = &phrase{words: words, shown: run}
			list = append(list, byKey[key])
		}
		byKey[key].count++
	}
	for _, p := range list {
		for _, w := range p.words {
			p.score += degree[w] / frequency[w]
		}
		p.score *= float64(p.count)
	}
	slices.SortStableFunc(list, func(a, b *phrase) int { return cmp.Compare(b.score, a.score) })
	var best []string
	for _, p := range list {
		if len(best) == n {
			break
		}
		if !slices.ContainsFunc(best, func(s string) bool { return strings.Contains(strings.ToLower(s), strings.Join(p.words, " ")) }) {
			best = append(best, p.shown)
		}
	}
	return best
}

// candidates returns the runs of words of a text, in order.
func candidates(text string) []string {
	var all, run []string
	flush := func() {
		for part := range slices.Chunk(run, longestPhrase) {
			if p := strings.Join(part, " "); strings.ContainsFunc(p, unicode.IsLetter) {
				all = append(all, p)
			}
		}
		run = run[:0]
	}
	for word := range words(text) {
		switch {
		case word == "", stopWords[strings.ToLower(word)]:
			flush()
		case isHan(word):
			flush()
			run = append(run, word)
			flush()
		case len(word) > 1 && len(word) <= longestWord:
			run = append(run, word)
		default:
			flush()
		}
	}
	flush()
	return all
}

// longestWord is the most bytes of a word of a phrase; longer ones are addresses and codes.
const longestWord = 40

// words yields the words of a text, and "" wherever a phrase cannot go on. Chinese and Japanese are written without
// blanks: there a word is what stands between the characters that serve as stop words, if it is short enough.
func words(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start := -1 // of the word under way
		han := false
		emit := func(end int) bool {
			if start < 0 {
				return true
			}
			w := text[start:end]
			start = -1
			if han && (len([]rune(w)) < 2 || len([]rune(w)) > longestHan) {
				w = ""
			}
			return yield(w)
		}
		for i, r := range text {
			letter := unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
			isCJK := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
			switch {
			case letter && isCJK && strings.ContainsRune(hanStops, r):
				if !emit(i) || !yield("") {
					return
				}
			case letter:
				if start >= 0 && isCJK != han && !emit(i) {
					return
				}
				if start < 0 {
					start, han = i, isCJK
				}
			case start >= 0 && !han && (r == '-' || r == '\'' || r == '’') && continues(text[i:]):
				// inside of a word
			default:
				if !emit(i) || r != ' ' && !yield("") {
					return
				}
			}
		}
		emit(len(text))
	}
}

// continues reports whether a letter follows the first character of a text.
func continues(text string) bool {
	for i, r := range text {
		if i > 0 {
			return unicode.IsLetter(r)
		}
	}
	return false
}

// longestHan is the most characters of a phrase in Chinese or Japanese.
const longestHan = 8

func isHan(word string) bool {
	for _, r := range word {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
	}
	return false
}

// hanStops are frequent function characters of Chinese and particles of Japanese.
const hanStops = "由的了是在和与或及也都就而但被把对从到为以于之其这那有无不没很更最个们我你他她它将可能会要应该须需时上下中后前はがをにのでともへやか"

// stopWords are frequent function words of the Latin languages that lang tells apart.
var stopWords = wordSet(`
a about above after again all also an and any are as at be because been before being below between both but by can could did do
does down during each few for from further had has have he her here him his how i if in into is it its just may me more most must
my no nor not now of off on once only or other our out over own per same see she should so some such than that the their them then
there these they this those through to too under until up upon very was we were what when where which while who whom why will with
within without would you your yours
aber als am an auch auf aus bei bis das dass dem den der des die durch ein eine einem einen einer eines er es für hat ihr im in ist
kann mit nach nicht noch nur oder sein sich sie sind so über um und unter von vor war wenn werden wie wird zu zum zur
au aux avec ce ces cette dans de des du elle en est et être il ils la le les leur mais ne nous ou où par pas plus pour qu que qui sa
se ses son sont sur un une vous
al como con cuando de del el ella en entre era es esta este la las lo los más no o para pero por que se ser si sin sobre son su sus
también un una y ya
ao aos as com da das do dos e em mais na nas não no nos o os ou pela pelo se sem seu sua são também um uma
ai alla alle anche che chi col come con da dal dalla dei del della delle di e gli ha i il in io la le lo loro ma nel nella non per
più quando quello questo se si sono su sul suo tra un una uno
aan al als bij dan dat de der deze die dit door een en er had heeft het hij hun in is maar met naar niet nog of om onder ook op over
te tot uit van veel voor waar was wat werd wordt worden zal ze zich zijn
`)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}
