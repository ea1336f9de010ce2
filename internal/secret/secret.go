// Package secret tells keys, tokens and passwords from what may be shown, and hides them.
package secret

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Hidden stands where a secret was.
const Hidden = "***"

// leastBytes is the shortest value that is looked for in texts: shorter ones stand in ordinary words, and keep no secret.
const leastBytes = 6

// IsKey reports whether the key of a setting names a secret. A number of tokens (max_tokens) is none, nor is a tokenizer.
// Headers that a service is sent are secrets whatever they are called: gateways want keys under names of their own.
func IsKey(key string, isText bool) bool {
	lower := strings.ToLower(key)
	if lower == "headers" {
		return true
	}
	for _, part := range []string{"key", "secret", "password", "passwd", "credential", "authorization", "dsn"} {
		if strings.Contains(lower, part) {
			return true
		}
	}
	words := strings.FieldsFunc(lower, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.ContainsFunc(words, func(w string) bool {
		return strings.HasSuffix(w, "token") || isText && strings.HasSuffix(w, "tokens")
	})
}

// InJSON lists the texts that stand under keys of secrets, at any depth, and what URLs in other texts hold.
func InJSON(data []byte) []string {
	var v any
	if json.Unmarshal(data, &v) != nil {
		return nil
	}
	return collect(v, false, nil)
}

func collect(v any, hidden bool, found []string) []string {
	switch x := v.(type) {
	case map[string]any:
		for key, value := range x {
			_, isText := value.(string)
			found = collect(value, hidden || IsKey(key, isText || isList(value)), found)
		}
	case []any:
		for _, value := range x {
			found = collect(value, hidden, found)
		}
	case string:
		if hidden {
			found = append(found, x)
		} else {
			found = append(found, InURL(x)...)
		}
	}
	return found
}

func isList(v any) bool { _, ok := v.([]any); return ok }

// urlUser is the user part of a URL with its scheme.
var urlUser = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)([^/@\s]+)@`)

// urlQuery is a URL with a query: what is before it, the query, and no fragment.
var urlQuery = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^?#\s"'<>]*\?)([^#\s"'<>]+)`)

// queryValue is a part of a query: its name, if it has one, and its value.
var queryValue = regexp.MustCompile(`(^|[&;])([^=&;]*=)?([^&;]+)`)

// InURL lists the secrets that the URLs in a text hold, as they stand there and as they are meant: the user part, the password
// in it, and the values of the query that a key may be. An ordinary word is none, unless its name says so: it would be hidden
// in whatever is told of failures.
func InURL(text string) (found []string) {
	if !strings.Contains(text, "://") {
		return nil
	}
	for _, m := range urlUser.FindAllStringSubmatch(text, -1) {
		plain, err := url.PathUnescape(m[2])
		if err != nil {
			plain = m[2]
		}
		found = append(found, m[2], plain)
		for _, user := range []string{m[2], plain} {
			if _, password, ok := strings.Cut(user, ":"); ok {
				found = append(found, password)
			}
		}
	}
	for _, m := range urlQuery.FindAllStringSubmatch(text, -1) {
		for _, v := range queryValue.FindAllStringSubmatch(m[2], -1) {
			if !mayBeKey(strings.TrimSuffix(v[2], "="), v[3]) {
				continue
			}
			found = append(found, v[3])
			if plain, err := url.QueryUnescape(v[3]); err == nil && plain != v[3] {
				found = append(found, plain)
			}
		}
	}
	return found
}

// mayBeKey reports whether a value of a query may be a key, by its name or, since every service has names of its own, because it
// is no word.
func mayBeKey(name, value string) bool {
	switch {
	case name == "", IsKey(name, true), slices.Contains([]string{"sig", "signature", "code", "auth", "pass", "pw"}, strings.ToLower(name)):
		return true
	}
	return len(value) >= 8 && strings.ContainsFunc(value, unicode.IsDigit)
}

// URL hides the user parts and the values of the queries of the URLs in a text: of the address of a service, where either
// may be a key. Addresses of documents are another matter, see [URLUser].
func URL(text string) string {
	return urlQuery.ReplaceAllStringFunc(URLUser(text), func(whole string) string {
		m := urlQuery.FindStringSubmatch(whole)
		return m[1] + queryValue.ReplaceAllString(m[2], "${1}${2}"+Hidden)
	})
}

// URLUser hides the user parts of the URLs in a text.
func URLUser(text string) string {
	if !strings.Contains(text, "://") {
		return text
	}
	return urlUser.ReplaceAllString(text, "${1}"+Hidden+"@")
}

