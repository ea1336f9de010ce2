package domain_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/domain"
)

// folder makes files below a new folder and returns its path.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// sources lists what sets yield.
func sources(t *testing.T, sets []rag.Sources) map[string]rag.Source {
	t.Helper()
	all := map[string]rag.Source{}
	for _, set := range sets {
		for src, err := range set.All {
			if err != nil {
				t.Errorf("%s: %v", src.URI, err)
			}
			all[filepath.Base(src.URI)] = src
		}
	}
	return all
}

func TestManifestDescribesFiles(t *testing.T) {
	dir := folder(t, map[string]string{
		"docs/notice/a.md": "a", "docs/b.md": "b", "other/c.md": "c",
		"manifest.jsonl": "\ufeff" + `{"document_path": "docs/notice/a.md", "title": "The A", "country": "UK", "amount": 5, "open": true, "tags": ["a"], "until": "2026-03-01", "from": null}` + "\r\n\n" +
			`{"document_path": "./docs/../docs/b.md", "country": "france", "until": "soon", "kind": "guide", "tags": []}`,
	})
	d := parse(t, small)
	for name, roots := range map[string][]string{"by name": nil, "a folder": {filepath.Join(dir, "docs")}, "files": {filepath.Join(dir, "docs", "b.md"), filepath.Join(dir, "docs", "notice", "a.md")}} {
		t.Run(name, func(t *testing.T) {
			sets, err := d.Manifest(filepath.Join(dir, "manifest.jsonl"), roots...)
			if err != nil {
				t.Fatal(err)
			}
			if complete := sets[0].Scope != ""; complete != (name == "a folder") {
				t.Errorf("scope %q", sets[0].Scope)
			}
			got := sources(t, sets)
			if len(got) != 2 {
				t.Fatalf("got %v", got)
			}
			a, b := d.Describe(got["a.md"]), d.Describe(got["b.md"])
			forced := rag.Meta{"area": "fees", "year": 2026.0, "public": true}
			want := rag.Meta{"country": "united_kingdom", "amount": 5.0, "open": true, "tags": []string{"a"}, "until": "2026-03-01", "kind": "notice"}
			for k, v := range forced {
				want[k] = v
			}
			if a.Title != "The A" || !cmp.Equal(a.Meta, want) {
				t.Errorf("a: %q %s", a.Title, cmp.Diff(want, a.Meta))
			}
			if b.Title != "" || b.Meta["until"] != "soon" || b.Meta["kind"] != "guide" || b.Meta["tags"] != nil {
				t.Errorf("b: %q %v", b.Title, b.Meta)
			}
			m, v, warnings := a.Policy.Apply(a.Meta)
			if !v.Stated || v.Until.Format("2006-01-02T15") != "2026-03-01T16" || len(warnings) != 0 || m["kind"] != "notice" {
				t.Errorf("a: %+v %v %v", v, warnings, m)
			}
			if _, v, warnings = b.Policy.Apply(b.Meta); v.Stated || len(warnings) != 1 || !strings.Contains(warnings[0].Message, `until: "soon" is neither a day`) {
				t.Errorf("b: %+v %v", v, warnings)
			}
		})
	}
}

