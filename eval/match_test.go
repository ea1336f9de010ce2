package eval_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/eval"
	"github.com/seed-d8745b77/rag/ragtest"
)

// Every level finds what is its own, at the place where it stands.
func TestLevelsMatch(t *testing.T) {
	eng := openWith(t, &ragtest.HashEmbedder{})
	res, err := eng.Search(t.Context(), rag.Query{Text: "notice period to the end of a quarter", TopK: 3})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Hits) < 2 {
		t.Fatal("the collection is too small")
	}
	second := res.Hits[1].Chunk.ID
	run, err := eval.Evaluate(t.Context(), eng, parse(t,
		`{"id":"chunk","question":"notice period to the end of a quarter","expected_chunk_ids":["`+second+`"]}`,
	), eval.Options{Label: "x", K: []int{1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, m := range []string{"chunk/mrr", "chunk/hit@1", "chunk/hit@2"} {
		if s := run.Metrics[m]; s.Mean != nil {
			got[m] = *s.Mean
		}
	}
	if diff := cmp.Diff(map[string]float64{"chunk/mrr": 0.5, "chunk/hit@1": 0, "chunk/hit@2": 1}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A section is named by its heading, or by the end of the path of headings to it.
func TestSectionsByTheirPath(t *testing.T) {
	eng, err := rag.Open(t.TempDir(), rag.WithEmbedder(&ragtest.HashEmbedder{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { eng.Close() })
	for name, text := range map[string]string{
		"contracts.md": "# Contracts\n\n## Notice\n\nThe period is three months.\n",
		"leave.md":     "# Annual leave\n\nThirty days.\n",
	} {
		if _, err := eng.Ingest(t.Context(), rag.IngestRequest{Sources: []rag.Sources{rag.Bytes("file:///kb/"+name, []byte(text))}}); err != nil {
			t.Fatal(err)
		}
	}
	const period, days = "period of three months", "thirty days"
	for _, c := range []struct {
		asked, section string
		want           bool
	}{
		{period, "Notice", true}, {period, "contracts", true}, {period, "Contracts Notice", true}, {period, "Contracts > Notice", true},
		{period, "Period", false}, {period, "Notice Contracts", false}, {days, "Annual leave", true}, {days, "leave", false},
	} {
		run, err := eval.Evaluate(t.Context(), eng, parse(t,
			`{"id":"there","question":"period of three months","expected_sources":["contracts.md"]}`,
			`{"id":"section","question":"`+c.asked+`","expected_sections":["`+c.section+`"]}`,
		), eval.Options{Label: "x"})
		if err != nil {
			t.Fatal(err)
		}
		if s := run.Metrics["section/mrr"]; (s.Mean != nil && *s.Mean == 1) != c.want {
			t.Errorf("%s: %+v, want found %v", c.section, s, c.want)
		}
	}
}
