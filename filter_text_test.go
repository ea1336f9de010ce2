package rag_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

func TestParseFilter(t *testing.T) {
	newYear := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	a, b, c := rag.Eq("a", 1), rag.Eq("b", 2), rag.Eq("c", 3)
	and := func(fs ...rag.Filter) rag.Filter { return rag.Filter{Op: rag.OpAnd, Args: fs} }
	for text, want := range map[string]rag.Filter{
		`country = "UK" and valid_until >= 2026-01-01 and not tags in ["draft", "old"]`: and(
			rag.Eq("country", "UK"), rag.Range("valid_until", rag.Bounds{GTE: "2026-01-01"}), rag.Not(rag.In("tags", "draft", "old"))),

		// Values.
		`a = b`:                         rag.Eq("a", "b"),
		`a='b c'`:                       rag.Eq("a", "b c"),
		`a = "it's \"so\"\n\u00e9\xff"`: rag.Eq("a", "it's \"so\"\né\xff"),
		`a = 'it\'s "so"'`:              rag.Eq("a", `it's "so"`),
		"a = \"two\nlines\"":            rag.Eq("a", "two\nlines"),
		`a = 2026`:                      rag.Eq("a", 2026),
		`a = -1.5e3`:                    rag.Eq("a", -1500),
		`a = "2026"`:                    rag.Eq("a", "2026"),
		`a = true`:                      rag.Eq("a", true),
		`a = "true"`:                    rag.Eq("a", "true"),
		`a = 9`:                         rag.Eq("a", 9),
		`a = -`:                         rag.Eq("a", "-"),
		"a = \"\xff\"":                  rag.Eq("a", "\xff"),
		`a = NaN`:                       rag.Eq("a", "NaN"),
		`a = -inf`:                      rag.Eq("a", "-inf"),
		`a = 1.2.3`:                     rag.Eq("a", "1.2.3"),
		`a = docs/手册.md`:                rag.Eq("a", "docs/手册.md"),
		`a = 2026-01-31T12:00:00+01:00`: rag.Eq("a", "2026-01-31T12:00:00+01:00"),
		`a = ""`:                        rag.Eq("a", ""),

		// Fields.
		`meta.country = UK`: rag.Eq("meta.country", "UK"),
		`"my field" = 1`:    rag.Eq("my field", 1),
		`"not" = 1`:         rag.Eq("not", 1),
		`2026 = 1`:          rag.Eq("2026", 1),
		`valid = true`:      rag.Eq("valid", true),

		// Operators.
		`a != 1`:                               rag.Not(a),
		`a < 1`:                                rag.Range("a", rag.Bounds{LT: 1}),
		`a > 1 <= 5`:                           rag.Range("a", rag.Bounds{GT: 1, LTE: 5}),
		`a between 1 and 5 and b = 2`:          and(rag.Range("a", rag.Bounds{GTE: 1, LTE: 5}), b),
		`a not between x and y`:                rag.Not(rag.Range("a", rag.Bounds{GTE: "x", LTE: "y"})),
		`a in []`:                              rag.In("a"),
		`a in [1, "1", true]`:                  rag.In("a", 1, "1", true),
		`a not in [x]`:                         rag.Not(rag.In("a", "x")),
		`a exists`:                             rag.Exists("a"),
		`a not exists`:                         rag.Not(rag.Exists("a")),
		`uri starts with docs/`:                rag.Prefix("uri", "docs/"),
		`a starts with 20`:                     rag.Prefix("a", "20"),
		`valid at 2026-01-01`:                  rag.ValidAt(newYear),
		`valid at "2026-01-01T01:00:00+01:00"`: rag.ValidAt(newYear),
		`everything`:                           {},

		// Precedence.
		`a=1 or b=2 and c=3`:       rag.Or(a, and(b, c)),
		`(a=1 or b=2) and c=3`:     and(rag.Or(a, b), c),
		`not a=1 and b=2`:          and(rag.Not(a), b),
		`not (a=1 and b=2)`:        rag.Not(and(a, b)),
		`NOT a=1 AND b=2 Or c = 3`: rag.Or(and(rag.Not(a), b), c),
		`a=1 and (b=2 and c=3)`:    and(a, and(b, c)),
		" \ta=1\n":                 a,
	} {
		got, err := rag.ParseFilter(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
		if err := got.Validate(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestParseFilterErrorsPointAtTheColumn(t *testing.T) {
	for text, want := range map[string]string{
		``:                           `column 1: expected a condition such as field = value`,
		`year`:                       `column 5: expected an operator after "year"`,
		`country = "UK" and year >=`: `column 27: expected a value after ">="`,
		`é = "x" and`:                `column 12: expected a condition`,
		`year == 2026`:               `column 6: expected an operator (=, !=, <, <=, >, >=, in, between, starts with, exists, not) after "year", found "==", did you mean "="?`,
		`year betweem 1 and 2`:       `did you mean "between"?`,
		`year <> 1`:                  `did you mean "!="?`,
		`uri like docs/`:             `did you mean "starts with"?`,
		`a = 1 && b = 2`:             `column 7: expected and, or, or the end, found "&&", did you mean "and"?`,
		`status = in force`:          `column 10: expected a value after "=", found "in"`,
		`status = old c`:             `column 14: expected and, or, or the end, found "c"; a value with blanks stands in quotes`,
		`status = old stuff`:         `column 14: expected and, or, or the end, found "stuff"; a value with blanks stands in quotes`,
		`exists(a)`:                  `column 1: "exists" stands behind its field`,
		`a = "x`:                     `column 5: the quote is not closed`,
		`"x`:                         `column 1: the quote is not closed`,
		`("x`:                        `column 2: the quote is not closed`,
		`not "x`:                     `column 5: the quote is not closed`,
		`a "x`:                       `column 3: the quote is not closed`,
		`a = 1 and "x`:               `column 11: the quote is not closed`,
		`a in "x`:                    `column 6: the quote is not closed`,
		`a > "x`:                     `column 5: the quote is not closed`,
		`valid at "x`:                `column 10: the quote is not closed`,
		`valid at`:                   `column 9: expected a day like 2026-01-31`,
		`valid at 0001-01-01`:        `column 10: expected a day like 2026-01-31`,
		`a between , and 2`:          `column 11: expected a value after "between"`,
		`a between 1 or 2`:           `column 13: expected "and"`,
		`a between 1 and ]`:          `column 17: expected a value after "and"`,
		`a not in x`:                 `column 10: expected "["`,
		`a starts 1`:                 `column 10: expected "with"`,
		`a starts with ]`:            `column 15: expected a value after "starts with"`,
		`a = "x\q"`:                  `column 7: unknown escape`,
		`(a = 1`:                     `column 7: expected ")"`,
		`a = 1)`:                     `column 6: expected and, or, or the end, found ")"`,
		`a = 1 = 2`:                  `column 7: expected and, or, or the end, found "="`,
		`a in x`:                     `column 6: expected "[", found "x"`,
		`a in [1`:                    `column 8: expected ","`,
		`a in [1,]`:                  `column 9: expected a value after "["`,
		`a in ["b" "c"]`:             `column 11: expected ","`,
		`a not = 1`:                  `column 7: expected in, between, starts with or exists after "a not"`,
		`a > 1 > 2`:                  `column 7: a second bound with ">"`,
		`a > 1 < x`:                  `column 9: a bound is a number or a text, and both bounds are of one kind`,
		`a > true`:                   `column 5: a bound is a number or a text`,
		`a = 1e999`:                  `column 5: 1e999 is too large a number`,
		`valid at noon`:              `column 10: expected a day like 2026-01-31`,
		`"" = 1`:                     `column 1: a field has a name`,
		`= 1`:                        `column 1: expected a condition`,
		`everything = 1`:             `column 12: expected and, or, or the end`,
		strings.Repeat("(", 1e6):     `column 101: more than 100`,
		strings.Repeat("not ", 1e6):  `column 401: more than 100`,
	} {
		if len(text) > 100 {
			text = text[:1000]
		}
		_, err := rag.ParseFilter(text)
		var at *rag.FilterError
		if !errors.Is(err, rag.ErrInvalid) || !errors.As(err, &at) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// What stands in quotes is no operator that somebody misspelled.
func TestParseFilterHasNoHintForQuotes(t *testing.T) {
	for _, text := range []string{`a = 1 "&&" b = 2`, `a "betweem" 1`} {
		if _, err := rag.ParseFilter(text); err == nil || strings.Contains(err.Error(), "did you mean") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A hundred conditions inside each other are the most; beside each other there may be more.
func TestParseFilterCountsDepthNotLength(t *testing.T) {
	if _, err := rag.ParseFilter(strings.Repeat("a = 1 and ", 300) + "(b = 2)"); err != nil {
		t.Error(err)
	}
	if _, err := rag.ParseFilter(strings.Repeat("(", 99) + "a = 1" + strings.Repeat(")", 99)); err != nil {
		t.Error(err)
	}
}

func TestFilterString(t *testing.T) {
	for _, text := range []string{
		`country = "UK" and valid_until >= 2026-01-01 and not tags in ["draft", "old"]`,
		`not (a = 1 or b = "2") and "my field" exists`,
		`a = 1 and b = 2 or not not c != true`,
		`(a = 1 or b = 2) and (c = 3 and d = 4)`,
		`n between 1 and 5 or n > 1 < 5 or n > 1 >= 2 < 7 <= 6`,
		`"and" starts with "\u200b\xff" and valid at 2026-01-01T11:00:00Z`,
		`valid at 2026-01-01 and everything`,
		`a = 2029-09-29 or a = "2026-01x31" or a = "2026x01-31" or a = "abcd-ef-gh"`,
	} {
		f, err := rag.ParseFilter(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := f.String(); got != text {
			t.Errorf("got  %s\nwant %s", got, text)
		}
	}
	for want, f := range map[string]rag.Filter{
		"everything":                           {},
		"not everything":                       rag.Or(),
		"everything and not everything":        {Op: rag.OpAnd, Args: []rag.Filter{{Op: rag.OpAnd}, rag.Not(rag.Filter{Op: rag.OpAnd})}},
		"not (a exists)":                       rag.Not(rag.Or(rag.Exists("a"))),
		"a exists or b exists":                 {Op: rag.OpAnd, Args: []rag.Filter{rag.Or(rag.Exists("a"), rag.Exists("b"))}},
		"a exists":                             {Op: rag.OpAnd, Args: []rag.Filter{rag.Exists("a")}},
		`invalid filter with operator "like"`:  {Op: "like"},
		`invalid filter with operator "range"`: {Op: rag.OpRange, Field: "a"},
		`invalid filter with operator "not"`:   {Op: rag.OpNot},
	} {
		if got := f.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// Whatever filter there is, its text form means it.
func TestFilterTextRoundTrip(t *testing.T) {
	for seed := range uint64(3000) {
		f := randomFilter(rand.New(rand.NewPCG(seed, 7)), 4)
		if err := f.Validate(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		back, err := rag.ParseFilter(f.String())
		if err != nil {
			t.Fatalf("seed %d: %s: %v", seed, f, err)
		}
		if diff := cmp.Diff(f, back); diff != "" {
			t.Fatalf("seed %d: %s (-want +got):\n%s", seed, f, diff)
		}
	}
}

// randomFilter makes a valid filter of at most so many levels.
func randomFilter(rnd *rand.Rand, depth int) rag.Filter {
	words := []string{"", "a", "and", "NOT", "valid", "at", "2026", "true", "2026-01-31", "it's", `"`, "a b", "é\u0301", "\xff\x00", "手册", "a=b", "x[0]", "meta.country", "1e5", "\u2028"}
	word := func() string { return words[rnd.IntN(len(words))] }
	field := func() string { return words[1+rnd.IntN(len(words)-1)] }
	number := func() float64 { return []float64{0, -1, 2.5, 1e300, 5e-324, 2026}[rnd.IntN(6)] }
	args := func() (all []rag.Filter) {
		for range 2 + rnd.IntN(2) {
			all = append(all, randomFilter(rnd, depth-1))
		}
		return all
	}
	kinds := 11
	if depth == 0 {
		kinds = 8
	}
	switch rnd.IntN(kinds) {
	case 0:
		return rag.Eq(field(), word())
	case 1:
		return rag.Eq(field(), []any{number(), true, false}[rnd.IntN(3)])
	case 2:
		f := rag.In(field())
		for range rnd.IntN(4) {
			f.Values = append(f.Values, []any{word(), number(), true}[rnd.IntN(3)])
		}
		return f
	case 3, 4:
		value := func() any { return number() }
		if rnd.IntN(2) == 0 {
			value = func() any { return word() }
		}
		var b rag.Bounds
		for _, to := range []*any{&b.GT, &b.GTE, &b.LT, &b.LTE} {
			if rnd.IntN(2) == 0 || b == (rag.Bounds{}) && to == &b.LTE {
				*to = value()
			}
		}
		return rag.Range(field(), b)
	case 5:
		return rag.Prefix(field(), word())
	case 6:
		return rag.Exists(field())
	case 7:
		return rag.ValidAt(time.Date(1+rnd.IntN(9998), 1, 1+rnd.IntN(400), 0, 0, 0, rnd.IntN(3)*5e8, time.FixedZone("", 1800*rnd.IntN(3))))
	case 8:
		return rag.Filter{Op: rag.OpAnd, Args: args()}
	case 9:
		return rag.Filter{Op: rag.OpOr, Args: args()}
	}
	return rag.Not(randomFilter(rnd, depth-1))
}

func FuzzFilterText(f *testing.F) {
	for _, s := range []string{`a = "b" and not c in [1, 'x'] or valid at 2026-01-01`, `a > 1 <= 2`, `"x\n" starts with é`, `((everything))`, "a = \xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		filter, err := rag.ParseFilter(s)
		if err != nil {
			var at *rag.FilterError
			if !errors.As(err, &at) || at.Column() < 1 || at.Offset > len(s) {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		if err := filter.Validate(); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		back, err := rag.ParseFilter(filter.String())
		if err != nil {
			t.Fatalf("%q: %s does not read back: %v", s, filter, err)
		}
		if diff := cmp.Diff(filter, back); diff != "" {
			t.Fatalf("%q: %s (-want +got):\n%s", s, filter, diff)
		}
	})
}

func ExampleParseFilter() {
	f, err := rag.ParseFilter(`country = UK and year >= 2024`)
	fmt.Println(f, err)
	_, err = rag.ParseFilter(`country = UK and year => 2024`)
	fmt.Println(err)
	// Output:
	// country = "UK" and year >= 2024 <nil>
	// column 23: expected an operator (=, !=, <, <=, >, >=, in, between, starts with, exists, not) after "year", found "=>", did you mean ">="?
}
