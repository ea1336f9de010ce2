package lang

import (
	"strings"
	"unicode"
)

// language indexes the languages of Latin script that are known by their words.
type language int

const (
	en language = iota
	fr
	de
	es
	pt
	it
	nl
	languages // how many there are
)

var tags = [languages]string{"en", "fr", "de", "es", "pt", "it", "nl"}

// Points of evidence. A sure word is one that the other languages, and English above all, hardly use; a shared word
// is also a word, or a part of names, elsewhere.
const (
	sure   = 2
	shared = 1
)

// Thresholds, set so that no English question of the test data is taken for another language while the French
// ones are recognised.
const (
	minPoints       = 3    // one sure word and one more
	minKnown        = 2    // words that gave points; one, with accents around it, may be a name: El Niño, São Paulo
	minPointsEn     = 2    // English is the harmless guess
	surelyEnglish   = 4    // points at which foreign words are quotations unless they have the lead over English
	lead            = 1.5  // over the next language
	leadOverEnglish = 2.0  // over English, which may quote or name anything
	longText        = 15   // words, from which on the density counts too
	minDensity      = 0.3  // points per word: languages we do not know share some words with those we do
	maxAccentPoints = 2    // Café, Señor and Übermensch are in English texts too
	sampleWords     = 4000 // more words tell nothing new
)

func detectLatin(text string) string {
	var points, known, accents [languages]int
	words := 0
	for word := range latinWords(text) {
		if words++; words > sampleWords {
			break
		}
		said := vocabulary[word]
		for _, e := range said {
			points[e.language] += e.points
			known[e.language]++
		}
		if said == nil {
			for _, l := range accentLanguages(word) {
				accents[l]++
			}
		}
	}
	for l := range points {
		points[l] += min(accents[l], maxAccentPoints)
	}
	// Spanish alone opens its questions and exclamations.
	if strings.ContainsAny(text, "¿¡") {
		points[es] += sure
	}
	if tag := decide(points, known, min(words, sampleWords)); tag != "" || words > mostShort || points[en] >= minPointsEn {
		return tag
	}
	return detectShort(text)
}

func decide(points, known [languages]int, words int) string {
	best, second := en, 0
	for l := range languages {
		if points[l] > points[best] {
			best = l
		}
	}
	for l := range languages {
		if l != best {
			second = max(second, points[l])
		}
	}
	p := float64(points[best])
	switch {
	case words > longText && p < minDensity*float64(words):
		return ""
	case points[en] >= surelyEnglish && p <= leadOverEnglish*float64(points[en]),
		best == en && points[en] >= minPointsEn && p >= lead*float64(second):
		return "en"
	case best == en || points[best] < minPoints || known[best] < minKnown:
		return ""
	case p > leadOverEnglish*float64(points[en]) && p >= lead*float64(second):
		return tags[best]
	}
	return ""
}

// latinWords yields the words of the text in lower case. A clitic ends with its apostrophe: "l'", "qu'".
func latinWords(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start := -1
		for i, r := range text {
			if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
				if start < 0 {
					start = i
				}
				continue
			}
			if start < 0 {
				continue
			}
			word := strings.ToLower(text[start:i])
			start = -1
			if r == '\'' || r == '’' {
				word += "'"
			}
			if !yield(word) {
				return
			}
		}
		if start >= 0 {
			yield(strings.ToLower(text[start:]))
		}
	}
}

// accentLanguages returns the languages that write the accented letters of a word.
func accentLanguages(word string) []language {
	for _, r := range word {
		if r >= 0x80 {
			return accents[r]
		}
	}
	return nil
}

var accents = func() map[rune][]language {
	m := map[rune][]language{}
	for l, letters := range map[language]string{
		fr: "àâæçéèêëîïôœùû", de: "äöüß", es: "áéíñóú", pt: "áâãàçéêíóôõú", it: "àèéìòù",
	} {
		for _, r := range letters {
			m[r] = append(m[r], l)
		}
	}
	return m
}()
