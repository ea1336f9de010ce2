package loader

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// inline collects running text: white space, no-break spaces included, becomes single blanks; invisible characters
// go. The zero value is ready.
type inline struct {
	b    strings.Builder
	last rune // written last; 0 at the beginning
	gap  bool // white space was seen since
	word bool // what was written last is a word of its own: a letter or digit does not go on with it
}

// write adds text.
func (in *inline) write(s string) {
	for _, r := range s {
		switch {
		case mdtext.Invisible(r):
		case unicode.IsSpace(r):
			in.gap = true
		default:
			if in.word && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
				in.gap = true
			}
			in.word = false
			if in.gap && in.last != 0 && in.last != '\n' {
				in.b.WriteByte(' ')
			}
			in.b.WriteRune(r)
			in.last, in.gap = r, false
		}
	}
}

// words adds text that is not joined with letters before and behind it.
func (in *inline) words(s string) {
	if s == "" {
		return
	}
	in.word = unicode.IsLetter(in.last) || unicode.IsDigit(in.last)
	in.write(s)
	in.word = true
}

// lineBreak begins a new line.
func (in *inline) lineBreak() {
	if in.last != 0 {
		in.b.WriteByte('\n')
		in.last = '\n'
	}
	in.gap = false
}

// separate puts a mark between what was written and what comes, unless a mark or nothing is there.
func (in *inline) separate(mark string) {
	if in.last != 0 && !strings.ContainsRune(",;:\n", in.last) {
		in.gap = false
		in.write(mark)
	}
	in.gap = true
}

// afterDigit reports whether a digit was written last.
func (in *inline) afterDigit() bool { return !in.gap && in.last >= '0' && in.last <= '9' }

// take returns the text so far, trimmed, and begins anew.
func (in *inline) take() string {
	s := strings.TrimRight(in.b.String(), "\n")
	*in = inline{}
	return s
}

// takeLine is take with line breaks as blanks.
func (in *inline) takeLine() string { return strings.ReplaceAll(in.take(), "\n", " ") }

// mathText returns a formula as its TeX source where the page carries it, else as plain text.
func mathText(math *html.Node) string {
	for n := range math.Descendants() {
		if n.Data == "annotation" && strings.Contains(attr(n.Attr, "encoding"), "tex") {
			return textContent(n)
		}
	}
	if alt := attr(math.Attr, "alttext"); alt != "" {
		return alt
	}
	return textContent(math)
}

// preText returns preformatted text as it is displayed.
func preText(pre *html.Node) string {
	var b strings.Builder
	writePre(&b, pre)
	return strings.TrimRight(strings.TrimLeft(strings.ReplaceAll(b.String(), "\u00a0", " "), "\n"), " \t\n")
}

func writePre(b *strings.Builder, n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode:
			b.WriteString(strings.Map(dropInvisible, c.Data))
		case c.Type != html.ElementNode || judge(c) != keep:
		case c.DataAtom == atom.Br:
			b.WriteByte('\n')
		default:
			writePre(b, c)
		}
	}
}

func dropInvisible(r rune) rune {
	if mdtext.Invisible(r) {
		return -1
	}
	return r
}

// languageAbove is how many elements around pre may tell its language: Sphinx and others wrap it twice.
const languageAbove = 3

// codeLanguage returns the language of preformatted text as its classes tell, "" if they do not.
func codeLanguage(pre *html.Node) string {
	var nodes []*html.Node
	for n := pre; n != nil && len(nodes) <= languageAbove; n = n.Parent {
		nodes = append(nodes, n)
	}
	if c := pre.FirstChild; c != nil && c.DataAtom == atom.Code {
		nodes = append([]*html.Node{c}, nodes...)
	}
	for _, n := range nodes {
		if lang := attr(n.Attr, "data-lang"); languageName(lang) {
			return lang
		}
		classes := strings.Fields(attr(n.Attr, "class"))
		for i, class := range classes {
			if lang := classLanguage(class); languageName(lang) {
				return lang
			}
			if class == "sourceCode" && i+1 < len(classes) && languageName(classes[i+1]) { // pandoc
				return classes[i+1]
			}
		}
	}
	return ""
}

// classLanguage takes the language out of a class name.
func classLanguage(class string) string {
	for _, prefix := range []string{"language-", "lang-", "highlight-source-", "highlight-"} {
		if lang, ok := strings.CutPrefix(class, prefix); ok {
			return lang
		}
	}
	return ""
}

// languageName reports whether a name can stand behind a fence: short, of letters, and not one that says "none".
func languageName(name string) bool {
	switch name {
	case "", "default", "none", "text", "plaintext", "notranslate", "plain", "nohighlight":
		return false
	}
	const longest = 20
	return len(name) <= longest && strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789+#-_.") == ""
}