// shapes are what secrets look like that nobody named: each keeps its first group. A text is only searched that has one
// of the hints.
var shapes = []struct {
	hints []string // in lower case
	shape *regexp.Regexp
}{
	{[]string{"bearer", "basic"}, regexp.MustCompile(`(?i)\b(bearer\s+|basic\s+)[A-Za-z0-9._~+/=-]{12,}`)},
	{[]string{"key", "token", "secret", "sig", "passw"}, regexp.MustCompile(`(?i)([?&](?:api[_-]?key|key|access[_-]?token|token|secret|signature|sig|password)=)[^&\s"'#]+`)},
	{[]string{"sk-"}, regexp.MustCompile(`\b(sk-)[A-Za-z0-9_-]{12,}`)},
	{[]string{"api-key", "api_key", "authorization"}, regexp.MustCompile(`(?i)((?:api[_-]key|authorization)["']?\s*[:=]\s*["']?)[^\s"',}&]{8,}`)},
}

// Masker hides known secrets, and what looks like one. The zero value knows none. It is safe for concurrent use.
type Masker struct{ known *strings.Replacer }

// NewMasker returns a masker that knows these values, as they are and as they stand in JSON, in HTML, in URLs and in what is
// encoded in base64, alone or with other text. Values of fewer than six bytes are not looked for.
func NewMasker(values []string) Masker {
	var forms []string
	for _, v := range values {
		if v = strings.TrimSpace(v); len(v) < leastBytes {
			continue
		}
		forms = append(forms, v)
		forms = append(forms, inJSON(v)...)
		forms = append(forms, inHTML(v)...)
		forms = append(forms, inPercent(v)...)
		forms = append(forms, inBase64(v)...)
	}
	// A secret that is a part of another would leave the rest of that.
	slices.SortFunc(forms, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	forms = slices.DeleteFunc(slices.Compact(forms), func(f string) bool { return len(f) < leastBytes })
	pairs := make([]string, 0, 2*len(forms))
	for _, f := range forms {
		pairs = append(pairs, f, Hidden)
	}
	if len(pairs) == 0 {
		return Masker{}
	}
	return Masker{strings.NewReplacer(pairs...)}
}

// inJSON is a text within JSON, as encoders differ on signs that HTML knows, and on slashes.
func inJSON(v string) []string {
	var plain strings.Builder
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	quoted, err := json.Marshal(v)
	if err != nil || enc.Encode(v) != nil {
		return nil
	}
	with, without := string(quoted[1:len(quoted)-1]), strings.TrimSpace(plain.String())
	without = without[1 : len(without)-1]
	return []string{with, without, strings.ReplaceAll(with, "/", `\/`), strings.ReplaceAll(without, "/", `\/`)}
}

// inHTML is a text within HTML, with quotes as numbers and as names.
func inHTML(v string) []string {
	numbers := html.EscapeString(v)
	return []string{numbers, strings.NewReplacer("&#34;", "&quot;", "&#39;", "&apos;").Replace(numbers), strings.NewReplacer("&#39;", "&#x27;").Replace(numbers)}
}

// percent is an escaped byte.
var percent = regexp.MustCompile(`%[0-9A-F]{2}`)

// inPercent is a text within a URL: in its query and in its path, with large and with small digits.
func inPercent(v string) (forms []string) {
	for _, f := range []string{url.QueryEscape(v), url.PathEscape(v), strings.ReplaceAll(url.QueryEscape(v), "+", "%20")} {
		forms = append(forms, f, percent.ReplaceAllStringFunc(f, strings.ToLower))
	}
	return forms
}

// leastCoded is the shortest form in base64 that is looked for.
const leastCoded = 8

// inBase64 are the signs that only the text decides, wherever it stands in what was encoded, in both alphabets.
func inBase64(v string) (forms []string) {
	for shift, foreign := range []int{0, 2, 3} { // signs that what stands before has a part in
		coded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + v))
		if (shift+len(v))%3 != 0 { // what follows has a part in the last one
			coded = coded[:len(coded)-1]
		}
		if coded = coded[foreign:]; len(coded) >= leastCoded {
			forms = append(forms, coded, strings.NewReplacer("+", "-", "/", "_").Replace(coded))
		}
	}
	return forms
}

// Hide returns the text without secrets.
func (m Masker) Hide(text string) string {
	if text == "" {
		return text
	}
	if m.known != nil {
		text = m.known.Replace(text)
	}
	text = URLUser(text)
	lower := ""
	for _, s := range shapes {
		if lower == "" {
			lower = strings.ToLower(text)
		}
		if slices.ContainsFunc(s.hints, func(hint string) bool { return strings.Contains(lower, hint) }) {
			text = s.shape.ReplaceAllString(text, "${1}"+Hidden)
		}
	}
	return text
}
