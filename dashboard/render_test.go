package dashboard

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
)

func mustRequest(t *testing.T) *http.Request {
	t.Helper()
	return httptest.NewRequest(http.MethodGet, "http://localhost/", nil).WithContext(t.Context())
}

// withRoutes adds handlers to a server.
func withRoutes(t *testing.T, o Options, add func(router)) *Server {
	t.Helper()
	s := server(t, engine(t), o)
	add(router{s, "overview"})
	return s
}

func TestProblems(t *testing.T) {
	secret := errors.New("secret of the code")
	var fail error
	s := withRoutes(t, Options{}, func(on router) {
		on.view("/fail", "overview", func(*request) (any, error) { return nil, fail })
		on.view("/panic", "overview", func(*request) (any, error) { panic(secret) })
		on.change("/change", "overview", 10, func(r *request) (any, error) {
			if err := r.ParseForm(); err != nil {
				return nil, err
			}
			return redirect("/done"), nil
		})
	})
	for _, test := range []struct {
		err  error
		kind string
		want int
	}{
		{fmt.Errorf("a: %w", rag.ErrNotFound), "not_found", 404},
		{fmt.Errorf("a: %w", rag.ErrInvalid), "invalid", 400},
		{fmt.Errorf("a: %w", rag.ErrLocked), "locked", 409},
		{fmt.Errorf("a: %w", rag.ErrFingerprint), "fingerprint", 409},
		{fmt.Errorf("a: %w", rag.ErrUnavailable), "unavailable", 503},
		{fmt.Errorf("a: %w", rag.ErrUnsupported), "unsupported", 403},
		{errors.New("a"), "failed", 500},
	} {
		fail = test.err
		code, _, body := get(t, s, "/fail")
		advice := s.texts["en"].text("advice." + test.kind)
		if code != test.want || !strings.Contains(body, test.err.Error()) || !strings.Contains(body, htmlText(advice)) {
			t.Errorf("%v: %d; want %d with cause and advice %q\n%s", test.err, code, test.want, advice, body)
		}
	}
	if code, _, body := get(t, s, "/panic"); code != 500 || strings.Contains(body, "secret") || strings.Contains(body, ".go") || !strings.Contains(body, `data-testid="problem"`) {
		t.Errorf("a panic: %d, and the page tells of the code, or is none\n%s", code, body)
	}
	if code, _, body := get(t, s, "/nowhere"); code != 404 || !strings.Contains(body, `data-testid="problem"`) {
		t.Errorf("a page that is not there: %d", code)
	}
	if code, h, _ := post(t, s, "/change", "a=1"); code != 303 || h.Get("Location") != "/done" {
		t.Errorf("a change: %d to %q", code, h.Get("Location"))
	}
	if code, _, body := post(t, s, "/change?format=json", "a=1"); code != 200 || !strings.Contains(body, `"next": "/done"`) {
		t.Errorf("a change by a program: %d %s", code, body)
	}
	if code, _, _ := post(t, s, "/change", strings.Repeat("a", 11)); code != 413 {
		t.Errorf("a change that is too large: %d; want 413", code)
	}
	if code, _, _ := get(t, s, "/change"); code != 404 && code != 405 {
		t.Errorf("a change by GET: %d; want that there is no such page", code)
	}
}

// htmlText is a text as a page has it.
func htmlText(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;").Replace(s)
}

func TestReadOnlyChangesNothing(t *testing.T) {
	s := withRoutes(t, Options{ReadOnly: true}, func(on router) {
		on.change("/change", "overview", 0, func(*request) (any, error) { t.Error("it is changed"); return redirect("/"), nil })
	})
	if code, _, body := post(t, s, "/change", ""); code != 403 || !strings.Contains(body, "read-only") {
		t.Errorf("%d; want 403 and why", code)
	}
}

func TestStream(t *testing.T) {
	events := make(chan event)
	last := make(chan string, 1)
	s := withRoutes(t, Options{}, func(on router) {
		on.handle("GET /events", func(w http.ResponseWriter, r *request) error {
			last <- r.lastEvent()
			return on.s.stream(w, r, events)
		})
	})
	web := httptest.NewServer(s)
	defer web.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, web.URL+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Last-Event-ID", "41")
	res, err := web.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got := <-last; got != "41" {
		t.Errorf("the last event seen is %q; want 41", got)
	}
	events <- event{ID: "42", Name: "progress", Data: map[string]string{"text": "one\ntwo\u2028"}}
	want := "id: 42\nevent: progress\ndata: {\"text\":\"one\\ntwo\\u2028\"}\n\n"
	got := make([]byte, len(want))
	if _, err := io.ReadFull(res.Body, got); err != nil || string(got) != want {
		t.Errorf("the stream has %q, %v; want %q", got, err, want)
	}
	if kind := res.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Errorf("the stream is %q", kind)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(res.Body); err != nil || len(rest) > 0 {
		t.Errorf("after the end of the server the stream has %q, %v", rest, err)
	}
}

