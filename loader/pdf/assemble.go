package pdf

import (
	"context"
	"fmt"
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
		for _, words := range frames {
			for _, region := range regions(words) {
				pages[i] = append(pages[i], blocksOf(region, v)...)
			}
		}
	}
	markHeadings(pages, raw.outline)
	doc := write(pages)
	doc.Title = title(raw.info["Title"], pages)
	doc.Meta = meta(raw, furniture)
	doc.Warnings, doc.State = judge(raw)
	return doc, nil
}

// write puts the blocks of all pages one below the other.
func write(pages [][]block) rag.Document {
	var doc rag.Document
	var b strings.Builder
	for _, blocks := range pages {
		if b.Len() > 0 && len(blocks) > 0 {
			b.WriteString("\n\n")
		}
		doc.Pages = append(doc.Pages, b.Len())
		for i, bl := range blocks {
			if i > 0 {
				b.WriteString("\n\n")
			}
			if bl.level == 0 {
				b.WriteString(bl.text)
				continue
			}
			heading := strings.ReplaceAll(bl.text, "\n", " ")
			doc.Sections = append(doc.Sections, rag.Section{Level: bl.level, Title: heading, Start: b.Len()})
			b.WriteString(strings.Repeat("#", bl.level) + " " + heading)
		}
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	doc.Text = b.String()
	levels, starts := make([]int, len(doc.Sections)), make([]int, len(doc.Sections))
	for i, s := range doc.Sections {
		levels[i], starts[i] = s.Level, s.Start
	}
	for i, end := range mdtext.Ends(levels, starts, len(doc.Text)) {
		doc.Sections[i].End = end
	}
	return doc
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
		case len(p.words) == 0:
			ws = append(ws, rag.Warning{Page: i + 1, Message: "has no text (blank, or scanned and not recognised)"})
		default:
			readable++
			if garbled(p.words) {
				ws = append(ws, rag.Warning{Page: i + 1, Message: "text is garbled: a font has no map to Unicode"})
			}
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
