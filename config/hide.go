package config

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/seed-d8745b77/rag/internal/secret"
)

// shortestHidden is the length of the shortest text that [Loaded.Hider] takes out: shorter ones are no secrets, but parts of
// words.
const shortestHidden = 4

// Hider returns what replaces by "***", in a text such as an error that quotes a URL, everything that [Redacted] does not
// show: values of environment variables that the configuration took in, texts under keys that name a secret, and user parts
// of URLs. Those of fewer than four bytes stay.
func (l Loaded) Hider() func(text string) string {
	p := printer{loaded: l}
	p.walk(reflect.ValueOf(l.Config), "")
	secrets := slices.DeleteFunc(append(p.secrets, l.Secrets...), func(s string) bool { return len(s) < shortestHidden })
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // one may be part of another
	var pairs []string
	for _, s := range secrets {
		pairs = append(pairs, s, secret.Hidden)
	}
	return strings.NewReplacer(pairs...).Replace
}
