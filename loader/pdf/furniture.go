package pdf

import (
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
	page  int
	frame int
	row   row
	text  string // letters only as they are, figures as "#"
	top   bool
}

// dropFurniture takes the lines out of pages that repeat on others at the same height, and page numbers that count
// the pages. It returns each kind of line once, as it stood first. What stands once stays.
func dropFurniture(pages [][][]word) (dropped []string) {
	edges := edgesOf(pages)
	out := map[int]map[int]bool{} // page → drawing order of its words
	seen := map[string]bool{}
	for _, e := range edges {
		if !repeats(e, edges, len(pages)) && !countsPages(e, edges, len(pages)) {
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

var figures = regexp.MustCompile(`\d+`)

func edgesOf(pages [][][]word) []edge {
	var out []edge
	for p, frames := range pages {
		for f, words := range frames {
			rows := rowsOf(words)
			for i, r := range rows {
				top := i < edgeRows
				if !top && i < len(rows)-edgeRows {
					continue
				}
				text := figures.ReplaceAllString(strings.ToLower(r.text(&vocabulary{})), "#")
				out = append(out, edge{page: p, frame: f, row: r, text: text, top: top})
			}
		}
	}
	return out
}

// repeats reports whether the line stands on enough pages at one height. A line of figures alone may be a table's.
func repeats(e edge, edges []edge, pages int) bool {
	letters, all := 0, 0
	for _, r := range e.text {
		if !unicode.IsSpace(r) {
			all++
		}
		if unicode.IsLetter(r) {
			letters++
		}
	}
	if letters*2 < all {
		return false
	}
	on := map[int]bool{}
	for _, o := range edges {
		if o.text == e.text && max(o.row.box.centerY()-e.row.box.centerY(), e.row.box.centerY()-o.row.box.centerY()) <= sameHeight {
			on[o.page] = true
		}
	}
	return len(on) >= max(leastRepeats, min(enoughRepeats, int(repeatShare*float64(pages)+0.5)))
}

// pageNumber is a number that stands alone, perhaps between dashes.
var pageNumber = regexp.MustCompile(`^[-–—\s]*(\d{1,5})[-–—\s]*$`)

// countsPages reports whether the line is a number that grows with the pages: on most of them, or on three at least.
func countsPages(e edge, edges []edge, pages int) bool {
	n, ok := numberOf(e)
	if !ok {
		return false
	}
	on := map[int]bool{}
	for _, o := range edges {
		if m, ok := numberOf(o); ok && o.top == e.top && m-o.page == n-e.page {
			on[o.page] = true
		}
	}
	return len(on) >= 2 && (len(on) >= leastRepeats || len(on)*2 > pages)
}

func numberOf(e edge) (int, bool) {
	m := pageNumber.FindStringSubmatch(e.row.text(&vocabulary{}))
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	return n, err == nil
}
