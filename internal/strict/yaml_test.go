package strict_test

import (
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/seed-d8745b77/rag/internal/strict"
)

func TestYAMLError(t *testing.T) {
	for _, tt := range []struct {
		text string
		line int
		says string
	}{
		{"a: b: c\n", 1, "mapping values are not allowed in this context"},
		{"x: 1\na: b: c\n", 2, "mapping values are not allowed in this context"},
		{"\tx: 1\n", 1, "found character that cannot start any token"},
		{"\"unclosed\n", 1, "found unexpected end of stream"},
		{"a: [b", 1, "did not find expected ',' or ']'"},
		{"x: 1\ny: 2\nz: 3\na: [b\nc: d\n", 4, "did not find expected ',' or ']'"},
		{"x: 1\ny: 2\n- a\n", 3, "did not find expected key"},
		{"x: *b\n", 1, "aliases are not supported: write the value out"},
		{"x: 1\ny: *b\n", 2, "aliases are not supported: write the value out"},
		{"a: \x01\n", 1, "control characters are not allowed"},
		{"a: 1\nb: \x01\n", 2, "control characters are not allowed"},
		{"a: 1\nb: \xff\n", 2, "it is not UTF-8"},
		{"%YAML 3.0\n---\na: b", 1, "found incompatible YAML document"},
	} {
		var n yaml.Node
		err := yaml.Unmarshal([]byte(tt.text), &n)
		if err == nil {
			t.Fatalf("%q is YAML", tt.text)
		}
		if line, says := strict.YAMLError(err, []byte(tt.text)); line != tt.line || says != tt.says {
			t.Errorf("%q: line %d: %s, want line %d: %s; the parser says %v", tt.text, line, says, tt.line, tt.says, err)
		}
	}
}
