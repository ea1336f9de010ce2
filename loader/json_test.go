package loader_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/loader"
	"github.com/seed-d8745b77/rag/ragtest"
)

func newJSON() rag.Loader { return must(loader.NewJSON(loader.JSONConfig{})) }

// loadAll returns all documents that data gives.
func loadAll(t testing.TB, l rag.Loader, data []byte) ([]rag.Document, error) {
	t.Helper()
	var docs []rag.Document
	for doc, err := range l.Load(t.Context(), sourceOf(data)) {
		if err != nil {
			return docs, err
		}
		if err := ragtest.CheckDocument(doc); err != nil {
			t.Errorf("document %d: %v", len(docs), err)
		}
		docs = append(docs, doc)
	}
	return docs, nil
}

const jsonTree = `{"title": "Plan", "year": 2024, "exact": 0.1, "done": false, "none": null, "note": "one\ntwo",
 "team": {"lead": "Ada", "members": [{"name": "Eve", "age": 7}, {"name": "Bob", "city": "Paris"}]},
 "steps": ["first", "second"], "parts": [{"id": "p1", "sub": {"a": [1, {"b": 2}]}}]}`

func TestJSONSuite(t *testing.T) {
	ragtest.TestLoader(t, func(*testing.T) rag.Loader { return newJSON() },
		ragtest.Sample{Name: "a.json", Data: []byte(jsonTree), Want: "| Eve | 7 | |"},
		ragtest.Sample{Name: "b.jsonl", Data: []byte("{\"text\": \"One.\"}\n\n{\"text\": \"Two.\"}\n"), Want: "One.Two."},
		ragtest.Sample{Name: "c.ndjson", Data: gb18030(t, `{"text":"`+strings.ReplaceAll(chinese, "\r\n", "")+`"}`), Want: "有效期为三年"},
	)
}

func TestJSONIsLaidOutInOrder(t *testing.T) {
	doc := mustLoad(t, newJSON(), jsonTree)
	want := `title: Plan
year: 2024
exact: 0.1
done: false
note:

one
two

# team

lead: Ada

## members

| name | age | city |
| --- | --- | --- |
| Eve | 7 |  |
| Bob |  | Paris |

# steps

- first
- second

# parts

## p1

id: p1

### sub

#### a

- 1
- b: 2
`
	if diff := cmp.Diff(want, doc.Text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if doc.Title != "Plan" || len(doc.Sections) != 7 {
		t.Errorf("title %q, sections %v", doc.Title, outlineOf(doc))
	}
}

func TestJSONRecords(t *testing.T) {
	record := `{"title": "T", "text": "# Head\r\n\r\nWords.", "lang": "en", "tags": ["a"], "from": {"page": 3}}`
	for name, in := range map[string]string{"lines": record + "\n" + record, "array": "[" + record + "," + record + "]"} {
		docs, err := loadAll(t, newJSON(), []byte(in))
		if err != nil || len(docs) != 2 {
			t.Fatalf("%s: %d documents, %v", name, len(docs), err)
		}
		doc := docs[1]
		if doc.Text != "# Head\n\nWords." || doc.Title != "T" || doc.Language != "en" || len(doc.Sections) != 1 {
			t.Errorf("%s: %+v", name, doc)
		}
		if diff := cmp.Diff(rag.Meta{"lang": "en", "tags": []string{"a"}, "from.page": 3.0}, doc.Meta); diff != "" {
			t.Errorf("%s: meta (-want +got):\n%s", name, diff)
		}
	}
	l := must(loader.NewJSON(loader.JSONConfig{Text: "abstract", Title: "id"}))
	if doc := mustLoad(t, l, `{"id": "x1", "text": "no", "abstract": "yes"}`); doc.Text != "yes" || doc.Title != "x1" || doc.Meta["text"] != "no" {
		t.Errorf("named fields: %+v", doc)
	}
}

func TestJSONBadInput(t *testing.T) {
	for name, in := range map[string]string{
		"cut short": "{\"a\": 1,\n\"b", "no JSON": "\nhello", "two closers": "{}}", "white space": " \n", "deep": strings.Repeat("[", 5000),
	} {
		if _, err := loadAll(t, newJSON(), []byte(in)); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
	if _, err := loadAll(t, newJSON(), []byte("{}\n{}\n{\"a\" 1}\n")); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("got %v, want an error that names line 3", err)
	}
}

func FuzzJSON(f *testing.F) {
	fuzzLoader(f, newJSON(), jsonTree, "[{\"text\":\"\\ud800\\r\"}]", "{\"\":{\"\":[[[[[[1]]]]]]}}", "1 2 \"\\u0000\"", "[{\"a\":1},{\"b\":\"|\"}]", `{"text":"# \u200b\n# x"}`)
}
