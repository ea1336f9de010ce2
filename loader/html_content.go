package loader

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// content is the part of a page that is to be read.
type content struct {
	root    *html.Node
	extents map[*html.Node]extent // of elements whose worth depends on what they hold
}

// extent is how much an element holds.
type extent struct {
	text     int // bytes, white space apart
	linked   int // of these within links
	headings bool
}

// findContent chooses main, an element with that role, or the one article, if enough of the text is in it; else the
// body.
func findContent(root *html.Node) content {
	c := content{root: root, extents: map[*html.Node]extent{}}
	c.measure(root)
	var body, main, article *html.Node
	articles := 0
	for n := range root.Descendants() {
		switch {
		case n.Type != html.ElementNode:
		case n.DataAtom == atom.Body:
			body = n
		case isMain(n):
			if main == nil {
				main = n
			}
		case n.DataAtom == atom.Article:
			article = n
			articles++
		}
	}
	if body == nil {
		return c
	}
	c.root = body
	total := c.extents[body].text
	// A page's skeleton (main is empty until a script fills it) or a teaser must not hide the rest. In a page with
	// much around it the main part may still be small.
	switch {
	case main != nil && 10*c.extents[main].text >= total:
		c.root = main
	case articles == 1 && 3*c.extents[article].text >= total:
		c.root = article
	}
	return c
}

func isMain(n *html.Node) bool {
	return n.DataAtom == atom.Main || strings.EqualFold(attr(n.Attr, "role"), "main")
}

// measure returns the extent of a node and notes those of the elements that are weighed.
func (c *content) measure(n *html.Node) extent {
	var e extent
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		switch child.Type {
		case html.TextNode:
			e.text += len(child.Data) - strings.Count(child.Data, " ") - strings.Count(child.Data, "\n")
		case html.ElementNode:
			worth := judge(child)
			if worth == drop {
				continue
			}
			in := c.measure(child)
			if child.DataAtom == atom.A {
				in.linked = in.text
			}
			if worth == weigh || child.DataAtom == atom.Body || child.DataAtom == atom.Article || isMain(child) {
				c.extents[child] = in
			}
			e.text += in.text
			e.linked += in.linked
			e.headings = e.headings || in.headings || headingLevel(child.DataAtom) > 0
		}
	}
	return e
}

// unreadable elements hold no text of the page.
var unreadable = atomSet(atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Iframe, atom.Object, atom.Embed,
	atom.Svg, atom.Canvas, atom.Audio, atom.Video, atom.Button, atom.Select, atom.Input, atom.Textarea, atom.Datalist,
	atom.Dialog, atom.Head, atom.Noframes, atom.Noembed)

// furniture is what stands around the content of a page.
var furniture = atomSet(atom.Nav, atom.Footer)

// furnitureRoles are the ARIA roles of the same.
var furnitureRoles = stringSet("navigation", "search", "contentinfo", "complementary", "banner", "menu", "menubar",
	"toolbar", "tablist")

// markClasses are class names of what stands beside headings, entries and code, and is never content.
var markClasses = stringSet(
	"headerlink", "viewcode-link", "viewcode-back", "linenos", "linenodiv", "lineno", // Sphinx
	"header-anchor", "heading-anchor", "anchor-link", "anchorjs-link", "hash-link", "copybtn", "copy-button",
	"mw-editsection", "mw-jump-link", "mw-cite-backlink", // MediaWiki
	"rightside", "hideme", // rustdoc
	"sr-only", "visually-hidden", "screen-reader-text", "skip-link", "skiplink", "skip-to-content", "adsbygoogle")

// furnitureClasses are class names that documentation generators, wikis and blogs give to navigation.
var furnitureClasses = stringSet(
	"sphinxsidebar", "related", "contents", "localtoc", // Sphinx
	"mw-portlet", "mw-indicators", "catlinks", "printfooter", "navbox", "noprint", "vector-menu", "vector-dropdown",
	"vector-page-toolbar", "vector-column-end", // MediaWiki
	"navheader", "navfooter", "nav-panel", // DocBook, Texinfo
	"nav", "navbar", "navigation", "breadcrumb", "breadcrumbs", "pagination", "pager", "menu", "sidebar",
	"site-header", "site-footer", "site-nav", "footer", "anchor", "cookie-banner",
	"share-buttons", "social-share")

