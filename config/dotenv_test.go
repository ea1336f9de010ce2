package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/config"
)

// load reads a folder of rag.yaml and, if it is not "", .env.
func load(t *testing.T, settings, env string) (config.Loaded, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{config.FileName: settings, config.EnvFileName: env} {
		if text != "" {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return config.Load(filepath.Join(dir, config.FileName))
}

func TestVariablesBesideTheConfiguration(t *testing.T) {
	t.Setenv("RAG_TEST_BOTH", "of the process")
	t.Setenv("RAG_TEST_EMPTY", "")
	loaded, err := load(t, `collection: "${RAG_TEST_KEY}/${RAG_TEST_BOTH}/${RAG_TEST_EMPTY:-default}"`,
		"RAG_TEST_KEY=of-the-file\nRAG_TEST_BOTH=of-the-file\nRAG_TEST_EMPTY=of-the-file\n")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := loaded.Config.Collection, "of-the-file/of the process/default"; got != want {
		t.Errorf("collection %q, want %q", got, want)
	}
	for name, want := range map[string]string{"RAG_TEST_KEY": "of-the-file", "RAG_TEST_BOTH": "of the process", "RAG_TEST_NONE": ""} {
		if got := loaded.Getenv(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if !slices.Contains(loaded.Secrets, "of-the-file") {
		t.Error("a value of the file is not kept secret")
	}
	none := config.Loaded{}
	if got := none.Getenv("RAG_TEST_BOTH"); got != "of the process" {
		t.Errorf("without a file %q", got)
	}
}

func TestFormOfVariables(t *testing.T) {
	for line, want := range map[string]string{
		"X=plain":                  "plain",
		"  X = spaced out ":        "spaced out",
		"export X=a":               "a",
		"X=":                       "",
		"X= # nothing":             "",
		"X=a#b # comment":          "a#b",
		"X='it # is'  # comment":   "it # is",
		`X="a \"b\" \\n\n\$c"`:     "a \"b\" \\n\n$c",
		"X=first\nX=last":          "last",
		"\ufeff# comment\n\nX=a=b": "a=b",
		"X=a\r\nY=b\r\n":           "a",
		"X=${Y}":                   "${Y}",
	} {
		loaded, err := load(t, "collection: c", line)
		if err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		if got := loaded.Getenv("X"); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	for text, says := range map[string]string{
		"A=1\nno name":    ".env:2: want NAME=value",
		"1A=b":            "want NAME=value",
		`X="open`:         "not closed",
		`X='a' b`:         "something follows",
		`X="ends with \"`: "not closed",
		"=value":          "want NAME=value",
	} {
		if _, err := load(t, "collection: c", text); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want ErrInvalid that says %q", text, err, says)
		}
	}
}

func FuzzEnv(f *testing.F) {
	for _, seed := range []string{"A=b", "export A='b' # c", `A="\n\""`, "\ufeffA", "A=\"", "=\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := load(t, "collection: c", text); err != nil && !errors.Is(err, rag.ErrInvalid) {
			t.Error(err)
		}
	})
}
