package loader

import (
	"context"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// htmlWalk turns the content of a page into text and headings. Running text collects in inline until an element
// that is a block begins or ends. The tree is at most as deep as the parser allows, so recursion is safe.
type htmlWalk struct {
	ctx      context.Context //nolint:containedctx // lives as long as one walk
	content  content
	out      blockWriter
	inline   inline
	headings []heading
	level    int // of the last heading
	entry    int // API entries that are open
	visited  int // nodes, to look at ctx now and then

	links bool     // links are written with their targets
	base  *url.URL // what targets and pictures are relative to; nil if unknown
	*htmlPictures
}

func newHTMLWalk(ctx context.Context) *htmlWalk {
	return &htmlWalk{ctx: ctx, htmlPictures: &htmlPictures{}}
}

// read returns the text and the outline of a page. When ctx is done it returns early with what it has.
func (h *htmlWalk) read(root *html.Node) (string, []heading) {
	h.content = findContent(root)
	h.children(h.content.root)
	h.flush()
	return h.out.text(), h.headings
}

// images returns the pictures of the page, which read has found.
func (h *htmlWalk) images() []rag.Image {
	text := h.out.out.String()
	for i := range h.placed {
		h.placed[i].Offset = runeStart(text, h.placed[i].Offset)
	}
	return h.placed
}

// stopEvery is how many nodes are visited between two looks at the context.
const stopEvery = 4096

func (h *htmlWalk) children(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		h.visited++
		if h.visited%stopEvery == 0 && h.ctx.Err() != nil {
			return
		}
		h.node(c)
	}
}

func (h *htmlWalk) node(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		h.inline.write(n.Data)
	case html.ElementNode:
		if !h.content.dropped(n) {
			h.element(n)
		}
	}
}

// element writes an element that is to be read.
func (h *htmlWalk) element(n *html.Node) {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		h.flush()
		h.heading(n)
	case atom.Pre, atom.Listing, atom.Xmp:
		h.flush()
		h.block(mdtext.Fence(codeLanguage(n), preText(n)))
	case atom.Ul, atom.Menu, atom.Dir, atom.Ol:
		h.flush()
		if insideItem(n) || !isContents(n) {
			h.list(n)
		}
	case atom.Dl:
		h.flush()
		h.definitions(n)
	case atom.Table:
		h.flush()
		h.table(n)
	case atom.Blockquote:
		h.flush()
		h.out.nest("> ", "> ", func() { h.children(n); h.flush() })
	case atom.Figcaption, atom.Caption:
		h.flush()
		h.block(paragraph(h.plain(n)))
	default:
		h.inlineElement(n)
	}
}

// inlineElement writes what is part of running text, and generic blocks.
func (h *htmlWalk) inlineElement(n *html.Node) {
	switch {
	case isReference(n):
	case n.DataAtom == atom.Br:
		h.inline.lineBreak()
	case n.DataAtom == atom.Img:
		h.picture(n)
	case n.DataAtom == atom.A && h.links:
		h.link(n)
	case n.DataAtom == atom.Math:
		h.inline.write(mathText(n))
	case n.DataAtom == atom.Sup:
		h.superscript(n)
	case n.DataAtom == atom.Q:
		h.inline.write("“")
		h.children(n)
		h.inline.write("”")
	case inlineElements[n.DataAtom] || n.DataAtom == 0: // elements unknown to HTML are displayed inline
		h.children(n)
	default:
		h.flush()
		h.children(n)
		h.flush()
	}
}

// flush ends a paragraph.
func (h *htmlWalk) flush() {
	h.block(paragraph(h.inline.take()))
}

// block writes a block, and places the pictures that were met since the last one.
func (h *htmlWalk) block(text string) int {
	start := h.out.block(text)
	h.place(start, h.out.out.Len())
	return start
}

// link writes a link with its target.
func (h *htmlWalk) link(a *html.Node) {
	text := h.plain(a)
	target := strings.TrimSpace(attr(a.Attr, "href"))
	if u, err := url.Parse(target); err == nil && h.base != nil && target != "" && !strings.HasPrefix(target, "#") {
		target = h.base.ResolveReference(u).String()
	}
	h.inline.write(linkText(text, target))
}

// maxHeading is the deepest heading that Markdown can write.
const maxHeading = 6

// heading writes a heading and opens its section.
func (h *htmlWalk) heading(n *html.Node) {
	if title := h.plain(n); title != "" {
		h.level, h.entry = headingLevel(n.DataAtom), 0
		h.open(h.level, title)
	}
}

// open writes the line of a heading, or of an API entry, and opens its section.
func (h *htmlWalk) open(level int, title string) {
	title = mdtext.Line(mdtext.Cut(title, maxTitle))
	start := h.block(strings.Repeat("#", min(level, maxHeading)) + " " + title)
	h.headings = append(h.headings, heading{level, title, start})
}

// plain returns the text below n on one line: blocks are separated by blanks, list items and rows of nested tables
// by semicolons.
func (h *htmlWalk) plain(n *html.Node) string {
	sub := htmlWalk{ctx: h.ctx, content: h.content, base: h.base, htmlPictures: h.htmlPictures}
	sub.line(n)
	return sub.inline.takeLine()
}

// line adds the text below n to the running text, whatever blocks it has.
func (h *htmlWalk) line(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode:
			h.inline.write(c.Data)
		case c.Type != html.ElementNode || h.content.dropped(c):
		case c.DataAtom == atom.Img || c.DataAtom == atom.Math || c.DataAtom == atom.Br:
			h.inlineElement(c)
		case c.DataAtom == atom.Sup && h.raised(c):
			h.inline.write("^")
			h.line(c)
		case isReference(c):
		case c.DataAtom == atom.Li || c.DataAtom == atom.Tr:
			h.inline.separate("; ")
			h.line(c)
		case c.DataAtom == atom.Td || c.DataAtom == atom.Th:
			h.inline.separate(", ")
			h.line(c)
		case inlineElements[c.DataAtom] || c.DataAtom == 0:
			h.line(c)
		default:
			h.inline.write(" ")
			h.line(c)
			h.inline.write(" ")
		}
	}
}

// superscript keeps powers apart from their base, and leaves out the numbers of references.
func (h *htmlWalk) superscript(n *html.Node) {
	if h.raised(n) {
		h.inline.write("^")
	}
	h.children(n)
}

// raised reports whether a superscript is a number behind a digit, where plain text would read as one number.
func (h *htmlWalk) raised(n *html.Node) bool {
	text := mdtext.Line(textContent(n))
	return strings.Trim(text, "0123456789-−+") == "" && text != "" && h.inline.afterDigit()
}

// isReference reports an element that is only the number of a reference or footnote: in a wiki, or as programs and
// books mark it.
func isReference(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Sup:
		return hasClass(n, "reference")
	case atom.A:
		return hasClass(n, "footnote-ref") || hasClass(n, "footnote-reference") || hasClass(n, "footnote-back") ||
			attr(n.Attr, "role") == "doc-noteref" || attr(n.Attr, "role") == "doc-backlink" || attr(n.Attr, "epub:type") == "noteref"
	}
	return false
}

func hasClass(n *html.Node, class string) bool {
	for c := range strings.FieldsSeq(attr(n.Attr, "class")) {
		if c == class {
			return true
		}
	}
	return false
}
