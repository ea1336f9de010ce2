package loader

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// htmlHeading is an HTML heading in Markdown while its text is being collected.
type htmlHeading struct {
	level int
	start int
	title strings.Builder
}

// add appends text to the title, up to maxTitle bytes.
func (h *htmlHeading) add(text string) {
	if room := maxTitle - h.title.Len(); room > 0 {
		h.title.WriteString(mdtext.Cut(text, room))
	}
}

// htmlBlock finds h1 to h6 in a block of HTML, which is opaque to the Markdown parser. Many README files write
// their centred title that way. A heading may reach over blank lines, and so over several blocks.
func (o *outline) htmlBlock(n *ast.HTMLBlock) {
	start, end := blockRange(n)
	raw := string(o.source[start:end])
	z := html.NewTokenizer(strings.NewReader(raw))
	offset := start
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return
		}
		at := offset
		offset += len(z.Raw())
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			o.startTag(z.Token(), at)
		case html.EndTagToken:
			if token := z.Token(); headingLevel(token.DataAtom) > 0 {
				o.endHeading()
			}
		case html.TextToken:
			if o.html != nil {
				o.html.add(z.Token().Data)
			}
		}
	}
}

// blockRange returns the bytes that an HTML block takes in its source.
func blockRange(n *ast.HTMLBlock) (start, end int) {
	lines := n.Lines()
	if lines.Len() > 0 {
		start, end = lines.At(0).Start, lines.At(lines.Len()-1).Stop
	}
	if n.HasClosure() {
		if lines.Len() == 0 {
			start = n.ClosureLine.Start
		}
		end = n.ClosureLine.Stop
	}
	return start, end
}

func (o *outline) startTag(token html.Token, at int) {
	if level := headingLevel(token.DataAtom); level > 0 {
		o.endHeading()
		start := lineStart(o.source, at)
		if n := len(o.headings); n > 0 && o.headings[n-1].start >= start { // two in one line
			start = at
		}
		o.html = &htmlHeading{level: level, start: start}
		return
	}
	if o.html == nil {
		return
	}
	switch token.DataAtom {
	case atom.Br:
		o.html.add(" ")
	case atom.Img:
		o.html.add(" " + attr(token.Attr, "alt") + " ")
	}
}

// endHeading closes the open heading, if any, and keeps it if it says something.
func (o *outline) endHeading() {
	if o.html == nil {
		return
	}
	if title := mdtext.Line(o.html.title.String()); title != "" {
		o.headings = append(o.headings, heading{o.html.level, title, o.html.start})
	}
	o.html = nil
}

// headingLevel returns 1 to 6 for h1 to h6 and 0 for other elements.
func headingLevel(a atom.Atom) int {
	switch a {
	case atom.H1:
		return 1
	case atom.H2:
		return 2
	case atom.H3:
		return 3
	case atom.H4:
		return 4
	case atom.H5:
		return 5
	case atom.H6:
		return 6
	}
	return 0
}

// attr returns the value of an attribute, "" if it is not there.
func attr(attrs []html.Attribute, key string) string {
	for _, a := range attrs {
		if a.Key == key && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

// rawTagText returns what a tag within Markdown shows: a picture's alternative text, a blank for a line break.
func rawTagText(n *ast.RawHTML, source []byte) string {
	var raw strings.Builder
	for i := range n.Segments.Len() {
		seg := n.Segments.At(i)
		raw.Write(seg.Value(source))
	}
	z := html.NewTokenizer(strings.NewReader(raw.String()))
	z.Next()
	switch token := z.Token(); token.DataAtom {
	case atom.Br:
		return " "
	case atom.Img:
		return attr(token.Attr, "alt")
	}
	return ""
}
