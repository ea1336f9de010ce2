package rag_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
)

// TestVerbsTellNoSecrets has providers that tell their keys in errors: what the verbs return and report is of the same kind,
// without the keys.
func TestVerbsTellNoSecrets(t *testing.T) {
	const key = "canary-0123456789"
	embedder := &leaky{says: "dial x://me:" + key + "@host", broken: true}
	c := rag.DefaultConfig()
	c.Agent = json.RawMessage(fmt.Sprintf(`{"headers": {"x": %q}}`, key))
	f := &fixture{t: t, dir: t.TempDir(), docs: t.TempDir(), embedder: &embedder.HashEmbedder}
	eng, err := rag.Open(f.dir, rag.WithConfig(c), rag.WithEmbedder(embedder), rag.WithReranker(tellingReranker{key}), rag.WithQueryTransformers(tellingRewriter{key}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = eng.Close() })
	f.write("a.md", "The notice period is three months.")
	report, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(f.docs)}})
	checkTold := func(what string, v any, err error) {
		t.Helper()
		told, _ := json.Marshal(v)
		if strings.Contains(string(told)+fmt.Sprintf("%v %+v", err, v), key) {
			t.Errorf("%s tells the key: %s, %v", what, told, err)
		}
	}
	if !errors.Is(err, rag.ErrUnavailable) {
		t.Errorf("the kind of the error is lost: %v", err)
	}
	checkTold("ingest", report, err)
	embedder.broken = false
	if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(f.docs)}}); err != nil {
		t.Fatal(err)
	}
	embedder.broken = true
	found, err := eng.Search(t.Context(), rag.Query{Text: "notice period"})
	if err != nil || len(found.Notes) < 3 || found.Rerank.Status != rag.RerankFailed {
		t.Fatalf("%+v, %v: want a result with notes", found, err)
	}
	checkTold("search", found, err)
	found, err = eng.Search(t.Context(), rag.Query{Text: "notice period", Mode: rag.Dense})
	if !errors.Is(err, rag.ErrUnavailable) {
		t.Errorf("error %v, want ErrUnavailable", err)
	}
	checkTold("a search by meaning", found, err)
	answer, err := eng.Ask(t.Context(), rag.AskRequest{Query: rag.Query{Text: "notice period"}})
	checkTold("ask", answer, err)
	fate, err := eng.Explain(t.Context(), rag.Query{Text: "notice period"}, rag.ExplainTarget{Text: "notice"})
	checkTold("explain", fate, err)
	if got := eng.HideSecrets("a " + key + " b"); got != "a *** b" {
		t.Errorf("HideSecrets gives %q", got)
	}
	_, err = rag.Open(t.TempDir(), rag.WithConfig(c), rag.WithProviders(brokenEmbedders(key)))
	if err == nil {
		t.Error("an engine opens whose embedder cannot be made")
	}
	checkTold("open", nil, err)
}

// brokenEmbedders are providers of which the default embedder tells a key where it is made.
func brokenEmbedders(key string) *rag.Providers {
	p := &rag.Providers{}
	p.Embedders.Register(rag.DefaultConfig().Embedder.Provider, func(rag.Env, json.RawMessage) (rag.Embedder, error) {
		return nil, fmt.Errorf("refused for %s: %w", key, rag.ErrInvalid)
	})
	return p
}

type tellingReranker struct{ key string }

func (r tellingReranker) Rerank(context.Context, string, []string) ([]float64, error) {
	return nil, fmt.Errorf("refused for %s: %w", r.key, rag.ErrUnavailable)
}

type tellingRewriter struct{ key string }

func (r tellingRewriter) Rewrite(context.Context, rag.RewriteRequest) (rag.Rewritten, error) {
	return rag.Rewritten{}, fmt.Errorf("refused for %s: %w", r.key, rag.ErrUnavailable)
}

// echo is a chat model whose service repeats a key in the reply.
type echo struct{ *leaky }

func (e echo) Chat(context.Context, rag.ChatRequest) iter.Seq2[rag.ChatDelta, error] {
	return func(yield func(rag.ChatDelta, error) bool) { yield(rag.ChatDelta{Text: e.says}, nil) }
}

// TestAnAnswerIsShownAsItIs: a key that a service repeats in the answer of its model stays in what is shown, since citations
// point into it; the trace hides it. docs/security.md says so.
func TestAnAnswerIsShownAsItIs(t *testing.T) {
	const key = "canary-0123456789"
	model := &leaky{says: "The notice period is three months, " + key + " [1]."}
	c := rag.DefaultConfig()
	c.Trace.Settings = json.RawMessage(`{"detail": "verbose"}`)
	f := &fixture{t: t, dir: t.TempDir(), docs: t.TempDir(), embedder: &model.HashEmbedder}
	eng, err := rag.Open(f.dir, rag.WithConfig(c), rag.WithEmbedder(model), rag.WithChatModel(echo{model}), rag.WithSecrets(key))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = eng.Close() })
	f.Engine = eng
	f.write("a.md", "The notice period is three months.")
	f.ingest(nil)
	answer, err := eng.Ask(t.Context(), rag.AskRequest{Query: rag.Query{Text: "notice period"}})
	if err != nil || !strings.Contains(answer.Text, key) {
		t.Errorf("the answer is %+v, %v; want it as the model gave it", answer, err)
	}
	kept, err := os.ReadFile(filepath.Join(f.dir, "traces.jsonl"))
	if err != nil || !strings.Contains(string(kept), "three months, ***") || strings.Contains(string(kept), key) {
		t.Errorf("the trace tells %s, %v", kept, err)
	}
}
