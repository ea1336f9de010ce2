package dashboard

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/catalog"
	"github.com/seed-d8745b77/rag/trace"
)

// hostile is a text that would act in a page that did not write it out.
const hostile = `</title></textarea></script><script>alert(1)</script><img src=x onerror=alert(2)>"' onmouseover="alert(3)" {{.}} javascript:alert(4) &lt;b&gt;` +
	"\x00\x07\x1b[31m\u202Etxt.exe\u2066\u2028\uFEFF\u0085 <!--"

// checkHarmless reports what a page holds that it must not: scripts and styles other than the program's, handlers, addresses that
// run, and characters that act unseen. It returns the text of the page.
func checkHarmless(t *testing.T, name, body string) string {
	t.Helper()
	if i := strings.IndexFunc(body, acts); i >= 0 {
		t.Errorf("%s holds %q", name, body[max(0, i-20):min(len(body), i+20)])
	}
	root, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var text strings.Builder
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			text.WriteString(n.Data)
		}
		if n.Type == html.CommentNode {
			t.Errorf("%s has the comment %q", name, n.Data)
		}
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "script" || n.Data == "style" || n.Data == "iframe" || n.Data == "object" || n.Data == "base" {
			src := attr(n, "src")
			if n.Data != "script" || !strings.HasPrefix(src, "/assets/") || n.FirstChild != nil {
				t.Errorf("%s has <%s src=%q>", name, n.Data, src)
			}
		}
		for _, a := range n.Attr {
			switch {
			case strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "srcdoc":
				t.Errorf("%s has %s=%q on <%s>", name, a.Key, a.Val, n.Data)
			case slices.Contains([]string{"href", "src", "action", "formaction", "hx-get", "hx-post"}, a.Key) && !strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "#"):
				t.Errorf("%s links to %q by %s", name, a.Val, a.Key)
			}
		}
	}
	return text.String()
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// links returns the addresses on a page that begin so, each once.
func links(t *testing.T, body, prefix string) (all []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			if (a.Key == "href" || a.Key == "src") && strings.HasPrefix(a.Val, prefix) && !slices.Contains(all, a.Val) {
				all = append(all, a.Val)
			}
		}
	}
	return all
}

func TestHostileDocuments(t *testing.T) {
	ring := trace.NewRing(trace.RingConfig{})
	eng := engine(t, rag.WithTraceSink(ring))
	inText := strings.NewReplacer("\x00", "", "\x07", "").Replace(hostile) // loaders take what has these for no text
	meta := rag.Meta{hostile: hostile, "tags": []string{hostile}}
	src := source("file:///"+url.PathEscape(hostile)+".md", "# Heron "+inText+"\n\nThe heron "+inText+" wades.\n\n<script>alert(5)</script>\n")
	src.Title, src.Meta = hostile, meta
	odd := source("javascript:alert(6)//"+hostile, "A heron again.")
	for _, one := range []rag.Source{src, odd} {
		set := rag.Sources{All: func(yield func(rag.Source, error) bool) { yield(one, nil) }}
		if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Collection: "a&b<i>", Sources: []rag.Sources{set}}); err != nil {
			t.Fatal(err)
		}
	}
	s := server(t, eng, Options{Traces: ring})
	if _, err := eng.Search(t.Context(), rag.Query{Text: "heron " + hostile, Collection: "a&b<i>"}); err != nil {
		t.Fatal(err)
	}
	in := "collection=" + url.QueryEscape("a&b<i>")
	bad := url.QueryEscape(hostile)
	pages := []string{
		"/?" + in, "/browse?" + in, "/browse?" + in + "&q=" + url.QueryEscape("heron "+hostile), "/browse?" + in + "&filter=" + bad, "/browse?" + in + "&prefix=" + bad,
		"/browse?" + in + "&as_of=" + bad, "/browse?" + in + "&status=" + bad, "/browse?collection=" + bad, "/login?next=" + bad, "/" + url.PathEscape(hostile),
		"/validity?" + in, "/?lang=" + bad + "&theme=" + bad, "/?range=" + bad, "/browse?" + in + "&after=" + bad,
	}
	_, _, list := get(t, s, "/browse?"+in)
	docs := links(t, list, "/browse/a&b%3Ci%3E/doc")
	if len(docs) != 2 {
		t.Fatalf("the list links to %d documents %q; want 2", len(docs), docs)
	}
	for _, doc := range docs {
		pages = append(pages, doc, doc+"&tab="+bad, doc+"&chunk="+bad, doc+"&from="+bad)
		for _, tab := range tabs {
			pages = append(pages, doc+"&tab="+tab)
		}
	}
	shown := 0
	for _, page := range pages {
		code, h, body := get(t, s, page)
		if code >= 500 || !strings.HasPrefix(h.Get("Content-Type"), "text/html") {
			t.Errorf("%s: %d, %s", page, code, h.Get("Content-Type"))
		}
		text := checkHarmless(t, page, body)
		if strings.Contains(text, "<script>alert(1)</script>") {
			shown++
		}
		code, h, _ = get(t, s, strings.Replace(page+"?format=json", "?format", map[bool]string{true: "&format", false: "?format"}[strings.Contains(page, "?")], 1))
		if code >= 500 || h.Get("Content-Type") != "application/json" {
			t.Errorf("%s as JSON: %d, %s", page, code, h.Get("Content-Type"))
		}
	}
	if shown < 8 {
		t.Errorf("the script in the document is shown as text on %d pages; want 8 and more", shown)
	}
}

