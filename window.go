package rag

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// pairTokens are the special tokens around a pair: [CLS] query [SEP] text [SEP]; RoBERTa-like models put one more.
	pairTokens = 4
	// minWindow is the room that a text gets at least, however long the query.
	minWindow = 32
	// stemRunes is how much of a word is compared: enough to tell words apart, and to see through most endings.
	stemRunes = 5
	// unspaced is the first of the scripts written without blanks (CJK): each character is a word.
	unspaced = 0x2E80
)

// rerankWindow returns the text, or the part of it that says most about the query's terms if the reranker cannot read
// it whole.
func (s *search) rerankWindow(model RerankModel, text string) string {
	if model.MaxTokens == 0 {
		return text
	}
	counter, ok := s.reranker.(TokenCounter)
	if !ok {
		counter = s.tokens
	}
	room := max(minWindow, model.MaxTokens-pairTokens-counter.CountTokens(s.text))
	return bestWindow(text, s.text, room, counter)
}

// bestWindow returns the text if it has at most room tokens, else the window of that size around the densest
// mention of the query's terms; the beginning where no term occurs.
func bestWindow(text, query string, room int, counter TokenCounter) string {
	if len(text) <= room { // a token is at least one byte
		return text
	}
	window, tokens := text, counter.CountTokens(text)
	mentions := findMentions(text, query)
	for size := len(text); tokens > room && size > 0; {
		// In bytes, by the density of what was counted last. A denser part of the text may need a second try.
		size = min(size-1, len(window)*room/tokens)
		window = cutWindow(text, mentions, size)
		tokens = counter.CountTokens(window)
	}
	return window
}

// mention is an occurrence of a query term.
type mention struct {
	start, end int // bytes
	term       string
}

// findMentions lists where the query's terms occur, in order.
func findMentions(text, query string) []mention {
	asked := map[string]bool{}
	for m := range eachWord(query) {
		asked[m.term] = true
	}
	var found []mention
	for m := range eachWord(text) {
		if asked[m.term] {
			found = append(found, m)
		}
	}
	return found
}

// eachWord yields the words of a text, folded to what is compared.
func eachWord(text string) func(yield func(mention) bool) {
	return func(yield func(mention) bool) {
		for at := 0; at < len(text); {
			r, size := utf8.DecodeRuneInString(text[at:])
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				at += size
				continue
			}
			end := at + size
			for r < unspaced && end < len(text) {
				next, size := utf8.DecodeRuneInString(text[end:])
				if next >= unspaced || !unicode.IsLetter(next) && !unicode.IsDigit(next) && !unicode.IsMark(next) {
					break
				}
				end += size
			}
			if !yield(mention{at, end, stem(text[at:end])}) {
				return
			}
			at = end
		}
	}
}

// stem is the beginning of a word in lower case.
func stem(word string) string {
	n := 0
	for at := range word {
		if n == stemRunes {
			word = word[:at]
			break
		}
		n++
	}
	return strings.ToLower(word)
}

// cutWindow returns about size bytes around the mentions that weigh most together, of equal ones the closest. A
// term that occurs often in the text tells its parts apart less: each weighs 1/occurrences, and counts once.
func cutWindow(text string, mentions []mention, size int) string {
	occurs := map[string]int{}
	for _, m := range mentions {
		occurs[m.term]++
	}
	inside := map[string]int{}
	from, to, best, weight, right := 0, 0, 0.0, 0.0, 0
	for left := range mentions {
		for ; right < len(mentions) && (right == left || mentions[right].end-mentions[left].start <= size); right++ {
			if t := mentions[right].term; inside[t] == 0 {
				weight += 1 / float64(occurs[t])
				inside[t]++
			} else {
				inside[t]++
			}
		}
		start, end := mentions[left].start, mentions[right-1].end
		const equal = 1e-9 // sums of the same parts in another order differ in the last bits
		if weight > best+equal || weight > best-equal && end-start < to-from {
			best, from, to = weight, start, end
		}
		if t := mentions[left].term; inside[t] > 1 {
			inside[t]--
		} else {
			weight -= 1 / float64(occurs[t])
			delete(inside, t)
		}
	}
	start := max(0, min(from-(size-(to-from))/2, len(text)-size))
	return snap(text, start, min(len(text), start+size), from, to)
}

// snap moves the ends of a window inwards to the nearest blanks, but not into [from, to), and not far: a script
// without blanks is cut between characters.
func snap(text string, start, end, from, to int) string {
	const far = 40 // bytes: longer than most words
	if start > 0 {
		stop := max(start, min(start+far, from))
		if i := strings.IndexAny(text[start:stop], " \n\t"); i >= 0 {
			start += i + 1
		}
		for start < end && !utf8.RuneStart(text[start]) {
			start++
		}
	}
	if end < len(text) {
		stop := min(end, max(end-far, to, start))
		if i := strings.LastIndexAny(text[stop:end], " \n\t"); i >= 0 {
			end = stop + i
		}
		for end > start && !utf8.RuneStart(text[end]) {
			end--
		}
	}
	return text[start:end]
}
