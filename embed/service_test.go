package embed_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/embed"
	"github.com/seed-d8745b77/rag/ragtest"
)

const canary = "sk-canary-1234567890"

// fakeDims is the length of the vectors of fake services.
const fakeDims = 6

// fakeVector depends on the text alone.
func fakeVector(text string) []float32 {
	v := make([]float32, fakeDims)
	for i, b := range []byte(text) {
		v[(i+int(b))%fakeDims] += float32(b%13) + 1
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v
}

// service answers as OpenAI, the vectors in reverse order, or as Ollama.
func service(t *testing.T) (url string) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		type item struct {
			Object    string    `json:"object"`
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var data []item
		var plain [][]float32
		for i, text := range in.Input {
			data = append([]item{{"embedding", i, fakeVector(text)}}, data...)
			plain = append(plain, fakeVector(text))
		}
		var err error
		if r.URL.Path == "/api/embed" {
			err = json.NewEncoder(w).Encode(map[string]any{"model": "m", "embeddings": plain})
		} else {
			err = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data, "model": "m"})
		}
		if err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func settings(url string) embed.ServiceConfig {
	return embed.ServiceConfig{Model: "m", BaseURL: url, APIKey: canary, Tries: 1}
}

// embedders are the ways to make each.
var embedders = map[string]func(t *testing.T, c embed.ServiceConfig) (rag.Embedder, error){
	"openai": func(t *testing.T, c embed.ServiceConfig) (rag.Embedder, error) {
		return embed.NewOpenAI(t.Context(), embed.OpenAIConfig{ServiceConfig: c})
	},
	"azure": func(t *testing.T, c embed.ServiceConfig) (rag.Embedder, error) {
		return embed.NewAzure(t.Context(), embed.AzureConfig{ServiceConfig: c})
	},
	"ollama": func(t *testing.T, c embed.ServiceConfig) (rag.Embedder, error) {
		return embed.NewOllama(t.Context(), embed.OllamaConfig{ServiceConfig: c})
	},
}

func TestServices(t *testing.T) {
	for name, open := range embedders {
		t.Run(name, func(t *testing.T) {
			ragtest.TestEmbedder(t, func(t *testing.T) rag.Embedder {
				e, err := open(t, settings(service(t)))
				if err != nil {
					t.Fatal(err)
				}
				return e
			})
		})
	}
}

// Requests are what the services' own clients send, as scripts/llm/record.py writes it.
func TestRequestsAreThoseOfOfficialClients(t *testing.T) {
	for name, open := range embedders {
		t.Run(name, func(t *testing.T) {
			type request struct {
				Path    string            `json:"path"`
				Headers map[string]string `json:"headers"`
				Body    any               `json:"body"`
			}
			var want, got request
			b, err := os.ReadFile(filepath.Join("testdata", "official", name+".json"))
			if err == nil {
				err = json.Unmarshal(b, &want)
			}
			if err != nil {
				t.Fatal(err)
			}
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = request{Path: r.URL.RequestURI(), Headers: map[string]string{}}
				for h := range want.Headers {
					got.Headers[h] = r.Header.Get(h)
				}
				if err := json.NewDecoder(r.Body).Decode(&got.Body); err != nil {
					t.Error(err)
				}
				w.WriteHeader(http.StatusBadRequest)
			}))
			t.Cleanup(srv.Close)
			c := embed.ServiceConfig{Model: "e", BaseURL: srv.URL, APIKey: canary, Tries: 1, Dimensions: 3}
			if name == "openai" {
				c.BaseURL += "/v1"
			}
			e, err := open(t, c)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.Embed(t.Context(), rag.AsPassage, []string{"a", "b"}); !errors.Is(err, rag.ErrInvalid) {
				t.Errorf("got error %v, want ErrInvalid", err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-official client +ours):\n%s", diff)
			}
		})
	}
}