// source is a text with a URI.
func source(uri, text string) rag.Source {
	return rag.Source{URI: uri, MediaType: "text/plain", Size: int64(len(text)), Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text)), nil
	}}
}

// onePicture is a catalog in which every picture is the same.
type onePicture struct {
	*catalog.Memory
	data string
}

func (c onePicture) Image(context.Context, string, string) ([]byte, error) {
	return []byte(c.data), nil
}

func TestPicturesRunNothing(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		data string
		kind string
	}{
		"png":  {b.String(), "image/png"},
		"svg":  {`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`, "application/octet-stream"},
		"html": {"<!doctype html><script>alert(1)</script>", "application/octet-stream"},
	} {
		s := server(t, engine(t, rag.WithCatalog(onePicture{catalog.NewMemory(), test.data})), Options{})
		code, h, body := get(t, s, "/browse/default/image/abc")
		if code != 200 || body != test.data || h.Get("Content-Type") != test.kind || !strings.Contains(h.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%s: %d, %q, policy %q; want %q in a sandbox", name, code, h.Get("Content-Type"), h.Get("Content-Security-Policy"), test.kind)
		}
		if saved := h.Get("Content-Disposition") == "attachment"; saved != (test.kind == "application/octet-stream") {
			t.Errorf("%s is handed out to be saved: %v", name, saved)
		}
	}
}

// ofTenant is a text with a URI, and whose it is.
func ofTenant(uri, text, tenant string) rag.Sources {
	src := source(uri, text)
	src.Title, src.Meta = "About "+uri, rag.Meta{"tenant": tenant}
	return rag.Sources{All: func(yield func(rag.Source, error) bool) { yield(src, nil) }}
}

// TestAViewShowsNothingOfOthers: a dashboard over a part of the data names nothing of the rest on any page that it leads to, and
// touches no file of others.
func TestAViewShowsNothingOfOthers(t *testing.T) {
	const secret = "quetzal"
	whole := engine(t)
	mine, others := ofTenant("upload:///mine.md", "A heron wades.", "ann"), ofTenant("upload:///"+secret+".md", "A "+secret+" by the heron.", "bob")
	for collection, sets := range map[string][]rag.Sources{"default": {mine, others}, secret + "s": {others}} {
		if _, err := whole.Ingest(t.Context(), rag.IngestRequest{Collection: collection, Sources: sets}); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	kept := filepath.Join(dir, "default", secret+".md")
	if err := errors.Join(os.Mkdir(filepath.Dir(kept), 0o700), os.WriteFile(kept, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	var id string
	for c, err := range whole.Chunks(t.Context(), "default", rag.Eq("tenant", "bob")) {
		if err != nil {
			t.Fatal(err)
		}
		id = c.ID
	}
	s := server(t, whole.Scoped(rag.Eq("tenant", "ann")), Options{EvalDir: t.TempDir(), UploadDir: dir, Roots: []string{dir}})
	_, h, _ := post(t, s, "/traces/query/try", "question=heron+and+others&top_k=100")
	todo := []string{"/", h.Get("Location"), "/traces/query/explain?question=heron&chunk=" + id, "/traces/query/explain?question=heron&document=z.md", "/browse/default/doc?chunk=" + id + "&uri=upload:///mine.md"}
	seen := map[string]bool{}
	for len(todo) > 0 && len(seen) < 150 {
		page, _, _ := strings.Cut(todo[0], "#")
		if todo = todo[1:]; seen[page] || strings.HasPrefix(page, "/assets/") {
			continue
		}
		seen[page] = true
		code, _, body := get(t, s, page)
		if code >= 500 || strings.Contains(body, secret) {
			t.Errorf("%s: %d, or it names what others have", page, code)
		}
		todo = append(todo, links(t, body, "/")...)
	}
	if len(seen) < 100 {
		t.Errorf("only %d pages were found", len(seen))
	}
	if code, _, body := post(t, s, "/ingest/delete", "what=all&collection=default&confirm=default&step=delete"); code != 200 || strings.Contains(body, secret) {
		t.Errorf("delete: %d\n%s", code, body)
	}
	if _, err := whole.Entry(t.Context(), "default", "upload:///"+secret+".md"); err != nil {
		t.Errorf("the document of others: %v", err)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Errorf("the file of others: %v", err)
	}
}
