package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seed-d8745b77/rag/dashboard"
)

func TestLogin(t *testing.T) {
	const token = "0123456789abcdef"
	b := start(t, func(o *dashboard.Options) { o.Token = token }).open(t)
	b.visit("/browse?lang=en")
	if !strings.HasPrefix(b.path(), "/login") {
		t.Fatalf("without a token %s is shown", b.path())
	}
	b.accessible()
	b.picture("login")
	b.allow("401") // which the browser notes
	b.do(chromedp.SendKeys(chromedp.CSS("#token"), "another token of some length"))
	b.leave(chromedp.Submit(id("login")))
	if b.count(id("wrong")) != 1 {
		t.Error("a wrong token is not said to be wrong")
	}
	b.accessible()
	b.fill(chromedp.CSS("#token"), token)
	b.leave(chromedp.Submit(id("login")))
	if !strings.HasPrefix(b.path(), "/browse") {
		t.Errorf("the login leads to %s", b.path())
	}
	b.follow(id("logout"))
	b.visit("/browse")
	if !strings.HasPrefix(b.path(), "/login") {
		t.Errorf("after the logout %s is shown", b.path())
	}
}
