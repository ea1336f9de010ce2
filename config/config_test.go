package config_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/config"
)

// parse reads text with two variables in the environment, one of them empty.
func parse(text string) (config.Loaded, error) {
	env := map[string]string{"KEY": "s3cret", "EMPTY": "", "N": "7", "MANY": "123456"}
	return config.Parse("rag.yaml", []byte(text), func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	})
}

func TestGivenKeysReplaceDefaults(t *testing.T) {
	no := false
	for _, tt := range []struct {
		name, text string
		change     func(c *rag.Config)
	}{
		{"nothing", "", func(*rag.Config) {}},
		{"comments alone", "# nothing\n", func(*rag.Config) {}},
		{"null keeps the default", "collection:\nretrieval: ~\n", func(*rag.Config) {}},
		{"one key of a group", "retrieval: {top_k: 3}", func(c *rag.Config) { c.Retrieval.TopK = 3 }},
		{"false replaces true", "retrieval: {enable_dense: false}", func(c *rag.Config) { c.Retrieval.EnableDense = &no }},
		{"a whole number is a number", "retrieval: {dense_weight: 2}", func(c *rag.Config) { c.Retrieval.DenseWeight = 2 }},
		{"provider by name", "splitter: section", func(c *rag.Config) { c.Splitter.Provider = "section" }},
		{"settings of the default provider", "splitter: {max_tokens: 100}", func(c *rag.Config) { c.Splitter.Settings = json.RawMessage(`{"max_tokens":100}`) }},
		{"nested settings", "embedder: {provider: x, headers: {a: [1, two, 2.5, true]}}", func(c *rag.Config) {
			c.Embedder = rag.ProviderConfig{Provider: "x", Settings: json.RawMessage(`{"headers":{"a":[1,"two",2.5,true]}}`)}
		}},
		{"no transforms", "transforms: []", func(c *rag.Config) { c.Transforms = []rag.ProviderConfig{} }},
		{"a list replaces the list", "transforms: [a, {provider: b, n: 1}]", func(c *rag.Config) {
			c.Transforms = []rag.ProviderConfig{{Provider: "a"}, {Provider: "b", Settings: json.RawMessage(`{"n":1}`)}}
		}},
		{"loaders", "loaders: {text: {max: 1}}", func(c *rag.Config) { c.Loaders = map[string]json.RawMessage{"text": json.RawMessage(`{"max":1}`)} }},
		{"a loader left out", "loaders: {text: none}", func(c *rag.Config) { c.Loaders = map[string]json.RawMessage{"text": json.RawMessage(`"none"`)} }},
		{"a variable", "collection: a-${KEY}", func(c *rag.Config) { c.Collection = "a-s3cret" }},
		{"a default for a variable", "collection: ${NONE:-x}${EMPTY:-y}", func(c *rag.Config) { c.Collection = "xy" }},
		{"an empty variable", "collection: x${EMPTY}", func(c *rag.Config) { c.Collection = "x" }},
		{"a variable as a number", "retrieval:\n  top_k: ${N}", func(c *rag.Config) { c.Retrieval.TopK = 7 }},
		{"no variable", "collection: $${KEY}", func(c *rag.Config) { c.Collection = "${KEY}" }},
		{"a date is a text", "collection: 2024-01-02", func(c *rag.Config) { c.Collection = "2024-01-02" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := rag.DefaultConfig()
			tt.change(&want)
			got, err := parse(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.Config); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"unknown key", "\nretreival: {}", `rag.yaml:2: unknown key "retreival", did you mean "retrieval"?`},
		{"unknown key below", "retrieval:\n  top_kk: 1", `rag.yaml:2: unknown key "retrieval.top_kk", did you mean "top_k"?`},
		{"key given twice", "collection: a\ncollection: b", `rag.yaml:2: key "collection" is given twice, first in line 1`},
		{"setting given twice", "splitter:\n  n: 1\n  n: 2", `rag.yaml:3: key "splitter.n" is given twice, first in line 2`},
		{"text for a number", "retrieval:\n  top_k: many", "rag.yaml:2: retrieval.top_k: want a whole number, got a text"},
		{"fraction for a whole number", "retrieval: {top_k: 1.5}", "rag.yaml:1: retrieval.top_k: want a whole number, got a number"},
		{"number for a text", "collection: 5", "rag.yaml:1: collection: want a text, got a whole number"},
		{"text for a switch", "retrieval: {enable_dense: on}", "want true or false, got a text"},
		{"infinite", "retrieval: {dense_weight: .inf}", "want a number, got one that is too large"},
		{"list for a group", "retrieval: [1]", "rag.yaml:1: retrieval: want keys and values, got a list"},
		{"list at the top", "- a", "rag.yaml:1: the file: want keys and values, got a list"},
		{"misspelt provider", "llm:\n  providr: ollama\n  model: m", `rag.yaml:2: unknown key "llm.providr", did you mean "provider"?`},
		{"misspelt provider where there is a default", "embedder: {providers: local}", `unknown key "embedder.providers", did you mean "provider"?`},
		{"misspelt provider in a list", "transforms:\n  - provder: refine", `rag.yaml:2: unknown key "transforms.0.provder", did you mean "provider"?`},
		{"settings without a provider", "\nrerank:\n  model: m", "rag.yaml:3: rerank: there are settings, and no provider is named"},
		{"settings of an empty name", "ocr:\n  provider:\n  languages: [eng]", "rag.yaml:2: ocr: there are settings, and no provider is named"},
		{"zero for a number that has another default", "retrieval:\n  dense_top_k: 0", "rag.yaml:2: retrieval.dense_top_k: want a whole number from 1 to 10000, got 0"},
		{"zero within the range", "answer: {refuse_below: 0}", "rag.yaml:1: answer.refuse_below: want a number from -1 to 1 but not 0, got 0: leave the key out for the default"},
		{"too large a number", "retrieval: {top_k: 999999999999}", "rag.yaml:1: retrieval.top_k: want a whole number from 1 to 10000, got 999999999999"},
		{"too small a number", "answer: {refuse_below: -2}", "rag.yaml:1: answer.refuse_below: want a number from -1 to 1 but not 0, got -2"},
		{"number of a variable without quotes", "retrieval:\n  top_k: ${MANY}", "rag.yaml:2: retrieval.top_k: want a whole number from 1 to 10000, got another"},
		{"list for a provider", "splitter: [a]", "rag.yaml:1: splitter: want keys and values, got a list"},
		{"group for a list", "transforms: {a: 1}", "rag.yaml:1: transforms: want a list, got keys and values"},
		{"transform without a name", "transforms:\n  - n: 1", "rag.yaml:2: transforms.0: the key provider is missing"},
		{"number for a provider", "splitter: {provider: 4}", "splitter.provider: want a text, got a whole number"},
		{"loader without settings", "loaders: {text: on}", "rag.yaml:1: loaders.text: want keys and values, or none, got a text"},
		{"unset variable", "\n\ncollection: ${NONE}", "rag.yaml:3: collection: the environment variable NONE is not set"},
		{"variable not closed", "collection: ${KEY", "rag.yaml:1: collection: ${ is not closed"},
		{"no variable", "collection: '${a b}'", "rag.yaml:1: collection: ${…} holds no name"},
		{"alias", "collection: &a x\nsplitter: *a", "rag.yaml:2: aliases are not supported"},
		{"merge", "retrieval: {<<: {top_k: 1}}", "a key must be a plain name"},
		{"tag", "embedder: {a: !!binary aGk=}", "a value with the tag !!binary cannot be read"},
		{"second document", "collection: a\n---\ncollection: b", "rag.yaml:2: a second document begins"},
		{"syntax", "collection: a\n  b: c\n", "rag.yaml:2: mapping values are not allowed"},
		{"too large", "#" + strings.Repeat("x", 1<<20), "rag.yaml: larger than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parse(tt.text)
			if !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want ErrInvalid with %q", err, tt.want)
			}
		})
	}
}

