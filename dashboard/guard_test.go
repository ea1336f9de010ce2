package dashboard

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
)

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// calledAs sets the name by which the server is called, and the address it is called at.
func calledAs(host, local string) func(*http.Request) {
	return func(r *http.Request) {
		r.Host = host
		addr := &net.TCPAddr{IP: net.ParseIP(local), Port: 8501}
		*r = *r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(addr)))
	}
}

func TestHostNames(t *testing.T) {
	for _, test := range []struct {
		host, local string
		hosts       []string
		want        int
	}{
		{"localhost:8501", "127.0.0.1", nil, 200},
		{"127.0.0.1:8501", "127.0.0.1", nil, 200},
		{"[::1]:8501", "::1", nil, 200},
		{"evil.example:8501", "127.0.0.1", nil, 403},
		{"evil.example", "::1", nil, 403},
		{"rag.example", "127.0.0.1", []string{"rag.example"}, 200},
		{"RAG.example:443", "127.0.0.1", []string{"rag.example"}, 200},
		{"evil.example", "127.0.0.1", []string{"rag.example"}, 403},
		{"machine.lan:8501", "192.0.2.7", nil, 200},
		{"evil.example", "192.0.2.7", []string{"rag.example"}, 403},
	} {
		s := server(t, engine(t), Options{Hosts: test.hosts})
		req := func(r *http.Request) { calledAs(test.host, test.local)(r) }
		got, _, body := get(t, s, "/", req)
		if got == 403 && !strings.Contains(body, "--host") {
			t.Errorf("the refusal does not name the flag: %s", body)
		}
		if got != test.want {
			t.Errorf("called as %s at %s with hosts %v: %d; want %d", test.host, test.local, test.hosts, got, test.want)
		}
	}
}

// status asks for a page whose context set may have changed.
func status(t *testing.T, h http.Handler, target string, set ...func(*http.Request)) int {
	t.Helper()
	code, _, _ := get(t, h, target, set...)
	return code
}

func TestForeignPagesChangeNothing(t *testing.T) {
	s := server(t, engine(t), Options{Token: testToken})
	for _, test := range []struct {
		name string
		set  func(*http.Request)
		want int
	}{
		{"the same site", header("Sec-Fetch-Site", "same-origin"), 303},
		{"the same origin", header("Origin", "http://localhost"), 303},
		{"no browser", func(*http.Request) {}, 303},
		{"another site", header("Sec-Fetch-Site", "cross-site"), 403},
		{"a sister site", header("Sec-Fetch-Site", "same-site"), 403},
		{"another origin", header("Origin", "http://evil.example"), 403},
		{"an origin that is not told", header("Origin", "null"), 403},
	} {
		got, h, _ := post(t, s, "/login", "token="+testToken, test.set)
		if got != test.want || (h.Get("Set-Cookie") != "") != (test.want == 303) {
			t.Errorf("a login from %s: %d, cookie %q; want %d", test.name, got, h.Get("Set-Cookie"), test.want)
		}
	}
}

func TestHeaders(t *testing.T) {
	s := server(t, engine(t), Options{})
	for _, target := range []string{"/", "/?format=json", "/nowhere", "/assets/app.css", "/assets/none"} {
		_, h, body := get(t, s, target)
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Content-Security-Policy": policy,
		} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s is %q; want %q", target, name, got, want)
			}
		}
		if strings.Contains(body, "goroutine") || strings.Contains(body, ".go:") {
			t.Errorf("%s shows a stack: %s", target, body)
		}
	}
	for _, unsafe := range []string{"unsafe-inline", "unsafe-eval", "*", "http:", "data:"} {
		if strings.Contains(policy, unsafe) {
			t.Errorf("the policy allows %s", unsafe)
		}
	}
}

