package config_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/config"
)

// What is wrong with settings is found by who reads them, and told with the line that the file has for it.
func TestLocate(t *testing.T) {
	loaded, err := parse("fusion:\n  provider: rrf\n  kk: 3\nsplitter: section\ntransforms:\n  - provider: context\n  - provider: enrich\n    tags: 3\n")
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"fusion.kk":         "rag.yaml:3: fusion.kk: wrong",
		"fusion.k.deep":     "rag.yaml:1: fusion.k.deep: wrong",
		"splitter.provider": "rag.yaml:4: splitter.provider: wrong",
		"transforms.1.tags": "rag.yaml:8: transforms.1.tags: wrong",
		"transforms.1.mode": "rag.yaml:7: transforms.1.mode: wrong",
		"rerank.model":      "rerank.model: wrong",
	} {
		err := loaded.Locate(fmt.Errorf("%w", &rag.ConfigError{Key: key, Err: errors.New("wrong")}))
		if err.Error() != want {
			t.Errorf("%s: %q, want %q", key, err, want)
		}
		if again := loaded.Locate(err); again.Error() != want {
			t.Errorf("a second time: %q", again)
		}
	}
	other := errors.New("x")
	for _, l := range []config.Loaded{loaded, {}} {
		if got := l.Locate(other); got.Error() != other.Error() {
			t.Errorf("another error became %v", got)
		}
	}
}
