package loader

import (
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

// blockParser finds the blocks of GitHub flavoured Markdown with footnotes and definition lists. It leaves inline
// markup alone: only headings need it, and hostile inline markup can take long.
var blockParser = parser.NewParser(
	parser.WithBlockParsers(append(parser.DefaultBlockParsers(),
		util.Prioritized(extension.NewDefinitionListParser(), 101),
		util.Prioritized(extension.NewDefinitionDescriptionParser(), 102),
		util.Prioritized(extension.NewFootnoteBlockParser(), 999),
	)...),
	parser.WithParagraphTransformers(append(parser.DefaultParagraphTransformers(),
		util.Prioritized(extension.NewTableParagraphTransformer(), 200),
	)...),
)

// inlineParser reads the content of one heading.
var inlineParser = goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()

const (
	// maxContainers is how many quotes and list items one line may open: each costs the parser memory, and a line
	// of a million > signs would take all of it.
	maxContainers = 100
	// maxTitle bounds the bytes of a heading that are read for its title.
	maxTitle = 1024
)

// markdownOutline returns the headings of src that open sections: those at the top level, and h1 to h6 in HTML
// blocks there. It returns false, and no headings, for text nested too deep to be parsed.
func markdownOutline(src string) ([]heading, bool) {
	if nestedTooDeep(src) {
		return nil, false
	}
	source := []byte(src)
	o := outline{source: source, context: parser.NewContext()}
	root := blockParser.Parse(text.NewReader(source), parser.WithContext(o.context))
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		o.block(n)
	}
	return o.headings, true
}

// nestedTooDeep reports whether a line opens more than maxContainers quotes and list items.
func nestedTooDeep(src string) bool {
	for line := range strings.Lines(src) {
		opened := 0
		for i := 0; i < len(line); i++ {
			c := line[i]
			blankNext := i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t')
			switch {
			case c == ' ' || c == '\t' || c >= '0' && c <= '9':
				continue
			case c == '>', blankNext && strings.IndexByte("-+*.):", c) >= 0:
				opened++
				continue
			}
			break
		}
		if opened > maxContainers {
			return true
		}
	}
	return false
}

// outline collects headings from top-level blocks in order.
type outline struct {
	source   []byte
	context  parser.Context // knows the link references that titles may use
	headings []heading
	html     *htmlHeading // an HTML heading whose end tag has not come yet
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
		raw = append(append(raw, seg.Value(o.source)...), '\n')
		if len(raw) > maxTitle {
			raw = []byte(mdtext.Cut(string(raw), maxTitle))
			break
		}
	}
	raw = headingAttributes.ReplaceAll(raw, nil)
	// A title that begins like a block, such as "1. Scope", would be parsed as one; behind a # it is inline text.
	raw = append([]byte("# "), strings.ReplaceAll(strings.TrimSpace(string(raw)), "\n", " ")...)
	root := inlineParser.Parse(text.NewReader(raw), parser.WithContext(o.context))
	var b strings.Builder
	plainText(&b, root, raw)
	return mdtext.Line(b.String())
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
