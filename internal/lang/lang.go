// Package lang guesses the language of a text from its script and, for Latin script, from its function words, or from its
// spelling where it is short and has none.
//
// The guess decides two things: whether an embedder that knows only some languages may be asked, and which stemmer
// is used. A wrong guess is worse than none in both, so the bar for a guess other than English is high.
package lang

import (
	"strings"
	"unicode"
)

// Detect returns the BCP 47 primary tag of the text's main language, or "" if there is too little evidence. It knows
// en, fr, de, es, pt, it and nl by their words and their spelling, and zh, ja, ko, ru, uk, el, ar, fa, ur, he, hi and th by their script.
// Words of another script inside the text (names, code) do not matter as long as they are fewer.
func Detect(text string) string {
	n := countScripts(text)
	switch n.main() {
	case latin:
		return detectLatin(text)
	case han:
		return n.chineseOrJapanese()
	case hangul:
		return "ko"
	case cyrillic:
		return n.cyrillicLanguage()
	case arabic:
		return n.arabicLanguage()
	case greek:
		return "el"
	case hebrew:
		return "he"
	case devanagari:
		return "hi"
	case thai:
		return "th"
	}
	return ""
}

// script is a writing system that points to a language, or to a group of languages told apart further.
type script int

const (
	none script = iota
	latin
	han // with kana
	hangul
	cyrillic
	arabic
	greek
	hebrew
	devanagari
	thai
	scripts // how many there are
)

// thaiWordLength is about how many letters a Thai word has; Thai has no blanks by which words could be counted.
const thaiWordLength = 4

// tally counts what a text is made of.
type tally struct {
	words   [scripts]int // words of alphabetic scripts; characters of Han, kana and Hangul; letters of Thai
	letters [scripts]int

	kana    int // of the characters counted under han
	onlyZh  int // characters of Chinese grammar that Japanese does not use
	ukraine int // letters that Ukrainian has and Russian has not
	balkans int // letters of Serbian and Macedonian
	persian int // letters that Persian adds to the Arabic script
	urdu    int // letters that Urdu adds to the Persian ones
}

func countScripts(text string) tally {
	var n tally
	prev := none
	for _, r := range text {
		s := scriptOf(r)
		if s == none {
			if !unicode.IsMark(r) {
				prev = none
			}
			continue
		}
		n.letters[s]++
		if s != prev || s == han || s == hangul || s == thai {
			n.words[s]++
		}
		prev = s
		n.noteMarkers(s, r)
	}
	n.words[thai] /= thaiWordLength
	return n
}

// noteMarkers counts the letters by which languages of one script are told apart.
func (n *tally) noteMarkers(s script, r rune) {
	switch s {
	case han:
		switch {
		case isKana(r):
			n.kana++
		case strings.ContainsRune(simplifiedOnly, r):
			n.onlyZh++
		}
	case cyrillic:
		switch {
		case strings.ContainsRune("іїєґІЇЄҐ", r):
			n.ukraine++
		case strings.ContainsRune("ђјљњћџѓќѕЂЈЉЊЋЏЃЌЅ", r):
			n.balkans++
		}
	case arabic:
		switch {
		case strings.ContainsRune("ٹڈڑےں", r):
			n.urdu++
		case strings.ContainsRune("پچژگکی", r):
			n.persian++
		}
	}
}

// main returns the script with the most words; of equals, the one that is not Latin.
func (n *tally) main() script {
	best := none
	for s := latin; s < scripts; s++ {
		if n.words[s] > 0 && n.words[s] >= n.words[best] {
			best = s
		}
	}
	if best != han && n.letters[best] < 2 { // a single β is a symbol
		return none
	}
	return best
}

// A Japanese sentence is a third kana or more; a name in kana inside a Chinese one is less. Grammar decides between.
const (
	kanaShareSure     = 0.35
	kanaSharePossible = 0.08
)

func (n *tally) chineseOrJapanese() string {
	share := float64(n.kana) / float64(n.words[han])
	if share >= kanaShareSure || share >= kanaSharePossible && n.onlyZh == 0 {
		return "ja"
	}
	return "zh"
}

func (n *tally) cyrillicLanguage() string {
	switch {
	case n.balkans > 0 && n.balkans*20 > n.letters[cyrillic]:
		return ""
	case n.ukraine > 0 && n.ukraine*50 > n.letters[cyrillic]:
		return "uk"
	}
	return "ru"
}

func (n *tally) arabicLanguage() string {
	switch {
	case n.urdu > 0:
		return "ur"
	case n.persian*50 > n.letters[arabic]:
		return "fa"
	}
	return "ar"
}

// simplifiedOnly are frequent Chinese characters that Japanese does not use, or writes otherwise.
const simplifiedOnly = "吗呢吧么们这哪谁没还给让说为对从过时问题动电个东车马鸟鱼龙开关买卖长门应样种实现发进远边书师产业务员请谢您吃"

func isKana(r rune) bool {
	return unicode.In(r, unicode.Hiragana, unicode.Katakana)
}

func scriptOf(r rune) script {
	switch {
	case r < 0x80:
		if 'a' <= r|0x20 && r|0x20 <= 'z' {
			return latin
		}
		return none
	case !unicode.IsLetter(r):
		return none
	case unicode.Is(unicode.Latin, r):
		return latin
	case unicode.Is(unicode.Han, r), isKana(r):
		return han
	case unicode.Is(unicode.Hangul, r):
		return hangul
	case unicode.Is(unicode.Cyrillic, r):
		return cyrillic
	case unicode.Is(unicode.Arabic, r):
		return arabic
	case unicode.Is(unicode.Greek, r):
		return greek
	case unicode.Is(unicode.Hebrew, r):
		return hebrew
	case unicode.Is(unicode.Devanagari, r):
		return devanagari
	case unicode.Is(unicode.Thai, r):
		return thai
	}
	return none
}
