package loader

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// list writes a list; items follow one another without blank lines. A list within an item is its child.
func (h *htmlWalk) list(n *html.Node) {
	number := 1
	if start, err := strconv.Atoi(attr(n.Attr, "start")); err == nil {
		number = start
	}
	first := true
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode || h.content.dropped(c) {
			continue
		}
		if c.DataAtom != atom.Li {
			h.node(c)
			h.flush()
			continue
		}
		marker := "- "
		if n.DataAtom == atom.Ol {
			marker = strconv.Itoa(number) + ". "
			number++
		}
		h.out.tight = !first || insideItem(n)
		first = false
		h.out.nest(marker, strings.Repeat(" ", len(marker)), func() { h.children(c); h.flush() })
	}
	h.out.tight = false
}

// isContents reports whether a list is a table of contents: three links or more to places in the page itself, and
// hardly any other text.
func isContents(list *html.Node) bool {
	links, linked, total := 0, 0, 0
	for n := range list.Descendants() {
		switch {
		case n.Type == html.TextNode:
			total += len(strings.TrimSpace(n.Data))
		case n.DataAtom != atom.A:
		case !strings.HasPrefix(attr(n.Attr, "href"), "#"):
			return false
		default:
			links++
			linked += len(mdtext.Line(textContent(n)))
		}
	}
	return links >= 3 && 10*linked >= 9*total
}

// insideItem reports whether a list stands in an item of another.
func insideItem(n *html.Node) bool {
	return n.Parent != nil && n.Parent.DataAtom == atom.Li
}

// definitions writes a definition list: API entries as sections, fields as "Name: text", other terms with their
// definitions behind a colon.
func (h *htmlWalk) definitions(dl *html.Node) {
	fields := hasClass(dl, "field-list")
	entries := 0 // of the group of dt before a dd
	lastWasTerm := false
	for _, n := range definitionParts(dl, nil) {
		switch {
		case h.content.dropped(n):
		case n.DataAtom == atom.Dd && entries > 0:
			h.entry++
			h.children(n)
			h.flush()
			h.entry = max(0, h.entry-1)
			lastWasTerm = false
		case n.DataAtom == atom.Dd:
			h.out.tight = lastWasTerm
			h.definition(n, fields)
			lastWasTerm = false
		case isEntry(dl, n):
			if !lastWasTerm {
				entries = 0
			}
			entries++
			h.apiEntry(n)
			lastWasTerm = true
		default:
			entries = 0
			h.out.tight = lastWasTerm
			h.term(n, fields)
			lastWasTerm = true
		}
	}
}

// definitionParts returns the dt and dd of a list in order; they may be grouped in div elements.
func definitionParts(dl *html.Node, parts []*html.Node) []*html.Node {
	for c := dl.FirstChild; c != nil; c = c.NextSibling {
		switch c.DataAtom {
		case atom.Dt, atom.Dd:
			parts = append(parts, c)
		case atom.Div:
			parts = definitionParts(c, parts)
		}
	}
	return parts
}

// term writes a dt that is no API entry; a field's name gets its colon.
func (h *htmlWalk) term(dt *html.Node, field bool) {
	text := h.plain(dt)
	if field && text != "" && !strings.HasSuffix(text, ":") {
		text += ":"
	}
	h.block(paragraph(text))
}

// definition writes a dd that belongs to no API entry.
func (h *htmlWalk) definition(dd *html.Node, field bool) {
	body := func() { h.children(dd); h.flush() }
	if field {
		body()
		return
	}
	h.out.nest(": ", "  ", body)
}

// plainLists are classes of definition lists whose terms are no API entries though they may have an id.
var plainLists = stringSet("footnote", "citation", "field-list", "option-list", "glossary", "simple", "docutils")

// isEntry reports whether a dt documents a symbol: it has an id, and it or its list says so by a class, or the id
// ends with a word of the term.
func isEntry(dl, dt *html.Node) bool {
	id := attr(dt.Attr, "id")
	if id == "" {
		return false
	}
	if hasClass(dt, "sig") {
		return true
	}
	classes := strings.Fields(attr(dl.Attr, "class"))
	for _, class := range classes {
		if plainLists[class] {
			return false
		}
	}
	return len(classes) > 0 || symbolIn(id, mdtext.Line(textContent(dt)))
}

// symbolIn reports whether the last part of a dotted name occurs in a signature.
func symbolIn(id, signature string) bool {
	return strings.Contains(signature, id[strings.LastIndexByte(id, '.')+1:])
}

// apiEntry opens the section of a symbol, one level below the heading or entry it stands under: the symbol's full
// name, which is the anchor's id where that is readable, then the signature.
func (h *htmlWalk) apiEntry(dt *html.Node) {
	signature := h.plain(dt)
	if signature == "" {
		return
	}
	symbol := attr(dt.Attr, "id")
	if !symbolIn(symbol, signature) { // a made-up anchor, such as a mangled C++ name
		symbol, _, _ = strings.Cut(signature, "(")
	}
	if symbol = mdtext.Line(symbol); symbol == "" {
		symbol = signature
	}
	h.open(h.level+h.entry+1, symbol)
	h.block(paragraph(signature))
}
