package rag_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/ragtest"
	"github.com/seed-d8745b77/rag/trace"
)

// detail reads a detail of a stage into a type.
func detail[T any](t *testing.T, s *rag.Span, key string) (value T) {
	t.Helper()
	raw, err := json.Marshal(s.Detail[key])
	if err == nil {
		err = json.Unmarshal(raw, &value)
	}
	if err != nil {
		t.Errorf("detail %s of %s: %v", key, s.Stage, err)
	}
	return value
}

// tracedAt opens an engine with documents whose traces have a level of detail.
func tracedAt(t *testing.T, level string, opts ...rag.Option) (*fixture, *trace.Ring) {
	t.Helper()
	ring := trace.NewRing(trace.RingConfig{})
	c := rag.DefaultConfig()
	c.Trace = rag.ProviderConfig{Provider: "jsonl", Settings: json.RawMessage(fmt.Sprintf(`{"detail": %q}`, level))}
	f := newFixture(t, append([]rag.Option{rag.WithConfig(c), rag.WithTraceSink(ring)}, opts...)...)
	for i := range 12 {
		f.write(fmt.Sprintf("%02d-aubergine.md", i), fmt.Sprintf("# Notice\n\nThe notice period of contract %d is three months, said Marigold.\n", i))
	}
	f.ingest(nil)
	return f, ring
}

// tracesAsJSON returns every kept trace as JSON, oldest first.
func tracesAsJSON(t *testing.T, r *trace.Ring) (all []string) {
	t.Helper()
	for tr, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(tr)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(raw))
	}
	return all
}

func TestTraceDetail(t *testing.T) {
	question := rag.Query{Text: "Which notice period has contract 7?", TopK: 3}
	for _, tc := range []struct {
		level        string
		tells, hides []string // in the traces of an ingest and an answer together
	}{
		{"minimal", []string{`"sha256:`, `"elapsed_ms"`, `"total_latency"`, `"added":12`, `"trail"`, `"size":`, `"tokens":`}, []string{"Which", "contract", "aubergine", "Marigold", `"candidates"`, "file:", "it said so"}},
		{"standard", []string{"Which notice period", "aubergine", `"candidates"`, `"keywords"`, `"parsers"`}, []string{"Marigold", `"snippet"`, `"prompt"`, `"output"`, "it said so"}},
		{"verbose", []string{"Which notice period", "aubergine", `"snippet":"# Notice The notice period`, `"prompt":[{"role":"system"`, `"output":"it said so [1]"`, `"text":"it said so [1]"`, `"claim":"it said so`}, nil},
	} {
		t.Run(tc.level, func(t *testing.T) {
			model := &ragtest.Script{Replies: []string{"it said so [1]"}}
			f, ring := tracedAt(t, tc.level, rag.WithChatModel(model))
			if _, err := f.Ask(t.Context(), rag.AskRequest{Query: question}); err != nil {
				t.Fatal(err)
			}
			all := strings.Join(tracesAsJSON(t, ring), "\n")
			for _, want := range tc.tells {
				if !strings.Contains(all, want) {
					t.Errorf("%q is not told: %s", want, all)
				}
			}
			for _, not := range tc.hides {
				if strings.Contains(all, not) {
					t.Errorf("%q is told: %s", not, all)
				}
			}
		})
	}
	t.Run("unknown", func(t *testing.T) {
		c := rag.DefaultConfig()
		c.Trace.Settings = json.RawMessage(`{"detail": "much"}`)
		if _, err := rag.Open(t.TempDir(), rag.WithConfig(c), rag.WithEmbedder(&ragtest.HashEmbedder{})); !errors.Is(err, rag.ErrInvalid) || !strings.Contains(err.Error(), "verbose") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("reasons", func(t *testing.T) { // that of an answer in doubt repeats what no passage names
		for level, want := range map[string]bool{"minimal": false, "standard": true} {
			f, ring := tracedAt(t, level)
			q := rag.Query{Text: "Which notice period has contract 7 of QX-4711?"}
			if a, err := f.Ask(t.Context(), rag.AskRequest{Query: q}); err != nil || !strings.Contains(a.Reason, "QX-4711") {
				t.Fatalf("%v: the reason %q does not repeat the question: the test tests nothing", err, a.Reason)
			}
			var reasons []string
			for tr, err := range ring.All() {
				if err != nil {
					t.Fatal(err)
				}
				if tr.Answer != nil {
					reasons = append(reasons, tr.Answer.Reason)
				}
			}
			if told := strings.Contains(strings.Join(reasons, ""), "4711"); len(reasons) != 1 || told != want {
				t.Errorf("%s tells the reason: %v; want %v: %q", level, told, want, reasons)
			}
		}
	})
	t.Run("asked for", func(t *testing.T) { // a caller who wants the trace of a search gets it whole
		f, _ := tracedAt(t, "minimal")
		q := question
		q.Explain = true
		if got := f.search(q).Trace; got.UserQuery != q.Text || len(got.Stages[1].Candidates) == 0 {
			t.Errorf("trace %+v", got)
		}
	})
}

// leaky is a chat model, and an embedder, that tell their keys in errors and replies.
type leaky struct {
	ragtest.HashEmbedder
	says   string
	broken bool
}

func (l *leaky) Chat(context.Context, rag.ChatRequest) iter.Seq2[rag.ChatDelta, error] {
	return func(yield func(rag.ChatDelta, error) bool) {
		yield(rag.ChatDelta{Text: l.says + " [1]"}, nil)
		yield(rag.ChatDelta{}, fmt.Errorf("%s: %w", l.says, rag.ErrUnavailable))
	}
}

func (l *leaky) Embed(ctx context.Context, role rag.EmbedRole, texts []string) ([][]float32, error) {
	if l.broken {
		return nil, fmt.Errorf("POST: %s: %w", l.says, rag.ErrUnavailable)
	}
	return l.HashEmbedder.Embed(ctx, role, texts)
}

// TestTracesTellNoSecrets puts keys wherever a text can come from, and looks for them in every trace and file.
func TestTracesTellNoSecrets(t *testing.T) {
	canaries := map[string]string{"set": "canary-in-settings-1", "env": "canary/from+env 2", "named": "canary-named\"3", "url": "canary-url-4", "bearer": "canarybearer5555", "sk": "sk-canary66666666", "param": "canary-param-7"}
	leak := canaries["set"] + " " + canaries["env"] + " " + canaries["named"] + " https://user:" + canaries["url"] + "@example.org/ Authorization: Bearer " +
		canaries["bearer"] + " " + canaries["sk"] + " GET /v1?api_key=" + canaries["param"]
	for _, level := range []string{"minimal", "standard", "verbose"} {
		t.Run(level, func(t *testing.T) {
			model := &leaky{says: leak}
			c := rag.DefaultConfig()
			c.Trace.Settings = json.RawMessage(fmt.Sprintf(`{"detail": %q}`, level))
			c.Agent = json.RawMessage(fmt.Sprintf(`{"headers": {"x": %q}}`, canaries["set"]))
			dir := t.TempDir()
			f := &fixture{t: t, dir: dir, docs: t.TempDir(), embedder: &model.HashEmbedder}
			eng, err := rag.Open(dir, rag.WithConfig(c), rag.WithEmbedder(model), rag.WithChatModel(model), rag.WithSecrets(canaries["named"]),
				rag.WithGetenv(func(string) string { return canaries["env"] }), rag.WithSecrets(canaries["env"]))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := eng.Close(); err != nil {
					t.Error(err)
				}
			})
			f.Engine = eng
			for i := range 20 { // where a snippet is cut
				f.write(fmt.Sprintf("%d.md", i), "The notice period is three months. "+strings.Repeat("x ", 60+i)+leak)
			}
			f.write("b.md", leak)
			f.ingest(nil)
			for _, broken := range []bool{false, true} {
				model.broken = broken
				for _, text := range []string{"notice period", leak} {
					if _, err := f.Ask(t.Context(), rag.AskRequest{Query: rag.Query{Text: text}}); err != nil {
						t.Fatal(err)
					}
					if _, err := f.Search(t.Context(), rag.Query{Text: text, Mode: rag.Dense, Filter: rag.Eq("department", leak)}); err != nil && !broken {
						t.Fatal(err)
					}
				}
			}
			f.write("c.md", "new")
			f.ingest(nil)
			kept, err := os.ReadFile(filepath.Join(dir, "traces.jsonl"))
			if err != nil || len(bytes.Split(kept, []byte("\n"))) < 10 {
				t.Fatalf("%d bytes of traces, error %v", len(kept), err)
			}
			for name, canary := range canaries {
				if at := bytes.Index(kept, []byte(canary[:12])); at >= 0 { // not even its beginning
					t.Errorf("the secret %q (%s) is told: …%s…", canary, name, kept[max(0, at-300):min(len(kept), at+50)])
				}
			}
		})
	}
}

