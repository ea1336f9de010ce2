package loader

import (
	"encoding/xml"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// docxReader reads the parts of one file.
type docxReader struct {
	pkg       *archive
	cfg       DOCXConfig
	part      string
	rels      map[string]relation
	styles    docxStyles
	numbering *docxNumbering
	notes     map[string]string // text of notes and comments by kind and ID
	cited     []string          // keys of foot- and endnotes, in the order in which the text refers to them
	remarks   []string          // the same of comments

	fields      []docxField // open fields, innermost last
	joined      *docxInline // text of a paragraph whose end was deleted: the next one goes on with it
	styledTitle string      // first paragraph in the style Title
	pictures    pictures
	warnings    warnings
	out         docxWriter
}

// docxBlock is a paragraph, a heading, a list item or a table.
type docxBlock struct {
	prefix string // "# ", "  1. "
	text   string
	level  int // of a heading, 1 to 9; 0 for others
	list   bool
	code   bool // a line of program text
	images []placedImage
	pages  []int        // places in text where pages begin
	rows   [][]docxCell // of a table
}

// sink takes the blocks of a body, a cell, a text box or a note.
type sink func(docxBlock)

// prepare reads what the text refers to.
func (r *docxReader) prepare() (err error) {
	if r.rels, err = r.pkg.relations(r.part); err != nil {
		return err
	}
	if r.styles, err = readStyles(r.pkg, related(r.rels, "styles")); err != nil {
		return err
	}
	if r.numbering, err = readNumbering(r.pkg, related(r.rels, "numbering"), r.styles); err != nil {
		return err
	}
	return r.readNotes()
}

// document reads the main part.
func (r *docxReader) document(x *xmlReader) error {
	return x.children(func(e xml.StartElement) error {
		if e.Name.Local == "body" {
			return r.body(x, r.out.add)
		}
		return x.skip()
	})
}

// body reads block content: of the document, a cell, a text box, a note.
func (r *docxReader) body(x *xmlReader, out sink) error {
	var visit func(xml.StartElement) error
	visit = func(e xml.StartElement) error {
		switch e.Name.Local {
		case "p":
			return r.paragraph(x, out)
		case "tbl":
			return r.table(x, out)
		case "altChunk":
			r.warnings.add("an embedded document (altChunk) is not read")
		}
		return r.wrapper(x, e, visit)
	}
	return x.children(visit)
}

// wrapper goes through elements that only surround content and skips all others. What tracked changes take out is
// among those.
func (r *docxReader) wrapper(x *xmlReader, e xml.StartElement, visit func(xml.StartElement) error) error {
	switch e.Name.Local {
	case "ins", "moveTo", "sdt", "sdtContent", "smartTag", "customXml", "hyperlink", "fldSimple", "dir", "bdo", "ruby", "rubyBase", "oMathPara":
		return x.children(visit)
	case "AlternateContent":
		return x.alternate(visit)
	}
	return x.skip()
}

// inline is the text of a paragraph as it is read.
type docxInline struct {
	b      strings.Builder
	images []placedImage
	pages  []int       // places where pages begin
	asides []docxBlock // what text boxes anchored in the paragraph hold
}

// paragraph reads one paragraph and writes it, then its text boxes.
func (r *docxReader) paragraph(x *xmlReader, out sink) error {
	var props paragraphProps
	in := &docxInline{}
	if r.joined != nil {
		in, r.joined = r.joined, nil
	}
	var visit func(xml.StartElement) error
	visit = func(e xml.StartElement) (err error) {
		switch e.Name.Local {
		case "pPr":
			props, err = readParagraphProps(x)
			return err
		case "r":
			return r.run(x, in)
		case "hyperlink":
			return r.hyperlink(x, e, in, visit)
		case "oMath":
			return mathRuns(x, &in.b)
		}
		return r.wrapper(x, e, visit)
	}
	if err := x.children(visit); err != nil {
		return err
	}
	// An instruction does not reach over a paragraph's end: a field left open must not swallow the rest of the text.
	r.fields = slices.DeleteFunc(r.fields, func(f docxField) bool { return f.instruction })
	if props.endDeleted || props.dropCap {
		if text := in.b.String(); props.endDeleted && text != "" && !strings.HasSuffix(text, " ") {
			in.b.WriteByte(' ')
		}
		r.joined = in
		return nil
	}
	if block, ok := r.block(props, in); ok {
		out(block)
	}
	for _, aside := range in.asides {
		out(aside)
	}
	return nil
}

// block makes a heading, a list item or a plain paragraph. An item is counted even if it has no text.
func (r *docxReader) block(props paragraphProps, in *docxInline) (docxBlock, bool) {
	marker, depth, item := r.numbering.label(props)
	_ = r.pkg.count(len(marker)) // written again for each item; beyond the bound the next reading fails
	text, trimmed := trimParagraph(in.b.String())
	b := docxBlock{text: text, images: in.images, pages: in.pages}
	for i := range b.images {
		b.images[i].at = max(0, b.images[i].at-trimmed)
	}
	for i, at := range b.pages {
		b.pages[i] = min(max(0, at-trimmed), len(text))
	}
	if b.code = !item && r.styles.isCode(props); b.code {
		b.text = strings.TrimRight(in.b.String(), " \t\n")
		return b, true
	}
	if text == "" {
		return b, len(b.images) > 0 || len(b.pages) > 0
	}
	b.level = r.styles.level(props)
	switch {
	case b.level > 0:
		b.text = mdtext.Line(text)
		b.prefix = strings.Repeat("#", min(b.level, maxHeading)) + " "
		if item && marker != "" && marker != "-" {
			b.prefix += marker + " "
		}
		if r.styledTitle == "" && r.styles.isTitle(props) {
			r.styledTitle = b.text
		}
	case item:
		b.list = true
		b.prefix = strings.Repeat("  ", depth)
		if marker != "" {
			b.prefix += marker + " "
		}
	}
	return b, true
}

// trimParagraph takes blanks off the ends, and tells how many bytes it took at the start.
func trimParagraph(s string) (text string, trimmed int) {
	t := strings.TrimLeft(s, " \t\n")
	return strings.TrimRight(t, " \t\n"), len(s) - len(t)
}

// run reads one run of characters.
func (r *docxReader) run(x *xmlReader, in *docxInline) error {
	hidden := false
	var visit func(xml.StartElement) error
	visit = func(e xml.StartElement) error {
		if e.Name.Local == "rPr" {
			return x.children(func(e xml.StartElement) error {
				hidden = hidden || e.Name.Local == "vanish" && on(e)
				return x.skip()
			})
		}
		if hidden && e.Name.Local != "fldChar" {
			return x.skip()
		}
		return r.runPart(x, e, in, visit)
	}
	return x.children(visit)
}

// runPart reads one element of a run.
func (r *docxReader) runPart(x *xmlReader, e xml.StartElement, in *docxInline, visit func(xml.StartElement) error) error {
	switch e.Name.Local {
	case "t":
		s, err := x.text()
		r.write(in, cleanRun(s))
		return err
	case "r", "rt", "rubyPr": // a ruby base holds runs; its reading is left out
		if e.Name.Local == "r" {
			return r.run(x, in)
		}
	case "tab", "ptab":
		r.write(in, "\t")
	case "br":
		if kind := attrOf(e, "type"); kind == "" || kind == "textWrapping" {
			r.write(in, "\n")
		}
	case "cr":
		r.write(in, "\n")
	case "lastRenderedPageBreak":
		in.pages = append(in.pages, in.b.Len())
	case "noBreakHyphen":
		r.write(in, "-")
	case "sym":
		r.write(in, symbol(attrOf(e, "char")))
	case "footnoteReference", "endnoteReference":
		r.cite(in, &r.cited, strings.TrimSuffix(e.Name.Local, "Reference"), attrOf(e, "id"))
	case "commentReference":
		r.cite(in, &r.remarks, "comment", attrOf(e, "id"))
	case "fldChar":
		r.field(attrOf(e, "fldCharType"), in)
	case "instrText":
		return r.instruction(x)
	case "drawing", "pict", "object":
		return r.drawing(x, in)
	case "AlternateContent", "ruby", "rubyBase":
		return r.wrapper(x, e, visit)
	}
	return x.skip()
}

// cleanRun drops what is invisible and writes all kinds of blanks as one.
func cleanRun(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case mdtext.Invisible(c):
			return -1
		case c == '\n', c == '\r', c == '\t', c == 0xA0, c == 0x2028, c == 0x2029:
			return ' '
		}
		return c
	}, s)
}

// symbol is a character given by its number. Those of symbol fonts are in the private area and mean nothing outside.
func symbol(hex string) string {
	n, err := strconv.ParseUint(hex, 16, 32)
	if err != nil || n < ' ' || n >= 0xD800 && n <= 0xF8FF || n > 0x10FFFF {
		return ""
	}
	return string(rune(n))
}

// mathRuns writes a formula as its characters, with "/" before a denominator, "^" and "_" before scripts.
func mathRuns(x *xmlReader, b *strings.Builder) error {
	return x.children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "t":
			s, err := x.text()
			b.WriteString(cleanRun(s))
			return err
		case "den":
			b.WriteByte('/')
		case "sup":
			b.WriteByte('^')
		case "sub":
			b.WriteByte('_')
		case "del", "moveFrom", "rPr", "ctrlPr", "instrText", "delText":
			return x.skip()
		}
		return mathRuns(x, b)
	})
}
