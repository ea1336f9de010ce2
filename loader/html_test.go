package loader_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/charmap"

	"github.com/seed-d8745b77/rag"
)

const sphinxPage = `<!DOCTYPE html>
<html lang="en"><head><title>API &#8212; Docs</title><meta name="description" content="All  calls"><meta name="author" content="A. Writer"></head>
<body><div class="related"><a href="/">Home</a></div>
<div class="sphinxsidebar"><p>Sidebar words</p></div>
<div class="body" role="main">
<h1>Interface<a class="headerlink" href="#x">¶</a></h1>
<p>Main   functions.</p>
<dl class="py function">
<dt class="sig sig-object py" id="lib.get"><span class="sig-prename">lib.</span><span>get</span>(<em>url</em>, <em>**kw</em>)<a href="s.html"><span class="viewcode-link">[source]</span></a><a class="headerlink" href="#lib.get">¶</a></dt>
<dd><p>Sends a <em>GET</em> request.</p>
<dl class="field-list simple"><dt class="field-odd">Parameters</dt><dd class="field-odd"><ul><li><p><strong>url</strong> – where to</p></li></ul></dd>
<dt class="field-even">Returns</dt><dd class="field-even"><p>a response</p></dd></dl>
<div class="highlight-python notranslate"><div class="highlight"><pre><span></span><span>&gt;&gt;&gt; </span>get("x")
&lt;Response&gt;
</pre></div></div></dd></dl>
<dl class="py class"><dt class="sig" id="lib.Session"><em class="property">class </em>lib.Session</dt>
<dd><dl class="py method"><dt class="sig" id="lib.Session.close">close()</dt><dd><p>Closes it.</p></dd></dl></dd></dl>
<h2>Notes</h2><p>End.</p>
</div><footer>Copyright</footer></body></html>`

func TestSphinxEntries(t *testing.T) {
	doc := mustLoad(t, newHTML(), sphinxPage)
	want := `# Interface

Main functions.

## lib.get

lib.get(url, **kw)

Sends a GET request.

Parameters:

- url – where to

Returns:
a response

` + "```python\n>>> get(\"x\")\n<Response>\n```" + `

## lib.Session

class lib.Session

### lib.Session.close

close()

Closes it.

## Notes

End.
`
	if diff := cmp.Diff(want, doc.Text); diff != "" {
		t.Error(diff)
	}
	outline := []string{"1 Interface @ # Interface", "2 lib.get @ ## lib.get", "2 lib.Session @ ## lib.Session", "3 lib.Session.close @ ### lib.Session.close", "2 Notes @ ## Notes"}
	if diff := cmp.Diff(outline, outlineOf(doc)); diff != "" {
		t.Error(diff)
	}
	if doc.Title != "API — Docs" || doc.Language != "en" || doc.State != rag.StateOK {
		t.Errorf("title %q, language %q, state %q", doc.Title, doc.Language, doc.State)
	}
	if diff := cmp.Diff(rag.Meta{"description": "All calls", "author": "A. Writer"}, doc.Meta); diff != "" {
		t.Error(diff)
	}
}

