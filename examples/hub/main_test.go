package main

import (
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, ".", "what do the runbooks say about workers?"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"routing: filter", "dense: ", "sparse: ", "fusion: 10 hits\n", "at most 40"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it prints\n%s\nwithout %q", out.String(), want)
		}
	}
}

// A chat model that the program gives goes before the one of the settings.
func TestOptionGoesFirst(t *testing.T) {
	t.Setenv("RAG_LLM", "openai") // and no key
	model := &ragtest.Script{Replies: []string{"Hello from the option."}}
	var out strings.Builder
	if err := run(t.Context(), &out, ".", "hello", rag.WithChatModel(model)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "routing: chat, 0.99 by rule\nHello from the option.") {
		t.Errorf("it prints\n%s", out.String())
	}
}
