package trace

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/seed-d8745b77/rag"
)

// FuzzSummarize: whatever can be read as a trace has a summary that agrees with it, though long parts were not read.
func FuzzSummarize(f *testing.F) {
	for _, t := range []rag.Trace{
		{ID: "a", UserQuery: "[{\"candidates\":[", TopK: []rag.TopHit{{ChunkID: "}]", Trail: []rag.Rank{{Stage: "dense"}}}}},
		{ID: "b", Stages: []rag.Span{{Stage: "dense", Candidates: []rag.Candidate{{ChunkID: "x", FoundBy: []int{0}}, {ChunkID: "}]"}}, Detail: map[string]any{"a\"": []any{"}]", map[string]any{"b": "\\"}}}}, {Stage: "s"}}},
		{ID: "c", Files: []rag.FileTrace{{URI: "]", Stages: []rag.FileSpan{{Stage: "load"}}}}, Answer: &rag.AnswerTrace{Citations: []rag.CitationTrace{{ChunkID: "\\\""}}}, Error: "e"},
	} {
		text, err := json.Marshal(t)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"trace_id":"a","candidates":[{"x":"]"`))
	f.Add([]byte(`{"trace_id":"a","top_k_results":[{"trail":[{}],"candidates":[{"details":{"x":[]}}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, ok := summarize(slices.Clone(text), &interner{})
		var want rag.Trace
		if json.Unmarshal(text, &want) != nil || want.ID == "" {
			return
		}
		if !ok || got.ID != want.ID || got.Hits != len(want.TopK) || got.Notes != len(want.Notes) || got.Question != clip(want.UserQuery) || got.length != len(text) {
			t.Errorf("%s: summary %+v, %v", text, got, ok)
		}
	})
}
