package loader

import (
	"bytes"
	"context"
	"iter"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seed-d8745b77/rag"
)

// HTMLConfig sets how HTML is read.
type HTMLConfig struct {
	Encoding string `json:"encoding"`                                     // WHATWG label, over what a page declares; "": declared, else by the bytes
	MaxBytes int64  `json:"max_bytes,omitzero" range:"[1,1099511627776]"` // a larger source is ErrInvalid; 0: DefaultMaxBytes
	Links    bool   `json:"links"`                                        // links are [text](target) instead of their text alone
}

// HTML reads the main content of a page as Markdown-like text: headings as # lines, pre as fenced code, tables as
// pipe tables with row and column spans filled in, lists, definition lists. Emphasis, inline code and links are
// plain text, so that a sentence stands in the text as it is read. Navigation, scripts, link marks and the like are
// left out. In a definition list each dt with an id, as Sphinx writes for a function or class, is a section whose
// title is the symbol. A picture is its alternative text; one written into the page itself (a data: URI) or lying beside it is in
// Images too. The page's language and what its meta elements say of it are kept. It is safe for concurrent use.
type HTML struct{ cfg HTMLConfig }

var (
	_ rag.Loader    = (*HTML)(nil)
	_ rag.Formatter = (*HTML)(nil)
)

// NewHTML returns a loader of HTML. An unknown encoding is ErrInvalid.
func NewHTML(cfg HTMLConfig) (*HTML, error) {
	if err := checkEncoding(cfg.Encoding); err != nil {
		return nil, err
	}
	return &HTML{cfg}, nil
}

// Formats says: by the tags a page begins with, or by extension.
func (*HTML) Formats() []rag.Format {
	return []rag.Format{{
		Name:       "html",
		Extensions: []string{".html", ".htm", ".xhtml", ".shtml"},
		MediaTypes: []string{"text/html", "application/xhtml+xml"},
		Match:      isHTML,
	}}
}

// isHTML reports whether head begins a page: a doctype or one of the outermost elements, after comments and
// processing instructions.
func isHTML(head []byte) bool {
	d, err := decode(head, "", declaredCharset(head))
	if err != nil {
		return false
	}
	z := html.NewTokenizer(strings.NewReader(d.text))
	for {
		switch z.Next() {
		case html.CommentToken: // the tokenizer sees <?xml …?> as one too
		case html.TextToken:
			if len(bytes.TrimSpace(z.Text())) > 0 {
				return false
			}
		case html.DoctypeToken:
			return strings.HasPrefix(strings.ToLower(z.Token().Data), "html")
		case html.StartTagToken:
			name, _ := z.TagName()
			switch atom.Lookup(name) {
			case atom.Html, atom.Head, atom.Body, atom.Title, atom.Meta:
				return true
			}
			return false
		default:
			return false
		}
	}
}

// Load yields the one document of src.
func (l *HTML) Load(ctx context.Context, src rag.Source) iter.Seq2[rag.Document, error] {
	return single(ctx, src, l.cfg.MaxBytes, l.parse)
}

func (l *HTML) parse(ctx context.Context, src rag.Source, data []byte) (rag.Document, error) {
	d, err := decode(data, l.cfg.Encoding, firstOf(headerCharset(src.MediaType), declaredCharset(data)))
	if err != nil {
		return rag.Document{}, err
	}
	if isXML(d.text) {
		d.text = asHTML(d.text)
	}
	doc := rag.Document{Warnings: d.warnings}
	root, err := parseTree(ctx, d.text)
	if err != nil {
		return rag.Document{}, err
	}
	var headings []heading
	if root == nil {
		doc.Warnings = append(doc.Warnings, rag.Warning{Message: "too large or nested too deep: read without headings, lists and tables"})
		doc.Text = flatHTML(d.text)
	} else {
		w := newHTMLWalk(ctx)
		w.links, w.base = l.cfg.Links, baseOf(root, src.URI)
		w.beside = pageBeside(ctx, src, root)
		doc.Text, headings = w.read(root)
		doc.Images = w.images()
		doc.Warnings = append(doc.Warnings, w.warnings...)
		readHead(&doc, root)
	}
	if doc.Title == "" {
		doc.Title = firstTitle(headings)
	}
	doc.Sections = sections(headings, len(doc.Text))
	doc.State = d.state(doc.Text)
	return doc, ctx.Err()
}

// firstTitle is the first heading of level 1.
func firstTitle(headings []heading) string {
	for _, h := range headings {
		if h.level == 1 {
			return h.title
		}
	}
	return ""
}

// charsetWithin is how far into a page its declaration of an encoding is looked for. Browsers stop at 1024 bytes, but
// pages with a long comment at the top exist.
const charsetWithin = 4096

// charsetParameter finds the encoding in a content type or an XML declaration.
var charsetParameter = regexp.MustCompile(`(?i)(?:charset|encoding)\s*=\s*["']?([a-z0-9_:.-]+)`)

// headerCharset returns the encoding that a media type names, such as "text/html; charset=utf-8"; "" if it names none.
func headerCharset(mediaType string) string {
	_, params, _ := strings.Cut(mediaType, ";")
	if m := charsetParameter.FindStringSubmatch(params); m != nil {
		return m[1]
	}
	return ""
}

// declaredCharset returns the encoding that a page names in a meta element or an XML declaration, "" if there is none.
func declaredCharset(data []byte) string {
	z := html.NewTokenizer(bytes.NewReader(data[:min(len(data), charsetWithin)]))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.CommentToken: // <?xml … ?>
			if text := z.Text(); bytes.HasPrefix(text, []byte("?xml")) {
				if m := charsetParameter.FindSubmatch(text); m != nil {
					return string(m[1])
				}
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			if token.DataAtom != atom.Meta {
				continue
			}
			if name := strings.TrimSpace(attr(token.Attr, "charset")); name != "" {
				return name
			}
			if strings.EqualFold(attr(token.Attr, "http-equiv"), "content-type") {
				if m := charsetParameter.FindStringSubmatch(attr(token.Attr, "content")); m != nil {
					return m[1]
				}
			}
		}
	}
}
