package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/config"
	_ "github.com/seed-d8745b77/rag/defaults"
)

// TestRegistered opens an engine whose rag.yaml names the reranker and its setting.
func TestRegistered(t *testing.T) {
	for _, tt := range []struct {
		name, yaml string
		want       string // in the error; "" if there is none
	}{
		{"a setting", "rerank: {provider: shared_words, min_letters: 4}", ""},
		{"without one", "rerank: {provider: shared_words}", ""},
		{"out of range", "rerank: {provider: shared_words, min_letters: 101}", "min_letters"},
		{"no such setting", "rerank: {provider: shared_words, letters: 4}", "letters"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "rag.yaml")
			if err := os.WriteFile(file, []byte(tt.yaml+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			loaded, err := config.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			eng, err := rag.Open(filepath.Join(dir, "data"), rag.WithConfig(loaded.Config))
			if err != nil {
				t.Fatal(err)
			}
			defer eng.Close()
			err = eng.Ready() // makes the reranker, as the first search does
			if tt.want != "" {
				if !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("%v, want ErrInvalid that names %s", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestShortWordsDoNotCount(t *testing.T) {
	texts := []string{"the été of it"}
	for least, want := range map[int]bool{0: true, 3: true, 4: false} { // letters, not bytes
		scores, err := SharedWords{MinLetters: least}.Rerank(t.Context(), "été", texts)
		if err != nil || scores[0] > 0 != want {
			t.Errorf("min %d: %v, %v", least, scores, err)
		}
	}
}