// TestIngestTraceTellsItsFiles: the slowest files and those that failed, each with its stages inside the trace.
func TestIngestTraceTellsItsFiles(t *testing.T) {
	ring := trace.NewRing(trace.RingConfig{})
	f := newFixture(t, rag.WithTraceSink(ring))
	for i := range 40 {
		f.write(fmt.Sprintf("%02d.md", i), fmt.Sprintf("# Title %d\n\nA passage of file %d.\n", i, i))
	}
	f.write("broken.docx", "no archive")
	f.ingest(nil)
	var got rag.Trace
	for tr, err := range ring.All() {
		if err != nil {
			t.Fatal(err)
		}
		got = tr
	}
	if len(got.Files) != 21 {
		t.Fatalf("%d files, want the 20 slowest and the one that failed: %+v", len(got.Files), got.Files)
	}
	failed := 0
	for _, file := range got.Files {
		if file.Error != "" {
			failed++
			continue
		}
		var stages []string
		for _, s := range file.Stages {
			stages = append(stages, s.Stage)
			if s.StartMS < file.StartMS || s.EndMS > file.EndMS || s.EndMS > got.TotalMS || s.StartMS > s.EndMS {
				t.Errorf("%s: stage %+v outside %v to %v, whole %v", file.URI, s, file.StartMS, file.EndMS, got.TotalMS)
			}
		}
		if want := []string{rag.StageLoad, rag.StageSplit, rag.StageTransform, rag.StageEmbed, rag.StageUpsert}; !slices.Equal(stages, want) {
			t.Errorf("%s: stages %v", file.URI, stages)
		}
		if file.Bytes == 0 || file.Chunks != 1 || file.Action != "add" {
			t.Errorf("%+v", file)
		}
	}
	if failed != 1 {
		t.Errorf("%d files failed, want 1", failed)
	}
	load, split, embed := &got.Stages[0], &got.Stages[1], &got.Stages[3]
	if n := detail[map[string]int](t, load, "parsers")["markdown"]; n != 40 {
		t.Errorf("parsers %v", load.Detail["parsers"])
	}
	if n := detail[int](t, split, "average_bytes"); n < 20 || n > 60 {
		t.Errorf("average passage %d bytes", n)
	}
	if detail[int](t, embed, "batches") == 0 || detail[int](t, embed, "dimension") == 0 {
		t.Errorf("embedding %v", embed.Detail)
	}
}