func TestManifestMistakes(t *testing.T) {
	const good = `{"document_path": "docs/a.md", "country": "uk"}`
	for _, tt := range []struct{ name, text, want string }{
		{"bad JSON", `{"document_path": "docs/a.md", "country": uk}`, `line 1, column 43: no JSON: invalid character 'u' looking for beginning of value`},
		{"cut short", `{"document_path": "docs/a.md"`, `line 1, column 30: no whole JSON object`},
		{"no object", `["docs/a.md"]`, `line 1, column 1: want a JSON object`},
		{"two objects", good + good, `line 1, column 48: something follows the object`},
		{"not UTF-8", "{\"document_path\": \"\xff\"}", `line 1: not UTF-8`},
		{"unknown field", `{"document_path": "docs/a.md", "country": "uk", "contry": "uk"}`, `line 1, column 49: contry: unknown field, did you mean "country"?`},
		{"field twice", `{"document_path": "docs/a.md", "country": "uk", "country": "uk"}`, `line 1, column 49: country: given twice`},
		{"required field missing", `{"document_path": "docs/a.md"}`, `line 1: country: is required and not given`},
		{"required field empty", `{"document_path": "docs/a.md", "country": " "}`, `line 1: country: is required and not given`},
		{"no path", `{"country": "uk"}`, `line 1: document_path: is required and not given`},
		{"path of another type", `{"document_path": 5, "country": "uk"}`, `line 1, column 2: document_path: want the path of a file, got a number`},
		{"not in the vocabulary", `{"document_path": "docs/a.md", "country": "英国人"}`, `line 1, column 32: country: "英国人" is not in the vocabulary (united_kingdom, france)`},
		{"columns are characters", `{"title": "英国", "document_path": "docs/a.md", "country": 5}`, `line 1, column 47: country: want a text, got a number`},
		{"element not in the vocabulary", `{"document_path": "docs/a.md", "country": "uk", "tags": ["a", "z"]}`, `tags: "z" is not in the vocabulary (a, b)`},
		{"element of another type", `{"document_path": "docs/a.md", "country": "uk", "tags": ["a", 1]}`, `tags: an element is a number`},
		{"text for a list", `{"document_path": "docs/a.md", "country": "uk", "tags": "a"}`, `tags: want a list of texts, got a text`},
		{"text for a number", `{"document_path": "docs/a.md", "country": "uk", "amount": "5"}`, `amount: want a number, got a text`},
		{"text for a switch", `{"document_path": "docs/a.md", "country": "uk", "open": "yes"}`, `open: want true or false, got a text`},
		{"number for a date", `{"document_path": "docs/a.md", "country": "uk", "until": 20260301}`, `until: want a date in quotes, got a number`},
		{"inverted dates", `{"document_path": "docs/a.md", "country": "uk", "from": "2026-03-02", "until": "2026-03-01"}`, `line 1: until: until 2026-03-01 is not after from 2026-03-02`},
		{"the same instant", `{"document_path": "docs/a.md", "country": "uk", "from": "2026-03-01T08:00:00Z", "until": "2026-03-01T16:00:00+08:00"}`, `until 2026-03-01T16:00:00+08:00 is not after from 2026-03-01T08:00:00Z`},
		{"named twice", good + "\n" + `{"document_path": "docs/../docs/a.md", "country": "uk"}`, `line 2, column 2: document_path: docs/../docs/a.md is named twice, first in line 1`},
		{"absent", good + "\n" + `{"document_path": "docs/b.md", "country": "uk"}`, `line 2, column 2: document_path: docs/b.md: there is no such file`},
		{"outside", good + "\n" + `{"document_path": "../x.md", "country": "uk"}`, `line 2, column 2: document_path: ../x.md: lies outside of the files and folders to ingest`},
		{"in another folder", good + "\n" + `{"document_path": "other/c.md", "country": "uk"}`, `other/c.md: lies outside of the files and folders`},
		{"a folder", good + "\n" + `{"document_path": "docs/sub", "country": "uk"}`, `docs/sub: is a folder`},
		{"hidden", good + "\n" + `{"document_path": "docs/.hidden.md", "country": "uk"}`, `docs/.hidden.md: is passed over`},
		{"a file without a line", `{"document_path": "docs/b.md", "country": "uk"}`, `no line names the file docs/a.md`},
		{"nothing", "\n\n", `no line in it`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t, map[string]string{"docs/a.md": "a", "docs/.hidden.md": "h", "docs/sub/.keep": "", "other/c.md": "c", "m.jsonl": tt.text})
			_, err := parse(t, small).Manifest(filepath.Join(dir, "m.jsonl"), filepath.Join(dir, "docs"))
			if !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v\nwant %q", err, tt.want)
			}
		})
	}
}

func TestManifestNeedsNoLineForADataFolder(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "a", "kb/rag.db": "", "kb/LOCK": "", "m.jsonl": `{"document_path": "a.md", "country": "uk"}`})
	if _, err := parse(t, small).Manifest(filepath.Join(dir, "m.jsonl"), dir); err != nil {
		t.Error(err)
	}
}

func TestManifestReportsAllMistakesAtOnce(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "a", "b.md": "b", "m.jsonl": `{"document_path": "a.md", "country": "Narnia", "x": 1}
{"document_path": "a.md", "country": "uk"
{"document_path": "gone.md", "tags": [1]}
`})
	_, err := parse(t, small).Manifest(filepath.Join(dir, "m.jsonl"), dir)
	var p *domain.FileError
	if !errors.As(err, &p) {
		t.Fatal(err)
	}
	var got []string
	for _, one := range p.List {
		got = append(got, fmt.Sprintf("%d %s", one.Line, one.Field))
	}
	if diff := cmp.Diff([]string{"1 country", "1 x", "2 ", "3 country", "3 document_path", "3 tags", "0 document_path"}, got); diff != "" {
		t.Errorf("%s\n%v", diff, err)
	}
}

