package rag_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

func TestFilterMatch(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2026, 6, d, 0, 0, 0, 0, time.UTC) }
	m := rag.Meta{"country": "UK", "year": 2026.0, "draft": false, "tags": []string{"fees", "visa"}, "date": "2026-02-01", "nothing": nil}
	v := rag.Validity{From: day(1), Until: day(30), Stated: true}
	for name, c := range map[string]struct {
		f    rag.Filter
		want bool
	}{
		"zero":                     {rag.Filter{}, true},
		"eq":                       {rag.Eq("country", "UK"), true},
		"eq other":                 {rag.Eq("country", "uk"), false},
		"eq number from int":       {rag.Eq("year", 2026), true},
		"eq bool":                  {rag.Eq("draft", false), true},
		"eq kind differs":          {rag.Eq("year", "2026"), false},
		"eq list element":          {rag.Eq("tags", "visa"), true},
		"eq of no element":         {rag.Eq("tags", "x"), false},
		"eq missing":               {rag.Eq("city", "x"), false},
		"not of missing":           {rag.Not(rag.Eq("city", "x")), true},
		"in":                       {rag.In("country", "FR", "UK"), true},
		"in nothing":               {rag.In("country"), false},
		"in list":                  {rag.In("tags", "a", "fees"), true},
		"prefix":                   {rag.Prefix("date", "2026-"), true},
		"prefix of another":        {rag.Prefix("country", "FR"), false},
		"no text as prefix":        {rag.Filter{Op: rag.OpPrefix, Field: "country", Value: 5.0}, false},
		"empty prefix of number":   {rag.Prefix("year", ""), false},
		"prefix of number":         {rag.Prefix("year", "20"), false},
		"range number":             {rag.Range("year", rag.Bounds{GTE: 2026, LT: 2027}), true},
		"range number above":       {rag.Range("year", rag.Bounds{GT: 2026}), false},
		"range date":               {rag.Range("date", rag.Bounds{GTE: "2026-01-01", LTE: "2026-02-01"}), true},
		"range of another kind":    {rag.Range("date", rag.Bounds{GTE: 1}), false},
		"range without bounds":     {rag.Filter{Op: rag.OpRange, Field: "date", Bounds: &rag.Bounds{}}, false},
		"exists":                   {rag.Exists("tags"), true},
		"null is not there":        {rag.Exists("nothing"), false},
		"exists not":               {rag.Exists("city"), false},
		"valid":                    {rag.ValidAt(day(1)), true},
		"valid until is exclusive": {rag.ValidAt(day(30)), false},
		"and":                      {rag.And(rag.Eq("country", "UK"), rag.Eq("year", 2026)), true},
		"and of nothing":           {rag.And(), true},
		"or":                       {rag.Or(rag.Eq("country", "FR"), rag.Eq("year", 2026)), true},
		"or of neither":            {rag.Or(rag.Eq("country", "FR"), rag.Eq("year", 2025)), false},
		"or of nothing":            {rag.Or(), false},
		"unknown operator":         {rag.Filter{Op: "like", Field: "country", Value: "U"}, false},
	} {
		if got := c.f.Match(m, v); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestAndOfFiltersLeavesOutWhatMatchesEverything(t *testing.T) {
	a, b := rag.Eq("a", 1), rag.Eq("b", 2)
	for name, c := range map[string]struct{ got, want rag.Filter }{
		"none":        {rag.And(), rag.Filter{}},
		"everything":  {rag.And(rag.Filter{}, rag.Filter{}), rag.Filter{}},
		"one":         {rag.And(a), a},
		"one besides": {rag.And(rag.Filter{}, a), a},
		"two":         {rag.And(a, b), rag.Filter{Op: rag.OpAnd, Args: []rag.Filter{a, b}}},
		"two besides": {rag.And(a, rag.Filter{}, b), rag.Filter{Op: rag.OpAnd, Args: []rag.Filter{a, b}}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestFilterValidateNamesWhatIsWrong(t *testing.T) {
	for want, f := range map[string]rag.Filter{
		"the value is a []int":             rag.Eq("a", []int{1}),
		"the value is a float64 (NaN)":     rag.Eq("a", math.NaN()),
		"the value is a float64, not a st": {Op: rag.OpPrefix, Field: "a", Value: 1.0},
		"a value is a []int":               rag.In("a", "x", []int{1}),
		"a bound is +Inf":                  rag.Range("a", rag.Bounds{LT: math.Inf(1)}),
		"a bound is a bool":                rag.Range("a", rag.Bounds{LT: true}),
		"no instant given":                 {Op: rag.OpValidAt},
		"no field named":                   rag.And(rag.Eq("a", 1), rag.Eq("", 1)),
	} {
		if err := f.Validate(); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %s", f, err, want)
		}
	}
}

// A bound that is a day is all of the day, whether the value is a day or an instant.
func TestRangeOfDays(t *testing.T) {
	const day = "2026-01-31"
	for value, want := range map[string]string{ // which of > >= < <= hold
		"2026-01-30":                "< <=",
		"2026-01-30T23:59:59Z":      "< <=",
		"2026-01-31":                ">= <=",
		"2026-01-31T00:00:00Z":      ">= <=",
		"2026-01-31T23:59:59+14:00": ">= <=", // the day it is written with
		"2026-01-31 12:00":          ">= <=",
		"2026-02-01":                "> >=",
		"2026-02-01T00:00:00Z":      "> >=",
		"2026":                      "< <=",
	} {
		m := rag.Meta{"date": value}
		var holds []string
		for _, c := range []struct {
			op     string
			bounds rag.Bounds
		}{{">", rag.Bounds{GT: day}}, {">=", rag.Bounds{GTE: day}}, {"<", rag.Bounds{LT: day}}, {"<=", rag.Bounds{LTE: day}}} {
			if rag.Range("date", c.bounds).Match(m, rag.Validity{}) {
				holds = append(holds, c.op)
			}
		}
		if got := strings.Join(holds, " "); got != want {
			t.Errorf("%s against %s: %s hold, want %s", value, day, got, want)
		}
	}
	instant := rag.Bounds{LTE: "2026-01-31T12:00:00Z"}
	for value, want := range map[string]bool{"2026-01-31": true, "2026-01-31T12:00:00Z": true, "2026-01-31T12:00:01Z": false} {
		if got := instant.Contain(value); got != want {
			t.Errorf("%s up to noon: got %v, want %v", value, got, want)
		}
	}
}

func TestFilterJSON(t *testing.T) {
	f := rag.And(rag.In("country", "UK", "FR"), rag.Not(rag.Range("year", rag.Bounds{LT: 2020})), rag.ValidAt(time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)))
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var back rag.Filter
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f, back); diff != "" {
		t.Error(diff)
	}
	for name, c := range map[string]struct{ text, want string }{
		"unknown key":      {`{"op":"eq","feild":"a","value":1}`, `"field"`},
		"unknown operator": {`{"op":"equals","field":"a","value":1}`, "known: eq"},
		"nested":           {`{"op":"not","args":[{"op":"rang","field":"a"}]}`, `did you mean "range"`},
		"no field":         {`{"op":"exists"}`, "no field"},
		"value kind":       {`{"op":"eq","field":"a","value":[1]}`, "not a string, finite number or bool"},
		"mixed bounds":     {`{"op":"range","field":"a","bounds":{"gt":1,"lt":"b"}}`, "mix"},
		"infinite bound":   {`{"op":"range","field":"a","bounds":{"gt":1e999}}`, "1e999"},
		"no bounds":        {`{"op":"range","field":"a"}`, "no bounds"},
		"not of two":       {`{"op":"not","args":[{"op":"exists","field":"a"},{"op":"exists","field":"b"}]}`, "one argument"},
	} {
		err := json.Unmarshal([]byte(c.text), &back)
		if !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzFilterJSON(f *testing.F) {
	f.Add(`{"op":"and","args":[{"op":"eq","field":"a","value":"b"}]}`)
	f.Fuzz(func(t *testing.T, s string) {
		var fl rag.Filter
		if json.Unmarshal([]byte(s), &fl) != nil {
			return
		}
		fl.Match(rag.Meta{"a": "b", "n": 1.0}, rag.Validity{})
		b, err := json.Marshal(fl)
		if err != nil {
			t.Fatal(err)
		}
		var back rag.Filter
		if err := json.Unmarshal(b, &back); err != nil {
			t.Errorf("%s does not read back: %v", b, err)
		}
	})
}

func TestAFilterOnAnotherKindOfValueIsSaid(t *testing.T) {
	f := newFixture(t)
	f.write("a.md", "---\nyear: 2026\ncode: \"0042\"\n---\nA text about moss.")
	f.ingest(nil)
	for text, want := range map[string]string{
		`code = 42`:                       `asks for a number in the field "code", and the passages hold a text there`,
		`year starts with 20`:             `asks for a text in the field "year", and the passages hold a number there`,
		`year >= 2027`:                    "",
		`code >= 42`:                      `asks for a number in the field "code"`,
		`code = true`:                     `asks for a bool in the field "code"`,
		`year = 2026 or yeer = 1`:         "", // it found something
		`not code exists`:                 "",
		`code in [42, "0043"]`:            "",
		`yeer = 2026 and not year = 2026`: `no passage has the field "yeer", did you mean "year"?`,
	} {
		filter, err := rag.ParseFilter(text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range f.search(rag.Query{Text: "moss", Filter: filter}).Notes {
			got = append(got, n.Reason)
		}
		if joined := strings.Join(got, "\n"); (want == "") != (joined == "") || !strings.Contains(joined, want) {
			t.Errorf("%s: got notes %q, want %q", text, joined, want)
		}
	}
}

// TestNoMetaThatCannotBeAskedFor: JSON has no form for such numbers either, so that a hit with one could not be printed.
func TestNoMetaThatCannotBeAskedFor(t *testing.T) {
	for _, x := range []any{math.NaN(), math.Inf(1), math.Inf(-1), float32(math.Inf(1))} {
		if m, err := (rag.Meta{"n": x}).Clean(); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%v is kept as %v (%v)", x, m, err)
		}
	}
}
