package cli

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/eval"
)

// chatService is a service with OpenAI's protocol in the test's process.
type chatService struct {
	*httptest.Server
	asked atomic.Int64
}

// startChat starts a service. reply gives the text for the system message and the number of the request, from 1 on; ok is
// false where it is to fail.
func startChat(t *testing.T, reply func(task string, n int64) (text string, ok bool)) *chatService {
	t.Helper()
	s := &chatService{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct{ Messages []struct{ Content string } }
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil || len(req.Messages) == 0 {
			http.Error(w, "no messages", http.StatusBadRequest)
			return
		}
		text, ok := reply(req.Messages[0].Content, s.asked.Add(1))
		if !ok {
			http.Error(w, `{"error":{"message":"overloaded"}}`, http.StatusServiceUnavailable)
			return
		}
		piece, _ := json.Marshal(text) // text can be JSON
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s},\"finish_reason\":null}]}\n\n", piece)
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s
}

// fairly gives each task of a judge a verdict: half of the claims are right.
func fairly(task string, _ int64) (string, bool) {
	if strings.Contains(task, "true_positives") {
		return `{"true_positives": ["a"], "false_positives": ["b"], "false_negatives": []}`, true
	}
	return `{"claims": [{"claim": "a", "supported": true, "reason": ""}, {"claim": "b", "supported": false, "reason": ""}]}`, true
}

// judgedBy writes a configuration whose judge is at an address, and returns the flags that use it.
func (s *shell) judgedBy(url string) []string {
	s.write("judge.yaml", fmt.Sprintf("embedder: hash\nllm: {provider: openai, model: m, base_url: %q, api_key: sk-x, tries: 1}\n"+
		"evaluation: {backends: [overlap, judge], metrics: [faithfulness, correctness, correctness_overlap]}\n", url))
	return []string{"--config", "judge.yaml"}
}

// A judge that talks nonsense, or dies, leaves what the others measured, and its nulls say why.
func TestEvalWithAJudge(t *testing.T) {
	s := withQuestions(t)
	s.rag("eval", "-t", "q.jsonl", "-l", "answers").want(exitDone)
	nonsense := func(string, int64) (string, bool) { return "I think that it is fine.", true }
	const unread = "the judge gave no verdict that can be read, 2 times: "
	const dead = "the evaluator judge failed: the judge did not answer: "
	for name, c := range map[string]struct {
		reply func(string, int64) (string, bool)
		code  int
		asked int64  // requests that the service gets
		n     int    // answers with a faithfulness, of 2
		why   string // beginning of the reason of the others
	}{
		"a good judge": {fairly, exitDone, 3, 2, ""},
		"nonsense once": {func(task string, n int64) (string, bool) {
			if n == 1 {
				return nonsense(task, n)
			}
			return fairly(task, n)
		}, exitDone, 4, 2, ""},
		"nonsense twice": {func(task string, n int64) (string, bool) {
			if n <= 2 {
				return nonsense(task, n)
			}
			return fairly(task, n)
		}, exitPartial, 4, 1, unread},
		"nothing but nonsense": {nonsense, exitPartial, 6, 0, unread},
		"a service that dies":  {func(task string, n int64) (string, bool) { text, _ := fairly(task, n); return text, n == 1 }, exitPartial, 3, 1, "the judge did not answer: "},
		"a dead service":       {func(string, int64) (string, bool) { return "", false }, exitPartial, 3, 0, dead},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.in(t)
			service := startChat(t, c.reply)
			regrade := append([]string{"eval", "--regrade", ".rag/eval/answers.json", "-l", "judged"}, s.judgedBy(service.URL)...)
			var run eval.Run
			s.rag(append(regrade, "--json")...).want(c.code).into(&run)
			f, overlap := run.Metrics["faithfulness"], run.Metrics["correctness_overlap"]
			if f.N != c.n || f.N > 0 && *f.Mean != 0.5 || overlap.N != 1 || service.asked.Load() != c.asked {
				t.Errorf("faithfulness %+v, correctness_overlap %+v, %d requests", f, overlap, service.asked.Load())
			}
			var reasons int
			for why, n := range f.Why {
				if strings.HasPrefix(why, "the answer is a refusal") {
					continue
				}
				if reasons += n; c.why == "" || !strings.HasPrefix(why, c.why) {
					t.Errorf("null because %q", why)
				}
			}
			if reasons != 2-c.n || !strings.HasPrefix(run.Evaluator, "overlap, judge (openai") {
				t.Errorf("%d nulls, judged by %q", reasons, run.Evaluator)
			}
			if name == "nonsense twice" { // the verdict that is lacking is asked for again, and now it comes
				s.rag(regrade...).want(exitDone)
				if got := service.asked.Load() - c.asked; got != 1 {
					t.Errorf("%d requests for one verdict", got)
				}
				return
			}
			again := s.rag(regrade...).want(c.code)
			if c.why != "" {
				again.prints("null for ", c.why)
			} else if got := service.asked.Load() - c.asked; got != 0 {
				t.Errorf("%d requests where every verdict is kept", got)
			}
		})
	}
	gone := startChat(t, fairly)
	gone.Close()
	var run eval.Run
	s.rag(append([]string{"eval", "--regrade", ".rag/eval/answers.json", "--json"}, s.judgedBy(gone.URL)...)...).want(exitPartial).into(&run)
	if f := run.Metrics["faithfulness"]; f.Mean != nil || f.Nulls != 3 || run.Metrics["correctness_overlap"].N != 1 {
		t.Errorf("nobody listens: %+v", run.Metrics)
	}
}

