package analyze

import "unicode/utf8"

// Asked is one term of a query at one place.
type Asked struct {
	Text     string // as in [Term]; of a Prefix, the beginning of a term or of a word
	Form     string // the word, lower case and without accents; "" of an identifier, a number and a part of a run
	Position int    // as in [Term]: what stands at one place are alternatives
	Prefix   bool   // Text is only a beginning
}

// Query returns the terms of a query, each once per time it was asked for, in the order of first use. Its words are
// stemmed in each of the ways that the index holds (values of [Stemming]); none means English.
func (a *Analyzer) Query(text string, stemmings []string) []string {
	asked, _ := a.Ask(text, stemmings, 0)
	terms := make([]string, len(asked))
	for i, t := range asked {
		terms[i] = t.Text
	}
	return terms
}

// Ask is Query with the places of the terms: the first word has the position at, and next is the one behind the last.
func (a *Analyzer) Ask(text string, stemmings []string, at int) (asked []Asked, next int) {
	p := pieces{list: make([]piece, 0, usualPieces)}
	next = cut(normalize(text), at, &p)
	return a.ask(p.list, stemmings), next
}

// usualPieces is the number of pieces that most questions do not go beyond.
const usualPieces = 24

// AskPrefix is Ask for a text of which the last word is only a beginning, so that its stem is not known, nor whether it
// is a stop word. Of an identifier it is the whole that is a beginning; its last part alone would begin too much.
func (a *Analyzer) AskPrefix(text string, stemmings []string, at int) (asked []Asked, next int) {
	var p pieces
	next = cut(normalize(text), at, &p)
	first := len(p.list) // of the last token
	for first > 0 && p.list[first-1].token == p.token {
		first--
	}
	known, whole := p.list[:first:first], false
	for i, one := range p.list[first:] {
		last := first+i == len(p.list)-1
		switch {
		case one.kind == literalPiece, p.camel(first + i), last && !whole && !one.complete():
			whole = true
			asked = append(asked, Asked{Text: fold(lowerCase(one.text)), Position: one.at, Prefix: true})
		case !last || one.kind == runPiece:
			known = append(known, one)
		}
	}
	return append(a.ask(known, stemmings), asked...), next
}

// ask makes terms of pieces.
func (a *Analyzer) ask(list []piece, stemmings []string) []Asked {
	if len(stemmings) == 0 {
		stemmings = []string{englishTag}
	}
	st := a.stems.Get().(*stemmer)
	defer a.stems.Put(st)
	asked := make([]Asked, 0, expected(list, len(stemmings)))
	for _, p := range list {
		switch p.kind {
		case wordPiece:
			asked = askWord(asked, st, p, stemmings)
		case literalPiece:
			asked = append(asked, Asked{Text: fold(lowerCase(p.text)), Position: p.at})
		case runPiece:
			runTerms(p.text, p.at, p.class, a.segmenter, func(t Term) {
				asked = append(asked, Asked{Text: t.Text, Position: t.Position})
			})
		}
	}
	return asked
}

// expected returns how many terms pieces make: a word one for each way of stemming at most, a run of Chinese about two
// for each three bytes. It spares growing.
func expected(list []piece, stemmings int) (n int) {
	for _, p := range list {
		if p.kind == runPiece {
			n += len(p.text) * 2 / 3
		} else {
			n += stemmings
		}
	}
	return n
}

// askWord adds the stems of a word, each once.
func askWord(asked []Asked, st *stemmer, p piece, stemmings []string) []Asked {
	lower := lowerCase(p.text)
	if isStopWord(lower) {
		return asked
	}
	first := len(asked)
next:
	for _, stemming := range stemmings {
		s := st.stem(lower, stemming)
		for _, have := range asked[first:] {
			if have.Text == s.term {
				continue next
			}
		}
		asked = append(asked, Asked{Text: s.term, Form: s.form, Position: p.at})
	}
	return asked
}

// Kinds of pieces: see the methods of sink.
const (
	wordPiece = iota
	literalPiece
	runPiece
)

type piece struct {
	kind  int
	text  string
	at    int
	extra bool
	class class // of a run
	token int   // number of the token it came from
}

// pieces is the sink that keeps all.
type pieces struct {
	list  []piece
	token int
}

func (p *pieces) start() { p.token++ }

func (p *pieces) word(w string, at int, extra bool) {
	p.list = append(p.list, piece{kind: wordPiece, text: w, at: at, extra: extra, token: p.token})
}

func (p *pieces) literal(w string, at int, extra bool) {
	p.list = append(p.list, piece{kind: literalPiece, text: w, at: at, extra: extra, token: p.token})
}

func (p *pieces) run(run string, at int, c class) {
	p.list = append(p.list, piece{kind: runPiece, text: run, at: at, class: c, token: p.token})
}

// camel reports whether the i-th piece is a CamelCase word that the last pieces are parts of.
func (p *pieces) camel(i int) bool {
	if p.list[i].kind != wordPiece || p.list[i].extra || i == len(p.list)-1 {
		return false
	}
	for _, after := range p.list[i+1:] {
		if !after.extra {
			return false
		}
	}
	return true
}

// complete reports whether the piece is a run that gives n-grams, which need no more characters behind them.
func (p piece) complete() bool {
	n := cjkGram
	if p.class == unspaced {
		n = unspacedGram
	}
	return p.kind == runPiece && utf8.RuneCountInString(p.text) >= n
}
