package loader

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// blockParser finds the blocks of Markdown with footnotes and definition lists. It leaves out what decides about no
// heading and can take long or much memory on hostile text: inline markup, tables, link reference definitions.
var blockParser = parser.NewParser(parser.WithBlockParsers(append(parser.DefaultBlockParsers(),
	util.Prioritized(extension.NewDefinitionListParser(), 101),
	util.Prioritized(extension.NewDefinitionDescriptionParser(), 102),
	util.Prioritized(extension.NewFootnoteBlockParser(), 999),
)...))

// inlineParser reads the content of one heading.
var inlineParser = goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()

// Bounds of what is parsed for an outline.
const (
	maxDepth      = 100     // quotes and lists within one another; the parser's time grows with the square
	maxBlocks     = 2 << 20 // lines, quotes and list items; each can cost the parser some hundred bytes
	maxTitle      = 1024    // bytes of a heading that are read for its title
	maxReferences = 10_000  // link reference definitions that titles can use
)

// markdownOutline returns the headings of src that open sections: those at the top level, and h1 to h6 in HTML
// blocks there. It returns false, and no headings, for text too large or nested too deep to be parsed.
func markdownOutline(src string) ([]heading, bool) {
	if tooComplex(src) {
		return nil, false
	}
	source := []byte(src)
	o := outline{source: source}
	root := blockParser.Parse(text.NewReader(source))
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		o.block(n)
	}
	return o.headings, true
}

// tooComplex reports whether text is beyond maxDepth or maxBlocks, going by the marks that begin its lines.
func tooComplex(src string) bool {
	var open []int // columns of the marks of the quotes and list items that may be open
	blocks := 0
	for line := range strings.Lines(src) {
		blocks++
		first := true
		for i := 0; i < len(line) && strings.IndexByte(" \t>-+*.):0123456789", line[i]) >= 0; i++ {
			if !opensContainer(line, i) {
				continue
			}
			for first && len(open) > 0 && open[len(open)-1] >= i {
				open = open[:len(open)-1]
			}
			first = false
			open = append(open, i)
			blocks++
		}
		if len(open) > maxDepth || blocks > maxBlocks {
			return true
		}
	}
	return false
}

// opensContainer reports whether the byte at i, with only such marks before it, is that of a quote or ends the mark
// of a list item.
func opensContainer(line string, i int) bool {
	if line[i] == '>' {
		return true
	}
	return strings.IndexByte("-+*.):", line[i]) >= 0 && i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t')
}

// outline collects headings from top-level blocks in order.
type outline struct {
	source     []byte
	references parser.Context // link references that titles may use; nil until one is needed
	headings   []heading
	html       *htmlHeading // an HTML heading whose end tag has not come yet
}

func (o *outline) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		o.html = nil
		o.markdownHeading(n)
	case *ast.HTMLBlock:
		o.htmlBlock(n)
	case *ast.Paragraph:
		if o.html != nil {
			o.html.add(o.title(n.Lines()))
		}
	}
}

func (o *outline) markdownHeading(n *ast.Heading) {
	lines := n.Lines()
	if lines.Len() == 0 {
		return
	}
	if title := o.title(lines); title != "" {
		o.headings = append(o.headings, heading{n.Level, title, lineStart(o.source, lines.At(0).Start)})
	}
}

// lineStart returns where the line that holds the offset begins.
func lineStart(source []byte, offset int) int {
	for offset > 0 && source[offset-1] != '\n' {
		offset--
	}
	return offset
}

// headingAttributes is the block of attributes that several dialects allow behind a heading: {#anchor .class}.
var headingAttributes = regexp.MustCompile(`\s*\{[#.:][^{}]*\}\s*$`)

// title returns the plain text of a heading's lines.
func (o *outline) title(lines *text.Segments) string {
	var raw []byte
	for i := range lines.Len() {
		seg := lines.At(i)
		raw = append(raw, seg.Value(o.source)...) // ends with its line break
		if len(raw) > maxTitle {
			raw = []byte(mdtext.Cut(string(raw), maxTitle))
			break
		}
	}
	raw = bytes.TrimSpace(headingAttributes.ReplaceAll(bytes.ReplaceAll(raw, []byte("\n"), []byte(" ")), nil))
	// A title that begins like a block, such as "1. Scope", would be parsed as one; behind a # it is inline text.
	raw = append([]byte("# "), raw...)
	var options []parser.ParseOption
	if bytes.IndexByte(raw, ']') >= 0 {
		options = append(options, parser.WithContext(o.linkReferences()))
	}
	root := inlineParser.Parse(text.NewReader(raw), options...)
	var b strings.Builder
	plainText(&b, root, raw)
	return mdtext.Line(b.String())
}

// referenceLine is a link reference definition: "[label]: destination".
var referenceLine = regexp.MustCompile(`(?m)^ {0,3}\[([^\[\]\n]+)\]:[ \t]*\S`)

// linkReferences returns a context that knows the labels the document defines, so that "[text][label]" in a title
// is read as its text. Where a label leads does not matter here.
func (o *outline) linkReferences() parser.Context {
	if o.references == nil {
		o.references = parser.NewContext()
		for _, m := range referenceLine.FindAllSubmatch(o.source, maxReferences) {
			o.references.AddReference(parser.NewReference(m[1], []byte("#"), nil))
		}
	}
	return o.references
}

// plainText writes what a reader sees of a node: no markup, pictures by their alternative text. Bold marks that
// CommonMark does not recognise beside CJK punctuation are dropped too.
func plainText(b *strings.Builder, n ast.Node, source []byte) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			seg := c.Segment.Value(source)
			if _, code := n.(*ast.CodeSpan); !code {
				seg = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(seg)))
				seg = []byte(strings.ReplaceAll(string(seg), "**", ""))
			}
			b.Write(seg)
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(c.Value)
		case *ast.AutoLink:
			b.Write(c.Label(source))
		case *ast.RawHTML:
			b.WriteString(rawTagText(c, source))
		default:
			plainText(b, c, source)
		}
	}
}
