package defaults_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-d8745b77/rag"
	_ "github.com/seed-d8745b77/rag/defaults"
	"github.com/seed-d8745b77/rag/ragtest"
)

const canary = "sk-canary-9f8e7d6c5b4a39281706"

// request is a question of two messages.
func request(text string) rag.ChatRequest {
	return rag.ChatRequest{Messages: []rag.ChatMessage{{Role: rag.RoleSystem, Text: "Be short."}, {Role: rag.RoleUser, Text: text}}, MaxTokens: 100}
}

// A service that repeats its key in every error finds it in no error, log, trace or file of the engine.
func TestKeysStandNowhere(t *testing.T) {
	for name, status := range map[string]int{"refused": 401, "forbidden": 403, "no model": 404, "wrong": 400, "down": 500, "garbage": 200} {
		t.Run(name, func(t *testing.T) {
			var heard atomic.Bool
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				heard.Store(r.Header.Get("Authorization") == "Bearer "+canary || heard.Load())
				w.Header().Set("Content-Type", "text/event-stream")
				w.WriteHeader(status)
				fmt.Fprintf(w, "data: {\"error\":{\"message\":\"look at %s\"}}\n\n", canary)
			}))
			t.Cleanup(srv.Close)
			settings := fmt.Appendf(nil, `{"model":"m","base_url":%q,"api_key":%q,"tries":1}`, srv.URL, canary)
			c := rag.DefaultConfig()
			c.Embedder = rag.ProviderConfig{Provider: rag.None}
			c.LLM = rag.ProviderConfig{Provider: "openai", Settings: settings}
			c.Rerank = rag.ProviderConfig{Provider: "llm"}
			c.Transforms = []rag.ProviderConfig{{Provider: "enrich", Settings: json.RawMessage(`{"mode":"llm"}`)}}
			var log bytes.Buffer
			dir := t.TempDir()
			eng, err := rag.Open(dir, rag.WithConfig(c), rag.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
			if err != nil {
				t.Fatal(err)
			}
			said := []any{}
			report, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Bytes("ferry.txt", []byte("The ferry leaves at seven. Tickets are sold on board."))}})
			said = append(said, report, err)
			for _, q := range []string{"ferry", "tickets"} {
				result, err := eng.Search(t.Context(), rag.Query{Text: q})
				said = append(said, result, err)
			}
			for _, err := range eng.ChatModel().Chat(t.Context(), request("x")) {
				if err == nil {
					t.Error("the service answers")
				}
				said = append(said, err)
			}
			if err := eng.Close(); err != nil {
				t.Error(err)
			}
			shown := fmt.Sprintf("%+v", said) + log.String()
			if encoded, err := json.Marshal(said); err != nil || strings.Contains(string(encoded), canary) {
				t.Errorf("the key is in what is returned, error %v: %s", err, encoded)
			}
			if strings.Contains(shown, canary) {
				t.Errorf("the key is shown: %s", shown)
			}
			err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				b, err := os.ReadFile(path)
				if bytes.Contains(b, []byte(canary)) {
					t.Errorf("the key is in %s", filepath.Base(path))
				}
				return err
			})
			if err != nil || !heard.Load() {
				t.Errorf("error %v; the service was asked with the key: %v", err, heard.Load())
			}
		})
	}
}

// openBare opens an engine that embeds nothing and keeps nothing.
func openBare(t *testing.T, c rag.Config, opts ...rag.Option) *rag.Engine {
	t.Helper()
	c.Embedder = rag.ProviderConfig{Provider: rag.None}
	eng, err := rag.Open("", append([]rag.Option{rag.WithConfig(c)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	return eng
}

// A model that is given goes before the settings, these before the environment; without any there is none.
func TestWhichChatModel(t *testing.T) {
	configured := rag.DefaultConfig()
	configured.LLM = rag.ProviderConfig{Provider: "openai", Settings: json.RawMessage(`{"model":"m"}`)}
	given := &ragtest.Script{}
	if m := openBare(t, rag.DefaultConfig()).ChatModel(); m != nil {
		t.Errorf("without any: %v", m)
	}
	if m := openBare(t, configured, rag.WithChatModel(given)).ChatModel(); m != given {
		t.Errorf("with both: %v", m)
	}
	eng := openBare(t, configured)
	if f, ok := eng.ChatModel().(rag.Fingerprinter); !ok || f.Fingerprint() != "openai/m@api.openai.com" {
		t.Errorf("configured: %v", eng.ChatModel())
	}
	if err := eng.Ready(); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "OPENAI_API_KEY") {
		t.Errorf("without a key: got %v, want ErrInvalid that names the variable", err)
	}
	getenv := func(name string) string { return map[string]string{"OPENAI_API_KEY": canary + "\n"}[name] }
	if err := openBare(t, configured, rag.WithGetenv(getenv)).Ready(); err != nil {
		t.Errorf("with a key in the environment: %v", err)
	}
	wrong := rag.DefaultConfig()
	wrong.VisionLLM = rag.ProviderConfig{Provider: "openia"}
	if _, err := rag.Open("", rag.WithConfig(wrong)); !errors.Is(err, rag.ErrUnknownProvider) || !strings.Contains(err.Error(), `did you mean "openai"`) {
		t.Errorf("a provider that is not there: %v", err)
	}
}
