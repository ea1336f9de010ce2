package rag_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

type splitterSettings struct {
	MaxTokens int `json:"max_tokens"`
}

func TestRegistry(t *testing.T) {
	var r rag.Registry[int]
	if _, err := r.New("x", rag.Env{}, nil); !errors.Is(err, rag.ErrUnknownProvider) || !strings.Contains(err.Error(), `rag/defaults"`) {
		t.Errorf("empty registry: %v", err)
	}
	factory := rag.Typed(func(_ rag.Env, s splitterSettings) (int, error) { return s.MaxTokens, nil })
	r.Register("recursive", factory)
	r.Register("section", factory)
	if got, err := r.New("section", rag.Env{}, json.RawMessage(`{"max_tokens": 7}`)); got != 7 || err != nil {
		t.Errorf("got %d, %v", got, err)
	}
	if diff := cmp.Diff([]string{"recursive", "section"}, r.Names()); diff != "" {
		t.Error(diff)
	}
	if _, err := r.New("recursiv", rag.Env{}, nil); !errors.Is(err, rag.ErrUnknownProvider) || !strings.Contains(err.Error(), `did you mean "recursive"`) {
		t.Errorf("misspelt: %v", err)
	}
	if _, err := r.New("section", rag.Env{}, json.RawMessage(`{"max_token": 7}`)); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), `did you mean "max_tokens"`) {
		t.Errorf("unknown key: %v", err)
	}
	r.Register("nested", rag.Typed(func(rag.Env, struct {
		K     float64 `json:"k"`
		Ratio float64 `json:"ratio" range:"(0,1]"`
		Seed  uint64  `json:"seed"`
		List  []struct {
			N int `json:"n" range:"[0,9]"`
		} `json:"list"`
		Fields struct {
			Title int `json:"title"`
		} `json:"fields"`
	}) (int, error) {
		return 0, nil
	}))
	r.Register("bare", rag.Typed(func(rag.Env, struct{}) (int, error) { return 0, nil }))
	for _, c := range []struct{ name, settings, want string }{
		{"nested", `{"fields": {"titel": 2}}`, `fields.titel: unknown key, did you mean "title"? (known: title)`},
		{"nested", `{"titel": 2}`, `(known: fields, k, list, ratio, seed)`},
		{"nested", `{"ratio": 2}`, `ratio: want a number above 0, at most 1, got 2`},
		{"nested", `{"list": [{"n": 3}, {"n": -1}]}`, `list.1.n: want a whole number from 0 to 9, got -1`},
		{"nested", `{"list": [{}, {"m": 1}]}`, `list.1.m: unknown key (known: n)`},
		{"nested", `{"k": "2"}`, `k: want a number, got a text`},
		{"nested", `{"seed": -1}`, `seed: want a whole number that is not negative, got the number -1`},
		{"nested", `{"fields": {"title": [1]}}`, `fields.title: want a whole number, got a list`},
		{"nested", `[]`, `settings: want keys and values, got a list`},
		{"bare", `{"k": 2}`, `k: unknown key (there are none)`},
	} {
		if _, err := r.New(c.name, rag.Env{}, json.RawMessage(c.settings)); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.settings, err, c.want)
		}
	}
	for name, register := range map[string]func(){
		"taken": func() { r.Register("section", factory) },
		"empty": func() { r.Register("", factory) },
		"nil":   func() { r.Register("new", nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			register()
		}()
	}
}

func TestOpenWithoutDefaultsNamesTheMissingLine(t *testing.T) {
	_, err := rag.Open(t.TempDir(), rag.WithProviders(&rag.Providers{}))
	if !errors.Is(err, rag.ErrUnknownProvider) || !strings.Contains(err.Error(), `import _ "github.com/seed-d8745b77/rag/defaults"`) {
		t.Errorf("%v", err)
	}
}

func TestAProviderOfAnotherPackageIsPointedTo(t *testing.T) {
	var r rag.Registry[rag.Embedder]
	r.Register("local", func(rag.Env, json.RawMessage) (rag.Embedder, error) { return &ragtest.HashEmbedder{}, nil })
	for name, want := range map[string]string{"multilingual": "model: multilingual-e5-small", "hugot": "rag/embed/hugot"} {
		_, err := r.New(name, rag.Env{}, nil)
		if !errors.Is(err, rag.ErrUnknownProvider) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "linked in: local") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestProviderConfigJSON(t *testing.T) {
	for text, want := range map[string]rag.ProviderConfig{
		`"flat"`:                       {Provider: "flat"},
		`{"provider":"flat"}`:          {Provider: "flat"},
		`{"k1":1.5,"provider":"bm25"}`: {Provider: "bm25", Settings: json.RawMessage(`{"k1":1.5}`)},
		`{"k1":1.5}`:                   {Settings: json.RawMessage(`{"k1":1.5}`)},
	} {
		var got rag.ProviderConfig
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	var got rag.ProviderConfig
	if err := json.Unmarshal([]byte(`[1]`), &got); !errors.Is(err, rag.ErrInvalid) {
		t.Errorf("list: %v", err)
	}
}
