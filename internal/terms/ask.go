package terms

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/seed-d8745b77/rag/internal/analyze"
	"github.com/seed-d8745b77/rag/internal/bm25"
	"github.com/seed-d8745b77/rag/internal/quote"
)

// Match says how the words of a question are looked for; the fields are those of rag.TextMatch.
type Match struct {
	Phrase bool
	Prefix bool
	Fuzzy  int
}

// Vocabulary is what an index has words of.
type Vocabulary struct {
	Stemmings []string                                           // of its passages, the most frequent first
	Prefixed  func(prefix string) []string                       // terms that begin so, and those of words that do; nil if no Match asks for Prefix
	Similar   func(form string, edits, limit int) []bm25.Similar // terms of words that are like one; nil if no Match asks for Fuzzy
}

// maxStemmings is the number of languages of an index in which a question's words are stemmed, the most frequent ones: each
// adds terms to every question.
const maxStemmings = 3

// Ask makes clauses and phrases of a question. They are the caller's until it calls GiveBack.
func (k *Maker) Ask(v Vocabulary, text string, m Match) *Asked {
	a := askings.Get().(*Asked)
	v.Stemmings = v.Stemmings[:min(len(v.Stemmings), maxStemmings)]
	a.vocabulary, a.analyzer, a.match = v, k.Analyzer, m
	sections := []quote.Section{{Text: text}}
	if m.Phrase {
		sections = quote.Sections(text)
	}
	for _, s := range sections {
		a.section(s)
	}
	return a
}

// GiveBack empties it for the next question, which saves that most of its memory: a long one has dozens of clauses.
func (a *Asked) GiveBack() {
	clear(a.place)
	clear(a.Clauses)
	clear(a.words)
	askings.Put(&Asked{Clauses: a.Clauses[:0], words: a.words[:0], place: a.place})
}

var askings = sync.Pool{New: func() any { return &Asked{place: map[string]int{}} }}

// Asked is what a question asks for.
type Asked struct {
	Clauses []bm25.Clause // what passages are ranked by
	Phrases []bm25.Phrase // what each must have

	vocabulary Vocabulary
	analyzer   *analyze.Analyzer
	match      Match
	words      []string       // what the clauses of one term each point into
	place      map[string]int // of clauses, by what they were made from
}

// section adds a stretch of the query; if it is in quotes, its words must stand together too.
func (a *Asked) section(s quote.Section) {
	var phrase bm25.Phrase
	next := 0
	for _, w := range beginnings(s.Text, a.match.Prefix) {
		var asked []analyze.Asked
		if w.unfinished {
			asked, next = a.analyzer.AskPrefix(w.text, a.vocabulary.Stemmings, next)
		} else {
			asked, next = a.analyzer.Ask(w.text, a.vocabulary.Stemmings, next)
		}
		for i, t := range asked {
			terms := a.term(t)
			for s.Quoted && t.Position >= len(phrase) {
				phrase = append(phrase, nil)
			}
			if s.Quoted {
				phrase[t.Position] = append(phrase[t.Position], terms...)
			} else if i == 0 || asked[i-1].Position != t.Position || asked[i-1].Form != t.Form {
				a.similar(t) // once for the stems of a word
			}
		}
	}
	if phrase != nil {
		a.Phrases = append(a.Phrases, phrase)
	}
}

// term adds the clause of a term, and returns the index's terms for it.
func (a *Asked) term(t analyze.Asked) []string {
	if !t.Prefix {
		a.words = append(a.words, t.Text)
		word := a.words[len(a.words)-1 : len(a.words) : len(a.words)]
		a.add(t.Text, word, 1)
		return word
	}
	terms := a.vocabulary.Prefixed(t.Text)
	a.add(t.Text+"*", terms, 1)
	if len(terms) == 0 {
		return []string{t.Text} // a place that nothing fills, rather than one that anything does
	}
	return terms
}

// add adds a clause, or to its weight if there is one like it.
func (a *Asked) add(like string, terms []string, weight float64) {
	i, known := a.place[like]
	if !known {
		i = len(a.Clauses)
		a.place[like] = i
		a.Clauses = append(a.Clauses, bm25.Clause{Terms: terms})
	}
	a.Clauses[i].Weight += weight
}

// What a word counts that is one, two edits from the one asked for, and how many such words are looked for: the
// nearest and most frequent ones, which are those that a typing error can be about.
var editWeights = [...]float64{1, 0.5, 0.25}

const maxSimilar = 50

// Lengths in letters from which a word may differ by one and by two edits.
const (
	oneEditFrom  = 3
	twoEditsFrom = 6
)

// similar adds the words that are like one asked for. Words with digits are names: another digit is another thing.
func (a *Asked) similar(t analyze.Asked) {
	edits, letters := a.match.Fuzzy, utf8.RuneCountInString(t.Form)
	switch {
	case t.Form == "" || letters < oneEditFrom || strings.ContainsAny(t.Form, "0123456789"):
		return
	case letters < twoEditsFrom:
		edits = min(edits, 1)
	}
	if edits == 0 {
		return
	}
	byEdits := make([][]string, edits+1)
	for _, s := range a.vocabulary.Similar(t.Form, edits, maxSimilar) {
		if _, asked := a.place[s.Term]; !asked {
			byEdits[s.Edits] = append(byEdits[s.Edits], s.Term)
		}
	}
	for n, terms := range byEdits {
		if len(terms) > 0 {
			a.add(t.Form+"~"+string(rune('0'+n)), terms, editWeights[n])
		}
	}
}

// words is a part of a section that ends in a beginning of a word, or is whole.
type words struct {
	text       string
	unfinished bool
}

// stars are the signs behind a beginning.
const stars = "*＊"

// beginnings cuts a section behind the words that end in a star.
func beginnings(text string, prefixes bool) []words {
	if !prefixes || !strings.ContainsAny(text, stars) {
		return []words{{text, false}}
	}
	var list []words
	var whole []string
	for field := range strings.FieldsSeq(text) {
		word := strings.TrimRight(field, ".,;:!?)")
		if trimmed := strings.TrimRight(word, stars); trimmed != word && trimmed != "" {
			list = append(list, words{strings.Join(whole, " "), false}, words{trimmed, true})
			whole = nil
			continue
		}
		whole = append(whole, field)
	}
	return append(list, words{strings.Join(whole, " "), false})
}
