//go:build unix

package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-d8745b77/rag/eval"
	"github.com/seed-d8745b77/rag/internal/modelservers"
)

// The judge asks a chat server that somebody else wrote.
func TestEvalWithAJudgeOnAnotherServer(t *testing.T) {
	server := modelservers.Llmock(t)
	t.Cleanup(server.Stop)
	s := withQuestions(t)
	s.rag("eval", "-t", "q.jsonl", "-l", "answers").want(exitDone)
	says := func(text string) string { return fmt.Sprintf(`{"type":"reply","text":%q}`, text) }
	claims, _ := fairly("", 0)
	correct, _ := fairly("true_positives", 0)
	nonsense := says("As a language model I would rather not.")
	for i, c := range []struct {
		name    string
		replies []string
		code    int
		n       int    // answers with a faithfulness
		why     string // a part of the reason of the others
	}{
		{"good", []string{says(claims), says(correct), says("```json\n" + claims + "\n```")}, exitDone, 2, ""},
		{"nonsense once", []string{nonsense, says(claims), says(correct), says(claims)}, exitDone, 2, ""},
		{"nonsense twice", []string{nonsense, nonsense, says(correct), says(claims)}, exitPartial, 1, "gave no verdict that can be read, 2 times"},
		{"overloaded once", []string{`{"type":"fail","status":503}`, says(correct), says(claims)}, exitPartial, 1, "the judge did not answer: "},
		{"dead", []string{`{"type":"fail","status":503,"times":null}`}, exitPartial, 0, "the evaluator judge failed: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := s.in(t)
			modelservers.Script(t, server.URL, c.replies...)
			// Another name of the model for each case: what one has said is kept.
			s.write("judge.yaml", fmt.Sprintf("embedder: hash\nllm: {provider: openai, model: m%d, base_url: %s/v1, api_key: sk-x, tries: 1}\n"+
				"evaluation: {backends: [overlap, judge], metrics: [faithfulness, correctness, correctness_overlap]}\n", i, server.URL))
			var run eval.Run
			s.rag("eval", "--regrade", ".rag/eval/answers.json", "-l", "judged", "--json", "--config", "judge.yaml").want(c.code).into(&run)
			f := run.Metrics["faithfulness"]
			if f.N != c.n || c.n > 0 && *f.Mean != 0.5 || run.Metrics["correctness_overlap"].N != 1 {
				t.Errorf("faithfulness %+v, correctness_overlap %+v", f, run.Metrics["correctness_overlap"])
			}
			said := false
			for why := range f.Why {
				said = said || strings.Contains(why, c.why)
			}
			if !said {
				t.Errorf("reasons %v", f.Why)
			}
		})
	}
	server.Stop()
	var run eval.Run
	s.write("judge.yaml", fmt.Sprintf("embedder: hash\nllm: {provider: openai, model: gone, base_url: %s/v1, api_key: sk-x, tries: 1}\n", server.URL))
	s.rag("eval", "--regrade", ".rag/eval/answers.json", "--json", "--config", "judge.yaml").want(exitPartial).into(&run)
	if f := run.Metrics["faithfulness"]; f.N != 0 || f.Nulls != 3 || run.Metrics["correctness_overlap"].N != 1 {
		t.Errorf("nobody listens: %+v", run.Metrics)
	}
}
