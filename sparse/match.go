package sparse

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/analyze"
	"github.com/seed-d8745b77/rag/internal/bm25"
)

// ask makes clauses and phrases of a query's text. They are the asking's, which the caller gives back when it is done.
func (x *BM25) ask(index *bm25.Index, q rag.SparseQuery) *asking {
	stemmings := index.Stemmings()
	a := askings.Get().(*asking)
	a.index, a.analyzer, a.match, a.stemmings = index, x.analyzer, q.Match, stemmings[:min(len(stemmings), maxQueryStemmings)]
	for _, s := range sections(q.Text, q.Match.Phrase) {
		a.section(s)
	}
	return a
}

// giveBack empties the asking for the next query, which saves it most of its memory: a long question has dozens of clauses.
func (a *asking) giveBack() {
	clear(a.place)
	clear(a.clauses)
	clear(a.words)
	askings.Put(&asking{clauses: a.clauses[:0], words: a.words[:0], place: a.place})
}

var askings = sync.Pool{New: func() any { return &asking{place: map[string]int{}} }}

// asking collects what is asked for.
type asking struct {
	index     *bm25.Index
	analyzer  *analyze.Analyzer
	match     rag.TextMatch
	stemmings []string
	clauses   []bm25.Clause
	words     []string       // what the clauses of one term each point into
	place     map[string]int // of clauses, by what they were made from
	phrases   []bm25.Phrase
}

// section adds a stretch of the query; if it is in quotes, its words must stand together too.
func (a *asking) section(s section) {
	var phrase bm25.Phrase
	next := 0
	for _, w := range beginnings(s.text, a.match.Prefix) {
		var asked []analyze.Asked
		if w.unfinished {
			asked, next = a.analyzer.AskPrefix(w.text, a.stemmings, next)
		} else {
			asked, next = a.analyzer.Ask(w.text, a.stemmings, next)
		}
		for i, t := range asked {
			terms := a.term(t)
			for s.quoted && t.Position >= len(phrase) {
				phrase = append(phrase, nil)
			}
			if s.quoted {
				phrase[t.Position] = append(phrase[t.Position], terms...)
			} else if i == 0 || asked[i-1].Position != t.Position || asked[i-1].Form != t.Form {
				a.similar(t) // once for the stems of a word
			}
		}
	}
	if phrase != nil {
		a.phrases = append(a.phrases, phrase)
	}
}

// term adds the clause of a term, and returns the index's terms for it.
func (a *asking) term(t analyze.Asked) []string {
	if !t.Prefix {
		a.words = append(a.words, t.Text)
		word := a.words[len(a.words)-1 : len(a.words) : len(a.words)]
		a.add(t.Text, word, 1)
		return word
	}
	terms := a.index.Prefixed(t.Text)
	a.add(t.Text+"*", terms, 1)
	if len(terms) == 0 {
		return []string{t.Text} // a place that nothing fills, rather than one that anything does
	}
	return terms
}

// add adds a clause, or to its weight if there is one like it.
func (a *asking) add(like string, terms []string, weight float64) {
	i, known := a.place[like]
	if !known {
		i = len(a.clauses)
		a.place[like] = i
		a.clauses = append(a.clauses, bm25.Clause{Terms: terms})
	}
	a.clauses[i].Weight += weight
}

// What a word counts that is one, two edits from the one asked for, and how many such words are looked for: the
// nearest and most frequent ones, which are those that a typing error can be about.
var editWeights = [rag.MaxFuzzy + 1]float64{1, 0.5, 0.25}

const maxSimilar = 50

// Lengths in letters from which a word may differ by one and by two edits.
const (
	oneEditFrom  = 3
	twoEditsFrom = 6
)

// similar adds the words that are like one asked for. Words with digits are names: another digit is another thing.
func (a *asking) similar(t analyze.Asked) {
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
	for _, s := range a.index.Similar(t.Form, edits, maxSimilar) {
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

// section is a stretch of a query, in or out of quotes.
type section struct {
	text   string
	quoted bool
}

// quotes are the marks that open a quotation, each with the one that closes it.
var quotes = map[rune]rune{'"': '"', '“': '”', '„': '“', '«': '»', '「': '」', '『': '』', '＂': '＂'}

// sections cuts a query at its quotes. A quote that is not closed is a sign like others.
func sections(text string, phrases bool) []section {
	var list []section
	for phrases {
		open := strings.IndexFunc(text, func(r rune) bool { return quotes[r] != 0 })
		if open < 0 {
			break
		}
		r, size := utf8.DecodeRuneInString(text[open:])
		inside := text[open+size:]
		end := strings.IndexRune(inside, quotes[r])
		if end < 0 {
			break
		}
		list = append(list, section{text[:open], false}, section{inside[:end], true})
		text = inside[end+utf8.RuneLen(quotes[r]):]
	}
	return append(list, section{text, false})
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
