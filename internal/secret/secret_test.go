package secret_test

import (
	"encoding/base64"
	"html"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag/internal/secret"
)

func TestHide(t *testing.T) {
	m := secret.NewMasker([]string{"hush-hush", "hush-hush-more", "a\"b c/dé", "short", ""})
	for text, want := range map[string]string{
		"":                               "",
		"nothing to hide, key: value":    "nothing to hide, key: value",
		"x hush-hush y hush-hush-more z": "x *** y *** z",
		`{"k": "a\"b c/dé"}`:             `{"k": "***"}`,
		"?x=a%22b+c%2Fd%C3%A9&y":         "?x=***&y",
		"short":                          "short",
		"http://me:pw@host/a and http://host/a@b": "http://***@host/a and http://host/a@b",
		"Authorization: Bearer abcdefghijkl":      "Authorization: Bearer ***",
		"the bearer of news":                      "the bearer of news",
		"GET /v1?q=1&api_key=123&x=2":             "GET /v1?q=1&api_key=***&x=2",
		"key sk-abcdefghijklmnop, x":              "key sk-***, x",
		`"api-key": "abcdefgh1"`:                  `"api-key": "***"`,
	} {
		got := m.Hide(text)
		if got != want {
			t.Errorf("Hide(%q) = %q, want %q", text, got, want)
		}
		if again := m.Hide(got); again != got {
			t.Errorf("Hide(%q) = %q: hidden twice", got, again)
		}
	}
}

func TestInJSON(t *testing.T) {
	got := secret.InJSON([]byte(`{"llm": {"api_key": "one", "model": "m", "max_tokens": 7, "headers": {"x": ["two"]}, "models": [{"token": "three"}]}, "tokens": ["four"]}`))
	slices.Sort(got)
	if want := "four one three two"; strings.Join(got, " ") != want {
		t.Errorf("found %q, want %q", got, want)
	}
}

func FuzzHide(f *testing.F) {
	f.Add("see https://a:hush-hush@host/x?key=hush-hush Bearer hush-hush")
	m := secret.NewMasker([]string{"hush-hush"})
	f.Fuzz(func(t *testing.T, text string) {
		if got := m.Hide(text + "hush-hush" + text); strings.Contains(got, "hush-hush") {
			t.Errorf("%q still tells it", got)
		}
	})
}

// TestHideInEveryForm: a service may repeat a key as it likes.
func TestHideInEveryForm(t *testing.T) {
	const key = `Quiet<47>"12"/y+'z'&=`
	m := secret.NewMasker([]string{key})
	enc := base64.StdEncoding.EncodeToString
	for form, text := range map[string]string{
		"as it is": key, "HTML": html.EscapeString(key), "HTML by name": strings.NewReplacer("<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;", "&", "&amp;").Replace(key),
		"JSON": `Quiet\u003c47\u003e\"12\"/y+'z'\u0026=`, "JSON without HTML": `Quiet<47>\"12\"/y+'z'&=`, "JSON with slashes": `Quiet<47>\"12\"\/y+'z'&=`,
		"a query": url.QueryEscape(key), "small digits": "Quiet%3c47%3e%2212%22%2fy%2b%27z%27%26%3d", "a path": url.PathEscape(key),
		"base64": enc([]byte(key)), "base64 behind one": enc([]byte("u" + key)), "base64 behind two": enc([]byte("me" + key)),
		"base64 of user and password": enc([]byte("me:" + key)), "base64 for URLs": base64.RawURLEncoding.EncodeToString([]byte("me:" + key + "!")),
	} {
		got := m.Hide("x " + text + " y")
		if !strings.Contains(got, secret.Hidden) {
			t.Errorf("%s: %q is not hidden", form, text)
		}
		for i := 0; i+6 <= len(text); i++ { // no more than what others have a part in
			if strings.Contains(got, text[i:i+6]) && !strings.Contains("me:", text[i:i+6]) {
				t.Errorf("%s: %q leaves %q", form, got, text[i:i+6])
				break
			}
		}
	}
}

func TestInURL(t *testing.T) {
	for text, want := range map[string]string{
		"https://me:p%20w@host/v1":                         "me:p%20w me:p w p%20w p w",
		"https://host/v1?api_key=XYZ&lang=english":         "XYZ",
		"https://host?sub=abc%2Fdef-12&x=2024-10-21#a=b-1": "abc%2Fdef-12 abc/def-12 2024-10-21",
		"host/v1?api_key=XYZ":                              "",
	} {
		if got := strings.Join(secret.InURL(text), " "); got != want {
			t.Errorf("InURL(%q) = %q, want %q", text, got, want)
		}
	}
}