func TestHTMLBlocks(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"white space", "<p>a\n  b&nbsp;&nbsp;c\u200bd</p>", "a b cd"},
		{"inline elements join", "<p><b>bold</b>ly <code>x = 1</code>, <a href='http://u'>a link</a>.</p>", "boldly x = 1, a link."},
		{"entities", "<p>&lt;tag&gt; &amp; &eacute; &#x4E2D;</p>", "<tag> & é 中"},
		{"line break", "<p>one<br>two<br/> three</p>", "one\ntwo\nthree"},
		{"blocks", "<div>a<div>b</div>c</div><section>d</section>", "a\n\nb\n\nc\n\nd"},
		{"headings", "<h2>Two <small>x</small></h2><p>t<h3></h3>", "## Two x\n\nt"},
		{"list", "<ul><li>a<li><p>b</p><p>c</p><li>d<ol start=3><li>e<li>f</ol></ul>", "- a\n- b\n\n  c\n- d\n  3. e\n  4. f"},
		{"list without text", "<ul><li></li><li> <ul><li>x</ul></ul>", "- - x"},
		{"quote", "<blockquote><p>a</p><p>b</p></blockquote>c", "> a\n>\n> b\n\nc"},
		{"page in XML", `<?xml version="1.0"?><html><head><title/><script src="s.js"/></head><body><p>a<br/>b</p><p/><p>c</p></body></html>`, "a\nb\n\nc"},
		{"quote below text", "<p>a</p><blockquote>b</blockquote><ul><li>c<blockquote>d</blockquote></ul>", "a\n\n> b\n\n- c\n\n  > d"},
		{"code", "<pre><code class=\"language-go\">\nfunc f() {\n\treturn\n}\n</code></pre>", "```go\nfunc f() {\n\treturn\n}\n```"},
		{"code with quotes", "<pre>a ``` b</pre>", "````\na ``` b\n````"},
		{"code in a list", "<ol><li>do<pre>x\n\ny</pre></li></ol>", "1. do\n\n   ```\n   x\n\n   y\n   ```"},
		{"GitHub code", "<div class='highlight highlight-source-shell'><pre>ls<br>pwd</pre></div>", "```shell\nls\npwd\n```"},
		{"code beside line numbers", "<table class=highlighttable><tr><td class=linenos><pre>1\n2</pre></td><td class=code><pre>a\nb</pre></td></tr></table>", "```\na\nb\n```"},
		{"definition list", "<dl><dt>HTTP</dt><dd>A protocol.</dd><dt>URL</dt><dd><p>An address.</p><p>More.</p></dd></dl>", "HTTP\n: A protocol.\n\nURL\n: An address.\n\n  More."},
		{"glossary", "<dl class=glossary><dt id=term-WSGI>WSGI</dt><dd>An interface.</dd></dl>", "WSGI\n: An interface."},
		{"grouped definitions", "<dl><div><dt>a</dt><dd>b</dd></div></dl>", "a\n: b"},
		{"mangled anchor", "<dl class='cpp function'><dt class=sig id=_CPPv43addii>int add(int a, int b)</dt><dd>Adds.</dd></dl>", "# int add\n\nint add(int a, int b)\n\nAdds."},
		{"two signatures", "<dl class='py'><dt class=sig id=m.a>a(x)</dt><dt class=sig id=m.b>b(x)</dt><dd>Both.</dd></dl>", "# m.a\n\na(x)\n\n# m.b\n\nb(x)\n\nBoth."},
		{"picture", "<p>see <img alt='a duck' src=x> <img alt='' src=y><img alt=photo-1.jpg src=z></p>", "see a duck"},
		{"power", "<p>10<sup>6</sup> m<sup>2</sup> H<sub>2</sub>O 1<sup>st</sup></p>", "10^6 m2 H2O 1st"},
		{"formula", "<p>so <math><semantics><mi>x</mi><annotation encoding='application/x-tex'>x^2</annotation></semantics></math>.</p>", "so x^2."},
		{"no accidental heading or fence", "<p># not a heading</p><p>```</p>", "\\# not a heading\n\n\\```"},
		{"figure", "<figure><img alt='Plan' src=x><figcaption>The plan.</figcaption></figure>", "Plan\n\nThe plan."},
		{"hidden", "<p hidden>a</p><p style='display: none'>b</p><p aria-hidden=true>c</p><p>d</p>", "d"},
		{"scripts", "<script>a</script><style>b</style><noscript>c</noscript><template>d</template><svg><title>e</title></svg><p>f</p>", "f"},
		{"unclosed tags", "<p>a<div>b<b>c<p>d", "a\n\nbc\n\nd"},
		{"permalinks", "<h2>Use<a href='#use'>#</a> <a href='#use' title='Permalink'>¶</a></h2>", "## Use"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want+"\n", mustLoad(t, newHTML(), c.in).Text); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHTMLTables(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"header", "<table><caption>Ducks</caption><thead><tr><th>a<th>b</thead><tr><td>1<td>2|3</table>", "Ducks\n\n| a | b |\n| --- | --- |\n| 1 | 2\\|3 |"},
		{"no header", "<table><tr><td>a<td>b<tr><td>1<td>2</table>", "| a | b |\n| --- | --- |\n| 1 | 2 |"},
		{"header column", "<table><tr><th>a<td>1<tr><th>b<td>2</table>", "|  |  |\n| --- | --- |\n| a | 1 |\n| b | 2 |"},
		{"colspan", "<table><tr><th colspan=2>a<th>b<tr><td>1<td>2<td>3</table>", "| a | a | b |\n| --- | --- | --- |\n| 1 | 2 | 3 |"},
		{"rowspan does not shift", "<table><tr><th>a<th>b<tr><td rowspan=2>x<td>1<tr><td>2<tr><td>y<td>3</table>", "| a | b |\n| --- | --- |\n| x | 1 |\n| x | 2 |\n| y | 3 |"},
		{"rowspan and colspan", "<table><tr><th>a<th>b<th>c<tr><td>1<td rowspan=2 colspan=2>x<tr><td>2</table>", "| a | b | c |\n| --- | --- | --- |\n| 1 | x | x |\n| 2 | x | x |"},
		{"two header rows", "<table><thead><tr><th rowspan=2>n<th colspan=2>size<tr><th>w<th>h</thead><tr><td>1<td>2<td>3</table>", "| n | size w | size h |\n| --- | --- | --- |\n| 1 | 2 | 3 |"},
		{"rich cells", "<table><tr><th>a<th>b<tr><td><p>x</p><p>y</p><td><ul><li>p<li>q</ul><br>r</table>", "| a | b |\n| --- | --- |\n| x y | p; q r |"},
		{"nested in data", "<table><tr><th>a<th>b<tr><td>x<td><table><tr><td>1<td>2<tr><td>3<td>4</table></table>", "| a | b |\n| --- | --- |\n| x | 1, 2; 3, 4 |"},
		{"layout with headings", "<table><tr><td><h1>T</h1><td><p>a</p><p>b</p></table>", "# T\n\na\n\nb"},
		{"layout around data", "<table><tr><td>menu<td><table><tr><td>1<td>2<tr><td>3<td>4</table></table>", "menu\n\n| 1 | 2 |\n| --- | --- |\n| 3 | 4 |"},
		{"one column", "<table><tr><td>a<tr><td>b</table>", "a\n\nb"},
		{"empty rows", "<table><tr><td>a<td>b<tr><td> <td>&nbsp;<tr><td>1<td>2</table>", "| a | b |\n| --- | --- |\n| 1 | 2 |"},
		{"silly spans", "<table><tr><td colspan=0>a<td rowspan=-3>b<td colspan=x>c</table>", "| a | b | c |\n| --- | --- | --- |"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want+"\n", mustLoad(t, newHTML(), c.in).Text); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHTMLMainContent(t *testing.T) {
	long := strings.Repeat("word ", 100)
	for _, c := range []struct{ name, in, want string }{
		{"main", "<nav>n</nav><main><p>a</p></main><aside>s</aside>", "a"},
		{"role", "<div>menu</div><div role=main><p>" + long + "</p></div>", strings.TrimSpace(long)},
		{"article", "<div>menu</div><article><p>" + long + "</p><footer>by</footer></article>", strings.TrimSpace(long)},
		{"several articles", "<article>a</article><article>b</article>", "a\n\nb"},
		{"empty main", "<main></main><p>a</p>", "a"},
		{"teaser", "<article>t</article><p>" + long + "</p>", "t\n\n" + strings.TrimSpace(long)},
		{"banner above main", "<header><h1>Site</h1><nav>n</nav></header><main><h2>T</h2><p>a</p></main>", "## T\n\na"},
		{"contents by ID", "<div id=_table_of_contents><h2>Table of contents</h2><ul><li><a href='#a'>A</a></ul></div><p>" + long + "</p>", strings.TrimSpace(long)},
		{"contents by links", "<ul><li><a href='#a'>A</a><li><a href='#b'>B</a><ul><li><a href='#c'>C</a></ul></ul><p>a", "a"},
		{"links elsewhere", "<ul><li><a href='a'>A</a><li><a href='b'>B</a><li><a href='c'>C</a></ul>", "- A\n- B\n- C"},
		{"wrapper with a sidebar", "<div class=has-sidebar>a</div><p>" + long + "</p>", "a\n\n" + strings.TrimSpace(long)},
		{"header of the page", "<header>Site <a>x</a></header><p>a</p>", "a"},
		{"header of an article", "<article><header><h1>T</h1><p>by me</p></header><p>a</p></article>", "# T\n\nby me\n\na"},
		{"aside with text", "<main><p>a</p><aside>Note: mind <a href=x>it</a>.</aside></main>", "a\n\nNote: mind it."},
		{"aside with links", "<main><p>a</p><aside><a href=x>one</a> <a href=y>two</a></aside></main>", "a"},
		{"class that misleads", "<div class=sidebar><p>" + long + "</p></div><p>a</p>", strings.TrimSpace(long) + "\n\na"},
		{"class of furniture", "<div class='toc'><ul><li>One</ul></div><p>" + long + "</p>", strings.TrimSpace(long)},
		{"section named like furniture", "<section id=footer><h2>Footer</h2><p>a</p></section><p>" + long + "</p>", "## Footer\n\na\n\n" + strings.TrimSpace(long)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want+"\n", mustLoad(t, newHTML(), c.in).Text); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHTMLTitle(t *testing.T) {
	for in, want := range map[string]string{
		"<title> A &amp;\n B </title><h1>H</h1>":         "A & B",
		"<h2>x</h2><h1>H</h1>":                           "H",
		"<p>x</p>":                                       "",
		"<body><svg><title>icon</title></svg><h1>H</h1>": "H",
	} {
		if got := mustLoad(t, newHTML(), in).Title; got != want {
			t.Errorf("%s: title %q, want %q", in, got, want)
		}
	}
}

func TestHTMLEncodings(t *testing.T) {
	for _, c := range []struct {
		name string
		data []byte
		want string
		warn bool
	}{
		{"declared", append([]byte(`<meta charset="iso-8859-1"><p>`), windows1252(t, "déjà")...), "déjà", false},
		{"declared as gb2312", append([]byte(`<meta http-equiv="Content-Type" content="text/html; charset=gb2312"><p>`), gb18030(t, "朱镕基")...), "朱镕基", false},
		{"declared wrongly as UTF-8", append([]byte(`<meta charset="utf-8"><p>`), windows1252(t, "le délai")...), "le délai", true},
		{"UTF-8 undeclared", []byte("<p>déjà"), "déjà", false},
		{"declared as something else", append([]byte(`<meta charset="utf-16"><p>`), "déjà"...), "déjà", false},
		{"declared by XML", append([]byte(`<?xml version="1.0" encoding="windows-1251"?><html><p>`), encode(t, charmap.Windows1251, "Договор")...), "Договор", false},
		{"guessed", append([]byte("<p>"), gb18030(t, "合同自双方签字之日起生效")...), "合同自双方签字之日起生效", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := mustLoad(t, newHTML(), string(c.data))
			if got := strings.TrimSpace(doc.Text); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if (len(doc.Warnings) > 0) != c.warn {
				t.Errorf("warnings %v", doc.Warnings)
			}
		})
	}
}

// Markup makes most of a page ASCII; its words still are of another script.
func TestHTMLInAnUnknownEncodingIsInvalid(t *testing.T) {
	page := strings.Repeat("<div class=\"paragraph\"><p>", 5) + "Договор вступает в силу с момента подписания"
	if _, err := load(t, newHTML(), encode(t, charmap.CodePage866, page)); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("got %v, want ErrInvalid", err)
	}
}

