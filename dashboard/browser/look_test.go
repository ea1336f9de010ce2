package browser

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

var update = flag.Bool("update", false, "take the pictures in docs/screens anew")

// maxPicture is the most that a picture in docs/screens may weigh, in bytes.
const maxPicture = 150_000

// picture takes the page from its top as docs/screens/<name>.webp, with -update. Without, it only looks whether there is one.
func (b *tab) picture(name string) {
	b.t.Helper()
	b.pictureOf("body", name)
}

// pictureOf takes the page from where an element begins.
func (b *tab) pictureOf(sel chromedp.CSS, name string) {
	b.t.Helper()
	file := filepath.Join("../../docs/screens", name+".webp")
	if !*update {
		if _, err := os.Stat(file); err != nil {
			b.t.Errorf("the picture is missing: run the test with -update: %v", err)
		}
		return
	}
	// A cursor that blinks, or a mouse over a row, would make each picture another one.
	js[bool](b, fmt.Sprintf("document.activeElement && document.activeElement.blur(), document.querySelector(%q).scrollIntoView(), true", string(sel)))
	shot, err := chromedp.Call(b.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: "webp", Quality: new(int64(85))})
	if err != nil {
		b.fail(err)
	}
	if len(shot.Data) > maxPicture {
		b.t.Errorf("the picture %s has %d bytes", name, len(shot.Data))
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(file, shot.Data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// axe reads axe-core once.
var axe = sync.OnceValues(func() (string, error) {
	text, err := os.ReadFile("../../bin/axe-core/axe.min.js")
	return string(text), err
})

// violation is something that axe found.
type violation struct {
	ID     string `json:"id"`
	Impact string `json:"impact"`
	Help   string `json:"help"`
	Nodes  []struct {
		HTML    string `json:"html"`
		Failure string `json:"failureSummary"`
	} `json:"nodes"`
}

// accessible fails the test for what keeps people from using the page. axe comes in through the browser's debugger, which
// the page's policy does not concern.
func (b *tab) accessible() {
	b.t.Helper()
	script, err := axe()
	if err != nil {
		if os.Getenv("RAG_REQUIRE_SERVICES") != "" {
			b.t.Fatal("there is no axe-core: run scripts/install-chromium")
		}
		b.t.Log("not checked for accessibility: scripts/install-chromium fetches axe-core")
		return
	}
	js[bool](b, "window.axe ? true : (() => {"+script+"; return true})()")
	text := js[string](b, `axe.run(document, {resultTypes: ["violations"]}).then((r) => JSON.stringify(r.violations))`)
	var found []violation
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		b.t.Fatal(err)
	}
	for _, v := range found {
		var at strings.Builder
		for _, n := range v.Nodes[:min(len(v.Nodes), 3)] {
			fmt.Fprintf(&at, "\n    %.200s\n      %s", n.HTML, strings.ReplaceAll(n.Failure, "\n", "\n      "))
		}
		b.t.Errorf("%s: %s (%s, %s), %d times:%s", b.path(), v.Help, v.ID, v.Impact, len(v.Nodes), at.String())
	}
}