// What cannot be measured at all has one exact report.
func TestEvalReportsExactly(t *testing.T) {
	s := withQuestions(t)
	s.write("empty.jsonl", "")
	s.write("none.json", `{"questions": []}`)
	s.write("gone.jsonl", `{"id":"a","question":"annual leave","expected_chunk_ids":["0123456789ab"]}`)
	for _, c := range []struct {
		set  string
		kind string
		says string
	}{
		{"empty.jsonl", "invalid", "empty.jsonl: the file holds no question"},
		{"none.json", "invalid", "none.json: the file holds no question"},
		{"gone.jsonl", "not_found", `nothing of what the test set expects is in collection "default": line 1 (a) expected_chunk_ids: passage "0123456789ab" is not in the collection: it was made anew or deleted`},
	} {
		o := s.rag("eval", "-t", c.set, "--retrieval-only").want(exitFailed)
		if diff := cmp.Diff("rag: "+c.says+"\n", o.stderr); diff != "" || o.stdout != "" {
			t.Errorf("%s (-want +got):\n%s\nstandard output %q", c.set, diff, o.stdout)
		}
		var got errorJSON
		if s.rag("eval", "-t", c.set, "--retrieval-only", "--json").want(exitFailed).into(&got); got.Error.Kind != c.kind || !strings.HasPrefix(got.Error.Message, c.says) {
			t.Errorf("%s: %+v", c.set, got)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(s.dir, ".rag", "eval", "*")); len(left) > 0 {
		t.Errorf("runs of nothing: %v", left)
	}
}

// Nothing that a verb of the evaluation prints or writes holds what came from the environment, also where a service fails
// whose address holds it.
func TestEvalKeepsNoSecrets(t *testing.T) {
	const canary = "c4nary-1234567890"
	s := withQuestions(t)
	s.labelled("made", 24)
	service := startChat(t, func(task string, n int64) (string, bool) { return "nonsense", n%2 == 0 })
	s.write("env.yaml", "embedder: hash\nllm: {provider: openai, model: \"m-${RAG_TEST_CANARY}\", base_url: \""+service.URL+"/${RAG_TEST_CANARY}/v1\", api_key: \"${RAG_TEST_CANARY}\", headers: {x-gate: \"${RAG_TEST_CANARY}\"}, tries: 1}\n")
	s.write("grid.yaml", "variants: [{name: hybrid}]\ngrid: {retrieval.dense_weight: [0.4]}\n")
	t.Setenv("RAG_TEST_CANARY", canary)
	for _, args := range [][]string{
		{"eval", "-t", "q.jsonl", "-l", "answers", "--json"}, {"eval", "-t", "q.jsonl", "-l", "agent", "--agent"}, {"eval", "-t", "q.jsonl", "-l", "found", "--retrieval-only"},
		{"eval", "--regrade", ".rag/eval/answers.json", "--json"}, {"eval", "--regrade", ".rag/eval/found.json"}, {"eval", "-t", "q.jsonl", "--no-search"},
		{"eval", "list", "--json"}, {"eval", "compare", "answers", "agent", "--json"}, {"eval", "gate", "answers", "--min", "mrr=0", "--json"},
		{"eval", "validate", "q.jsonl"}, {"eval", "generate", "--json"}, {"eval", "generate", "--out", "drafts.jsonl"}, {"eval", "beir", "made", "--json"},
		{"experiment", "-t", "q.jsonl", "--json"}, {"experiment", "-t", "q.jsonl", "--grid", "grid.yaml"}, {"tune", "-t", "made", "--out", "tuned.yaml", "--json"},
	} {
		o := s.rag(append(args, "--config", "env.yaml")...)
		if o.code != exitDone && o.code != exitPartial && args[1] != "generate" {
			t.Errorf("%v: exit code %d: %s", args, o.code, o.stderr)
		}
		if strings.Contains(o.stdout+o.stderr, canary) {
			t.Errorf("%v shows the secret:\n%s%s", args, o.stdout, o.stderr)
		}
	}
	if service.asked.Load() == 0 {
		t.Error("the service was not asked")
	}
	written := 0
	err := fs.WalkDir(os.DirFS(s.dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(path, ".rag/") && !strings.HasPrefix(path, ".rag/verdicts") {
			return err
		}
		written++
		data, err := os.ReadFile(filepath.Join(s.dir, path))
		if strings.Contains(string(data), canary) {
			t.Errorf("%s holds the secret", path)
		}
		return err
	})
	if err != nil || written < 8 {
		t.Errorf("%d files looked at, error %v", written, err)
	}
	var run eval.Run
	s.rag("eval", "--regrade", ".rag/eval/answers.json", "--json", "--config", "env.yaml").into(&run)
	if run.Config["llm.api_key"] != "***" || run.Config["llm.base_url"] != "***" || !strings.Contains(run.Evaluator, "***") {
		t.Errorf("base_url is %v, judged by %q", run.Config["llm.base_url"], run.Evaluator)
	}
}