func TestManifestRefusesDatesThatCannotBeRead(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "a", "m.jsonl": `{"document_path": "a.md", "country": "uk", "until": "2026-02-30"}`})
	strict := parse(t, strings.Replace(small, "Asia/Shanghai}", "Asia/Shanghai, unparsable: reject}", 1))
	if _, err := strict.Manifest(filepath.Join(dir, "m.jsonl")); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), `until: "2026-02-30" is neither a day`) {
		t.Errorf("error %v", err)
	}
	if _, err := parse(t, small).Manifest(filepath.Join(dir, "m.jsonl")); err != nil {
		t.Errorf("a policy that lets it pass: %v", err)
	}
}

func TestManifestFollowsNoLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	outside := folder(t, map[string]string{"secret.md": "s"})
	dir := folder(t, map[string]string{"m.jsonl": `{"document_path": "link.md", "country": "uk"}`})
	if err := os.Symlink(filepath.Join(outside, "secret.md"), filepath.Join(dir, "link.md")); err != nil {
		t.Fatal(err)
	}
	if _, err := parse(t, small).Manifest(filepath.Join(dir, "m.jsonl")); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "link.md: the link leads out") {
		t.Errorf("error %v", err)
	}
}

// A folder may be reached by one path for the manifest and by another for the ingest: files are found by where they lie.
func TestManifestThroughLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	dir := folder(t, map[string]string{
		"real/docs/a.md": "a", "real/docs/sub/b.md": "b", "other/c.md": "c",
		"real/docs/m.jsonl": `{"document_path": "a.md", "country": "uk"}` + "\n" + `{"document_path": "sub/b.md", "country": "uk"}` + "\n",
	})
	in := func(path string) string { return filepath.Join(dir, filepath.FromSlash(path)) }
	link := func(from, to string) {
		t.Helper()
		if err := os.Symlink(filepath.FromSlash(to), in(from)); err != nil {
			t.Fatal(err)
		}
	}
	link("link", "real")
	d := parse(t, small)
	for name, paths := range map[string][2]string{
		"the manifest": {"link/docs/m.jsonl", "real/docs"},
		"the folder":   {"real/docs/m.jsonl", "link/docs"},
	} {
		t.Run(name, func(t *testing.T) {
			sets, err := d.Manifest(in(paths[0]), in(paths[1]))
			if err != nil {
				t.Fatal(err)
			}
			got := sources(t, sets)
			if len(got) != 2 || got["a.md"].URI != rag.FileURI(in(paths[1]+"/a.md")) || got["b.md"].Meta["country"] != "united_kingdom" {
				t.Errorf("%+v", got)
			}
			if want := rag.FileURI(in(paths[1] + "/m.jsonl")); sets[0].Manifest != want {
				t.Errorf("the manifest is %s, want %s: an ingest of the folder would take it for a document", sets[0].Manifest, want)
			}
		})
	}
	link("real/docs/inner", "sub")
	link("real/docs/away", "../../other")
	for name, tt := range map[string]struct{ line, want string }{
		"a link in the folder": {`{"document_path": "inner/b.md", "country": "uk"}`, "line 3, column 2: document_path: inner/b.md is named twice, first in line 2"},
		"out of the folder":    {`{"document_path": "away/c.md", "country": "uk"}`, "away/c.md: lies outside of the files and folders to ingest: links lead to "},
		"absent":               {`{"document_path": "sub/none/c.md", "country": "uk"}`, "sub/none/c.md: there is no such file"},
		"bare":                 {``, "no line names the file n.md"},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(in("real/docs/m.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{"m2.jsonl": string(text) + tt.line, "n.md": "n"} {
				if err := os.WriteFile(in("real/docs/"+name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			_, err = d.Manifest(in("link/docs/m2.jsonl"), in("real/docs"))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v\nwant %q", err, tt.want)
			}
		})
	}
}

