package secret_test

import (
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
