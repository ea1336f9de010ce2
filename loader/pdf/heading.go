package pdf

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of headings.
const (
	largerBy      = 1.13 // a heading by size is this many times as large as the text
	smallestBold  = 0.85 // a bold heading may be this much smaller than the text, a ratio
	headingRows   = 3    // most lines
	headingLength = 200  // most characters by size
	boldLength    = 100  // most characters of a heading that is bold only
	maxLevel      = 6    // Markdown ends here
)

// look is how a heading's letters look.
type look struct {
	size   float64 // rounded to half points
	bold   bool
	symbol bool // the font draws bullets for letters; never a heading's
}

func lookOf(b block) look { return look{size: roundSize(b.size), bold: b.bold} }

func roundSize(s float64) float64 { return math.Round(s*2) / 2 }

// markHeadings sets the level of the blocks that are headings: those the outline names, then those that look like one.
// Levels come from the outline, from section numbers, and else from the order of sizes.
func markHeadings(pages [][]block, outline []bookmark) {
	known := matchOutline(pages, outline)
	body := bodyLook(pages)
	var looks []look
	var found []*block
	for _, blocks := range pages {
		for i := range blocks {
			b := &blocks[i]
			if b.level == 0 && looksLikeHeading(*b, body) {
				found = append(found, b)
				looks = append(looks, lookOf(*b))
			}
		}
	}
	numbered := numberDepths(found)
	if numbered >= 2 {
		for _, b := range found {
			if depth := numberDepth(b.text); depth > 0 {
				b.level = depth
				learn(known, *b)
			}
		}
	}
	levels := levelsOf(looks, known)
	for _, b := range found {
		if b.level == 0 {
			b.level = levels[lookOf(*b)]
		}
		b.level = min(b.level, maxLevel)
	}
}

// learn keeps the outermost level that a look was given.
func learn(known map[look]int, b block) {
	if l, ok := known[lookOf(b)]; !ok || b.level < l {
		known[lookOf(b)] = b.level
	}
}

// levelsOf gives each look a level: the known one, else one below the nearest larger look, where larger than all known
// ones is level 1 and without known ones each size is a level.
func levelsOf(looks []look, known map[look]int) map[look]int {
	for l := range known {
		looks = append(looks, l)
	}
	slices.SortFunc(looks, func(a, b look) int { return cmp.Or(cmp.Compare(b.size, a.size), boolCompare(b.bold, a.bold)) })
	looks = slices.Compact(looks)
	levels := map[look]int{}
	level, learned := 0, len(known) > 0
	reached := !learned // whether a known look was passed
	var previous look
	for _, l := range looks {
		switch k, ok := known[l]; {
		case ok:
			level, reached = k, true
		case !reached:
			level = 1
		case previous.size-l.size > sizeStep*l.size || previous.bold != l.bold || level == 0 || previous.size == 0:
			if k, ok := known[previous]; ok || !learned {
				level = max(level, k) + 1
			}
		}
		levels[l] = level
		previous = l
	}
	return levels
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// bodyLook is the look of most characters.
func bodyLook(pages [][]block) look {
	chars := map[look]int{}
	for _, blocks := range pages {
		for _, b := range blocks {
			chars[lookOf(b)] += len(b.text)
		}
	}
	best, most := look{}, -1
	for _, l := range slices.SortedFunc(maps.Keys(chars), func(a, b look) int {
		return cmp.Or(cmp.Compare(a.size, b.size), boolCompare(a.bold, b.bold))
	}) {
		if chars[l] > most {
			best, most = l, chars[l]
		}
	}
	return best
}

var (
	// caption begins the line under or above a figure or table, which is often bold and never a heading.
	caption = regexp.MustCompile(`^(?i:fig(?:ure|\.)?|table|tab\.|图|表)\s*[\dIVX]+`)
	// contentsLine ends with leaders and a page: a line of a table of contents.
	contentsLine = regexp.MustCompile(`\.\.\. [\divxlc]+$`)
	// numberedTitle is a section number and the title after it.
	numberedTitle = regexp.MustCompile(`^(\d{1,2}(?:\.\d{1,2}){0,5})\.?\s+[\p{Lu}\p{Lo}]`)
)

func looksLikeHeading(b block, body look) bool {
	length := utf8.RuneCountInString(b.text)
	if b.table || b.picture != nil || b.rows > headingRows || length > headingLength || caption.MatchString(b.text) || contentsLine.MatchString(b.text) {
		return false
	}
	if !strings.ContainsFunc(b.text, unicode.IsLetter) || listMarker.MatchString(firstField(b.text)) && numberDepth(b.text) == 0 {
		return false
	}
	if roundSize(b.size) >= largerBy*body.size {
		return true
	}
	if length > boldLength || b.rows == headingRows || unicode.IsLower(firstRune(b.text)) || strings.ContainsRune(".,;:", lastRune(b.text)) {
		return false
	}
	bold := b.bold && !body.bold && b.size >= smallestBold*body.size
	return bold || !strings.Contains(b.text, "\n") && numberDepth(b.text) >= 2
}

func firstField(s string) string {
	f, _, _ := strings.Cut(s, " ")
	return f
}

// numberDepth is the number of parts of the section number before a title: 2 for "1.2 Scope"; 0 if there is none.
func numberDepth(text string) int {
	m := numberedTitle.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	return strings.Count(m[1], ".") + 1
}

func numberDepths(found []*block) int {
	n := 0
	for _, b := range found {
		if numberDepth(b.text) > 0 {
			n++
		}
	}
	return n
}

// matchOutline makes a heading of the first block on a bookmark's page that has the bookmark's title, with or
// without a section number. It returns the level that each look has by the outline, the outermost where they differ.
func matchOutline(pages [][]block, outline []bookmark) map[look]int {
	levels := map[look]int{}
	for _, m := range outline {
		if m.page < 0 || m.page >= len(pages) || m.title == "" {
			continue
		}
		want := titleKey(m.title)
		for i := range pages[m.page] {
			b := &pages[m.page][i]
			if b.table || b.picture != nil || b.level > 0 || b.rows > headingRows || titleKey(b.text) != want {
				continue
			}
			b.level = min(m.level, maxLevel)
			learn(levels, *b)
			break
		}
	}
	return levels
}

var leadingNumber = regexp.MustCompile(`^(?:(?i:chapter|section|appendix)\s+)?(?:\d{1,3}|[A-Z])(?:\.\d{1,3})*[.:]?\s+`)

// titleKey is a title without its number, case, blanks and punctuation.
func titleKey(s string) string {
	if rest := leadingNumber.ReplaceAllString(s, ""); rest != "" {
		s = rest
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}
