package agent

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/prompt"
)

// SessionConfig sets what is remembered of a conversation. The values are those of System F.
type SessionConfig struct {
	Turns        int `json:"turns,omitzero" range:"[1,1000]"`           // questions with their answers that are remembered word by word; 0: 10
	SummaryAbove int `json:"summary_above,omitzero" range:"[1,10000]"`  // remembered turns above which the older ones are summed up; not below Turns; 0: 20
	TTLSeconds   int `json:"ttl_s,omitzero" range:"[1,31536000]"`       // a session that nobody asked for so long is forgotten; 0: 3,600
	MaxSessions  int `json:"max_sessions,omitzero" range:"[1,1000000]"` // sessions at once; above it the one that was asked longest ago is forgotten; 0: 1,000
}

// Exchange is a question of a conversation and its answer.
type Exchange struct {
	Question string
	Answer   *rag.Answer
}

// Session is a conversation: each question is answered with what was said before. It is safe for concurrent use; questions
// take turns.
type Session struct {
	agent *Agent

	turn sync.Mutex // held while a question is answered

	mu      sync.Mutex // guards the rest
	turns   []Exchange
	summary string // of turns that are no longer kept
	used    time.Time
}

// NewSession begins a conversation.
func (a *Agent) NewSession() *Session { return &Session{agent: a, used: a.config.Now()} }

// Ask is [Agent.Ask] in the conversation.
func (s *Session) Ask(ctx context.Context, req rag.AskRequest) (*rag.Answer, error) {
	return last(s.Stream(ctx, req, s.agent.AskStream))
}

// AskAgent is [Agent.AskAgent] in the conversation.
func (s *Session) AskAgent(ctx context.Context, req rag.AskRequest) (*rag.Answer, error) {
	return last(s.Stream(ctx, req, s.agent.AskAgentStream))
}

// Stream asks by ask, which is AskStream or AskAgentStream of the session's agent. An answer that comes to its end is
// remembered.
func (s *Session) Stream(ctx context.Context, req rag.AskRequest, ask func(context.Context, rag.AskRequest) iter.Seq2[rag.AnswerEvent, error]) iter.Seq2[rag.AnswerEvent, error] {
	return func(yield func(rag.AnswerEvent, error) bool) {
		s.turn.Lock()
		defer s.turn.Unlock()
		req.Turns = append(s.messages(), req.Turns...)
		if req.Query.Turns == nil {
			req.Query.Turns = req.Turns
		}
		for event, err := range ask(ctx, req) {
			if event.Answer != nil {
				s.remember(ctx, Exchange{question(&req), event.Answer})
			}
			if !yield(event, err) {
				return
			}
		}
	}
}

// Turns returns the exchanges that are remembered word by word, oldest first.
func (s *Session) Turns() []Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.turns)
}

// Summary returns what is remembered of older exchanges; "" if nothing is.
func (s *Session) Summary() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.summary
}

// messages is the conversation as a chat model is given it: the last turns, and the summary before them.
func (s *Session) messages() []rag.ChatMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = s.agent.config.Now()
	var out []rag.ChatMessage
	for _, t := range s.turns[max(0, len(s.turns)-s.agent.config.Session.Turns):] {
		out = append(out, rag.ChatMessage{Role: rag.RoleUser, Text: t.Question}, rag.ChatMessage{Role: rag.RoleAssistant, Text: t.Answer.Text})
	}
	if s.summary != "" && len(out) > 0 { // services want questions and answers to alternate
		out[0].Text = "Summary of what was said before:\n" + prompt.Quote("summary", s.summary) + "\n" + out[0].Text
	}
	return out
}