// furnitureIDs are the same as element IDs. IDs are also made from headings, so they count on containers only.
var furnitureIDs = stringSet("footer", "sidebar", "navbar", "nav", "breadcrumbs",
	"mw-navigation", "mw-panel", "siteSub", "contentSub", "comments")

func stringSet(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return set
}

// worth says whether an element is read.
type worth int

const (
	keep  worth = iota
	weigh       // it depends on what is in it
	drop
)

// judge tells an element's worth by its name and attributes.
func judge(n *html.Node) worth {
	if unreadable[n.DataAtom] || furniture[n.DataAtom] || n.DataAtom == atom.A && linkMark(n) {
		return drop
	}
	verdict := keep
	if n.DataAtom == atom.Aside || n.DataAtom == atom.Header {
		verdict = weigh
	}
	for _, a := range n.Attr {
		named := false
		switch a.Key {
		case "hidden":
			if !strings.EqualFold(a.Val, "until-found") {
				return drop
			}
		case "aria-hidden":
			if strings.EqualFold(a.Val, "true") {
				return drop
			}
		case "style":
			if hiddenStyle(a.Val) {
				return drop
			}
		case "role":
			if furnitureRoles[strings.ToLower(a.Val)] {
				return drop
			}
		case "class":
			for class := range strings.FieldsSeq(a.Val) {
				if markClasses[class] {
					return drop
				}
				named = named || furnitureName(class)
			}
		case "id":
			container := n.DataAtom == atom.Div || n.DataAtom == atom.Ul || n.DataAtom == atom.Table
			named = container && furnitureIDs[a.Val] || (container || n.DataAtom == atom.Section) && contentsName(a.Val)
		}
		if named {
			verdict = weigh
		}
	}
	return verdict
}

// dropped reports whether an element below the root is left out. One that only its class or ID speaks against is
// kept when it holds most of the text: names mislead. An aside is left out if most of it is links, a header if it
// is the page's own and no heading is in it.
func (c *content) dropped(n *html.Node) bool {
	switch judge(n) {
	case keep:
		return false
	case drop:
		return true
	}
	e := c.extents[n]
	switch n.DataAtom {
	case atom.Aside:
		return 2*e.linked > e.text
	case atom.Header:
		return !e.headings && n.Parent == c.root
	}
	return 2*e.text < c.extents[c.root].text || e.text == 0
}

// furnitureName reports a class that stands for navigation: a known one, or one that ends like it.
func furnitureName(class string) bool {
	if furnitureClasses[class] || contentsName(class) {
		return true
	}
	for _, end := range []string{"-sidebar", "-breadcrumb", "-breadcrumbs", "-navigation", "-nav", "-pagination"} {
		if strings.HasSuffix(class, end) {
			return !strings.HasPrefix(class, "has-") && !strings.HasPrefix(class, "with-") && !strings.HasPrefix(class, "no-")
		}
	}
	return false
}

// contentsName reports a class or ID that says "table of contents".
func contentsName(name string) bool {
	switch strings.Trim(strings.ReplaceAll(strings.ToLower(name), "_", "-"), "-") {
	case "toc", "page-toc", "doc-toc", "toc-container", "table-of-contents", "tableofcontents":
		return true
	}
	return false
}

// hiddenStyle reports a style attribute that takes the element out of the page.
func hiddenStyle(style string) bool {
	style = strings.ToLower(strings.ReplaceAll(style, " ", ""))
	return strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")
}

// linkMark reports a link that only points at its own heading or entry.
func linkMark(a *html.Node) bool {
	if !strings.HasPrefix(attr(a.Attr, "href"), "#") {
		return false
	}
	switch mdtext.Line(textContent(a)) {
	case "¶", "#", "§", "🔗", "\uf0c1", "Permalink", "Link to this heading":
		return true
	}
	return false
}
