package config

import _ "embed" // for template

//go:embed template.yaml
var template string

// Template returns a rag.yaml with comments that lists every key with its default.
func Template() string { return template }