// remember adds an exchange and sums old ones up when there are too many.
func (s *Session) remember(ctx context.Context, e Exchange) {
	c := s.agent.config.Session
	s.mu.Lock()
	s.turns = append(s.turns, e)
	s.used = s.agent.config.Now()
	var old []Exchange
	if len(s.turns) > c.SummaryAbove {
		old = s.turns[:len(s.turns)-c.Turns]
		s.turns = slices.Clone(s.turns[len(s.turns)-c.Turns:])
	}
	before := s.summary
	s.mu.Unlock()
	if old == nil {
		return
	}
	summary := s.agent.sumUp(ctx, before, old)
	s.mu.Lock()
	s.summary = summary
	s.mu.Unlock()
}

// maxSummary is how many bytes of a summary are kept.
const maxSummary = 4000

// sumUp makes a summary of what is no longer kept. Without a model, or where it fails, it is the questions that were asked.
func (a *Agent) sumUp(ctx context.Context, before string, old []Exchange) string {
	var turns []rag.ChatMessage
	for _, e := range old {
		turns = append(turns, rag.ChatMessage{Role: rag.RoleUser, Text: e.Question}, rag.ChatMessage{Role: rag.RoleAssistant, Text: e.Answer.Text})
	}
	if a.config.Model != nil {
		reply, err := rag.Reply(ctx, a.config.Model, rag.ChatRequest{Messages: []rag.ChatMessage{
			{Role: rag.RoleSystem, Text: summaryTask}, {Role: rag.RoleUser, Text: prompt.Quote("conversation", strings.TrimSpace(before+"\n"+transcript(turns)))},
		}}, maxReply)
		if text := strings.TrimSpace(reply.Text); err == nil && text != "" {
			return cut(text, maxSummary)
		}
	}
	parts := []string{}
	if before != "" {
		parts = append(parts, before)
	}
	for _, e := range old {
		parts = append(parts, "Asked: "+e.Question)
	}
	all := strings.Join(parts, "\n")
	if from := len(all) - maxSummary; from > 0 { // the newest counts
		_, all, _ = strings.Cut(all[from:], "\n")
	}
	return all
}

// transcriptBytes is how much of a message a transcript has.
const transcriptBytes = 1000

// transcript writes the beginnings of messages one below the other.
func transcript(turns []rag.ChatMessage) string {
	var b strings.Builder
	for _, m := range turns {
		b.WriteString(m.Role + ": " + cut(strings.Join(strings.Fields(m.Text), " "), transcriptBytes) + "\n")
	}
	return b.String()
}

// Sessions keeps conversations by name, for programs that serve many. It is safe for concurrent use.
type Sessions struct {
	agent *Agent

	mu     sync.Mutex
	byName map[string]*Session
}

// NewSessions returns an empty set of sessions of an agent.
func NewSessions(a *Agent) *Sessions { return &Sessions{agent: a, byName: map[string]*Session{}} }

// Session returns the conversation of this name, a new one if there is none or it was forgotten.
func (s *Sessions) Session(name string) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.agent.config.Now()
	s.forgetOld(now)
	session, ok := s.byName[name]
	if !ok {
		s.makeRoom()
		session = s.agent.NewSession()
		s.byName[name] = session
	}
	session.touch(now)
	return session
}

// Forget ends the conversation of this name; there need not be one.
func (s *Sessions) Forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byName, name)
}

// Len is the number of conversations.
func (s *Sessions) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byName)
}

// forgetOld drops conversations that nobody went on with.
func (s *Sessions) forgetOld(now time.Time) {
	ttl := time.Duration(s.agent.config.Session.TTLSeconds) * time.Second
	maps.DeleteFunc(s.byName, func(_ string, session *Session) bool { return now.Sub(session.lastUsed()) > ttl })
}

// makeRoom drops the conversations that were used longest ago, so that one more has room.
func (s *Sessions) makeRoom() {
	for len(s.byName) >= s.agent.config.Session.MaxSessions {
		oldest := slices.MinFunc(slices.Sorted(maps.Keys(s.byName)), func(a, b string) int {
			return s.byName[a].lastUsed().Compare(s.byName[b].lastUsed())
		})
		delete(s.byName, oldest)
	}
}

func (s *Session) touch(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = now
}

func (s *Session) lastUsed() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}
