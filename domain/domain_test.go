package domain_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/domain"
)

const small = `
name: fees
collection: money
forced_filter: {area: fees, year: 2026, public: true}
fields:
  country: {type: string, required: true, filterable: true, enum: {united_kingdom: [UK, 英国], france: ~}}
  kind: {type: string, filterable: true, enum: [notice, guide]}
  from: {type: date}
  until: {type: date}
  amount: {type: number}
  open: {type: bool}
  tags: {type: list, enum: [a, b]}
validity: {from: from, until: until, time_zone: Asia/Shanghai}
paths: {patterns: [docs/<kind>/*]}
tool: {name: search_fees}
`

func parse(t *testing.T, text string) *domain.Domain {
	t.Helper()
	d, err := domain.Parse("d.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestParse(t *testing.T) {
	d := parse(t, small)
	if want := (rag.Meta{"area": "fees", "year": 2026.0, "public": true}); !cmp.Equal(d.Forced, want) {
		t.Errorf("forced: %v", d.Forced)
	}
	if got, want := *d.Tool, (domain.Tool{Name: "search_fees", Parameters: []string{"country", "kind"}}); !cmp.Equal(got, want) {
		t.Errorf("tool: %+v", got)
	}
	if d.Validity.Missing != domain.NeedsReview || d.Validity.Unparsable != domain.NeedsReview || d.Validity.Expired != domain.Exclude || d.Paths.Unknown != "unknown" {
		t.Errorf("defaults: %+v %+v", d.Validity, d.Paths)
	}
	f, _ := d.Field("country")
	for name, want := range map[string]string{"UK": "united_kingdom", " uk ": "united_kingdom", "英国": "united_kingdom", "France": "france", "Ｆrance": "france"} {
		if got, err := f.Word(name); got != want || err != nil {
			t.Errorf("Word(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
	if _, err := f.Word("francs"); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), `did you mean "france"`) {
		t.Errorf("unknown word: %v", err)
	}
}

func TestFingerprintNamesWhatDescribesDocuments(t *testing.T) {
	base := parse(t, small).Fingerprint()
	for name, tt := range map[string]struct {
		old, new string
		same     bool
	}{
		"nothing":      {"", "", true},
		"tool":         {"search_fees", "ask_fees", true},
		"collection":   {"collection: money", "collection: cash", true},
		"filterable":   {"filterable: true, enum: [notice", "enum: [notice", true},
		"expired":      {"Asia/Shanghai}", "Asia/Shanghai, expired: flag}", true},
		"vocabulary":   {"[notice, guide]", "[notice, guide, faq]", false},
		"other name":   {"UK,", "GB,", false},
		"time zone":    {"Asia/Shanghai", "UTC", false},
		"forced value": {"2026", "2027", false},
		"path rule":    {"docs/", "files/", false},
		"missing":      {"Asia/Shanghai}", "Asia/Shanghai, missing: current}", false},
	} {
		if got := parse(t, strings.Replace(small, tt.old, tt.new, 1)).Fingerprint() == base; got != tt.same {
			t.Errorf("%s: same fingerprint %v, want %v", name, got, tt.same)
		}
	}
}

func TestParseReportsEverythingWithItsPlace(t *testing.T) {
	_, err := domain.Parse("d.yaml", []byte(`nam: x
fields:
  country: {type: text}
  uri: {}
  amount: {type: number, enum: [one]}
  kind: {enum: {a: [b], c: [B, 5]}}
  title: {type: list}
  until: {type: date}
validity: {until: unntil, from: country, time_zone: Mars, missing: no}
paths: {patterns: [docs, <kind>/…/x, <a>, <kind>/<kind>, a<b>]}
tool: {name: "a b", parameters: [kind, x]}
forced_filter: {until: 5, list: [a], page: 1}
forced_filter: {}
description: &a [x]
`))
	var p *domain.FileError
	if !errors.As(err, &p) || !errors.Is(err, rag.ErrInvalid) || p.File != "d.yaml" {
		t.Fatalf("error %v", err)
	}
	var got []string
	for _, one := range p.List {
		got = append(got, one.String())
	}
	want := []string{
		`line 1, column 1: nam: unknown key, did you mean "name"? (known: collection, description, fields, forced_filter, name, paths, tool, validity)`,
		`line 1, column 1: name: missing`,
		`line 3, column 19: fields.country.type: "text" is not one of string, number, bool, date, list`,
		`line 4, column 3: fields.uri: the name is kept for the engine's own use`,
		`line 5, column 11: fields.amount.enum: only fields of type string and list have a vocabulary, not number`,
		`line 6, column 29: fields.kind.enum: "B" is given twice, for "a" and "c"`,
		`line 6, column 32: fields.kind.enum.c: want a text, got a number: put it into quotes`,
		`line 7, column 10: fields.title: title is a text without a vocabulary`,
		`line 9, column 19: validity.until: no field is called "unntil", did you mean "until"?`,
		`line 9, column 33: validity.from: the field country has the type string, not date`,
		`line 9, column 53: validity.time_zone: "Mars" is no time zone such as UTC or Europe/Berlin`,
		`line 9, column 68: validity.missing: "no" is not one of needs_review, current`,
		`line 10, column 20: paths.patterns: docs: no <field> in it`,
		`line 10, column 26: paths.patterns: <kind>/…/x: an element is empty, or … is not at the end`,
		`line 10, column 38: paths.patterns: no field is called "a"`,
		`line 10, column 43: paths.patterns: <kind>/<kind>: <kind> has no name or comes twice`,
		`line 10, column 58: paths.patterns: a<b>: "a<b>": < and > must stand around a whole element`,
		`line 11, column 7: tool.name: "a b" is no name of a tool: letters, digits, _ and -, at most 64`,
		`line 11, column 34: tool.parameters: the field kind is not filterable`,
		`line 11, column 40: tool.parameters: no field is called "x"`,
		`line 12, column 17: forced_filter.until: is a field too: a forced value belongs to the domain, not to a document`,
		`line 12, column 33: forced_filter.list: want a text, a number, true or false, got a list`,
		`line 12, column 38: forced_filter.page: the name is kept for the engine's own use`,
		`line 13, column 1: forced_filter: given twice, first in line 12`,
		`line 14, column 14: description: anchors and aliases are not supported: write the value out`,
	}
	if diff := cmp.Diff(strings.Join(want, "\n"), strings.Join(got, "\n")); diff != "" {
		t.Error(diff)
	}
}

func TestParseRefusesOtherFiles(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "d.yaml: the file is empty"},
		{"no mapping", "- a", "want keys and values, got a list"},
		{"syntax", "name: x\n  a: b\n", "line 2: mapping values are not allowed"},
		{"two documents", "name: x\n---\nname: y\n", "line 2: a second document begins"},
		{"no dates in a policy", "name: x\nvalidity: {time_zone: UTC}", "neither from nor until names a field"},
		{"large", "#" + strings.Repeat("x", 1<<20), "larger than"},
	} {
		if _, err := domain.Parse("d.yaml", []byte(tt.text)); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
}

// A domain knows its fields: a filter on another is a slip, wherever it stands.
func TestQueryRefusesUnknownFields(t *testing.T) {
	d := parse(t, small)
	for _, f := range []rag.Filter{rag.Eq("contry", "uk"), rag.Or(rag.Eq("country", "uk"), rag.Not(rag.Exists("contry")))} {
		_, err := d.Query(rag.Query{Text: "x", Filter: f}, time.Now())
		if !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), `the domain has no such field, did you mean "country"?`) {
			t.Errorf("%s: error %v", f, err)
		}
	}
}

