package tokenize

import (
	"strings"
	"unicode"
)

// addedToken is a token that is found by its text before the model sees anything, such as [SEP] and <mask>.
type addedToken struct {
	text                string
	id                  int32
	eatsLeft, eatsRight bool // white space beside it belongs to it
	normalized          bool // it is found in normalized text, in place of the raw
}

// added finds tokens in a text. The zero added finds none.
type added struct {
	tokens []addedToken
	first  [256]bool // bytes that tokens begin with
}

func (a *added) add(t addedToken) {
	if t.text == "" {
		return
	}
	a.tokens = append(a.tokens, t)
	a.first[t.text[0]] = true
}

func (a *added) empty() bool { return len(a.tokens) == 0 }

// next finds the first token in text from the byte at on, the longest where several begin there. Without one it
// returns an empty span at the end of text.
func (a *added) next(text string, at int) (found span, id int32) {
	if a.empty() {
		return span{len(text), len(text)}, 0
	}
	for i := at; i < len(text); i++ {
		if !a.first[text[i]] {
			continue
		}
		if t := a.longest(text[i:]); t != nil {
			return t.grow(text, at, i), t.id
		}
	}
	return span{len(text), len(text)}, 0
}

func (a *added) longest(text string) (found *addedToken) {
	for i := range a.tokens {
		t := &a.tokens[i]
		if strings.HasPrefix(text, t.text) && (found == nil || len(t.text) > len(found.text)) {
			found = t
		}
	}
	return found
}

// grow returns the bytes of the token that stands at i, with the white space that belongs to it, but none before from.
func (t *addedToken) grow(text string, from, i int) span {
	s := span{i, i + len(t.text)}
	if t.eatsLeft {
		s.start = from + len(strings.TrimRightFunc(text[from:i], unicode.IsSpace))
	}
	if t.eatsRight {
		s.end = len(text) - len(strings.TrimLeftFunc(text[s.end:], unicode.IsSpace))
	}
	return s
}
