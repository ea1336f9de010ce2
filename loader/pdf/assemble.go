package pdf

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// garbledShare is the part of a page's characters that may be unreadable before it is warned of: fonts without a
// map to Unicode give text that looks like success.
const garbledShare = 0.2

// assemble lays the pages out and writes the document, unless ctx ends.
func assemble(ctx context.Context, raw *rawDocument) (rag.Document, error) {
	v := newVocabulary(raw)
	turned := make([][][]word, len(raw.pages))
	for i, p := range raw.pages {
		turned[i] = frames(p.words)
	}
	furniture := dropFurniture(turned)
	pages := make([][]block, len(raw.pages))
	for i, frames := range turned {
		if err := ctx.Err(); err != nil {
			return rag.Document{}, err
		}
		pages[i] = pageBlocks(frames, &raw.pages[i], v)
	}
	markHeadings(pages, raw.outline)
	doc := write(pages)
	doc.Title = title(raw.info["Title"], pages)
	doc.Meta = meta(raw, furniture)
	doc.Warnings, doc.State = judge(raw)
	return doc, nil
}

// pageBlocks are the blocks of a page in reading order, with its pictures where they stand.
func pageBlocks(frames [][]word, raw *rawPage, v *vocabulary) []block {
	frames = slices.DeleteFunc(slices.Clone(frames), func(words []word) bool { return len(words) == 0 }) // all of it was furniture
	if len(frames) > 0 && len(raw.rules) > 0 {
		takeTables(frames, raw.rules)
	}
	var blocks []block
	for _, words := range frames {
		if len(words) == 0 {
			continue // all of it was a table's
		}
		turn := words[0].turn
		for _, region := range regions(words) {
			for _, b := range blocksOf(region, v) {
				b.turn = turn
				b.text, b.linked = resolveLinks(b.text, raw.links)
				blocks = append(blocks, b)
			}
		}
	}
	return place(blocks, raw.pictures)
}

func turnedBoxes(boxes []box, turn int) []box {
	if turn == 0 {
		return boxes
	}
	out := make([]box, len(boxes))
	for i, b := range boxes {
		out[i] = b.turned(turn)
	}
	return out
}

// writer puts blocks one below the other.
type writer struct {
	b       strings.Builder
	doc     rag.Document
	waiting []*picture // for the block that they stand before
}

// write puts the blocks of all pages one below the other: pages and paragraphs with a line between, the items of a list
// without.
func write(pages [][]block) rag.Document {
	var w writer
	for i, blocks := range pages {
		if w.b.Len() > 0 && slices.ContainsFunc(blocks, func(b block) bool { return b.picture == nil }) {
			w.b.WriteString("\n\n")
		}
		w.doc.Pages = append(w.doc.Pages, w.b.Len())
		var last *block
		for k := range blocks {
			if b := &blocks[k]; b.picture != nil {
				w.waiting = append(w.waiting, b.picture)
			} else {
				w.block(b, last, i+1)
				last = b
			}
		}
		w.pictures(i + 1)
	}
	if w.b.Len() > 0 {
		w.b.WriteByte('\n')
	}
	doc := w.doc
	doc.Text = w.b.String()
	levels, starts := make([]int, len(doc.Sections)), make([]int, len(doc.Sections))
	for i, s := range doc.Sections {
		levels[i], starts[i] = s.Level, s.Start
	}
	for i, end := range mdtext.Ends(levels, starts, len(doc.Text)) {
		doc.Sections[i].End = end
	}
	return doc
}

// block writes a block after the one before it on its page.
func (w *writer) block(b, last *block, page int) {
	if last != nil {
		w.b.WriteByte('\n')
		if !b.tight {
			w.b.WriteByte('\n')
		}
	}
	w.pictures(page)
	if b.level == 0 {
		w.b.WriteString(b.linked)
		return
	}
	heading := strings.ReplaceAll(b.text, "\n", " ")
	w.doc.Sections = append(w.doc.Sections, rag.Section{Level: b.level, Title: heading, Start: w.b.Len()})
	w.b.WriteString(strings.Repeat("#", b.level) + " " + heading)
}

// pictures puts those that wait here.
func (w *writer) pictures(page int) {
	for _, p := range w.waiting {
		w.doc.Images = append(w.doc.Images, rag.Image{
			ID: p.id, MediaType: p.media, Data: p.data, Page: page, Box: [4]float64{p.box.x0, p.box.y0, p.box.x1, p.box.y1}, Offset: w.b.Len(),
		})
	}
	w.waiting = nil
}