func TestLogin(t *testing.T) {
	s := server(t, engine(t), Options{Token: testToken, BasePath: "/kb"})
	html := header("Accept", "text/html")
	code, h, _ := get(t, s, "/kb/?collection=a%26b", html)
	if want := "/kb/login?next=" + url.QueryEscape("/?collection=a%26b"); code != 303 || h.Get("Location") != want {
		t.Errorf("without a login: %d to %q; want 303 to %q", code, h.Get("Location"), want)
	}
	if code := status(t, s, "/kb/"); code != 401 {
		t.Errorf("a program without a token: %d; want 401", code)
	}
	if code := status(t, s, "/kb/?format=json", html); code != 401 {
		t.Errorf("JSON without a token: %d; want 401", code)
	}
	if code := status(t, s, "/kb/", header("Authorization", "Bearer "+testToken)); code != 200 {
		t.Errorf("a program with the token: %d; want 200", code)
	}
	if code := status(t, s, "/kb/", header("Authorization", "Bearer "+testToken+"x")); code != 401 {
		t.Errorf("a program with another token: %d; want 401", code)
	}
	if code := status(t, s, "/kb/assets/app.css"); code != 200 {
		t.Errorf("the style sheet of the login: %d; want 200", code)
	}

	if code := status(t, s, "/kb/", header("Authorization", "bearer  "+testToken)); code != 200 {
		t.Errorf("a program that writes the scheme in small letters: %d; want 200", code)
	}

	code, h, body := post(t, s, "/kb/login", "token=guess")
	if code != 401 || h.Get("Set-Cookie") != "" || !strings.Contains(body, `data-testid="wrong"`) {
		t.Error("a wrong token logs in, or the page does not say that it is wrong")
	}
	for next, want := range map[string]string{"/browse?q=x": "/kb/browse?q=x", "": "/kb/", "//evil.example": "/kb/", "https://evil.example": "/kb/", "/\\evil.example": "/kb/", "/browse?q=%2F%09x#y": "/kb/browse?q=%2F%09x"} {
		code, h, _ = post(t, s, "/kb/login", url.Values{"token": {testToken}, "next": {next}}.Encode())
		if code != 303 || h.Get("Location") != want {
			t.Errorf("after a login with next %q: %d to %q; want %q", next, code, h.Get("Location"), want)
		}
	}
	cookie := h.Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/kb/"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie %q is not %s", cookie, want)
		}
	}
	if strings.Contains(cookie, testToken) {
		t.Error("the cookie holds the token")
	}
	value, _, _ := strings.Cut(cookie, ";")
	if code := status(t, s, "/kb/", header("Cookie", value)); code != 200 {
		t.Errorf("with the cookie: %d; want 200", code)
	}
	forged := strings.Replace(value, "=1", "=2", 1)
	if code := status(t, s, "/kb/", header("Cookie", forged)); code != 401 {
		t.Errorf("with a cookie that was changed: %d; want 401", code)
	}
	atRoot := server(t, s.eng, Options{Token: testToken})
	for _, next := range []string{"//evil.example", "/\t/evil.example", "/\n/evil.example", "\t//evil.example", "/%2Fevil.example", "/%5Cevil.example", "//evil.example/%zz", "javascript:alert(1)", "http:evil.example"} {
		if _, h, _ := post(t, atRoot, "/login", url.Values{"token": {testToken}, "next": {next}}.Encode()); h.Get("Location") != "/" {
			t.Errorf("after a login with next %q: to %q; want \"/\"", next, h.Get("Location"))
		}
	}
	other := server(t, s.eng, Options{Token: testToken, BasePath: "/kb"})
	if code := status(t, other, "/kb/", header("Cookie", value)); code != 401 {
		t.Errorf("with the cookie of another server: %d; want 401", code)
	}
}

func TestTheLoginNamesNoCollection(t *testing.T) {
	eng := engine(t)
	set := rag.IngestRequest{Collection: "merger", Sources: []rag.Sources{rag.Bytes("a.md", []byte("A heron wades."))}}
	if _, err := eng.Ingest(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	s := server(t, eng, Options{Token: testToken})
	if _, _, body := get(t, s, "/login"); strings.Contains(body, "merger") {
		t.Error("the login names a collection to who has not logged in")
	}
	if _, _, body := get(t, s, "/login", header("Authorization", "Bearer "+testToken)); !strings.Contains(body, "merger") {
		t.Error("the collection is not named to who has logged in: the test finds nothing")
	}
}

func TestWhoAsksFromElsewhereIsToldWhatToDo(t *testing.T) {
	s := server(t, engine(t), Options{})
	foreign := header("Origin", "http://evil.example")
	if code, _, body := post(t, s, "/health", "collection=default", foreign); code != 403 || !strings.Contains(body, htmlText(s.texts["en"].text("advice.foreign"))) {
		t.Errorf("%d without advice\n%s", code, body)
	}
	if code, _, body := post(t, s, "/health?format=json", "", foreign); code != 403 || !strings.Contains(body, `"kind": "foreign"`) {
		t.Errorf("a program: %d %s", code, body)
	}
}
