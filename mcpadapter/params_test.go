package mcpadapter

import (
	"errors"
	"testing"

	"github.com/seed-d8745b77/rag"
)

// FuzzParams reads any arguments of a tool; there are no arguments but those that it names.
func FuzzParams(f *testing.F) {
	params := []param{{name: "query", kind: textKind, required: true}}
	for _, raw := range []string{`{"query":"x"}`, `{"query":["x"]}`, `{"query":"x","more":{"a":[1,null]}}`, `[]`, `{"query":"` + "\xff" + `"}`, ``} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := parse(params, raw)
		if err != nil && !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("error %v, want ErrInvalid", err)
		}
		if err == nil && (len(got) != 1 || got.text("query") == "") {
			t.Errorf("%s gives %v", raw, got)
		}
	})
}
