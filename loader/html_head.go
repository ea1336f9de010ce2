package loader

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// metaNames are the names and properties of meta elements that become metadata, and their names there: those of HTML,
// Open Graph and Dublin Core. Dates are kept as they are written.
var metaNames = map[string]string{
	"description": "description", "og:description": "description", "dc.description": "description", "dcterms.description": "description",
	"author": "author", "article:author": "author", "dc.creator": "author", "dcterms.creator": "author",
	"keywords": "keywords", "dc.subject": "keywords", "dcterms.subject": "keywords",
	"date": "created", "article:published_time": "created", "dc.date": "created", "dcterms.created": "created",
	"last-modified": "modified", "article:modified_time": "modified", "dcterms.modified": "modified",
	"og:site_name": "site", "application-name": "site",
}

// readHead takes title, language and metadata from a page. Of two that say the same the first counts.
func readHead(doc *rag.Document, root *html.Node) {
	meta := rag.Meta{}
	shared := "" // the title for social networks
	for n := range root.Descendants() {
		switch n.DataAtom {
		case atom.Html:
			doc.Language = languageOf(n.Attr)
		case atom.Title:
			if n.Namespace == "" && doc.Title == "" { // pictures in SVG have titles too
				doc.Title = mdtext.Line(textContent(n))
			}
		case atom.Meta:
			name := strings.ToLower(firstOf(attr(n.Attr, "name"), attr(n.Attr, "property")))
			content := mdtext.Line(attr(n.Attr, "content"))
			if key := metaNames[name]; key != "" && content != "" && meta[key] == nil {
				meta[key] = content
			}
			if name == "og:title" {
				shared = content
			}
		case atom.Link:
			if strings.EqualFold(attr(n.Attr, "rel"), "canonical") && meta["canonical"] == nil {
				if href := mdtext.Line(attr(n.Attr, "href")); href != "" {
					meta["canonical"] = href
				}
			}
		}
	}
	doc.Title = firstOf(doc.Title, shared)
	if len(meta) > 0 {
		doc.Meta = meta
	}
}

// languageOf returns the language that an html element declares; some write it with an underscore.
func languageOf(attrs []html.Attribute) string {
	for _, key := range []string{"lang", "xml:lang"} {
		if lang := strings.TrimSpace(attr(attrs, key)); lang != "" {
			return strings.ReplaceAll(lang, "_", "-")
		}
	}
	return ""
}

// baseOf returns the URI that the addresses in a page are relative to: that of its base element, else the page's own;
// nil if there is none.
func baseOf(root *html.Node, page string) *url.URL {
	base, err := url.Parse(page)
	if err != nil {
		base = nil
	}
	href, err := url.Parse(baseHref(root))
	switch {
	case err != nil || href.String() == "":
		return base
	case base != nil:
		return base.ResolveReference(href)
	}
	return href
}

// baseHref is the address that a page's base element names, "" if there is none.
func baseHref(root *html.Node) string {
	for n := range root.Descendants() {
		if href := strings.TrimSpace(attr(n.Attr, "href")); n.DataAtom == atom.Base && href != "" {
			return href
		}
	}
	return ""
}

// textContent is all text below a node, as it is.
func textContent(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}
