// Package secret tells keys, tokens and passwords from what may be shown, and hides them.
package secret

import (
	"encoding/json"
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

// InJSON lists the texts that stand under keys of secrets, at any depth.
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
		}
	}
	return found
}

func isList(v any) bool { _, ok := v.([]any); return ok }

// urlUser is the user part of a URL with its scheme.
var urlUser = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)([^/@\s]+)@`)

// InURL lists the user parts of the URLs in a text.
func InURL(text string) (users []string) {
	for _, found := range urlUser.FindAllStringSubmatch(text, -1) {
		users = append(users, found[2])
	}
	return users
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

// NewMasker returns a masker that knows these values, as they are and as they stand in JSON and in URLs. Values of fewer
// than six bytes are not looked for.
func NewMasker(values []string) Masker {
	var forms []string
	for _, v := range values {
		if v = strings.TrimSpace(v); len(v) < leastBytes {
			continue
		}
		quoted, err := json.Marshal(v)
		if err != nil {
			quoted = []byte(`""`)
		}
		forms = append(forms, v, string(quoted[1:len(quoted)-1]), url.QueryEscape(v), url.PathEscape(v))
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
