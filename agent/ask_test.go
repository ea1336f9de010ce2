package agent_test

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/agent"
	"github.com/seed-d8745b77/rag/ragtest"
)

func stages(t *testing.T, events iter.Seq2[rag.AnswerEvent, error]) (names []string, text string, answer *rag.Answer) {
	t.Helper()
	for event, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case event.Stage != "":
			names = append(names, event.Stage)
		case event.Answer != nil:
			answer = event.Answer
		default:
			text += event.Text
		}
	}
	return names, text, answer
}

// Small talk and what is off topic need no search: nothing is embedded.
func TestSmallTalkAndOffTopicAreNotSearched(t *testing.T) {
	f := open(t)
	before := f.embedder.Texts()
	for _, c := range []struct {
		name, question string
		config         agent.Config
		intent, text   string
		refused        bool
	}{
		{"greeting", "Hello!", agent.Config{}, "chat", "Hello! What would you like to know?", false},
		{"help", "你能做什么？", agent.Config{}, "chat", "我根据这个资料库中的文档回答问题，并注明出处。请就文档内容提问。", false},
		{"with a model", "Bonjour, ça va ?", agent.Config{Model: &ragtest.Script{Replies: []string{"Bonjour [1] !"}}}, "chat", "Bonjour !", false},
		{"a course refuses it", "Raconte-moi une blague", agent.Config{Labels: agent.Course}, "off_topic", "Je ne sais pas.", true},
		{"off topic by the model", "who will win the election", agent.Config{Labels: agent.Course, Model: &ragtest.Script{Replies: []string{`{"intent": "off_topic", "confidence": 0.9, "reasoning": "politics"}`}}}, "off_topic", "I don't know.", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, text, got := stages(t, newAgent(t, f, c.config).AskStream(t.Context(), ask(c.question)))
			if got.Intent != c.intent || got.Text != c.text || text != c.text || got.Refused != c.refused || len(got.Sources) != 0 {
				t.Errorf("%q: %+v", text, got)
			}
		})
	}
	if after := f.embedder.Texts(); after != before {
		t.Errorf("%d texts were embedded", after-before)
	}
}

