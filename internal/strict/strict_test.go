package strict_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag/internal/strict"
)

type inner struct {
	Turns int `json:"turns" range:"[1,9]"`
}

type embedded struct {
	Tries int `json:"tries" range:"[0,3]"`
}

// own reads itself, as filters do.
type own struct{ text string }

func (o *own) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &o.text) }

type outer struct {
	embedded
	Name    string             `json:"name"`
	Weight  float64            `json:"weight" range:"(0,1]"`
	Size    *int               `json:"size" range:"[1,5]"`
	Seed    uint               `json:"seed"`
	On      bool               `json:"on"`
	Inner   inner              `json:"inner"`
	List    []inner            `json:"list"`
	ByName  map[string]inner   `json:"by_name"`
	Own     own                `json:"own"`
	Texts   []string           `json:"texts"`
	Raw     json.RawMessage    `json:"raw"`
	Numbers map[string]float64 `json:"numbers"`
	Hidden  int                `json:"-"`
}

func TestDecode(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"all right", `{"name": "a", "weight": 1, "size": 5, "inner": {"turns": 9}, "list": [{}], "raw": {"any": 1}, "own": "x", "tries": 3, "TRIES": 2}`, ""},
		{"zero is the default", `{"weight": 0, "inner": {"turns": 0}}`, ""},
		{"unknown key", `{"nam": "a"}`, `nam: unknown key, did you mean "name"? (known: by_name, inner, list, name, numbers, on, own, raw, seed, size, texts, tries, weight)`},
		{"unknown key inside", `{"inner": {"turn": 1}}`, `inner.turn: unknown key, did you mean "turns"? (known: turns)`},
		{"unknown key in a list", `{"list": [{}, {"x": 1}]}`, "list.1.x: unknown key (known: turns)"},
		{"unknown key in a map", `{"by_name": {"a": {"x": 1}}}`, "by_name.a.x: unknown key (known: turns)"},
		{"field without a name", `{"Hidden": 1}`, "Hidden: unknown key"},
		{"text for a whole number", `{"inner": {"turns": "s3cret"}}`, "inner.turns: want a whole number from 1 to 9, got a text"},
		{"fraction", `{"inner": {"turns": 1.5}}`, "inner.turns: want a whole number from 1 to 9, got the number 1.5"},
		{"negative", `{"seed": -1}`, "seed: want a whole number that is not negative, got the number -1"},
		{"list for a text", `{"name": [1]}`, "name: want a text, got a list"},
		{"number for a switch", `{"on": 1}`, "on: want true or false, got a number"},
		{"object for a list", `{"texts": {}}`, "texts: want a list, got keys and values"},
		{"list for it all", `[1, 2]`, "want keys and values, got a list"},
		{"too large", `{"weight": 1.5}`, "weight: want a number above 0, at most 1, got 1.5"},
		{"zero behind a pointer", `{"size": 0}`, "size: want a whole number from 1 to 5, got 0"},
		{"embedded", `{"tries": 4}`, "tries: want a whole number from 0 to 3, got 4"},
		{"text for an embedded number", `{"tries": "x"}`, "tries: want a whole number from 0 to 3, got a text"},
		{"in a list", `{"list": [{"turns": 1}, {"turns": 10}]}`, "list.1.turns: want a whole number from 1 to 9, got 10"},
		{"syntax", `{"name" "a"}`, "no JSON, at byte 9: invalid character '\"' after object key"},
		{"not UTF-8", "{\"name\": \"caf\xe9\"}", "it is not UTF-8"},
		{"cut short", `{"name": "a"`, "no whole JSON value"},
		{"nothing", ``, "there is no JSON value"},
		{"two values", `{} {}`, "something follows the value"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var o outer
			err := strict.Decode([]byte(tt.text), &o)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("error %v", err)
			case tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want)):
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestNumbersThatAreNone(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -0.1} {
		if strict.Check(&outer{Weight: x}) == nil {
			t.Errorf("%v passes", x)
		}
	}
}

func TestWrittenZero(t *testing.T) {
	type settings struct {
		outer
		Share int `json:"share" range:"[-1,9] but 0"`
	}
	for _, tt := range []struct{ text, want string }{
		{`{"name": "0", "tries": 0, "numbers": {"weight": 0}, "weight": null, "seed": 0}`, ""},
		{`{"weight": 0.0}`, "weight: want a number above 0, at most 1, got 0: leave the key out for the default"},
		{`{"WEIGHT": -0}`, "WEIGHT: want a number above 0, at most 1, got 0"},
		{`{"list": [{"turns": 1}, {"turns": 0}]}`, "list.1.turns: want a whole number from 1 to 9, got 0"},
		{`{"by_name": {"a": {"turns": 0}}}`, "by_name.a.turns: want a whole number from 1 to 9, got 0"},
		{`{"share": -1}`, ""},
		{`{"share": 0}`, "share: want a whole number from -1 to 9 but not 0, got 0"},
		{`{"share": -2}`, "share: want a whole number from -1 to 9 but not 0, got -2"},
		{`{"raw": {"weight": 0}}`, ""},
	} {
		var s settings
		err := strict.Decode([]byte(tt.text), &s)
		if err == nil {
			if wrong := strict.CheckSettings([]byte(tt.text), &s); wrong != nil {
				err = wrong
			}
		}
		if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.text, err, tt.want)
		}
	}
}

// Whatever the text is: no panic, and no names of Go in the message.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"inner": {"turns": 1}, "list": [{"x": 1}]}`))
	f.Add([]byte(`{"by_name": {"a": [1]}, "own": 5}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var o outer
		if err := strict.Decode(text, &o); err != nil && strings.Contains(err.Error(), "Go struct") {
			t.Errorf("%q: %v", text, err)
		}
	})
}
