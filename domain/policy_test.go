package domain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
)

// describe returns what a domain makes of a source's metadata, and of what its loader found.
func describe(t *testing.T, text, uri string, stated, found rag.Meta) (rag.Meta, rag.Validity, string) {
	t.Helper()
	src := parse(t, text).Describe(rag.Source{URI: uri, Meta: stated})
	m := rag.Meta{}
	for _, from := range []rag.Meta{found, src.Meta} {
		for k, v := range from {
			m[k] = v
		}
	}
	m, v, warnings := src.Policy.Apply(m)
	var all []string
	for _, w := range warnings {
		all = append(all, w.Message)
	}
	return m, v, strings.Join(all, "\n")
}

func TestPathsTellMetadata(t *testing.T) {
	const text = `
name: x
fields:
  subject: {type: string}
  type: {type: string, enum: {lectures: [lecture], exams: ~}}
paths: {patterns: ["docs/<subject>/<type>/…", "notes/*/<subject>"], unknown: none}
`
	for _, tt := range []struct{ name, path, subject, kind, warning string }{
		{"a file", "/home/me/docs/math/exams/a.md", "math", "exams", ""},
		{"deeper", "/docs/math/exams/2025/june/a.md", "math", "exams", ""},
		{"another name", "/docs/math/Lecture/a.md", "math", "lectures", ""},
		{"nearest to the file", "/docs/x/exams/docs/math/exams/a.md", "math", "exams", ""},
		{"where the words fit", "/docs/me/project/docs/math/exams/a.md", "math", "exams", ""},
		{"another pattern", "/notes/2025/math", "math", "none", ""},
		{"too high", "/docs/math/a.md", "none", "none", "it does not lie in docs/<subject>/<type>/… or notes/*/<subject>"},
		{"not in the vocabulary", "/docs/math/slides/a.md", "none", "none", `the folder for type: "slides" is not in the vocabulary (lectures, exams)`},
		{"elsewhere", "/a.md", "none", "none", "it does not lie in"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, _, warning := describe(t, text, "file://"+tt.path, nil, nil)
			kind := m["type"]
			if kind == nil {
				kind = "none"
			}
			if m["subject"] != tt.subject || kind != tt.kind || !strings.Contains(warning, tt.warning) || (tt.warning == "") != (warning == "") {
				t.Errorf("got %v, warning %q", m, warning)
			}
		})
	}
	t.Run("what is stated goes over the path", func(t *testing.T) {
		m, _, _ := describe(t, text, "mem:///docs/math/exams/a.md", rag.Meta{"subject": "physics"}, rag.Meta{"type": "lectures"})
		if m["subject"] != "physics" || m["type"] != "exams" {
			t.Errorf("got %v", m)
		}
	})
	t.Run("what the file says goes over unknown", func(t *testing.T) {
		m, _, warning := describe(t, text, "file:///a.md", rag.Meta{"subject": "physics"}, rag.Meta{"type": "lecture"})
		if m["subject"] != "physics" || m["type"] != "lectures" || warning != "" {
			t.Errorf("got %v, %q", m, warning)
		}
	})
}

func TestFilesWithoutManifestAreChecked(t *testing.T) {
	text := strings.Replace(small, "paths: {patterns: [docs/<kind>/*]}", "", 1)
	for _, tt := range []struct {
		name    string
		found   rag.Meta
		want    rag.Meta // beside what is forced
		warning string
	}{
		{"another name", rag.Meta{"country": "uk"}, rag.Meta{"country": "united_kingdom"}, ""},
		{"no domain's field", rag.Meta{"country": "uk", "author": "me"}, rag.Meta{"country": "united_kingdom", "author": "me"}, ""},
		{"missing", rag.Meta{}, rag.Meta{}, "country: is required and not given"},
		{"not in the vocabulary", rag.Meta{"country": "Narnia"}, rag.Meta{"country": "Narnia"}, `country: "Narnia" is not in the vocabulary`},
		{"wrong type", rag.Meta{"country": "uk", "amount": "5"}, rag.Meta{"country": "united_kingdom", "amount": "5"}, "amount: want a number"},
		{"a forced value", rag.Meta{"country": "uk", "area": "mine"}, rag.Meta{"country": "united_kingdom"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for k, v := range (rag.Meta{"area": "fees", "year": 2026.0, "public": true}) {
				tt.want[k] = v
			}
			m, _, warning := describe(t, text, "mem:a", nil, tt.found)
			if diff := cmp.Diff(tt.want, m); diff != "" || !strings.Contains(warning, tt.warning) || (tt.warning == "") != (warning == "") {
				t.Errorf("%s, warning %q", diff, warning)
			}
		})
	}
}

