package dashboard

import (
	"strings"
	"testing"
)

// budget is the most that all assets may weigh, in bytes and not compressed: a page over a slow line still comes in a second or so.
const budget = 150_000

func TestAssets(t *testing.T) {
	s := server(t, engine(t), Options{BasePath: "/kb"})
	total := 0
	for name, a := range s.files {
		if !strings.HasSuffix(name, ".LICENSE.txt") {
			total += len(a.data)
		}
		code, h, body := get(t, s, s.assetURL(name))
		if code != 200 || body != string(a.data) || !strings.Contains(h.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: status %d, %d bytes, cached %q", name, code, len(body), h.Get("Cache-Control"))
		}
		if want := map[string]string{"js": "text/javascript", "css": "text/css", "svg": "image/svg", "txt": "text/plain"}[name[strings.LastIndexByte(name, '.')+1:]]; want == "" || !strings.HasPrefix(h.Get("Content-Type"), want) {
			t.Errorf("%s is sent as %q", name, h.Get("Content-Type"))
		}
		if code, h, _ := get(t, s, "/assets/"+name, header("If-None-Match", h.Get("ETag"))); code != 304 || h.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s without its hash, and known: %d, cached %q; want 304, no-cache", name, code, h.Get("Cache-Control"))
		}
	}
	if total > budget {
		t.Errorf("the assets have %d bytes; want at most %d", total, budget)
	}
	if code := status(t, s, "/assets/..%2fdashboard.go"); code != 404 {
		t.Errorf("a path out of the assets: %d; want 404", code)
	}
	for _, of := range []string{"htmx", "uplot"} {
		if _, ok := s.files[of+".LICENSE.txt"]; !ok {
			t.Errorf("the licence of %s is missing", of)
		}
	}
}
