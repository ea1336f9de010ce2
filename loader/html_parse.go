package loader

import (
	"context"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seed-d8745b77/rag/loader/internal/source"
)

// maxNodes bounds the tree of one page. A node takes about 150 bytes, and a page that leaves many formatting
// elements open makes the parser repeat all of them in each paragraph.
const maxNodes = 2 << 20

// emptyElement is an element without content as XML writes it.
var emptyElement = regexp.MustCompile(`<([A-Za-z][A-Za-z0-9]*)((?:\s+[^\s<>"'/=]+(?:\s*=\s*(?:"[^"]*"|'[^']*'))?)*)\s*/>`)

// voidElements have no content in HTML either.
var voidElements = atomSet(atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Link, atom.Meta,
	atom.Param, atom.Source, atom.Track, atom.Wbr)

// asHTML closes the empty elements of a page in XML. In HTML <title/> and <script/> would only be opened, and swallow the
// page.
func asHTML(text string) string {
	return emptyElement.ReplaceAllStringFunc(text, func(tag string) string {
		m := emptyElement.FindStringSubmatch(tag)
		if voidElements[atom.Lookup([]byte(strings.ToLower(m[1])))] {
			return tag
		}
		return "<" + m[1] + m[2] + "></" + m[1] + ">"
	})
}

// isXML reports a page that begins as XML does.
func isXML(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, "\ufeff \t\n"), "<?xml")
}

// parseTree parses a page. It returns nil for one that is nested deeper than the parser allows (512 elements) or
// would make a tree of more than maxNodes.
func parseTree(ctx context.Context, text string) (*html.Node, error) {
	if estimateNodes(text) > maxNodes {
		return nil, nil
	}
	root, err := html.Parse(source.Reader(ctx, strings.NewReader(text)))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, nil //nolint:nilerr // the only error a string can cause is that of nesting: the caller reads it flat
	}
	return root, nil
}

// formatting are the elements that the parser opens anew in each block until they are closed.
var formatting = atomSet(atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S,
	atom.Small, atom.Strike, atom.Strong, atom.Tt, atom.U)

// estimateNodes returns at least the number of nodes that parsing makes, roughly.
func estimateNodes(text string) int {
	z := html.NewTokenizer(strings.NewReader(text))
	nodes, open := 0, 0
	for {
		kind := z.Next()
		if kind == html.ErrorToken || nodes > maxNodes {
			return nodes
		}
		if kind != html.EndTagToken {
			nodes++
		}
		if kind == html.TextToken || kind == html.CommentToken {
			continue
		}
		name, _ := z.TagName()
		switch isFormat := formatting[atom.Lookup(name)]; {
		case isFormat && kind == html.StartTagToken:
			open++
		case isFormat && kind == html.EndTagToken:
			open = max(0, open-1)
		default:
			nodes += open
		}
	}
}

// flatHTML returns the text of a page as paragraphs, without a tree: it takes any nesting.
func flatHTML(text string) string {
	z := html.NewTokenizer(strings.NewReader(text))
	var w blockWriter
	var in inline
	var skip atom.Atom // the element whose content is being left out
	for {
		switch z.Next() {
		case html.ErrorToken:
			w.block(in.take())
			return w.text()
		case html.TextToken:
			if skip == 0 {
				in.write(string(z.Text())) // entities are resolved in Text
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			a := atom.Lookup(name)
			if skip == 0 && rawElements[a] {
				skip = a
			}
			if !inlineElements[a] {
				w.block(in.take())
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			a := atom.Lookup(name)
			if a == skip {
				skip = 0
			}
			if !inlineElements[a] {
				w.block(in.take())
			}
		}
	}
}

// rawElements hold what is not to be read; the tokenizer takes their content as one text, so they do not nest.
var rawElements = atomSet(atom.Script, atom.Style, atom.Noscript, atom.Iframe, atom.Noembed, atom.Noframes,
	atom.Textarea, atom.Title)

// inlineElements are those that do not end a paragraph.
var inlineElements = atomSet(atom.A, atom.Abbr, atom.Acronym, atom.B, atom.Bdi, atom.Bdo, atom.Big, atom.Cite, atom.Code,
	atom.Data, atom.Del, atom.Dfn, atom.Em, atom.Font, atom.I, atom.Ins, atom.Kbd, atom.Label, atom.Mark, atom.Nobr,
	atom.Q, atom.Rp, atom.Rt, atom.Ruby, atom.S, atom.Samp, atom.Small, atom.Span, atom.Strike, atom.Strong, atom.Sub,
	atom.Sup, atom.Time, atom.Tt, atom.U, atom.Var, atom.Wbr, atom.Img)

func atomSet(atoms ...atom.Atom) map[atom.Atom]bool {
	set := make(map[atom.Atom]bool, len(atoms))
	for _, a := range atoms {
		set[a] = true
	}
	return set
}