func TestQuery(t *testing.T) {
	d := parse(t, small)
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	forced := rag.And(rag.Eq("area", "fees"), rag.Eq("public", true), rag.Eq("year", 2026))
	got, err := d.Query(rag.Query{Text: "x", Filter: rag.And(rag.Eq("country", "uk"), rag.Not(rag.In("kind", "Guide", 5)), rag.Eq("title", "uk"))}, now)
	if err != nil {
		t.Fatal(err)
	}
	want := rag.Query{
		Text: "x", Collection: "money", AsOf: now, NoDomain: true,
		Filter: rag.And(forced, rag.And(rag.Eq("country", "united_kingdom"), rag.Not(rag.In("kind", "guide", 5)), rag.Eq("title", "uk"))),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	other := rag.Query{Text: "x", Collection: "mine", AsOf: now.Add(-time.Hour)}
	if got, err := d.Query(other, now); err != nil || got.Collection != "mine" || !got.AsOf.Equal(other.AsOf) {
		t.Errorf("what is given stays: %+v, %v", got, err)
	}
	if _, err := d.Query(rag.Query{Text: "x", Filter: rag.Eq("country", "Narnia")}, now); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("a value in no vocabulary: %v", err)
	}
	if got, _ := d.Query(rag.Query{Text: "x", Filter: rag.Eq("kind", "unknown")}, now); got.Filter.IsZero() {
		t.Error("what no folder tells cannot be asked for")
	}
	flagged := parse(t, strings.Replace(small, "Asia/Shanghai}", "Asia/Shanghai, expired: flag}", 1))
	if got, _ := flagged.Query(rag.Query{Text: "x"}, now); !got.Expired {
		t.Error("expired: flag does not find what is expired")
	}
	plain := parse(t, "name: x")
	if got, err := plain.Query(rag.Query{Text: "x"}, now); err != nil || !cmp.Equal(got, rag.Query{Text: "x", NoDomain: true}) {
		t.Errorf("a domain without rules changes the query: %+v, %v", got, err)
	}
}

func TestInstantIsADayOfTheZone(t *testing.T) {
	d := parse(t, small)
	got, err := d.Instant("2026-03-01")
	if want := time.Date(2026, 2, 28, 16, 0, 0, 0, time.UTC); err != nil || !got.Equal(want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	if _, err := d.Instant("tomorrow"); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("error %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(small)
	f.Add("name: x\nfields: {a: {enum: {b: [c]}}}\npaths: {patterns: [a/<a>/...]}")
	f.Add("? [a]\n: &b *b\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := domain.Parse("d.yaml", []byte(text))
		if err != nil {
			if !errors.Is(err, rag.ErrInvalid) {
				t.Errorf("error %v, want ErrInvalid", err)
			}
			return
		}
		if _, err := d.Query(rag.Query{Text: "x"}, time.Unix(0, 0)); err != nil {
			t.Errorf("the forced filter: %v", err)
		}
	})
}
