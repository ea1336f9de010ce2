package browser

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seed-d8745b77/rag"
)

// attacks are texts that would run where they are put into a page as they stand: into its text, an attribute, a script, a URL.
var attacks = []string{
	`<script>window.__pwned=1</script>`,
	`"><img src=x onerror="window.__pwned=2">`,
	`' onmouseover='window.__pwned=3' x='`,
	`</textarea></title></script><svg onload=window.__pwned=4>`,
	`javascript:window.__pwned=5`,
	"{{7*7}} ${window.__pwned=6} \u202e\u2028\u0007\u001b[31m",
}

// hostile is a text with all of them.
var hostile = strings.Join(attacks, " ")

// Documents whose text, title, name and fields attack the reader are shown, and do nothing; so are questions.
func TestHostileDocumentsAreShownHarmlessly(t *testing.T) {
	s := start(t, nil)
	quoted := strings.NewReplacer(`'`, `''`, "\u0007", "", "\u001b", "").Replace(hostile)
	text := "---\ntitle: '" + quoted + "'\nauthor: '" + quoted + "'\n---\n# " + hostile + "\n\nThe opal is a stone. " + hostile + "\n"
	uri := "evil/" + url.PathEscape(hostile) + ".md"
	s.ingest(t, rag.Bytes(uri, []byte(text)), rag.Bytes("evil/"+attacks[1]+".md", []byte("An opal "+hostile)), rag.Bytes("page.html", []byte("<p>An opal in HTML <script>window.__pwned=7</script><b onclick='window.__pwned=8'>bold</b></p>")))
	asked := s.search(t, rag.Query{Text: "opal " + hostile})
	other := s.search(t, rag.Query{Text: "opal", Mode: rag.Sparse})
	chunk := ""
	if res, err := s.eng.Search(t.Context(), rag.Query{Text: "opal stone"}); err != nil {
		t.Fatal(err)
	} else {
		chunk = res.Hits[0].Chunk.ID
	}
	q := url.QueryEscape
	b := s.open(t)
	b.allow("status of 404") // addresses below that name what is not there
	b.allow("status of 400")
	doc := "/browse/default/doc?uri=" + q(uri)
	for _, path := range []string{
		"/", "/browse", "/browse?q=opal", "/browse?q=" + q(hostile), "/browse?filter=" + q(hostile), "/browse?prefix=" + q(hostile), "/browse?collection=" + q(hostile),
		doc, doc + "&tab=chunks", doc + "&tab=metadata", doc + "&tab=pictures", doc + "&chunk=" + chunk,
		"/ingest", "/traces/ingest", "/traces/ingest?q=" + q(hostile),
		"/traces/query", "/traces/query?q=" + q(hostile), "/traces/query/" + asked, "/traces/query/" + asked + "?doc=" + q(hostile),
		"/traces/query/explain?question=" + q("opal "+hostile) + "&chunk=" + chunk, "/traces/query/explain?question=opal&text=" + q(hostile),
		"/traces/query/compare?id=" + asked + "&id=" + other, "/evaluation?metric=" + q(hostile), "/login?next=" + q("javascript:window.__pwned=9"), "/" + url.PathEscape(hostile),
	} {
		b.visit(path) // and looks whether something ran
		js[bool](b, "[...document.querySelectorAll('details')].forEach((d) => { d.open = true }), true")
		hung := js[[]string](b, `[...document.querySelectorAll("main *, head *")].filter((e) => [...e.attributes].some((a) => a.name.startsWith("on") || /^\s*javascript:/i.test(a.value) && ["href", "src", "action", "formaction"].includes(a.name))).map((e) => e.outerHTML.slice(0, 200))`)
		if len(hung) > 0 {
			t.Errorf("%s has what a click would run: %q", path, hung)
		}
		b.unhurt()
	}
	b.visit(doc)
	if got := b.text(id("text")); !strings.Contains(got, attacks[0]) {
		t.Errorf("the text is not shown as it stands: %q", got)
	}
	b.visit("/traces/query/" + asked)
	b.accessible()
}

// A file's name, a collection's and a question of a test set come from people too.
func TestHostileUploads(t *testing.T) {
	s := start(t, nil)
	b := s.open(t)
	name := write(t, `x"><img src=x onerror=window.__pwned=10> 'q'.md`, "# Opal\n\nAn opal.\n"+hostile)
	b.visit("/ingest")
	b.do(chromedp.SetUploadFiles(id("pick-files"), []string{name}))
	b.leave(chromedp.Click(id("upload")))
	b.fill(id("new-collection"), `"><script>window.__pwned=11</script>`)
	b.follow(id("start"))
	b.until(state + " === 'done'")
	b.unhurt()
	b.follow(id("trace"))
	b.visit("/?collection=" + url.QueryEscape(`"><script>window.__pwned=11</script>`))
	if got := b.text(id("collections")); !strings.Contains(got, "<script>") {
		t.Errorf("the collection's name is not shown: %q", got)
	}
	b.follow(id("collections") + " th a")
	b.follow(id("document") + " a")
	b.visit("/traces/ingest")
	b.follow(id("ingest-trace") + " a")

	dir := filepath.Join(s.dir, "eval", "sets")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	question := `{"question": "<script>window.__pwned=12</script>", "answerable": false}`
	if err := os.WriteFile(filepath.Join(dir, `"><img src=x onerror=window.__pwned=13>.jsonl`), []byte(question), 0o600); err != nil {
		t.Fatal(err)
	}
	b.visit("/evaluation")
}
