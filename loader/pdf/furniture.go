package pdf

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Limits of page furniture: running headers, footers and page numbers.
const (
	edgeRows      = 3   // lines at the top and at the bottom of a page in which it is looked for
	leastRepeats  = 3   // pages on which a line must stand
	enoughRepeats = 6   // pages that are enough, however long the file is
	repeatShare   = 0.3 // part of the pages otherwise: chapters and even pages have headers of their own
	sameHeight    = 6.0 // points by which the place may differ from page to page
)

// edge is a line at the top or bottom of a page.
type edge struct {
	page int
	row  row
	text string // in lower case, figures as "#"
	top  bool

	number  int // where the line is a number alone
	counted bool
}

// edges are the lines by what may repeat.
type edges struct {
	all    []edge
	byText map[string][]edge
	offset map[offset]map[int]bool // pages on which a number stands that is so much larger than the page's
}

type offset struct {
	top bool
	n   int
}

// dropFurniture takes the lines out of pages that repeat on others at the same height, and page numbers that count
// the pages. It returns each kind of line once, as it stood first. What stands once stays.
func dropFurniture(pages [][][]word) (dropped []string) {
	es := edgesOf(pages)
	out := map[int]map[int]bool{} // page → drawing order of its words
	seen := map[string]bool{}
	for _, e := range es.all {
		if !es.repeats(e, len(pages)) && !es.countsPages(e, len(pages)) {
			continue
		}
		if out[e.page] == nil {
			out[e.page] = map[int]bool{}
		}
		for _, w := range e.row.words {
			out[e.page][w.seq] = true
		}
		if !seen[e.text] && strings.ContainsFunc(e.text, unicode.IsLetter) {
			seen[e.text] = true
			dropped = append(dropped, e.row.text(&vocabulary{}))
		}
	}
	for p, words := range out {
		for f := range pages[p] {
			pages[p][f] = slices.DeleteFunc(pages[p][f], func(w word) bool { return words[w.seq] })
		}
	}
	return dropped
}

var (
	figures = regexp.MustCompile(`\d+`)
	// pageNumber is a number that stands alone, perhaps between dashes.
	pageNumber = regexp.MustCompile(`^[-–—\s]*(\d{1,5})[-–—\s]*$`)
)

func edgesOf(pages [][][]word) edges {
	es := edges{byText: map[string][]edge{}, offset: map[offset]map[int]bool{}}
	for p, frames := range pages {
		for _, words := range frames {
			rows := rowsOf(words)
			for i, r := range rows {
				if i < edgeRows || i >= len(rows)-edgeRows {
					es.add(newEdge(p, r, i < edgeRows))
				}
			}
		}
	}
	return es
}

func newEdge(page int, r row, top bool) edge {
	text := r.text(&vocabulary{})
	e := edge{page: page, row: r, top: top, text: figures.ReplaceAllString(strings.ToLower(text), "#")}
	if m := pageNumber.FindStringSubmatch(text); m != nil {
		e.number, _ = strconv.Atoi(m[1])
		e.counted = true
	}
	return e
}

func (es *edges) add(e edge) {
	es.all = append(es.all, e)
	es.byText[e.text] = append(es.byText[e.text], e)
	if e.counted {
		o := offset{e.top, e.number - e.page}
		if es.offset[o] == nil {
			es.offset[o] = map[int]bool{}
		}
		es.offset[o][e.page] = true
	}
}

// repeats reports whether the line stands on enough pages at one height. A line of figures alone may be a table's.
func (es *edges) repeats(e edge, pages int) bool {
	letters, all := letterCount([]word{{text: e.text}})
	if letters*2 < all {
		return false
	}
	need := max(leastRepeats, min(enoughRepeats, int(repeatShare*float64(pages)+0.5)))
	on := map[int]bool{}
	for _, o := range es.byText[e.text] {
		if math.Abs(o.row.box.centerY()-e.row.box.centerY()) <= sameHeight {
			on[o.page] = true
		}
		if len(on) >= need {
			return true
		}
	}
	return false
}

// countsPages reports whether the line is a number that grows with the pages: on most of them, or on three at least.
func (es *edges) countsPages(e edge, pages int) bool {
	if !e.counted {
		return false
	}
	n := len(es.offset[offset{e.top, e.number - e.page}])
	return n >= leastRepeats || n >= 2 && n*2 > pages
}
