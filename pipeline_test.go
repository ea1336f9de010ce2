package rag_test

import (
	"context"
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/splitter"
)

// lineLoader reads .lines files as they are; its version is its fingerprint.
type lineLoader struct{ version string }

func (l lineLoader) Fingerprint() string { return l.version }

func (lineLoader) Formats() []rag.Format {
	return []rag.Format{{Name: "lines", Extensions: []string{".lines"}}}
}

func (lineLoader) Load(context.Context, rag.Source) iter.Seq2[rag.Document, error] {
	return func(yield func(rag.Document, error) bool) { yield(rag.Document{Text: "one line of text"}, nil) }
}

// named is a transformer that does nothing under a name.
type named string

func (n named) Fingerprint() string { return string(n) }

func (named) Transform(_ context.Context, _ rag.Document, chunks []rag.Chunk) ([]rag.Chunk, error) {
	return chunks, nil
}

func TestDryRunSaysWhatChanged(t *testing.T) {
	dir, docs := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"a.lines": "x", "b.txt": "some text", "c.txt": "other text", "d.txt": "text that goes"} {
		if err := os.WriteFile(filepath.Join(docs, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(loader string, maxTokens int, meta rag.Meta, transforms ...rag.Transformer) func(dry bool) map[string]string {
		return func(dry bool) map[string]string {
			t.Helper()
			sp, err := splitter.NewRecursive(splitter.Config{MaxTokens: maxTokens}, nil)
			if err != nil {
				t.Fatal(err)
			}
			c := rag.DefaultConfig()
			c.Embedder.Provider = rag.None
			eng, err := rag.Open(dir, rag.WithConfig(c), rag.WithLoader("lines", lineLoader{loader}), rag.WithSplitter(sp), rag.WithTransformers(transforms...))
			if err != nil {
				t.Fatal(err)
			}
			defer eng.Close()
			folder := rag.Dir(docs)
			set := rag.Sources{Scope: folder.Scope, All: func(yield func(rag.Source, error) bool) {
				for src, err := range folder.All {
					src.Meta = meta
					if !yield(src, err) {
						return
					}
				}
			}}
			rep, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{set}, DryRun: dry})
			if err != nil {
				t.Fatal(err)
			}
			plan := map[string]string{}
			for _, item := range rep.Plan {
				reason := item.Action + ": " + item.Reason
				if item.Action == "move" {
					reason = item.Action
				}
				plan[filepath.Base(item.URI)] = reason
			}
			return plan
		}
	}
	expect := func(name string, got, want map[string]string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	first := run("lines/1", 100, nil, named("clean/v1"))
	expect("new", first(true), map[string]string{"a.lines": "add: new", "b.txt": "add: new", "c.txt": "add: new", "d.txt": "add: new"})
	first(false)
	same := "unchanged: "
	expect("the same again", first(true), map[string]string{"a.lines": same, "b.txt": same, "c.txt": same, "d.txt": same})
	expect("another loader", run("lines/2", 100, nil, named("clean/v1"))(true),
		map[string]string{"a.lines": "update: pipeline changed: loader lines/1 → lines/2", "b.txt": same, "c.txt": same, "d.txt": same})
	all := func(reason string) map[string]string {
		return map[string]string{"a.lines": reason, "b.txt": reason, "c.txt": reason, "d.txt": reason}
	}
	expect("another splitter", run("lines/1", 99, nil, named("clean/v1"))(true), all("update: pipeline changed: splitter recursive/v3/100/15/25 → recursive/v3/99/14/24"))
	expect("another transform", run("lines/1", 100, nil, named("clean/v1"), named("title/v1"))(true), all("update: pipeline changed: transforms clean/v1 → clean/v1 + title/v1"))
	expect("none", run("lines/1", 100, nil)(true), all("update: pipeline changed: transforms clean/v1 → none"))
	expect("metadata", run("lines/1", 100, rag.Meta{"year": 2026, "tags": []any{"a"}}, named("clean/v1"))(true), all("update: metadata changed: tags, year"))

	if err := os.WriteFile(filepath.Join(docs, "b.txt"), []byte("changed"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(docs, "c.txt"), filepath.Join(docs, "e.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(docs, "d.txt")); err != nil {
		t.Fatal(err)
	}
	expect("files", first(true), map[string]string{"a.lines": same, "b.txt": "update: content changed", "e.txt": "move", "d.txt": "gone: gone"})
}

func TestVerifyListsWhatAnotherPipelineMade(t *testing.T) {
	dir, docs := t.TempDir(), t.TempDir()
	for _, name := range []string{"a.lines", "b.txt"} {
		if err := os.WriteFile(filepath.Join(docs, name), []byte("some text"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := rag.DefaultConfig()
	c.Embedder.Provider = rag.None
	verify := func(loader string, ingest bool, transforms ...rag.Transformer) map[string]string {
		t.Helper()
		eng, err := rag.Open(dir, rag.WithConfig(c), rag.WithLoader("lines", lineLoader{loader}), rag.WithTransformers(transforms...))
		if err != nil {
			t.Fatal(err)
		}
		defer eng.Close()
		if ingest {
			if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Dir(docs)}}); err != nil {
				t.Fatal(err)
			}
		}
		rep, err := eng.Verify(t.Context(), "")
		if err != nil || !rep.OK {
			t.Fatalf("%+v, error %v", rep, err)
		}
		stale := map[string]string{}
		for _, item := range rep.Stale {
			stale[filepath.Base(item.URI)] = item.Reason
		}
		return stale
	}
	without := func() map[string]string {
		c.Loaders = map[string]json.RawMessage{"text": json.RawMessage(`"none"`)}
		return verify("lines/2", false)
	}
	none := map[string]string{}
	for _, step := range []struct {
		name string
		got  map[string]string
		want map[string]string
	}{
		{"as ingested", verify("lines/1", true), none},
		{"another loader", verify("lines/2", false), map[string]string{"a.lines": "pipeline changed: loader lines/1 → lines/2"}},
		{"another transform", verify("lines/1", false, named("shout/1")), map[string]string{
			"a.lines": "pipeline changed: transforms none → shout/1", "b.txt": "pipeline changed: transforms none → shout/1"}},
		{"ingested again", verify("lines/2", true), none},
		{"a loader that is left out", without(), map[string]string{"b.txt": "pipeline changed: loader text/2/ → none"}},
	} {
		if diff := cmp.Diff(step.want, step.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
}
