package examples_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-d8745b77/rag/internal/systemtest"
)

func docsCitations(t *testing.T, s *systemtest.System, m *docsModel) {
	m.plays(map[string]func(int, docsRequest) docsReply{
		answerTask: func(int, docsRequest) docsReply {
			return docsReply{text: "The function eye makes a matrix with ones on one diagonal [1]. It is square unless m is given [99]. Nothing is known of colours [0] or of smells [x].\n\nSources:\n[1] tessera.eye"}
		},
		verifyTask: func(int, docsRequest) docsReply { return docsReply{text: "[1] supported: it says so"} },
	})
	var a docsAnswer
	s.Run("ask", "How do I get a matrix with ones on the diagonal?", "--json").Done().JSON(&a)
	asked := m.asked(answerTask)
	if len(asked) != 1 || !strings.Contains(asked[0].last(), "\n[1]\n> ") || !strings.Contains(asked[0].last(), fmt.Sprintf("\n[%d]\n> ", len(a.Sources))) {
		t.Fatalf("the sources are not numbered: %+v", asked)
	}
	if len(a.Citations) != 1 || a.Citations[0].Marker != 1 || a.Citations[0].Verdict != "supported" || a.Citations[0].ChunkID != a.Sources[0].ChunkID {
		t.Errorf("citations %+v", a.Citations)
	}
	var rejected []string
	for _, r := range a.Rejected {
		rejected = append(rejected, r.Marker)
	}
	if !slices.Contains(rejected, "[99]") || !slices.Contains(rejected, "[0]") || strings.Contains(a.Answer, "[99]") || strings.Contains(a.Answer, "[0]") {
		t.Errorf("rejected %v, answer %q", rejected, a.Answer)
	}
}

func docsRefusal(t *testing.T, s *systemtest.System, m *docsModel) {
	m.plays(map[string]func(int, docsRequest) docsReply{answerTask: func(int, docsRequest) docsReply { return docsReply{text: "I don't know."} }})
	var a docsAnswer
	s.Run("ask", "How do I bake sourdough bread?", "--json").Done().JSON(&a) // the threshold
	if !a.Refused || a.Reliability != "NO ANSWER" || len(m.asked(answerTask)) != 0 {
		t.Errorf("%+v; the model was asked %d times", a, len(m.asked(answerTask)))
	}
	s.Run("ask", "Which optimizer takes sparse gradients?", "--json").Done().JSON(&a) // the rule in the prompt
	if asked := m.asked(answerTask); !a.Refused || len(asked) != 1 || !strings.Contains(asked[0].system(), "I don't know.") {
		t.Errorf("%+v; %+v", a, asked)
	}
}