func TestErrorsHoldNoSecrets(t *testing.T) {
	_, err := parse("retrieval:\n  top_k: ${KEY}")
	if err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("error %v, want one without the value of the variable", err)
	}
}

func TestRedacted(t *testing.T) {
	loaded, err := parse(`collection: mine
embedder:
  provider: openai
  api_key: abc
  url: https://me:pw@example.org/v1
  note: "${KEY}"
  max_tokens: 100
  tokenizer: bert
  headers: {Authorization: Bearer abc, x: [a, b]}
  auth_tokens: [abc]
  db: {password: 12345}
llm: {provider: failover, models: [{provider: openai, api_key: abc, max_tokens: 5}]}
`)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]config.Value{}
	for _, v := range config.Redacted(loaded) {
		values[v.Key] = v
	}
	for key, want := range map[string]config.Value{
		"collection":                     {Value: "mine", Origin: "rag.yaml:1"},
		"embedder.provider":              {Value: "openai", Origin: "rag.yaml:3"},
		"embedder.api_key":               {Value: "***", Origin: "rag.yaml:4"},
		"embedder.url":                   {Value: "https://***@example.org/v1", Origin: "rag.yaml:5"},
		"embedder.note":                  {Value: "***", Origin: "env KEY"},
		"embedder.max_tokens":            {Value: json.Number("100"), Origin: "rag.yaml:7"},
		"embedder.tokenizer":             {Value: "bert", Origin: "rag.yaml:8"},
		"embedder.headers.Authorization": {Value: "***", Origin: "rag.yaml:9"},
		"embedder.headers.x.1":           {Value: "***", Origin: "rag.yaml:9"},
		"embedder.auth_tokens.0":         {Value: "***", Origin: "rag.yaml:10"},
		"embedder.db.password":           {Value: "***", Origin: "rag.yaml:11"},
		"llm.models.0.api_key":           {Value: "***", Origin: "rag.yaml:12"},
		"llm.models.0.max_tokens":        {Value: json.Number("5"), Origin: "rag.yaml:12"},
		"retrieval.top_k":                {Value: 10, Origin: "default"},
		"retrieval.enable_dense":         {Value: true, Origin: "default"},
		"transforms.0.provider":          {Value: "context", Origin: "default"},
	} {
		want.Key = key
		if diff := cmp.Diff(want, values[key]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
	shown, err := json.Marshal(config.Redacted(loaded))
	if err != nil || strings.Contains(string(shown), "abc") || strings.Contains(string(shown), "s3cret") || strings.Contains(string(shown), "12345") {
		t.Errorf("a secret is shown, error %v: %s", err, shown)
	}
}

func TestHider(t *testing.T) {
	loaded, err := parse(`embedder: {provider: openai, api_key: abcdef, url: "https://me:pass@example.org/v1", base: "https://example.org/${KEY}/v1/", token: abc}`)
	if err != nil {
		t.Fatal(err)
	}
	hide := loaded.Hider()
	for text, want := range map[string]string{
		`Post "https://example.org/s3cret/v1/embed": refused`: `Post "***embed": refused`,
		`lookup s3cret: no such host`:                         `lookup ***: no such host`,
		"openai says: no such key abcdef, for me:pass":        "openai says: no such key ***, for ***",
		"abc is too short to be told from a word":             "abc is too short to be told from a word",
		"": "",
	} {
		if got := hide(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	if got := (config.Loaded{Config: rag.DefaultConfig()}).Hider()("local"); got != "local" {
		t.Errorf("without secrets: %q", got)
	}
}

// A variable may choose a provider, a model or a number: that is no secret, unless it is one elsewhere, and no trace
// writes *** for the word "openai".
func TestChoicesFromTheEnvironmentAreShown(t *testing.T) {
	env := map[string]string{"LLM": "openai", "MODEL": "gpt-small", "KEY": "s3cret-s3cret", "TOP": "9999"}
	loaded, err := config.Parse("rag.yaml", []byte("llm: {provider: \"${LLM}\", model: \"${MODEL}\", api_key: \"${KEY}\", headers: {provider: \"${KEY}-2\"}}\n"+
		"rerank: {provider: http, model: \"m-${KEY}\"}\nretrieval:\n  top_k: ${TOP}\n"),
		func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range config.Redacted(loaded) {
		want, ok := map[string]any{"llm.provider": "openai", "llm.model": "gpt-small", "llm.api_key": "***", "llm.headers.provider": "***",
			"rerank.model": "m-***", "retrieval.top_k": 9999}[v.Key]
		if ok && v.Value != want {
			t.Errorf("%s is %v, want %v", v.Key, v.Value, want)
		}
	}
	hide := loaded.Hider()
	if got := hide("gpt-small of 9999 with s3cret-s3cret"); got != "gpt-small of 9999 with ***" {
		t.Errorf("hidden: %q", got)
	}
}

func TestTemplateIsTheDefault(t *testing.T) {
	loaded, err := parse(config.Template())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rag.DefaultConfig(), loaded.Config); diff != "" {
		t.Errorf("the template changes a default (-default +template):\n%s", diff)
	}
	for _, v := range config.Redacted(loaded) {
		if v.Origin == "default" {
			t.Errorf("the template does not list %s", v.Key)
		}
	}
}

func TestFindAndLoad(t *testing.T) {
	t.Chdir(t.TempDir())
	if got := config.Find("kb"); got != "" {
		t.Errorf("Find without a file = %q", got)
	}
	if loaded, err := config.Load(""); err != nil || !cmp.Equal(loaded.Config, rag.DefaultConfig()) {
		t.Errorf("Load without a file: error %v, want the defaults", err)
	}
	if _, err := config.Load("missing.yaml"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Load of a missing file: error %v, want os.ErrNotExist", err)
	}
	writeFile(t, "rag.yaml", "collection: here")
	if got := config.Find("kb"); got != "rag.yaml" {
		t.Errorf("Find = %q, want that of the working directory", got)
	}
	inDir := filepath.Join("kb", "rag.yaml")
	writeFile(t, inDir, "collection: there")
	if got := config.Find("kb"); got != inDir {
		t.Errorf("Find = %q, want that of the data directory", got)
	}
	loaded, err := config.Load(inDir)
	if err != nil || loaded.Config.Collection != "there" || loaded.Path != inDir {
		t.Errorf("Load = %q of %q, error %v", loaded.Config.Collection, loaded.Path, err)
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(config.Template())
	f.Add("splitter: {a: ${KEY}, b: [~, {c: 1.5}]}\nloaders: {x: {y: 0x1F}}\n")
	f.Add("? [a]\n: b\n")
	f.Add("a: &a [*a]\n--- !t\n")
	f.Fuzz(func(t *testing.T, text string) {
		loaded, err := parse(text)
		if err != nil {
			if !errors.Is(err, rag.ErrInvalid) {
				t.Errorf("error %v, want ErrInvalid", err)
			}
			return
		}
		if _, err := json.Marshal(config.Redacted(loaded)); err != nil {
			t.Errorf("the values cannot be shown: %v", err)
		}
	})
}

// TestRedactedQueries: a key in an address is one, whatever it is called there, and so is one under a key that nobody knows.
func TestRedactedQueries(t *testing.T) {
	loaded, err := parse(`embedder:
  provider: openai
  base_url: https://example.org/v1?api_key=XYZ&sub=Hush-4711-x&lang=english#top
  own: https://example.org/v1?hush-hush
  api_key: Quiet-4712-y
  acces: Quiet-4712-y
  other: sk-0123456789abcdef
`)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	for _, v := range config.Redacted(loaded) {
		got[v.Key] = v.Value
	}
	for key, want := range map[string]string{
		"embedder.base_url": "https://example.org/v1?api_key=***&sub=***&lang=***#top", "embedder.own": "https://example.org/v1?***",
		"embedder.acces": "***", "embedder.other": "sk-***",
	} {
		if got[key] != want {
			t.Errorf("%s is %v, want %s", key, got[key], want)
		}
	}
	said := loaded.Hider()("GET /v1?sub=Hush-4711-x in english, hush-hush")
	if want := "GET /v1?sub=*** in english, ***"; said != want {
		t.Errorf("got %q, want %q", said, want)
	}
}
