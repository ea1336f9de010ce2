package analyze

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"
)

// Names of the ways in which words of Latin script are stemmed, besides the tags of Snowball's languages.
const (
	englishTag = "en"
	unstemmed  = "none" // a language of Latin script for which there is no stemmer
)

type algorithm func(*snowballstem.Env) bool

var latinStemmers = map[string]algorithm{
	"da": danish.Stem, "de": german.Stem, "en": english.Stem, "es": spanish.Stem, "fi": finnish.Stem, "fr": french.Stem,
	"ga": irish.Stem, "hu": hungarian.Stem, "it": italian.Stem, "nl": dutch.Stem, "no": norwegian.Stem,
	"pt": portuguese.Stem, "ro": romanian.Stem, "sv": swedish.Stem, "tr": turkish.Stem,
}

// otherScripts are the languages whose words are recognised by their script. The Latin words in their texts are
// mostly English.
var otherScripts = map[string]bool{
	"": true, "und": true, "ar": true, "be": true, "bg": true, "bn": true, "el": true, "fa": true, "he": true, "hi": true,
	"ja": true, "ka": true, "km": true, "ko": true, "lo": true, "mk": true, "mr": true, "my": true, "ne": true, "ru": true,
	"sr": true, "ta": true, "th": true, "uk": true, "ur": true, "yue": true, "zh": true,
}

// Stemming returns how the words of Latin script in a text of this language are stemmed: a BCP 47 primary tag or
// "none". The language may be any BCP 47 tag; "" gives English.
func Stemming(language string) string {
	primary, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(language, "_", "-")), "-")
	switch {
	case primary == "nb" || primary == "nn":
		return "no"
	case latinStemmers[primary] != nil:
		return primary
	case otherScripts[primary]:
		return englishTag
	}
	return unstemmed
}

// stemmed is a word's term.
type stemmed struct {
	term  string // of the word as written, accents off
	plain string // of the word typed without accents, where that gives another term; else ""
	form  string // the word itself, accents off
}

// stemmer stems with a cache. It is not safe for concurrent use.
type stemmer struct {
	env   *snowballstem.Env
	cache map[string]map[string]stemmed // by stemming and word
	size  int
}

// maxCached is the number of words after which a cache starts anew: some megabytes, and more than a book's
// vocabulary.
const maxCached = 50_000

func newStemmer() *stemmer {
	return &stemmer{env: snowballstem.NewEnv(""), cache: map[string]map[string]stemmed{}}
}

// stem returns the term of a word in lower case.
func (s *stemmer) stem(word, stemming string) stemmed {
	if have, ok := s.cache[stemming][word]; ok {
		return have
	}
	algo := algorithmFor(word, stemming)
	made := stemmed{term: fold(s.apply(algo, word)), form: strings.Clone(fold(word))}
	if made.form != word {
		if p := fold(s.apply(algo, made.form)); p != made.term {
			made.plain = p
		}
	}
	if s.size >= maxCached {
		clear(s.cache)
		s.size = 0
	}
	if s.cache[stemming] == nil {
		s.cache[stemming] = map[string]stemmed{}
	}
	// Cloned: a word is a piece of a text that the cache must not keep alive.
	s.cache[stemming][strings.Clone(word)] = made
	s.size++
	return made
}

func (s *stemmer) apply(algo algorithm, word string) string {
	if algo == nil {
		return strings.Clone(word)
	}
	s.env.SetCurrent(word)
	algo(s.env)
	if stem := s.env.Current(); stem != "" {
		return stem
	}
	return strings.Clone(word)
}

// algorithmFor chooses by the script of the word, and among the languages of Latin script by the text's language.
// Words with digits are names of things and have no stem.
func algorithmFor(word, stemming string) algorithm {
	if strings.ContainsAny(word, "0123456789") || !utf8.ValidString(word) {
		return nil
	}
	r, _ := utf8.DecodeRuneInString(word)
	switch {
	case unicode.Is(unicode.Latin, r):
		return latinStemmers[stemming]
	case unicode.Is(unicode.Cyrillic, r):
		return russian.Stem
	case unicode.Is(unicode.Arabic, r):
		return arabic.Stem
	case unicode.Is(unicode.Tamil, r):
		return tamil.Stem
	}
	return nil
}
