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
	var p pieces
	next = cut(normalize(text), at, &p)
	return a.ask(p.list, stemmings), next
}

// AskPrefix is Ask for a text of which the last word is only a beginning, so that its stem is not known, nor
// whether it is a stop word. Of an identifier the whole and the last part are beginnings.
func (a *Analyzer) AskPrefix(text string, stemmings []string, at int) (asked []Asked, next int) {
	var p pieces
	next = cut(normalize(text), at, &p)
	var known []piece
	for i, one := range p.list {
		if p.unfinished(i) {
			asked = append(asked, Asked{Text: fold(lowerCase(one.text)), Position: one.at, Prefix: true})
		} else {
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
	var asked []Asked
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

// unfinished reports whether the i-th piece is a beginning if the last token is: of a run, if it is shorter than its
// n-grams are; of an identifier, the last part, the CamelCase word that the part ends, and the whole.
func (p *pieces) unfinished(i int) bool {
	one, last := p.list[i], len(p.list)-1
	if one.token != p.list[last].token {
		return false
	}
	switch one.kind {
	case runPiece:
		n := cjkGram
		if one.class == unspaced {
			n = unspacedGram
		}
		return utf8.RuneCountInString(one.text) < n
	case wordPiece:
		if i == last {
			return true
		}
		for _, after := range p.list[i+1:] {
			if !after.extra {
				return false
			}
		}
		return !one.extra
	}
	return true
}
