// Package terms makes of passages and questions what BM25 keeps and looks up, so that every index that ranks by it ranks alike:
//
//	k := terms.Maker{Analyzer: analyze.New(nil)}
//	stemming, tokens, length := k.Passage(terms.Passage{Text: "Leave is 25 days a year.", Language: "en"})
//	asked := k.Ask(terms.Vocabulary{Stemmings: []string{stemming}}, "annual leave", terms.Match{})
//	defer asked.GiveBack()
package terms

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/seed-d8745b77/rag/internal/analyze"
	"github.com/seed-d8745b77/rag/internal/bm25"
	"github.com/seed-d8745b77/rag/internal/lang"
)

// Weights are stored as whole numbers of steps.
const (
	stepsPerUnit = 4
	maxWeight    = 16
)

// fieldGap keeps a phrase from reaching from one field into the next.
const fieldGap = 100

// Fields says how often a word of a title or of a heading counts, in steps of which a word of the text has as many as Unit
// says; the zero value looks at the text alone.
type Fields struct{ title, headings uint32 }

// NewFields takes weights in units of a word of the text, in steps of a quarter, up to 16; 0: the field is not looked at.
func NewFields(title, headings float64) (Fields, error) {
	steps := func(name string, weight float64) (uint32, error) {
		n := math.Round(weight * stepsPerUnit)
		if n != weight*stepsPerUnit || weight < 0 || weight > maxWeight {
			return 0, fmt.Errorf("fields.%s is %v: give a number from 0 to %d in steps of %v", name, weight, maxWeight, 1.0/stepsPerUnit)
		}
		return uint32(n), nil
	}
	t, err := steps("title", title)
	if err != nil {
		return Fields{}, err
	}
	h, err := steps("headings", headings)
	return Fields{t, h}, err
}

// Unit is the weight of a word of the text: a step if no other field is looked at. The K1 of BM25 grows with it.
func (f Fields) Unit() float64 {
	if f == (Fields{}) {
		return 1
	}
	return stepsPerUnit
}

// Fingerprint is "" for the text alone, "/title=2,headings=1.5".
func (f Fields) Fingerprint() string {
	if f == (Fields{}) {
		return ""
	}
	number := func(steps uint32) string { return strconv.FormatFloat(float64(steps)/stepsPerUnit, 'g', -1, 64) }
	return "/title=" + number(f.title) + ",headings=" + number(f.headings)
}

// weighted is a field of a passage.
type weighted struct {
	text   string
	weight uint32
}

// of returns the fields of a passage that count.
func (f Fields) of(p Passage) []weighted {
	list := []weighted{{p.Text, uint32(f.Unit())}}
	if f.title > 0 && p.Title != "" {
		list = append(list, weighted{p.Title, f.title})
	}
	if f.headings > 0 {
		for heading := range strings.SplitSeq(p.Headings, "\n") {
			list = append(list, weighted{heading, f.headings})
		}
	}
	return list
}

// Passage is a text with what is weighed apart from it; the fields are those of rag.TextRecord.
type Passage struct {
	Text     string
	Title    string
	Headings string // a line each
	Language string // BCP 47; "" if unknown
}

// Maker makes terms. It is safe for concurrent use.
type Maker struct {
	Analyzer *analyze.Analyzer
	Fields   Fields
}

// Fingerprint names the analyzer and the fields: an index that was made by others gives wrong answers.
func (k *Maker) Fingerprint() string { return k.Analyzer.Fingerprint() + k.Fields.Fingerprint() }

// Stemming says how the words of a text are stemmed: in its language, or in the one it seems to be in.
func Stemming(text, language string) string {
	if language == "" {
		language = lang.Detect(text)
	}
	return analyze.Stemming(language)
}

// Passage returns what is kept of a passage; length is that which BM25 compares with the average.
func (k *Maker) Passage(p Passage) (stemming string, tokens []bm25.Token, length uint32) {
	stemming = Stemming(p.Text, p.Language)
	next := uint32(0) // position of the first word of a field
	for _, f := range k.Fields.of(p) {
		first := next
		k.Analyzer.Passage(f.text, stemming, func(t analyze.Term) {
			at := first + uint32(t.Position)
			tokens = append(tokens, bm25.Token{Term: t.Text, Form: t.Form, Position: at, Weight: f.weight})
			if !t.Extra {
				length += f.weight
			}
			next = max(next, at+fieldGap)
		})
	}
	return stemming, tokens, length
}

// Words groups the terms of a question by the word they stand for: the stems that a word has in several languages are one
// clause. wordOf has the number of the clause by term.
func (k *Maker) Words(v Vocabulary, question string) (words []bm25.Clause, wordOf map[string]int) {
	asked, _ := k.Analyzer.Ask(question, v.Stemmings[:min(len(v.Stemmings), maxStemmings)], 0)
	wordOf = map[string]int{}
	last := -1 // position of the last word
	for _, t := range asked {
		if _, known := wordOf[t.Text]; known {
			continue
		}
		if t.Position != last {
			words = append(words, bm25.Clause{Weight: 1})
			last = t.Position
		}
		w := len(words) - 1
		wordOf[t.Text] = w
		words[w].Terms = append(words[w].Terms, t.Text)
	}
	return words, wordOf
}

// Cover reports which of the words a text has.
func (k *Maker) Cover(words []bm25.Clause, wordOf map[string]int, text, language string) []bool {
	found := make([]bool, len(words))
	k.Analyzer.Passage(text, Stemming(text, language), func(t analyze.Term) {
		if w, ok := wordOf[t.Text]; ok {
			found[w] = true
		}
	})
	return found
}
