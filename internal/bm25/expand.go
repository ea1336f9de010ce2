package bm25

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Prefixed returns the terms that begin so, and those of words that do, sorted. It needs the details of all segments.
func (x *Index) Prefixed(prefix string) []string {
	terms := map[string]bool{}
	for _, p := range x.Parts() {
		s := p.seg
		for i := s.lowest(prefix); i < s.terms && strings.HasPrefix(s.term(i), prefix); i++ {
			terms[s.term(i)] = true
		}
		d := s.Detail()
		for i := d.lowestForm(prefix); i < d.forms; i++ {
			form, of := d.form(i)
			if !strings.HasPrefix(form, prefix) {
				break
			}
			d.eachTerm(of, func(term int) { terms[s.term(term)] = true })
		}
	}
	return slices.Sorted(maps.Keys(terms))
}

// Similar is a term of which a word is few edits away from the one asked for.
type Similar struct {
	Term  string
	Edits int // runes put in, taken out or changed: 1 or more
}

// Similar returns at most limit terms of words that are 1 to edits edits (Levenshtein) from word: the nearest, of
// equals those that more documents have, then by term. Terms that word itself gives are left to the caller. It needs
// the details of all segments.
func (x *Index) Similar(word string, edits, limit int) []Similar {
	nearest := map[string]int{}
	counts := map[string]int{}
	for _, p := range x.Parts() {
		s, d := p.seg, p.seg.Detail()
		add := func(term, distance int) {
			t := s.term(term)
			if before, known := nearest[t]; !known || distance < before {
				nearest[t] = distance
			}
		}
		walk := newNeighbours(word, edits)
		walk.over(s.terms, s.term, add)
		walk.over(d.forms, func(i int) string { f, _ := d.form(i); return f }, func(form, distance int) {
			_, of := d.form(form)
			d.eachTerm(of, func(term int) { add(term, distance) })
		})
	}
	list := make([]Similar, 0, len(nearest))
	var b block
	for t, n := range nearest {
		for _, p := range x.parts {
			if i, ok := p.seg.find(t); ok {
				counts[t] += p.liveCount(p.seg.postings(i), &b)
			}
		}
		if n > 0 && counts[t] > 0 { // else only documents that have left had it
			list = append(list, Similar{t, n})
		}
	}
	slices.SortFunc(list, func(a, b Similar) int {
		return cmp.Or(cmp.Compare(a.Edits, b.Edits), cmp.Compare(counts[b.Term], counts[a.Term]), cmp.Compare(a.Term, b.Term))
	})
	return list[:min(limit, len(list))]
}

// neighbours finds the words of a sorted list that are near a word. It keeps the table of Wagner and Fischer, one row
// for each rune of the word at hand, and computes anew only the rows behind what the next word shares with it; a
// beginning from which no word can be near any more is passed over with all words that have it.
type neighbours struct {
	word  []rune
	edits int
	runes []rune  // of the word at hand
	rows  [][]int // rows[i][j]: edits from the first i runes at hand to the first j of word
}

func newNeighbours(word string, edits int) *neighbours {
	n := &neighbours{word: []rune(word), edits: edits}
	n.rows = [][]int{make([]int, len(n.word)+1)}
	for j := range n.rows[0] {
		n.rows[0][j] = j
	}
	return n
}

// over calls near with the number and the distance of each word of a sorted list that is near.
func (n *neighbours) over(count int, word func(int) string, near func(i, distance int)) {
	n.runes = n.runes[:0]
	for i := 0; i < count; {
		w := word(i)
		if dead := n.read(w); dead > 0 {
			beginning := w[:dead]
			next := i + 1
			// Galloping: most beginnings are shared by few words, some by thousands.
			for step := 1; next < count && strings.HasPrefix(word(next), beginning); step *= 2 {
				i, next = next, min(next+step, count)
			}
			for low := i + 1; low < next; {
				if mid := (low + next) / 2; strings.HasPrefix(word(mid), beginning) {
					low = mid + 1
				} else {
					next = mid
				}
			}
			i = next
			continue
		}
		if d := n.rows[len(n.runes)][len(n.word)]; d <= n.edits {
			near(i, d)
		}
		i++
	}
}

// read computes the rows of a word. If no word with its first bytes can be near, it returns how many they are.
func (n *neighbours) read(w string) (dead int) {
	shared, at := 0, 0
	for shared < len(n.runes) && at < len(w) {
		r, size := utf8.DecodeRuneInString(w[at:])
		if r != n.runes[shared] {
			break
		}
		shared, at = shared+1, at+size
	}
	n.runes = n.runes[:shared]
	for at < len(w) {
		r, size := utf8.DecodeRuneInString(w[at:])
		at += size
		if !n.push(r) {
			return at
		}
	}
	return 0
}

// push adds the row of one more rune; false: nothing behind it can be near.
func (n *neighbours) push(r rune) bool {
	n.runes = append(n.runes, r)
	i := len(n.runes)
	if i == len(n.rows) {
		n.rows = append(n.rows, make([]int, len(n.word)+1))
	}
	row, above := n.rows[i], n.rows[i-1]
	row[0] = i
	least := i
	for j, w := range n.word {
		change := above[j]
		if w != r {
			change++
		}
		row[j+1] = min(change, above[j+1]+1, row[j]+1)
		least = min(least, row[j+1])
	}
	return least <= n.edits
}
