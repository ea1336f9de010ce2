package mcpadapter

import (
	"fmt"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/access"
)

// bare is an engine without a model over these documents, text by URI.
func bare(tb testing.TB, texts map[string]string) *rag.Engine {
	tb.Helper()
	config := rag.DefaultConfig()
	config.Embedder.Provider = rag.None
	engine, err := rag.Open(tb.TempDir(), rag.WithConfig(config))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { engine.Close() })
	var sets []rag.Sources
	for uri, text := range texts {
		sets = append(sets, rag.Bytes(uri, []byte(text)))
	}
	if _, err := engine.Ingest(tb.Context(), rag.IngestRequest{Sources: sets}); err != nil {
		tb.Fatal(err)
	}
	return engine
}

func TestFewViewsAreKept(t *testing.T) {
	engine := bare(t, map[string]string{"mem:a.md": "# Herons\n\nA heron.\n"})
	var v views
	first := v.get(engine, access.Principal{Name: "first"})
	for i := range 3 * maxViews {
		v.get(engine, access.Principal{Name: fmt.Sprint(i), Filter: rag.Eq("n", float64(i))})
		if v.get(engine, access.Principal{Name: "first"}) != first {
			t.Fatalf("a view that is used all the time is forgotten after %d others", i)
		}
	}
	if v.of.Len() != maxViews {
		t.Errorf("%d views are kept, want %d", v.of.Len(), maxViews)
	}
}

func TestWhatIsRememberedFollowsTheCollection(t *testing.T) {
	engine := bare(t, map[string]string{"mem:a.md": "# Herons\n\nA heron.\n"})
	var all views
	v := all.get(engine, access.Principal{})
	know := func(topics, ids int) {
		t.Helper()
		list, err := v.sections(t.Context(), "default")
		if err != nil || list.total != topics || len(list.first) != topics {
			t.Errorf("%+v, %v; want %d", list, err, topics)
		}
		got, err := v.documentIDs(t.Context(), "default")
		if err != nil || len(got) != ids {
			t.Errorf("%v, %v; want %d", got, err, ids)
		}
	}
	know(1, 1)
	for _, name := range []string{rag.DocumentID("default", "mem:a.md"), "mem:a.md"} {
		if e, err := v.entry(t.Context(), "default", name); err != nil || e.URI != "mem:a.md" {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
	if _, err := engine.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Bytes("mem:b.md", []byte("# Otters\n\nAn otter.\n"))}}); err != nil {
		t.Fatal(err)
	}
	know(2, 2)
	if _, err := v.entry(t.Context(), "default", rag.DocumentID("default", "mem:b.md")); err != nil {
		t.Error(err)
	}
	if _, err := engine.Delete(t.Context(), rag.DeleteRequest{URIs: []string{"mem:a.md"}}); err != nil {
		t.Fatal(err)
	}
	know(1, 1)
	if e, err := v.entry(t.Context(), "default", rag.DocumentID("default", "mem:a.md")); err == nil {
		t.Errorf("a document that is gone: %+v", e)
	}
}

// BenchmarkLargeCollection tells what a call costs at 100,000 passages: the first, which reads all of them, and others.
func BenchmarkLargeCollection(b *testing.B) {
	texts := map[string]string{}
	for d := range 10_000 {
		text := fmt.Sprintf("# Document %d\n", d)
		for s := range 10 {
			text += fmt.Sprintf("\n## Section %d\n\nHerons of place %d eat %d fish a day, and what is left the otters have at night.\n", s, d, s)
		}
		texts[fmt.Sprintf("mem:%05d.md", d)] = text
	}
	engine := bare(b, texts)
	id := rag.DocumentID("default", "mem:09999.md")
	for name, call := range map[string]func(v *view) error{
		"topics": func(v *view) error { _, err := v.sections(b.Context(), "default"); return err },
		"page":   func(v *view) error { return v.appendDocuments(b.Context(), &mcp.ListResourcesResult{}, 9_000) },
		"entry":  func(v *view) error { _, err := v.entry(b.Context(), "default", id); return err },
	} {
		b.Run(name+"/first", func(b *testing.B) {
			for b.Loop() {
				if err := call(new(views).get(engine, access.Principal{})); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/again", func(b *testing.B) {
			v := new(views).get(engine, access.Principal{})
			if err := call(v); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := call(v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