// numbered finds in what a search told the agent the number of an entry.
func numbered(t *testing.T, observation, symbol string) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^(\[\d+\])\n<passage>\nFrom: .*` + regexp.QuoteMeta(symbol) + `$`).FindStringSubmatch(observation)
	if m == nil {
		t.Errorf("no %s in %.400q", symbol, observation)
		return ""
	}
	return m[1]
}

func docsAgent(t *testing.T, s *systemtest.System, m *docsModel) {
	first, again, chosen := "", "", ""
	m.plays(map[string]func(int, docsRequest) docsReply{
		agentTask: func(n int, r docsRequest) docsReply {
			switch n {
			case 1:
				return docsReply{tool: "list_topics", arguments: `{}`}
			case 2:
				return docsReply{tool: "search", arguments: `{"query": "tessera.stack join tensors along a new dimension"}`}
			case 3:
				first = numbered(t, r.last(), "tessera.stack")
				return docsReply{tool: "search", arguments: `{"query": "tessera.cat join tensors, tessera.stack"}`}
			case 4:
				again, chosen = numbered(t, r.last(), "tessera.stack"), numbered(t, r.last(), "tessera.cat")
				return docsReply{text: "stack joins tensors along a new dimension " + first + ". cat joins them in any shape you like " + chosen + "."}
			}
			if !strings.Contains(r.last(), "says less than that") {
				t.Errorf("the reason does not come back: %q", r.last())
			}
			return docsReply{text: "stack joins tensors along a new dimension " + first + ". cat joins them along a dimension that they have " + chosen + "."}
		},
		verifyTask: func(n int, _ docsRequest) docsReply {
			if n == 1 {
				return docsReply{text: "[1] supported: stated\n[2] unsupported: the passage says less than that"}
			}
			return docsReply{text: "[1] supported: stated\n[2] supported: stated"}
		},
	})
	var a docsAnswer
	s.Run("ask", "--agent", "What is the difference between tessera.stack and tessera.cat?", "--json").Done().JSON(&a)
	if first == "" || first != again {
		t.Errorf("a passage found twice has the numbers %s and %s", first, again)
	}
	if !a.Verified || a.Refused || len(a.Citations) != 2 || !strings.Contains(a.Answer, "that they have "+chosen) {
		t.Errorf("%+v", a)
	}
	for _, c := range a.Citations { // numbers over all searches lead to what was cited
		source := a.Sources[c.Marker-1]
		if source.Number != c.Marker || source.ChunkID != c.ChunkID || c.Verdict != "supported" {
			t.Errorf("%+v is %+v", c, source)
		}
	}
	seen := map[string]bool{}
	for _, source := range a.Sources {
		if seen[source.ChunkID] {
			t.Errorf("%s is there twice", source.ChunkID)
		}
		seen[source.ChunkID] = true
	}
	var actions []string
	for _, step := range a.Steps {
		actions = append(actions, step.Action)
		if utf8.RuneCountInString(strings.TrimSuffix(step.Observation, "…")) > 200 || step.Args == "" || step.Observation == "" {
			t.Errorf("%+v", step)
		}
	}
	if diff := cmp.Diff([]string{"list_topics", "search", "search", "answer", "verify", "answer", "verify"}, actions); diff != "" {
		t.Error(diff)
	}
	for task, temperature := range map[string]float64{agentTask: 0.2, verifyTask: 0} {
		for _, r := range m.asked(task) {
			if r.Temperature == nil || *r.Temperature != temperature {
				t.Errorf("%s: temperature %v, want %v", task, r.Temperature, temperature)
			}
		}
	}
	if tools := m.asked(agentTask)[0].Tools; len(tools) < 2 {
		t.Errorf("tools %s", tools)
	}
}

func docsAgentEnds(t *testing.T, s *systemtest.System, m *docsModel) {
	m.plays(map[string]func(int, docsRequest) docsReply{agentTask: func(n int, _ docsRequest) docsReply {
		return docsReply{tool: "search", arguments: fmt.Sprintf(`{"query": "tensor %d"}`, n)}
	}})
	var a docsAnswer
	s.Run("ask", "--agent", "How do I sort a tensor?", "--json").Done().JSON(&a)
	if !a.Refused || len(m.asked(agentTask)) != 4 || len(a.Steps) != 4 || a.Reason == "" {
		t.Errorf("after %d replies: %+v", len(m.asked(agentTask)), a)
	}
}

func docsUnsupported(t *testing.T, s *systemtest.System, m *docsModel) {
	m.plays(map[string]func(int, docsRequest) docsReply{
		agentTask: func(n int, _ docsRequest) docsReply {
			if n == 1 {
				return docsReply{tool: "search", arguments: `{"query": "tessera.sort"}`}
			}
			return docsReply{text: "sort paints the values in colours that you choose [1]."}
		},
		verifyTask: func(int, docsRequest) docsReply { return docsReply{text: "[1] unsupported: no mention of colours"} },
	})
	var a docsAnswer
	s.Run("ask", "--agent", "How does tessera.sort work?", "--json").Done().JSON(&a)
	if rounds := len(m.asked(verifyTask)); rounds != 3 {
		t.Errorf("%d verifications, want one and two after corrections", rounds)
	}
	if a.Verified || a.Refused || a.Reliability != "TO VERIFY" || len(a.Citations) != 1 || a.Citations[0].Verdict != "unsupported" || !strings.Contains(a.Citations[0].Reason, "colours") {
		t.Errorf("%+v", a)
	}
}

func docsChat(t *testing.T, s *systemtest.System, m *docsModel) {
	m.plays(map[string]func(int, docsRequest) docsReply{
		agentTask: func(n int, _ docsRequest) docsReply {
			if n%2 == 1 {
				return docsReply{tool: "search", arguments: fmt.Sprintf(`{"query": "tessera.flip %d"}`, n)}
			}
			return docsReply{text: "flip reverses the order along dimensions [1]."}
		},
		verifyTask: func(int, docsRequest) docsReply { return docsReply{text: "[1] supported: stated"} },
	})
	s.Write("chat.md", "```console\n$ printf 'What does flip do?\\n/trace\\nWhat does flip do now?\\nexit\\nnot asked\\n' | rag chat --agent\n"+
		"flip reverses the order along dimensions [1].\n…verified…\n…\n…search {\"query\":…\n…\nflip reverses the order along dimensions [1].\n…verified…\n```\n")
	s.Transcript("chat.md")
	if n := len(m.asked(agentTask)); n != 4 {
		t.Errorf("the agent was asked %d times for two questions", n)
	}
	before, after := docsSearch{}, docsSearch{}
	s.Run("search", "tensor", "--json").Done().JSON(&before)
	s.Run("ingest", "docs").Done().Prints("8 unchanged")
	s.Run("ingest", "docs/nn.html", "docs/shape.html", "--force").Done().Prints("2 updated", "0 new", "0 removed")
	s.Run("search", "tensor", "--json").Done().JSON(&after)
	if diff := cmp.Diff(before.ids(), after.ids()); diff != "" {
		t.Errorf("a rebuild changes IDs: %s", diff)
	}
}
