package loader

import (
	"encoding/xml"
	"strconv"
	"strings"

	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// pptxShapes is what stands on a slide.
type pptxShapes struct {
	notes  bool // only the text of notes is wanted
	titles []string
	blocks []pptxBlock
}

// pptxBlock is a paragraph, a list item, a table or a picture.
type pptxBlock struct {
	prefix string // "  - "
	text   string
	tight  bool // it follows the item before without a blank line
	images []placedImage
}

// placeholder kinds that are furniture of a slide.
var slideFurniture = stringSet("dt", "ftr", "sldNum", "hdr", "sldImg")

// shapes reads all shapes below an element, in groups too.
func (r *pptxReader) shapes(x *xmlReader, s *pptxShapes) error {
	var visit func(xml.StartElement) error
	visit = func(e xml.StartElement) error {
		switch e.Name.Local {
		case "sp":
			return r.shape(x, s)
		case "pic", "graphicFrame":
			return r.graphic(x, s)
		case "AlternateContent":
			return x.alternate(visit)
		case "timing", "transition", "extLst":
			return x.skip()
		}
		return x.children(visit)
	}
	return x.children(visit)
}

// shape reads a shape with text.
func (r *pptxReader) shape(x *xmlReader, s *pptxShapes) error {
	kind, placeholder := "", false
	var lines []slideLine
	var visit func(xml.StartElement) error
	visit = func(e xml.StartElement) (err error) {
		switch e.Name.Local {
		case "ph":
			kind, placeholder = firstOf(attrOf(e, "type"), "obj"), true
			return x.skip()
		case "txBody":
			lines, err = slideText(x)
			return err
		case "blip":
			r.picture(attrOf(e, "embed"), "", s) // a shape filled with a picture
		}
		return x.children(visit)
	}
	if err := x.children(visit); err != nil {
		return err
	}
	switch {
	case slideFurniture[kind], s.notes && kind != "body":
	case kind == "title" || kind == "ctrTitle":
		for _, l := range lines {
			if title := mdtext.Line(l.text); title != "" {
				s.titles = append(s.titles, mdtext.Line(mdtext.Cut(title, maxTitle)))
			}
		}
	default:
		s.add(lines, placeholder && (kind == "body" || kind == "obj") && !s.notes)
	}
	return nil
}

// slideLine is one paragraph of a shape.
type slideLine struct {
	text   string
	level  int
	bullet string // "none", "number", "char"; "" if the layout decides
}

// slideText reads the paragraphs of a text body.
func slideText(x *xmlReader) ([]slideLine, error) {
	var lines []slideLine
	err := x.children(func(e xml.StartElement) error {
		if e.Name.Local != "p" {
			return x.skip()
		}
		l, err := slideParagraph(x)
		lines = append(lines, l)
		return err
	})
	return lines, err
}

func slideParagraph(x *xmlReader) (slideLine, error) {
	var l slideLine
	var b strings.Builder
	var visit func(xml.StartElement) error
	visit = func(e xml.StartElement) error {
		switch e.Name.Local {
		case "pPr":
			l.level, _ = strconv.Atoi(attrOf(e, "lvl"))
			l.level = min(max(l.level, 0), maxListLevel-1)
			return x.children(func(e xml.StartElement) error {
				switch e.Name.Local {
				case "buNone":
					l.bullet = "none"
				case "buAutoNum":
					l.bullet = "number"
				case "buChar", "buBlip":
					l.bullet = "char"
				}
				return x.skip()
			})
		case "t":
			s, err := x.text()
			b.WriteString(cleanRun(s))
			return err
		case "br":
			b.WriteByte('\n')
		case "oMath", "oMathPara":
			return mathRuns(x, &b)
		case "fld":
			if attrOf(e, "type") == "slidenum" {
				return x.skip()
			}
			return x.children(visit)
		case "r", "m":
			return x.children(visit)
		case "AlternateContent":
			return x.alternate(visit)
		}
		return x.skip()
	}
	err := x.children(visit)
	l.text, _ = trimParagraph(b.String())
	return l, err
}

// add writes the paragraphs of a shape. In a body the layout makes items of them, unless there is only one.
func (s *pptxShapes) add(lines []slideLine, body bool) {
	var numbers [maxListLevel]int
	filled := 0
	for _, l := range lines {
		if l.text != "" {
			filled++
		}
	}
	before := false // the line before was an item
	for _, l := range lines {
		if l.text == "" {
			continue
		}
		for i := l.level + 1; i < maxListLevel; i++ {
			numbers[i] = 0
		}
		b := pptxBlock{text: l.text}
		item := l.bullet == "char" || l.bullet == "number" || l.bullet == "" && (body && filled > 1 || l.level > 0)
		switch {
		case !item:
			b.text = paragraph(l.text)
		case l.bullet == "number":
			numbers[l.level]++
			b.prefix = strings.Repeat("  ", l.level) + strconv.Itoa(numbers[l.level]) + ". "
		default:
			b.prefix = strings.Repeat("  ", l.level) + "- "
		}
		if l.bullet != "number" {
			numbers[l.level] = 0
		}
		b.tight, before = item && before, item
		s.blocks = append(s.blocks, b)
	}
}

// graphic reads a picture, a table, a chart or a diagram.
func (r *pptxReader) graphic(x *xmlReader, s *pptxShapes) error {
	alt := ""
	var visit func(xml.StartElement) error
	visit = func(e xml.StartElement) error {
		switch e.Name.Local {
		case "cNvPr":
			alt = cleanAlt(attrOf(e, "descr"))
		case "blip":
			r.picture(attrOf(e, "embed"), alt, s)
		case "tbl":
			return r.table(x, s)
		case "relIds":
			return r.diagram(x, attrOf(e, "dm"), s)
		case "chart":
			return r.chart(x, attrOf(e, "id"), s)
		case "AlternateContent":
			return x.alternate(visit)
		}
		return x.children(visit)
	}
	return x.children(visit)
}

// picture adds a picture and its alternative text.
func (r *pptxReader) picture(id, alt string, s *pptxShapes) {
	rel, ok := r.rels[id]
	if !ok || s.notes {
		return
	}
	img := r.pkg.embedded(rel, &r.pictures, &r.warnings)
	if img == nil {
		return
	}
	_ = r.pkg.count(len(alt)) // a shape may hold many pictures; beyond the bound the next reading fails
	s.blocks = append(s.blocks, pptxBlock{text: paragraph(alt), images: []placedImage{{image: img, alt: alt}}})
}

// diagram adds the texts of a diagram (SmartArt).
func (r *pptxReader) diagram(x *xmlReader, id string, s *pptxShapes) error {
	texts, err := r.pkg.diagramTexts(r.rels[id].target)
	if err != nil {
		r.warnings.add("a diagram could not be read: " + err.Error())
	}
	for i, text := range texts {
		s.blocks = append(s.blocks, pptxBlock{prefix: "- ", text: text, tight: i > 0})
	}
	return x.skip()
}

// chart adds the numbers that a chart shows.
func (r *pptxReader) chart(x *xmlReader, id string, s *pptxShapes) error {
	text, err := r.pkg.chartText(r.rels[id].target)
	if err != nil {
		r.warnings.add("a chart could not be read: " + err.Error())
	}
	if text != "" {
		s.blocks = append(s.blocks, pptxBlock{text: text})
	}
	return x.skip()
}

// table adds a table: a cell over several columns is followed by empty ones, one over several rows stands in each of
// them.
func (r *pptxReader) table(x *xmlReader, s *pptxShapes) error {
	var rows [][]string
	err := x.children(func(e xml.StartElement) error {
		if e.Name.Local != "tr" {
			return x.skip()
		}
		var row []string
		err := x.children(func(e xml.StartElement) error {
			if e.Name.Local != "tc" {
				return x.skip()
			}
			above := len(rows) > 0 && len(row) < len(rows[len(rows)-1]) && attrOf(e, "vMerge") == "1"
			text, err := slideCell(x)
			if above {
				text = rows[len(rows)-1][len(row)]
			}
			row = append(row, text)
			return err
		})
		if len(row) <= maxColumns {
			rows = append(rows, row)
		}
		return err
	})
	if err == nil {
		err = r.pkg.table(rows)
	}
	if err != nil {
		return err
	}
	s.blocks = append(s.blocks, pptxBlock{text: mdtext.Table(rows)})
	return nil
}

// slideCell is the text of a table's cell on one line.
func slideCell(x *xmlReader) (string, error) {
	var parts []string
	err := x.children(func(e xml.StartElement) error {
		if e.Name.Local != "txBody" {
			return x.skip()
		}
		lines, err := slideText(x)
		for _, l := range lines {
			parts = append(parts, l.text)
		}
		return err
	})
	return mdtext.Line(strings.Join(parts, " ")), err
}