func TestValidityPolicy(t *testing.T) {
	const base = "name: x\nfields: {from: {type: date}, until: {type: date}}\nvalidity: {from: from, until: until, time_zone: Asia/Shanghai}"
	current := strings.Replace(base, "Shanghai}", "Shanghai, missing: current}", 1)
	onlyFrom := strings.Replace(base, "until: until, ", "", 1)
	at := time.Date(2026, 3, 1, 15, 59, 59, 0, time.UTC) // the last second of March 1st in Shanghai
	for _, tt := range []struct {
		name, text string
		m          rag.Meta
		at         time.Time
		want       string
		warning    string
	}{
		{"the day itself", base, rag.Meta{"until": "2026-03-01"}, at, "current", ""},
		{"the next one", base, rag.Meta{"until": "2026-03-01"}, at.Add(time.Second), "expired", ""},
		{"an instant", base, rag.Meta{"until": "2026-03-01T00:00:00Z"}, at, "expired", ""},
		{"not yet", base, rag.Meta{"from": "2026-03-02", "until": "2026-04-01"}, at, "expired", ""},
		{"from now on", base, rag.Meta{"from": "2026-03-02", "until": "2026-04-01"}, at.Add(time.Second), "current", ""},
		{"missing", base, rag.Meta{"from": "2026-01-01"}, at, "needs_review", ""},
		{"missing, which is well", current, rag.Meta{}, at, "current", ""},
		{"not readable", base, rag.Meta{"until": "next year"}, at, "needs_review", `until: "next year" is neither`},
		{"not readable, though missing is well", current, rag.Meta{"until": "2026-13-01"}, at, "needs_review", "neither"},
		{"no text", base, rag.Meta{"until": 2026.0}, at, "needs_review", "until:"},
		{"one not readable, the other past", base, rag.Meta{"from": "?", "until": "2026-02-01"}, at, "expired", "from:"},
		{"one not readable, the other to come", base, rag.Meta{"from": "?", "until": "2026-05-01"}, at, "needs_review", "from:"},
		{"inverted", base, rag.Meta{"from": "2026-05-01", "until": "2026-04-01"}, at, "expired", "until 2026-04-01 is not after from 2026-05-01"},
		{"one day", base, rag.Meta{"from": "2026-03-01", "until": "2026-03-01"}, at, "current", ""},
		{"for ever", base, rag.Meta{"until": "9999-12-31"}, at, "current", ""},
		{"only from", onlyFrom, rag.Meta{"from": "2026-01-01"}, at, "current", ""},
		{"only from, missing", onlyFrom, rag.Meta{}, at, "needs_review", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, v, warning := describe(t, tt.text, "mem:a", tt.m, nil)
			if got := v.Status(tt.at); got != tt.want || !strings.Contains(warning, tt.warning) || (tt.warning == "") != (warning == "") {
				t.Errorf("%s, warning %q; want %s, %q", got, warning, tt.want, tt.warning)
			}
		})
	}
}

func TestCheckMeta(t *testing.T) {
	const fields = "name: x\nforced_filter: {area: fees}\nfields: {country: {enum: {britain: [uk], france: ~}}, tags: {type: list, enum: [a, b]}, until: {type: date}}\nvalidity: {until: until, unparsable: "
	given := rag.Meta{"area": "other", "country": "UK", "language": "en", "tags": []string{"a", "c"}, "until": "soon", "untl": "2026-01-01"}
	for policy, want := range map[string]string{"needs_review": "tags untl!", "reject": "tags until untl!"} {
		var got []string
		for _, p := range parse(t, fields+policy+"}\n").CheckMeta(given) {
			if p.Message == "" || !cmp.Equal(p.Value, given[p.Field]) {
				t.Errorf("%+v", p)
			}
			if p.NoField {
				p.Field += "!"
			}
			got = append(got, p.Field)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %s", policy, got, want)
		}
	}
}