// Names that look the same may have other characters, as programs of other systems write them.
func TestManifestInAnotherUnicodeForm(t *testing.T) {
	const composed, decomposed = "caf\u00e9.md", "cafe\u0301.md"
	for name, names := range map[string][2]string{"composed": {composed, decomposed}, "decomposed": {decomposed, composed}} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{"docs/" + names[1]: "a", "m.jsonl": `{"document_path": "docs/` + names[0] + `", "country": "uk"}`})
			for _, roots := range [][]string{nil, {filepath.Join(dir, "docs")}} {
				_, err := parse(t, small).Manifest(filepath.Join(dir, "m.jsonl"), roots...)
				var wrong *domain.FileError
				if !errors.As(err, &wrong) || len(wrong.List) != 1 || wrong.List[0].Kind != domain.NoSuchFile || !strings.Contains(err.Error(), "differs in Unicode form only") {
					t.Errorf("%v: error %v", roots, err)
				}
			}
		})
	}
}

func FuzzManifest(f *testing.F) {
	f.Add(`{"document_path": "a.md", "country": "UK", "amount": 5, "tags": ["a"], "until": "2026-03-01"}`)
	f.Add("{\"a\": {\"b\": [1, null]}, \"a\": 1}\n\n{\"document_path\": \"a.md\"} x")
	f.Add("{ ,}\n{\"\\u0000\": \"\\ud800\"\n[\"a\"]")
	d, err := domain.Parse("d.yaml", []byte(small))
	if err != nil {
		f.Fatal(err)
	}
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("a"), 0o644); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(dir, "m.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		sets, err := d.Manifest(path)
		if err != nil {
			if !errors.Is(err, rag.ErrInvalid) {
				t.Errorf("error %v, want ErrInvalid", err)
			}
			return
		}
		for _, src := range sources(t, sets) {
			if m, _, _ := d.Describe(src).Policy.Apply(src.Meta); m["country"] == nil {
				t.Errorf("a required field is missing: %v", m)
			}
		}
	})
}

// Problems come by line; what concerns the whole file, such as a file that a broken line would have named, comes behind them.
func TestManifestListsProblemsByLine(t *testing.T) {
	dir := folder(t, map[string]string{
		"docs/a.md": "a", "docs/b.md": "b", "docs/c.md": "c",
		"docs/manifest.jsonl": "{\"document_path\": \"a.md\" oops\n{\"document_path\": \"b.md\", \"country\": \"nowhere\"}\n{\"document_path\": \"none.md\", \"country\": \"uk\"}\n",
	})
	_, err := parse(t, small).Manifest(filepath.Join(dir, "docs", "manifest.jsonl"), filepath.Join(dir, "docs"))
	var wrong *domain.FileError
	if !errors.As(err, &wrong) {
		t.Fatal(err)
	}
	var lines []int
	for _, p := range wrong.List {
		lines = append(lines, p.Line)
	}
	if diff := cmp.Diff([]int{1, 2, 3, 0, 0}, lines); diff != "" {
		t.Errorf("%s\n%v", diff, err)
	}
}

func TestLooksLikeManifest(t *testing.T) {
	d := parse(t, "name: x\nfields: {country: {enum: [uk, france]}}\n")
	for name, tt := range map[string]struct {
		file, text string
		want       bool
	}{
		"a manifest":           {"m.jsonl", "\ufeff{\"document_path\": \"a.md\", \"country\": \"uk\"}\n\n{\"country\": \"france\", \"document_path\": \"b.md\"}\n", true},
		"with mistakes":        {"M.JSONL", `{"document_path": "a.md", "country": "Narnia", "contry": "uk"}`, true},
		"paths alone":          {"m.ndjson", `{"document_path": "a.md"}`, true},
		"a title":              {"m.jsonl", `{"document_path": "a.md", "title": "A"}`, true},
		"another name":         {"m.txt", `{"document_path": "a.md"}`, false},
		"other lines":          {"m.jsonl", `{"document_path": "a.md"}` + "\n" + `{"text": "One."}`, false},
		"other fields":         {"m.jsonl", `{"document_path": "a.md", "text": "One.", "score": 3}`, false},
		"a path that is none":  {"m.jsonl", `{"document_path": 7}`, false},
		"no JSON":              {"m.jsonl", `{"document_path": "a.md"`, false},
		"nothing":              {"m.jsonl", "\n\n", false},
		"a list":               {"m.jsonl", `["document_path"]`, false},
		"JSON of another kind": {"m.jsonl", `"document_path"`, false},
	} {
		if got := d.LooksLikeManifest(tt.file, []byte(tt.text)); got != tt.want {
			t.Errorf("%s: %t, want %t", name, got, tt.want)
		}
	}
}
