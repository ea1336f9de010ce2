package agent

import (
	"strings"
	"testing"
)

func TestReadReply(t *testing.T) {
	for name, c := range map[string]struct{ reply, tool, arguments, answer string }{
		"as asked":               {"Action: search\nAction Input: {\"query\": \"leave\"}", "search", `{"query": "leave"}`, ""},
		"with a thought":         {"Thought: hm.\n\nAction: search\nAction Input: {\"query\": \"leave\"}\n", "search", `{"query": "leave"}`, ""},
		"bold":                   {"**Action:** `search`\n**Action Input:** {\"query\": \"leave\"}", "search", `{"query": "leave"}`, ""},
		"over lines":             {"Action: search\nAction Input:\n```json\n{\n\"query\": \"a\"\n}\n```", "search", "{\n\"query\": \"a\"\n}", ""},
		"a text":                 {"Action: search\nAction Input: \"notice period\"", "search", `{"":"notice period"}`, ""},
		"inline":                 {"Action: search[notice period]", "search", `{"":"notice period"}`, ""},
		"a call":                 {"Action: Search(\"notice period\")", "search", `{"":"notice period"}`, ""},
		"on one line":            {"Action: search notice period", "search", `{"":"notice period"}`, ""},
		"Chinese colon":          {"Action：search\nAction Input：{\"query\": \"年假\"}", "search", `{"query": "年假"}`, ""},
		"numbered":               {"Action 1: list_topics\nInput: none", "list_topics", `{}`, ""},
		"no input":               {"Action: list_topics", "list_topics", `{}`, ""},
		"invented":               {"Action: search\nAction Input: {\"query\": \"a\"}\nObservation: 99 days\nFinal Answer: 99", "search", `{"query": "a"}`, ""},
		"final":                  {"Thought: I know.\nFinal Answer: 28 days [1].\nSecond line.", "", "", "28 days [1].\nSecond line."},
		"final before an action": {"Final Answer: 28 days [1].\nAction: search", "", "", "28 days [1].\nAction: search"},
		"plain":                  {"28 days [1].", "", "", "28 days [1]."},
		"a thought alone":        {"Thought: it is clear.\n28 days [1].", "", "", "28 days [1]."},
		"thinking":               {"<think>Action: search</think>28 days [1].", "", "", "28 days [1]."},
		"action in a sentence":   {"The action: none is needed, 28 days [1].", "", "", "The action: none is needed, 28 days [1]."},
		"nothing":                {"", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			calls, answer := readReply(c.reply)
			tool, arguments := "", ""
			if len(calls) > 0 {
				tool, arguments = calls[0].Name, string(calls[0].Arguments)
			}
			if tool != c.tool || arguments != c.arguments || answer != c.answer {
				t.Errorf("%q with %q, answer %q", tool, arguments, answer)
			}
		})
	}
}

func FuzzReadReply(f *testing.F) {
	f.Add("Action: search\nAction Input: {\"query\": \"leave\"}")
	f.Add("Final Answer: x\nObservation: y")
	f.Fuzz(func(t *testing.T, reply string) {
		calls, answer := readReply(reply)
		if len(calls) > 1 || len(calls) == 1 && answer != "" {
			t.Errorf("%v and %q", calls, answer)
		}
		for _, c := range calls {
			if strings.TrimSpace(string(c.Arguments)) == "" {
				t.Errorf("%+v", c)
			}
		}
	})
}

func TestRefusals(t *testing.T) {
	for candidate, want := range map[string]string{
		"NO ANSWER: the documents are silent.": "the documents are silent.",
		"**NO ANSWER**":                        "the agent found no answer in the documents",
		"I don't know.":                        "the agent found no answer in the documents",
		"我不知道。":                                "the agent found no answer in the documents",
		"":                                     "the model gave an empty answer",
		"I don't know [1] says so.":            "",
		"No answer sheet is needed [1].":       "",
	} {
		if got, refused := refusal(candidate); got != want || refused != (want != "") {
			t.Errorf("%q: %q, %v", candidate, got, refused)
		}
	}
}
