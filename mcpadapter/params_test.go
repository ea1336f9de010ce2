package mcpadapter

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
)

func TestParamsSayWhatIsWrong(t *testing.T) {
	params := []param{{name: "query", kind: textKind, required: true}, {name: "top_k", kind: wholeKind, least: 1, most: 20}}
	for _, tt := range []struct {
		params    []param
		raw, want string
	}{
		{params, `{"query": 5}`, "query is 5: give a text"},
		{params, `{"query": "x", "top_k": "abc"}`, `top_k is the text "abc": give a whole number from 1 to 20`},
		{params, `{"query": "x", "topk": 3}`, `there is no parameter "topk", did you mean "top_k"? (there are: query, top_k)`},
		{nil, `{"x": 1}`, `there is no parameter "x" (it has none)`},
		{params, "{\"query\": \"caf\xe9\"}", "the arguments are not UTF-8"},
		{params, `[1]`, "the arguments are no JSON object"},
	} {
		if _, err := parse(tt.params, []byte(tt.raw)); !errors.Is(err, rag.ErrInvalid) || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.raw, err, tt.want)
		}
	}
}

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
