package pdf

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// row is the words of one line, in reading order.
type row struct {
	words []word
	box   box
	size  float64 // of most characters
	bold  bool    // nearly all characters are bold
}

// Gaps between words, in font sizes.
const (
	cellGap    = 1.0  // a gap this wide parts the cells of a table; justified prose stays below
	numberGap  = 0.45 // the same between numbers, where blanks are narrow and columns close
	touchGap   = 0.08 // words drawn at different times that are nearer belong together
	overlapGap = -0.3 // words that lie on each other more than this do not
	cjkGap     = 0.6  // ideographs nearer than this have no blank between them
)

// boldShare is the part of a line's characters that make it bold: a bold word at its start does not.
const boldShare = 0.9

// rowsOf puts words into lines, top to bottom. Two words share a line if half the height of the lower one is common.
func rowsOf(words []word) []row {
	sorted := slices.Clone(words)
	slices.SortStableFunc(sorted, func(a, b word) int { return cmp.Compare(b.box.centerY(), a.box.centerY()) })
	var rows []row
	var core box // of the line's tallest word, so that a superscript does not widen the line
	for _, w := range sorted {
		n := len(rows)
		if n > 0 && core.overlapY(w.box) >= min(core.height(), w.box.height())/2 {
			rows[n-1].words = append(rows[n-1].words, w)
			if w.box.height() > core.height() {
				core = w.box
			}
			continue
		}
		rows = append(rows, row{words: []word{w}})
		core = w.box
	}
	for i := range rows {
		rows[i].finish()
	}
	return rows
}

// finish puts the words into reading order and measures the line.
func (r *row) finish() {
	slices.SortStableFunc(r.words, func(a, b word) int { return cmp.Or(cmp.Compare(a.box.x0, b.box.x0), cmp.Compare(a.seq, b.seq)) })
	r.words = slices.CompactFunc(r.words, sameInk)
	r.box = r.words[0].box
	sizes := map[float64]int{}
	bold, all := 0, 0
	for _, w := range r.words {
		r.box = r.box.union(w.box)
		sizes[w.size] += len(w.text)
		all += len(w.text)
		if w.bold {
			bold += len(w.text)
		}
	}
	r.size, r.bold = mode(sizes), float64(bold) >= boldShare*float64(all)
	readingOrder(r.words)
}

// readingOrder turns words that stand from left to right into the order in which they are read: in a line of Hebrew or
// Arabic all from right to left but runs of Latin words and figures, in other lines only runs of such words.
func readingOrder(words []word) {
	rtl := mostlyRTL(words)
	if rtl {
		slices.Reverse(words)
		for i := range words {
			words[i].text = stopBehind(words[i].text)
		}
	}
	against := func(w word) bool { // the word runs against its line
		if !strings.ContainsFunc(w.text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			return false
		}
		return isRTL(w.text) != rtl
	}
	for i := 0; i < len(words); {
		j := i
		for j < len(words) && against(words[j]) {
			j++
		}
		slices.Reverse(words[i:j])
		i = j + 1
	}
}

// stopBehind is a number of a line that runs to the left with the stops that stand at its left, and so end it, behind it:
// ".12" is read "12." there.
func stopBehind(s string) string {
	number := strings.TrimLeft(s, ".,:;!?،؛؟")
	if number == s || !unicode.IsDigit(firstRune(number)) || strings.ContainsFunc(number, unicode.IsLetter) {
		return s
	}
	return number + s[:len(s)-len(number)]
}

// sameInk reports words that are drawn twice, a little apart, to look bold or to cast a shadow.
func sameInk(a, b word) bool {
	const apart = 0.2 // font sizes
	return a.text == b.text && math.Abs(a.box.x0-b.box.x0) < apart*a.size && math.Abs(a.box.y0-b.box.y0) < apart*a.size
}

// mode returns the key with the greatest weight, the smallest of several.
func mode(weights map[float64]int) float64 {
	best, weight := 0.0, -1
	for k, n := range weights {
		if n > weight || n == weight && k < best {
			best, weight = k, n
		}
	}
	return best
}

// text is the line as plain text.
func (r *row) text(v *vocabulary) string { return joinWords(r.words, v) }

// joinWords writes neighbouring words of one line with the blanks they had, and marks links where v says so.
func joinWords(words []word, v *vocabulary) string {
	var b strings.Builder
	link := 0
	for i, w := range words {
		to := w.link
		if !v.links {
			to = 0
		}
		if i > 0 {
			prev := words[i-1]
			if to == 0 {
				markLink(&b, link, to)
				link = to
			}
			switch {
			case prev.hyphen && w.seq == prev.seq+1:
				b.WriteString(v.hyphen(prev.text, w.text))
			case !touches(prev, w):
				b.WriteByte(' ')
			}
		}
		markLink(&b, link, to)
		link = to
		b.WriteString(w.text)
	}
	markLink(&b, link, 0)
	return b.String()
}

// touches reports whether no blank stands between two words of a line.
func touches(a, b word) bool {
	gap := b.box.x0 - a.box.x1
	if isCJK(lastRune(a.text)) && isCJK(firstRune(b.text)) {
		return gap < cjkGap*a.size
	}
	return b.seq != a.seq+1 && b.seq != a.seq-1 && gap < touchGap*a.size && gap > overlapGap*a.size
}

var (
	// listMarker is what stands before a list item: a bullet, "1.", "(a)", "iv)".
	listMarker = regexp.MustCompile(`^(?:[•◦▪▫■□●○‣⁃∙·–—*➢➤✓-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]|[（(][\d一二三四五六七八九十]{1,3}[)）]|[\d一二三四五六七八九十]{1,3}、)$`)
	// sectionNumber is what stands before a numbered heading: "2", "2.1", "A.3".
	sectionNumber = regexp.MustCompile(`^(?:\d{1,3}|[A-Z])(?:\.\d{1,3}){0,5}\.?$`)
)

// cells splits the line at wide gaps. A list marker or a section number stays with its text.
func (r *row) cells() [][]word {
	var cells [][]word
	start := 0
	for i := 1; i < len(r.words); i++ {
		a, b := r.words[i-1], r.words[i]
		limit := cellGap
		if isNumber(a.text) && isNumber(b.text) {
			limit = numberGap
		}
		if b.box.x0-a.box.x1 < limit*r.size {
			continue
		}
		if start == 0 && i == 1 && (listMarker.MatchString(a.text) || sectionNumber.MatchString(a.text) && unicode.IsLetter(firstRune(b.text)) && len(r.words) > 2) {
			continue
		}
		cells = append(cells, r.words[start:i])
		start = i
	}
	return append(cells, r.words[start:])
}

// isNumber reports words of which at least half are digits.
func isNumber(s string) bool {
	digits, all := 0, 0
	for _, r := range s {
		all++
		if unicode.IsDigit(r) {
			digits++
		}
	}
	return digits > 0 && digits*2 >= all
}

// spans are the boxes of the cells.
func spans(cells [][]word) []box {
	out := make([]box, len(cells))
	for i, c := range cells {
		out[i] = c[0].box
		for _, w := range c[1:] {
			out[i] = out[i].union(w.box)
		}
	}
	return out
}