func TestChoices(t *testing.T) {
	s := server(t, engine(t), Options{BasePath: "/kb"})
	for _, test := range []struct {
		name, target string
		set          func(*http.Request)
		want         string
	}{
		{"nothing is said", "/kb/", func(*http.Request) {}, `<html lang="en">`},
		{"the browser's language", "/kb/", header("Accept-Language", "zh-CN,zh;q=0.9,en;q=0.8"), `<html lang="zh">`},
		{"a language there is none of", "/kb/", header("Accept-Language", "fr"), `<html lang="en">`},
		{"chosen now", "/kb/?lang=zh&theme=dark", header("Accept-Language", "en"), `<html lang="zh" data-theme="dark">`},
		{"chosen before", "/kb/", header("Cookie", "rag_lang=zh; rag_theme=light"), `<html lang="zh" data-theme="light">`},
		{"an odd choice", `/kb/?lang=%22%3E&theme=%22%3E`, header("Cookie", "rag_lang=xx; rag_theme=pink"), `<html lang="en">`},
		{"behind StripPrefix", "/", func(*http.Request) {}, `href="/kb/browse"`},
	} {
		code, h, body := get(t, s, test.target, test.set)
		if code != 200 || !strings.Contains(body, test.want) {
			t.Errorf("%s: %d without %s", test.name, code, test.want)
		}
		if kept := len(h.Values("Set-Cookie")); kept != map[bool]int{true: 2, false: 0}[test.name == "chosen now"] {
			t.Errorf("%s: %d cookies are set", test.name, kept)
		}
	}
}

// TestPathsThatAreNotTidy: they lead to a page below BasePath, however the dashboard is mounted.
func TestPathsThatAreNotTidy(t *testing.T) {
	s := server(t, engine(t), Options{BasePath: "/kb"})
	for name, h := range map[string]http.Handler{"itself": s, "below a prefix": http.StripPrefix("/kb", s)} {
		for target, want := range map[string]string{
			"/kb": "/kb/", "/kb//": "/kb/", "/kb//browse?q=a": "/kb/browse?q=a", "/kb/./browse": "/kb/browse", "/kb/x/../browse": "/kb/browse",
			"/kb/../../browse": "/kb/browse", "/kb/browse//a%2Fb/doc": "/kb/browse/a%2Fb/doc", "/kb//evil.example/": "/kb/evil.example/",
		} {
			if code, head, _ := get(t, h, target); code != 307 || head.Get("Location") != want {
				t.Errorf("%s: %s: %d to %q; want %q", name, target, code, head.Get("Location"), want)
			}
		}
		if code, _, body := get(t, h, "/kb/browse/a%2F..%2Fb/doc?uri=x&format=json"); code != 404 || !strings.Contains(body, `\"a/../b\"`) {
			t.Errorf("%s: a collection with slashes in its name: %d %s", name, code, body)
		}
	}
}

// TestFormsThatCannotBeRead are refused for what they are, by every change.
func TestFormsThatCannotBeRead(t *testing.T) {
	s := server(t, engine(t), Options{EvalDir: t.TempDir(), UploadDir: t.TempDir()})
	for _, path := range []string{"/login", "/health", "/ingest/start", "/ingest/delete", "/traces/query/try", "/evaluation/run", "/evaluation/questions"} {
		if code, _, body := post(t, s, path, "what=%zz"); code != 400 || !strings.Contains(body, "the form cannot be read") {
			t.Errorf("%s: a broken form: %d; want 400 and why", path, code)
		}
		if code, _, _ := post(t, s, path, "what="+strings.Repeat("a", maxForm)); code != 413 {
			t.Errorf("%s: a form that is too large: %d; want 413", path, code)
		}
	}
}

// TestWhatCameOfAChangeLinksToPages: such a page has no address, so language and theme lead to where it began.
func TestWhatCameOfAChangeLinksToPages(t *testing.T) {
	s := server(t, engine(t), Options{})
	ingest(t, s.eng, map[string]string{"heron.md": "A heron wades."})
	for path, form := range map[string]string{"/ingest/delete": "what=all&collection=default", "/traces/query/try": "question=", "/ingest/start": ""} {
		_, _, body := post(t, s, path, form)
		all := links(t, body, "/")
		if !slices.ContainsFunc(all, func(u string) bool { return strings.Contains(u, "lang=zh") }) {
			t.Errorf("%s: the page offers no other language", path)
		}
		for _, u := range all {
			if code := status(t, s, u); code != 200 {
				t.Errorf("%s links to %s: %d", path, u, code)
			}
		}
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":      "plain\ttext\n",
		"a\x00b\x1b[31m\x7f": "a␀b␛[31m␡",
		"a\u202Eb\u2066":     "a⟦U+202E⟧b⟦U+2066⟧",
		"a\u0085b\uFEFF":     "a⟦U+0085⟧b⟦U+FEFF⟧",
		"a\xffb":             "a\uFFFDb",
		"a\uFFFD\x01b":       "a\uFFFD␁b",
		"نص👩\u200d💻 می\u200cخواهم": "نص👩\u200d💻 می\u200cخواهم", // joiners stay
		"a\r\nb": "a␍\nb",
	} {
		if got := string(visible([]byte(in))); got != want {
			t.Errorf("visible(%q) = %q; want %q", in, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		grouped(0): "0", grouped(999): "999", grouped(-1000): "-1,000", grouped(1234567): "1,234,567",
		milliseconds(0.4211): "0.42 ms", milliseconds(38.4): "38 ms", milliseconds(1240): "1.24 s", milliseconds(61_000): "1m1s",
		byteSize(17): "17 B", byteSize(1536): "1.5 KiB", byteSize(10 << 20): "10 MiB",
	} {
		if got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
	if _, err := New(engine(t), Options{BasePath: "kb"}); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("a base path without a slash: %v; want ErrInvalid", err)
	}
	if _, err := New(engine(t), Options{Token: "short"}); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("a short token: %v; want ErrInvalid", err)
	}
}