// titleStep is how many times larger than the headings before it a heading must be to be the title.
const titleStep = 1.2

// title is the title that the file states, unless a program made it up, else the first heading of the first page, or a much larger one there.
func title(stated string, pages [][]block) string {
	if stated != "" && !madeUp(stated) {
		return stated
	}
	best := block{}
	if len(pages) > 0 {
		for _, b := range pages[0] {
			if b.level > 0 && b.size > titleStep*best.size {
				best = b
			}
		}
	}
	return strings.ReplaceAll(best.text, "\n", " ")
}

// madeUp reports titles that writers put there by themselves: a file's name, a template's.
func madeUp(s string) bool {
	l := strings.ToLower(s)
	for _, ext := range []string{".doc", ".docx", ".indd", ".qxd", ".pdf", ".tex", ".dvi", ".ppt", ".pptx", ".xls", ".xlsx", ".rtf", ".pmd", ".fm", ".odt"} {
		if strings.HasSuffix(l, ext) {
			return true
		}
	}
	return strings.HasPrefix(l, "microsoft word - ") || strings.HasPrefix(l, "untitled") || !strings.ContainsFunc(s, unicode.IsLetter)
}

// meta holds what the file says of itself.
func meta(raw *rawDocument, furniture []string) rag.Meta {
	m := rag.Meta{"pages": float64(raw.total)}
	for key, name := range map[string]string{"Author": "author", "Subject": "subject", "Keywords": "keywords"} {
		if v := raw.info[key]; v != "" {
			m[name] = v
		}
	}
	for key, name := range map[string]string{"CreationDate": "created", "ModDate": "modified"} {
		if t, ok := parseDate(raw.info[key]); ok {
			m[name] = t.Format(time.RFC3339)
		}
	}
	scanned := 0
	for _, p := range raw.pages {
		if p.scanned {
			scanned++
		}
	}
	if scanned > 0 {
		m["ocr_pages"] = float64(scanned)
	}
	if len(furniture) > 0 {
		m["page_furniture"] = furniture
	}
	return m
}

// parseDate reads a PDF date: D:YYYYMMDDHHmmSS+HH'mm', each part after the year optional.
func parseDate(s string) (time.Time, bool) {
	s = strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(s), "D:"), "'", "")
	if base, _, ok := strings.Cut(s, "Z"); ok {
		s = base
	}
	for _, layout := range []string{"20060102150405-0700", "20060102150405-07", "20060102150405", "200601021504", "20060102", "200601", "2006"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// judge says which pages gave nothing or nonsense, and what that makes of the document.
func judge(raw *rawDocument) ([]rag.Warning, string) {
	var ws []rag.Warning
	readable := 0
	for i, p := range raw.pages {
		switch {
		case p.broken != "":
			ws = append(ws, rag.Warning{Page: i + 1, Message: "could not be read: " + p.broken})
		case len(p.words) == 0 && p.blank:
			ws = append(ws, rag.Warning{Page: i + 1, Message: "has no text: it is blank"})
		case len(p.words) == 0:
			ws = append(ws, rag.Warning{Page: i + 1, Message: "has no text: scanned, or drawn (ocr can read it)"})
		default:
			readable++
			if garbled(p.words) {
				ws = append(ws, rag.Warning{Page: i + 1, Message: "text is garbled: a font has no map to Unicode"})
			}
		}
		for _, what := range p.lost {
			ws = append(ws, rag.Warning{Page: i + 1, Message: what})
		}
	}
	if raw.total > len(raw.pages) {
		ws = append(ws, rag.Warning{Message: fmt.Sprintf("pages %d to %d were not read (setting max_pages)", len(raw.pages)+1, raw.total)})
	}
	switch {
	case readable == 0:
		return ws, rag.StateEmpty
	case len(ws) > 0:
		return ws, rag.StatePartial
	}
	return ws, rag.StateOK
}

// garbled reports whether too many characters are private, unassigned or replacements.
func garbled(words []word) bool {
	bad, all := 0, 0
	for _, w := range words {
		for _, r := range w.text {
			all++
			if r == unicode.ReplacementChar || unicode.Is(unicode.Co, r) || !unicode.IsGraphic(r) {
				bad++
			}
		}
	}
	return float64(bad) > garbledShare*float64(all)
}
