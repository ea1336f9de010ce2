package config

import (
	"reflect"

	"github.com/seed-d8745b77/rag/internal/secret"
)

// Hider returns what replaces by "***", in a text such as an error that quotes a URL, everything that [Redacted] does not
// show, and what came from the environment into texts. Texts of fewer than six bytes are no secrets, but parts of words.
func (l Loaded) Hider() func(text string) string {
	p := printer{loaded: l}
	p.walk(reflect.ValueOf(l.Config), "")
	return p.hider()
}

// hider is Hider once all values are collected.
func (p *printer) hider() func(text string) string {
	return secret.NewMasker(append(p.secrets, p.loaded.Secrets...)).Hide
}