// A question that names where to look is answered from there; where that holds no answer, from everything, and it says so.
func TestNamedPlaces(t *testing.T) {
	f := open(t)
	a := newAgent(t, f, agent.Config{})
	d, err := a.Route(t.Context(), "Only in documents by the People Team: how many days of annual leave do full-time employees get?", "")
	if err != nil {
		t.Fatal(err)
	}
	if d.Intent != "filter" || d.Filters.String() != `author = "People Team"` || d.By != agent.ByRule {
		t.Errorf("%+v", d)
	}
	got, err := a.Ask(t.Context(), ask("Only in documents by the People Team: how many days of annual leave do full-time employees get?"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range got.Sources {
		if s.Hit.Chunk.URI != "leave.md" {
			t.Errorf("source %s", s.Hit.Chunk.URI)
		}
	}
	got, err = a.Ask(t.Context(), ask("According to the People Team, how much may a night in a hotel cost?"))
	if err != nil {
		t.Fatal(err)
	}
	widened := slices.ContainsFunc(got.Notes, func(n rag.Note) bool { return strings.Contains(n.Reason, `author = "People Team"`) })
	if found := slices.ContainsFunc(got.Sources, func(s rag.AnswerSource) bool { return s.Hit.Chunk.URI == "travel.md" }); widened != found {
		t.Errorf("widened %v, found %v: %+v", widened, found, got.Notes)
	}
	req := ask("According to the Board, what is the merger code name?")
	req.Query.Filter = rag.Eq("kind", "policy")
	if got, err = a.Ask(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	for _, s := range got.Sources {
		if s.Hit.Chunk.URI == "secret.md" {
			t.Error("a question widened the caller's filter")
		}
	}
}

// The sides of a comparison are searched one by one.
func TestComparison(t *testing.T) {
	f := open(t)
	a := newAgent(t, f, agent.Config{})
	req := ask("difference between annual leave and a night in a hotel")
	req.Query.TopK = 3
	names, _, got := stages(t, a.AskStream(t.Context(), req))
	if got.Intent != "compare" || names[0] != "routing" || got.Timings[0].Stage != "routing" {
		t.Errorf("%v: %+v", names, got)
	}
	for _, uri := range []string{"leave.md", "travel.md"} {
		if !slices.ContainsFunc(got.Sources, func(s rag.AnswerSource) bool { return s.Hit.Chunk.URI == uri }) {
			t.Errorf("%s was not found", uri)
		}
	}
}

// A summary or comparison is answered from more passages than other questions of a course; each caller's number goes before.
func TestBroadQuestionsGetMoreContext(t *testing.T) {
	f := open(t)
	a := newAgent(t, f, agent.Config{Labels: agent.Course})
	for _, c := range []struct {
		question, intent string
		topK             int // of the caller
		least, most      int // passages
	}{
		{"What does the leave policy say about annual leave?", "definition", 0, 1, 3},
		{"Give me an overview of the leave and travel policy", "summary", 0, 4, 8},
		{"Compare the leave policy with the travel policy", "comparison", 0, 4, 8},
		{"Give me an overview of the leave and travel policy", "summary", 2, 1, 2},
	} {
		req := ask(c.question)
		req.Query.TopK = c.topK
		got, err := a.Ask(t.Context(), req)
		if n := len(got.Sources); err != nil || got.Intent != c.intent || n < c.least || n > c.most {
			t.Errorf("%s: intent %s, %d passages, want %s with %d to %d: %v", c.question, got.Intent, n, c.intent, c.least, c.most, err)
		}
	}
}

// Without a chat model, and where sentences are wanted, the agent answers in sentences of the sources.
func TestAgentWithoutAModel(t *testing.T) {
	f := open(t)
	const question = "how many days of annual leave do full-time employees get?"
	got, err := newAgent(t, f, agent.Config{}).AskAgent(t.Context(), ask(question))
	if err != nil {
		t.Fatal(err)
	}
	if got.Mode != rag.AnswerExtractive || !slices.ContainsFunc(got.Notes, func(n rag.Note) bool { return strings.Contains(n.Reason, "there is no chat model") }) {
		t.Errorf("%+v", got)
	}
	script := &ragtest.Script{Replies: []string{"28 days"}}
	req := ask(question)
	req.Extractive = true
	if got, err = newAgent(t, f, agent.Config{Model: script}).AskAgent(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if got.Mode != rag.AnswerExtractive || len(got.Notes) != 0 || len(script.Requests()) != 0 {
		t.Errorf("%d requests: %+v", len(script.Requests()), got)
	}
}

// An answer that is broken off is not remembered, and what it was asked ends with it.
func TestBrokenOffIsNotRemembered(t *testing.T) {
	f := open(t)
	a := newAgent(t, f, agent.Config{})
	s := a.NewSession()
	for range s.Stream(t.Context(), ask("how much leave is there?"), a.AskStream) {
		break
	}
	for range s.Stream(t.Context(), ask("how much leave is there?"), a.AskAgentStream) {
		break
	}
	if turns := s.Turns(); len(turns) != 0 {
		t.Errorf("%+v", turns)
	}
	if _, err := s.Ask(t.Context(), ask("hello")); err != nil || len(s.Turns()) != 1 {
		t.Errorf("%v, %d turns", err, len(s.Turns()))
	}
}

// A conversation is remembered: the last turns word by word, older ones as a summary.
func TestSessionRemembers(t *testing.T) {
	f := open(t)
	script := &ragtest.Script{Reply: func(req rag.ChatRequest) string {
		if strings.Contains(req.Messages[0].Text, "beginning of a conversation") {
			return "They greeted each other."
		}
		return fmt.Sprintf("reply to %s", req.Messages[len(req.Messages)-1].Text)
	}}
	a := newAgent(t, f, agent.Config{Model: script, Session: agent.SessionConfig{Turns: 2, SummaryAbove: 3}})
	s := a.NewSession()
	for range 4 {
		if _, err := s.Ask(t.Context(), ask("hello")); err != nil {
			t.Fatal(err)
		}
	}
	if s.Summary() != "They greeted each other." || len(s.Turns()) != 2 {
		t.Errorf("%q, %d turns", s.Summary(), len(s.Turns()))
	}
	if _, err := s.Ask(t.Context(), ask("thanks")); err != nil {
		t.Fatal(err)
	}
	all := script.Requests()
	last := all[len(all)-1].Messages
	if len(last) != 1+4+1 || last[1].Text != "Summary of what was said before:\n<summary>\nThey greeted each other.\n</summary>\n\nhello" || last[5].Text != "thanks" {
		t.Errorf("%+v", last)
	}
}

func TestSessionsAreForgotten(t *testing.T) {
	f := open(t)
	now := start
	a := newAgent(t, f, agent.Config{Now: func() time.Time { return now }, Session: agent.SessionConfig{MaxSessions: 2}})
	sessions := agent.NewSessions(a)
	first := sessions.Session("first")
	if _, err := first.Ask(t.Context(), ask("hello")); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Hour)
	if sessions.Session("first") != first {
		t.Error("a session of an hour ago is forgotten")
	}
	sessions.Session("second")
	now = now.Add(time.Minute)
	sessions.Session("first")
	sessions.Session("third") // in place of the second
	if sessions.Len() != 2 || sessions.Session("first") != first {
		t.Errorf("%d sessions", sessions.Len())
	}
	now = now.Add(time.Hour + time.Second)
	if sessions.Session("first") == first || sessions.Len() != 1 {
		t.Errorf("a session of more than an hour ago is remembered; %d sessions", sessions.Len())
	}
	sessions.Forget("first")
	if sessions.Len() != 0 {
		t.Error("a forgotten session is there")
	}
}
