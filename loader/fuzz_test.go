package loader_test

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"

	"github.com/seed-d8745b77/rag"
)

// fuzzLoader checks that any bytes give a well-formed document (mustLoad and load check that) or an error of a kind.
func fuzzLoader(f *testing.F, l rag.Loader, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
		f.Add([]byte(strings.ReplaceAll(s, "\n", "\r\n")))
	}
	f.Add(utf16(f, seeds[0], unicode.LittleEndian, unicode.UseBOM))
	f.Add(gb18030(f, chinese))
	f.Add(windows1252(f, french))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := load(t, l, data); err != nil && !errors.Is(err, rag.ErrInvalid) && !errors.Is(err, rag.ErrUnsupported) {
			t.Errorf("an error of no kind: %v", err)
		}
		for _, format := range l.(rag.Formatter).Formats() {
			if format.Match != nil {
				format.Match(data)
			}
		}
	})
}

func FuzzText(f *testing.F) {
	fuzzLoader(f, newText(), "plain\ftext\n", "\ufeff\ufeff\r", "a\x00b", "\xff\xfe", "\xff\xfe\x00\x00a")
}

func FuzzMarkdown(f *testing.F) {
	fuzzLoader(f, newMarkdown(), markdownPage, "+++\na = [[1], {b = 2}]\n+++\n", "---\n1: {a: [b]}\n? [x]\n: y\n---\n",
		"<h1>\n\n*x*\n\n</h1>", "# [a][b]\n\n[b]: c", "a\n===\n\n| x |\n|---|\n", "term\n: # x\n\n[^1]: y", "<h1>a</h1><h2>b", "# \ufeff\n#\u200b\n")
}

func FuzzHTML(f *testing.F) {
	fuzzLoader(f, newHTML(), sphinxPage, "<table><tr><td rowspan=3 colspan=2>a<td><table><tr><td>b", "<dl><dt id=a.b>b<dd><dl><dt id=c>c",
		"<ul><li><ol start=9><li><pre>x\ny", "<h1>a<h2>\ufeff<p># b<p>```", "<p>&#13;&#xFEFF;&#0;", "<math><annotation encoding=tex>&#13;", "<frameset>", "<main><h1>x")
}
