package loader

import (
	"encoding/xml"
	"regexp"
	"strconv"
	"strings"
)

// maxStyleChain bounds basedOn: Word allows a chain of eleven.
const maxStyleChain = 32

// bodyLevel is the outline level of text that is no heading.
const bodyLevel = 9

// docxStyle is what a paragraph style says.
type docxStyle struct {
	name    string // invariant name in lower case: "heading 1", whatever the language
	basedOn string
	props   paragraphProps
}

// paragraphProps are the properties of a paragraph or a style that decide on structure. Pointers are nil where
// nothing is said.
type paragraphProps struct {
	style   string
	outline *int // 0-based outline level; bodyLevel for text
	numID   *string
	ilvl    *int

	endDeleted bool // a tracked change joins the paragraph with the next one
	dropCap    bool // it is the large first letter of the next one
}

// docxStyles are the paragraph styles by ID.
type docxStyles map[string]docxStyle

// readStyles reads word/styles.xml.
func readStyles(pkg *archive, part string) (docxStyles, error) {
	styles := docxStyles{}
	err := pkg.read(part, func(x *xmlReader, _ xml.StartElement) error {
		return x.children(func(e xml.StartElement) error {
			if e.Name.Local != "style" {
				return x.skip()
			}
			s, err := readStyle(x)
			styles[attrOf(e, "styleId")] = s
			return err
		})
	})
	return styles, err
}

func readStyle(x *xmlReader) (docxStyle, error) {
	var s docxStyle
	err := x.children(func(e xml.StartElement) (err error) {
		switch e.Name.Local {
		case "name":
			s.name = strings.ToLower(attrOf(e, "val"))
		case "basedOn":
			s.basedOn = attrOf(e, "val")
		case "pPr":
			s.props, err = readParagraphProps(x)
			return err
		}
		return x.skip()
	})
	return s, err
}

// readParagraphProps reads a pPr element.
func readParagraphProps(x *xmlReader) (paragraphProps, error) {
	var p paragraphProps
	err := x.children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "pStyle":
			p.style = attrOf(e, "val")
		case "outlineLvl":
			p.outline = intAttr(e)
		case "framePr":
			kind := attrOf(e, "dropCap")
			p.dropCap = kind == "drop" || kind == "margin"
		case "rPr":
			return x.children(func(e xml.StartElement) error {
				p.endDeleted = p.endDeleted || e.Name.Local == "del"
				return x.skip()
			})
		case "numPr":
			return x.children(func(e xml.StartElement) error {
				switch e.Name.Local {
				case "numId":
					id := attrOf(e, "val")
					p.numID = &id
				case "ilvl":
					p.ilvl = intAttr(e)
				}
				return x.skip()
			})
		}
		return x.skip()
	})
	return p, err
}

func intAttr(e xml.StartElement) *int {
	n, err := strconv.Atoi(attrOf(e, "val"))
	if err != nil {
		return nil
	}
	return &n
}

// headingName is the name of a heading's style. Word writes "heading 1" whatever its language; other programs translate
// it (English, German, French, Spanish, Portuguese, Italian, Dutch, Russian, Chinese, Japanese, Korean).
var headingName = regexp.MustCompile(`^(?:heading|überschrift|titre|título|titolo|kop|заголовок|标题|標題|見出し|제목) ?([1-9])$`)

// builtInID is the ID that programs give Word's own headings: the name without the blank. Word itself translates it in
// some languages, but those files define the style.
var builtInID = regexp.MustCompile(`^(?:Heading([1-9])|Title|Subtitle)$`)

// builtIn returns what is known of a style that the file uses without defining it: small writers leave styles.xml out,
// and rely on what Word has built in.
func builtIn(id string) (docxStyle, bool) {
	m := builtInID.FindStringSubmatch(id)
	switch {
	case m == nil:
		return docxStyle{}, false
	case m[1] != "":
		return docxStyle{name: "heading " + m[1]}, true
	}
	return docxStyle{name: strings.ToLower(id)}, true
}

// chain yields a style and those it is based on.
func (s docxStyles) chain(id string) []docxStyle {
	var out []docxStyle
	for len(out) < maxStyleChain {
		style, ok := s[id]
		if !ok {
			style, ok = builtIn(id)
		}
		if !ok {
			break
		}
		out = append(out, style)
		id = style.basedOn
	}
	return out
}

// level returns the heading level of a paragraph, 1 to 9, or 0 for text.
func (s docxStyles) level(p paragraphProps) int {
	if p.outline != nil {
		return outlineLevel(*p.outline)
	}
	for _, style := range s.chain(p.style) {
		if style.props.outline != nil {
			return outlineLevel(*style.props.outline)
		}
		if m := headingName.FindStringSubmatch(style.name); m != nil {
			return int(m[1][0] - '0')
		}
		switch style.name {
		case "title":
			return 1
		case "subtitle":
			return 0
		}
	}
	return 0
}

func outlineLevel(n int) int {
	if n < 0 || n >= bodyLevel {
		return 0
	}
	return n + 1
}

// codeNames are the names of styles for program text: of pandoc, of Word, and usual ones.
var codeNames = stringSet("source code", "sourcecode", "html preformatted", "code", "code block", "codeblock", "macro", "macro text")

// isCode reports whether the paragraph has a style for program text or one based on it.
func (s docxStyles) isCode(p paragraphProps) bool {
	for _, style := range s.chain(p.style) {
		if codeNames[style.name] {
			return true
		}
	}
	return false
}

// isTitle reports whether the paragraph has the style Title or one based on it.
func (s docxStyles) isTitle(p paragraphProps) bool {
	for _, style := range s.chain(p.style) {
		if style.name == "title" {
			return true
		}
	}
	return false
}

// numbering returns the list and the 0-based list level of a paragraph; ok is false if it is no list item. byStyle is
// the style that names the list, "" if the paragraph does.
func (s docxStyles) numbering(p paragraphProps) (numID string, ilvl int, byStyle string, ok bool) {
	if p.ilvl != nil {
		ilvl = *p.ilvl
	}
	if p.numID != nil {
		return *p.numID, ilvl, "", *p.numID != "0"
	}
	id := p.style
	for _, style := range s.chain(p.style) {
		if style.props.numID != nil {
			if p.ilvl == nil && style.props.ilvl != nil {
				ilvl = *style.props.ilvl
			}
			return *style.props.numID, ilvl, id, *style.props.numID != "0"
		}
		id = style.basedOn
	}
	return "", 0, "", false
}