func TestServiceErrors(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		kind   error
		says   string
	}{
		"key":          {401, `{"error":"bad key ` + canary + `"}`, rag.ErrInvalid, "refuses the key"},
		"model":        {404, `no model (` + canary + `)`, rag.ErrNotFound, "check model"},
		"busy":         {503, "", rag.ErrUnavailable, "503"},
		"quota":        {429, "", rag.ErrUnavailable, "429"},
		"money":        {402, "", rag.ErrUnavailable, "402"},
		"too long":     {400, `{"error":"the input length exceeds the context length"}`, rag.ErrInvalid, "lower max_tokens of the splitter"},
		"garbage":      {200, `<html>` + canary, rag.ErrUnavailable, "not the JSON expected"},
		"too few":      {200, `{"data":[{"index":0,"embedding":[1,0,0]}],"embeddings":[[1,0,0]]}`, rag.ErrUnavailable, ""},
		"of no text":   {200, `{"data":[{"index":0,"embedding":[1,0,0]},{"index":5,"embedding":[1,0,0]}],"embeddings":[[1,0,0],[]]}`, rag.ErrUnavailable, ""},
		"other length": {200, `{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[1,0]}],"embeddings":[[1,0],[1,0]]}`, rag.ErrDimension, "check dims"},
	} {
		for provider, open := range embedders {
			t.Run(name+"/"+provider, func(t *testing.T) {
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.WriteHeader(c.status)
					_, _ = io.WriteString(w, c.body)
				}))
				t.Cleanup(srv.Close)
				s := settings(srv.URL)
				s.Dims = 3
				e, err := open(t, s)
				if err != nil {
					t.Fatal(err)
				}
				_, err = e.Embed(t.Context(), rag.AsPassage, []string{"a", "b"})
				if !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), c.says) || strings.Contains(fmt.Sprint(err), canary) {
					t.Errorf("got error %v, want %v that says %q", err, c.kind, c.says)
				}
			})
		}
	}
}

func TestServiceSettings(t *testing.T) {
	known := map[string]rag.EmbedModel{
		"text-embedding-3-small":  {Dims: 1536, MaxTokens: 8191, MaxBatch: 32},
		"nomic-embed-text:latest": {Dims: 768, MaxTokens: 2048, MaxBatch: 32, QuestionPrefix: "search_query: ", PassagePrefix: "search_document: "},
	}
	for model, want := range known {
		e, err := embed.NewOllama(t.Context(), embed.OllamaConfig{ServiceConfig: embed.ServiceConfig{Model: model}}) // asks nobody
		if err != nil {
			t.Fatal(err)
		}
		want.Name = "ollama/" + model
		if diff := cmp.Diff(want, e.Model()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", model, diff)
		}
	}
	for name, c := range map[string]embed.ServiceConfig{
		"no model":              {},
		"no address":            {Model: "text-embedding-3-small", BaseURL: "here"},
		"dims below 0":          {Model: "m", Dims: -1},
		"a batch too large":     {Model: "text-embedding-3-small", BatchSize: 5000},
		"a limit below 0":       {Model: "text-embedding-3-small", Tries: -1},
		"dimensions of a model": {Model: "text-embedding-ada-002", Dimensions: 256},
	} {
		if _, err := embed.NewOpenAI(t.Context(), embed.OpenAIConfig{ServiceConfig: c}); !errors.Is(err, rag.ErrInvalid) {
			t.Errorf("%s: got error %v, want ErrInvalid", name, err)
		}
	}
	azure := embed.AzureConfig{ServiceConfig: embed.ServiceConfig{Model: "m", Dims: 3}}
	if _, err := embed.NewAzure(t.Context(), azure); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "azure: base_url: the address of the resource is needed") {
		t.Errorf("Azure without an address: got error %v, want ErrInvalid that asks for it", err)
	}
	e, err := embed.NewOpenAI(t.Context(), embed.OpenAIConfig{ServiceConfig: embed.ServiceConfig{Model: "text-embedding-3-small"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Embed(t.Context(), rag.AsPassage, []string{"a"}); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "OPENAI_API_KEY") {
		t.Errorf("without a key: got %v, want ErrInvalid that names the variable", err)
	}
}

// The key in the environment is for the provider, not for whoever base_url names.
func TestTheKeyOfTheEnvironmentStaysAtHome(t *testing.T) {
	var seen []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, `{"data":[{"index":0,"embedding":[1,0]}]}`)
	}))
	t.Cleanup(srv.Close)
	env := rag.Env{Getenv: func(string) string { return canary }}
	for _, settings := range []string{`{"model":"m","base_url":%q}`, `{"model":"m","base_url":%q,"api_key":"given"}`} {
		if _, err := rag.Default.Embedders.New("openai", env, fmt.Appendf(nil, settings, srv.URL)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"", "Bearer given"}, seen); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
