package dashboard

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/language"
)

//go:embed lang
var langFiles embed.FS

// languages are those of the pages; the first is for readers who want another.
var languages = []string{"en", "zh"}

var languageMatcher = language.NewMatcher([]language.Tag{language.English, language.Chinese})

// catalogue holds the texts of one language by key.
type catalogue map[string]string

// loadCatalogues reads lang/<language>/*.json. The tests see to it that each language has the same keys.
func loadCatalogues() map[string]catalogue {
	all := map[string]catalogue{}
	for _, lang := range languages {
		texts := catalogue{}
		files, err := fs.Glob(langFiles, path.Join("lang", lang, "*.json"))
		if err != nil {
			panic("dashboard: " + err.Error())
		}
		for _, file := range files {
			data, err := langFiles.ReadFile(file)
			if err == nil {
				err = json.Unmarshal(data, &texts)
			}
			if err != nil {
				panic("dashboard: " + file + ": " + err.Error())
			}
		}
		all[lang] = texts
	}
	return all
}

// text returns the text of a key with {0}, {1} … filled in. {0|page|pages} gives the first word where the argument is one and
// the second otherwise. A key without text is shown itself.
func (c catalogue) text(key string, args ...any) string {
	text, ok := c[key]
	if !ok {
		return key
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		place, after, _ := strings.Cut(rest, "}")
		b.WriteString(fill(place, args))
		text = after
	}
}

// fill returns what stands for a place in a text, which the braces hold: "0", or "0|page|pages".
func fill(place string, args []any) string {
	number, forms, plural := strings.Cut(place, "|")
	n, err := strconv.Atoi(number)
	if err != nil || n >= len(args) {
		return "{" + place + "}"
	}
	if !plural {
		if count, ok := args[n].(int); ok {
			return grouped(count)
		}
		return fmt.Sprint(args[n])
	}
	one, many, _ := strings.Cut(forms, "|")
	if fmt.Sprint(args[n]) == "1" {
		return one
	}
	return many
}

// Cookies that keep what a reader chose.
const (
	langCookie  = "rag_lang"
	themeCookie = "rag_theme"
)

// chooseLanguage returns the language of ?lang=, else that chosen before, else the browser's.
func chooseLanguage(r *http.Request) string {
	if lang := r.URL.Query().Get("lang"); isLanguage(lang) {
		return lang
	}
	if c, err := r.Cookie(langCookie); err == nil && isLanguage(c.Value) {
		return c.Value
	}
	tags, _, err := language.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	if err != nil {
		return languages[0]
	}
	_, i, _ := languageMatcher.Match(tags...)
	return languages[i]
}

func isLanguage(name string) bool { return slices.Contains(languages, name) }

// Themes. Auto goes by the reader's system.
const (
	themeAuto  = "auto"
	themeLight = "light"
	themeDark  = "dark"
)

var themes = []string{themeAuto, themeLight, themeDark}

// themeOf returns the chosen theme, "" for auto.
func themeOf(r *request) string {
	theme := r.URL.Query().Get("theme")
	if c, err := r.Cookie(themeCookie); theme == "" && err == nil {
		theme = c.Value
	}
	if theme == themeLight || theme == themeDark {
		return theme
	}
	return ""
}

// choiceDays is how long a choice of language or theme is kept.
const choiceDays = 365

// keepChoices remembers a language or theme that the URL names.
func (s *Server) keepChoices(r *request) {
	keep := func(name, value string) {
		http.SetCookie(r.w, &http.Cookie{Name: name, Value: value, Path: s.o.BasePath + "/", MaxAge: choiceDays * 24 * 60 * 60, HttpOnly: true, SameSite: http.SameSiteLaxMode})
	}
	q := r.URL.Query()
	if lang := q.Get("lang"); isLanguage(lang) {
		keep(langCookie, lang)
	}
	if theme := q.Get("theme"); slices.Contains(themes, theme) {
		keep(themeCookie, theme)
	}
}
