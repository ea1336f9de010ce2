// Package analyze turns text into index terms. One implementation serves passages and queries, so that what is
// written and what is asked meet:
//
//	a := analyze.New(nil)
//	a.Passage(text, "en", func(t analyze.Term) { … })
//	terms := a.Query("running services", []string{"en"}) // run, servic
//
// The steps of "auto/v2": compatibility normalisation (NFKC), cutting into words, identifiers and runs of scripts
// without blanks, lower case, English stop words out, Snowball stem in the passage's language, accents off.
package analyze

import (
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"
)

// version names the analyzer without a segmenter; see [Analyzer.Fingerprint].
const version = "auto/v2"

// Term is one term at one place of a passage.
type Term struct {
	Text string // never empty; lower case, without accents; at most MaxTermLength runes of the word
	Form string // the word that the term is the stem of, lower case and without accents; "" if that is Text
	// Position is the place of the word in the passage. A stop word has a place and no term; the forms of one word
	// share a place, and the parts of an identifier follow one another.
	Position int
	// Extra marks a further form of a word that is already counted, such as an identifier beside its parts: it can
	// be found, and it adds nothing to the length of the passage.
	Extra bool
}

// MaxTermLength is the number of runes after which a word is cut off: long enough for a SHA-256 in hex.
const MaxTermLength = 64

// Segmenter cuts Chinese text into words, by a dictionary or otherwise.
type Segmenter interface {
	// Fingerprint names the segmenter and its dictionary.
	Fingerprint() string
	// Segment returns the words of a run of Han characters, in order and without gaps. It is safe for concurrent use.
	Segment(run string) []string
}

// Analyzer makes terms. It is safe for concurrent use.
type Analyzer struct {
	segmenter Segmenter
	stems     sync.Pool // of *stemmer; each has a cache and is used by one goroutine at a time
}

// New returns an analyzer. Chinese is taken as pairs of characters; a segmenter adds the words that are longer.
func New(s Segmenter) *Analyzer {
	return &Analyzer{segmenter: s, stems: sync.Pool{New: func() any { return newStemmer() }}}
}

// Fingerprint names the analyzer and its version: an index built by another one gives wrong answers.
func (a *Analyzer) Fingerprint() string {
	if a.segmenter == nil {
		return version
	}
	return version + "+" + a.segmenter.Fingerprint()
}

// Passage calls emit for the terms of a passage, in order. stemming is what [Stemming] returned for it.
func (a *Analyzer) Passage(text, stemming string, emit func(Term)) {
	st := a.stems.Get().(*stemmer)
	defer a.stems.Put(st)
	cut(normalize(text), 0, &passage{stem: st, stemming: stemming, segmenter: a.segmenter, emit: emit})
}

// normalize applies NFKC and straightens the apostrophes by which words are cut. Neither touches ASCII.
func normalize(text string) string {
	if isASCII(text) {
		return text
	}
	text = norm.NFKC.String(text)
	if strings.ContainsAny(text, "’ʼ") {
		text = apostrophes.Replace(text)
	}
	return text
}

var apostrophes = strings.NewReplacer("’", "'", "ʼ", "'")

// passage is the sink that keeps everything by which a text may be asked for.
type passage struct {
	stem      *stemmer
	stemming  string
	segmenter Segmenter
	emit      func(Term)
}

func (p *passage) start() {}

// word keeps the stem, and for a word with accents also the stem of the word as it is typed without them.
func (p *passage) word(w string, at int, extra bool) {
	lower := lowerCase(w)
	if isStopWord(lower) {
		return
	}
	s := p.stem.stem(lower, p.stemming)
	p.emit(Term{s.term, s.formOf(s.term), at, extra})
	if s.plain != "" {
		p.emit(Term{s.plain, s.formOf(s.plain), at, true})
	}
}

// formOf returns the form that leads to one of the terms of a word.
func (s *stemmed) formOf(term string) string {
	if s.form == term {
		return ""
	}
	return s.form
}

func (p *passage) literal(w string, at int, extra bool) {
	p.emit(Term{Text: fold(lowerCase(w)), Position: at, Extra: extra})
}

func (p *passage) run(run string, at int, c class) { runTerms(run, at, c, p.segmenter, p.emit) }