func TestHTMLMatch(t *testing.T) {
	match := newHTML().(rag.Formatter).Formats()[0].Match
	for in, want := range map[string]bool{
		"<!DOCTYPE html>\n<p>":                       true,
		"\ufeff \n<!-- c --><HTML>":                  true,
		"<?xml version=\"1.0\"?><!DOCTYPE html>":     true,
		"<head><title>":                              true,
		"<h1 align=center>Readme</h1>":               false,
		"<!-- c -->\n# Markdown":                     false,
		"# About <html>":                             false,
		"<svg xmlns=\"http://www.w3.org/2000/svg\">": false,
		"":            false,
		"\x89PNG\x00": false,
	} {
		if got := match([]byte(in)); got != want {
			t.Errorf("%q: %v, want %v", in, got, want)
		}
	}
}

// A page that would take the stack, the memory or the day is read as plain text or cut down.
func TestHostileHTML(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"open divs", strings.Repeat("<div>", 100_000) + "deep &amp; end<script>no</script>", "deep & end"},
		{"open spans", strings.Repeat("<span>", 100_000) + "deep", "deep"},
		{"open lists", strings.Repeat("<ul><li>", 50_000) + "deep", "deep"},
		{"open tables", strings.Repeat("<table><tr><td>", 30_000) + "deep", "deep"},
		{"open formatting", strings.Repeat("<font size=1><b id=x>", 200) + strings.Repeat("<p>x", 50_000), "x"},
		{"spans", "<table>" + strings.Repeat("<tr><td colspan=1000 rowspan=65534>"+strings.Repeat("x", 300)+"<td>y", 200) + "</table>", "y"},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := mustLoad(t, newHTML(), c.in)
			if !strings.Contains(doc.Text, c.want) {
				t.Errorf("%.200q does not hold %q", doc.Text, c.want)
			}
			if limit := 20*len(c.in) + 1<<20; len(doc.Text) > limit {
				t.Errorf("%d bytes of text from %d", len(doc.Text), len(c.in))
			}
		})
	}
}

func TestHTMLWithoutTextIsEmpty(t *testing.T) {
	for _, in := range []string{"", "<html><body></body></html>", "<script>x</script>", "<frameset><frame src=x></frameset>"} {
		if doc := mustLoad(t, newHTML(), in); doc.State != rag.StateEmpty {
			t.Errorf("%q: state %q, text %q", in, doc.State, doc.Text)
		}
	}
}
