package httpapi

import (
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/domain"
)

// question is what search, ask and explain have in common.
type question struct {
	Query      string `json:"query" jsonschema:"question or keywords, at most 4000 characters"`
	Collection string `json:"collection,omitempty" jsonschema:"the server's own where it is missing"`
	TopK       int    `json:"top_k,omitempty" jsonschema:"passages wanted; 0: as configured"`
	Mode       string `json:"mode,omitempty" jsonschema:"hybrid, dense or sparse; as configured where it is missing"`
	Filter     string `json:"filter,omitempty" jsonschema:"condition on metadata, such as: year >= 2025 and country = \"uk\". What a token may see is a condition besides"`
	AsOf       string `json:"as_of,omitempty" jsonschema:"only what is in force at this day or instant (RFC 3339)"`
	NoRerank   bool   `json:"no_rerank,omitempty" jsonschema:"leave the reranker out"`
}

// maxText bounds texts that are asked with, in characters: a question is not a document.
const maxText = 4000

// query makes the engine's query.
func (q *question) query(c *call) (rag.Query, error) {
	out := rag.Query{
		Text: q.Query, Collection: c.collection(q.Collection), TopK: q.TopK, Mode: rag.Mode(q.Mode), NoRerank: q.NoRerank,
		Progress: func(s rag.StageDone) { c.metrics.stage(s.Stage, s.Elapsed) },
	}
	switch most := c.o.Quota.TopK; {
	case strings.TrimSpace(q.Query) == "":
		return out, invalid("query", "the query is empty")
	case utf8.RuneCountInString(q.Query) > maxText:
		return out, invalid("query", "the query has more than %d characters", maxText)
	case q.TopK < 0 || q.TopK > most:
		return out, invalid("top_k", "top_k is %d: want 1 to %d", q.TopK, most)
	case q.TopK == 0:
		out.TopK = min(c.engine.Config().Retrieval.TopK, most)
	}
	switch out.Mode {
	case "", rag.Hybrid, rag.Dense, rag.Sparse:
	default:
		return out, invalid("mode", "mode is %q: want hybrid, dense or sparse", cut(q.Mode))
	}
	if q.Filter != "" {
		f, err := rag.ParseFilter(q.Filter)
		if err != nil {
			return out, invalid("filter", "filter: %s", sentence(err))
		}
		out.Filter = f
	}
	offered := c.domainOf(out.Collection)
	if q.AsOf != "" {
		var err error
		if out.AsOf, err = q.asOf(c, offered, out.Collection); err != nil {
			return out, err
		}
	}
	if offered != nil { // its rules hold, whoever asks; elsewhere the engine follows the domain that the collection remembers
		return offered.Query(out, c.o.Now())
	}
	return out, nil
}

// domainOf returns the domain that the server offers for a collection, or nil.
func (c *call) domainOf(collection string) *domain.Domain {
	for _, d := range c.o.Domains {
		if d.Collection == collection || d.Collection == "" && collection == c.o.Collection {
			return d
		}
	}
	return nil
}

// asOf reads the day or instant; a day begins in the time zone of the collection's domain.
func (q *question) asOf(c *call, d *domain.Domain, collection string) (at time.Time, err error) {
	if d == nil {
		if d, err = domain.Of(c.r.Context(), c.engine, collection); err != nil {
			return at, err
		}
	}
	var ok bool
	if d != nil {
		at, err = d.Instant(q.AsOf)
		ok = err == nil
	} else {
		at, ok = rag.FirstInstant(q.AsOf, time.UTC)
	}
	if !ok || at.IsZero() {
		return at, invalid("as_of", "as_of is %q: want a day such as 2026-01-31, or an instant with its zone", cut(q.AsOf))
	}
	return at, nil
}

func search(c *call) (any, error) {
	var q question
	if err := c.read(&q); err != nil {
		return nil, err
	}
	query, err := q.query(c)
	if err != nil {
		return nil, err
	}
	return c.engine.Search(c.r.Context(), query)
}

// asking is the body of ask.
type asking struct {
	question
	Turns      []turn `json:"turns,omitempty" jsonschema:"the conversation before the question, oldest first, at most 50"`
	Extractive bool   `json:"extractive,omitempty" jsonschema:"answer in sentences of the sources, also where there is a chat model"`
}

type turn struct {
	Role string `json:"role" jsonschema:"user or assistant"`
	Text string `json:"text"`
}

// maxTurns bounds a conversation.
const maxTurns = 50

func (a *asking) request(c *call) (rag.AskRequest, error) {
	q, err := a.query(c)
	if err != nil {
		return rag.AskRequest{}, err
	}
	if len(a.Turns) > maxTurns {
		return rag.AskRequest{}, invalid("turns", "there are more than %d turns", maxTurns)
	}
	var turns []rag.ChatMessage
	for _, t := range a.Turns {
		if t.Role != rag.RoleUser && t.Role != rag.RoleAssistant {
			return rag.AskRequest{}, invalid("turns.role", "role is %q: want %s or %s", cut(t.Role), rag.RoleUser, rag.RoleAssistant)
		}
		turns = append(turns, rag.ChatMessage{Role: t.Role, Text: t.Text})
	}
	q.Turns = turns
	return rag.AskRequest{Query: q, Turns: turns, Extractive: a.Extractive}, nil
}

func ask(c *call) (any, error) {
	var a asking
	if err := c.read(&a); err != nil {
		return nil, err
	}
	req, err := a.request(c)
	if err != nil {
		return nil, err
	}
	if strings.Contains(c.r.Header.Get("Accept"), eventStream) {
		return written{}, c.streamAnswer(req)
	}
	answer, err := c.engine.Ask(c.r.Context(), req)
	if err != nil {
		return nil, err
	}
	c.countAnswer(answer)
	return answer, nil
}

// countAnswer counts the stages behind the search, which has counted its own.
func (c *call) countAnswer(a *rag.Answer) {
	for _, t := range a.Timings {
		if t.Stage != "search" {
			c.metrics.stage(t.Stage, time.Duration(t.MS*float64(time.Millisecond)))
		}
	}
}

// Messages of the stream of an answer.
type (
	stageEvent struct {
		Stage string `json:"stage"`
	}
	textEvent struct {
		Text string `json:"text"`
	}
	endEvent struct{}
)

// streamAnswer sends an answer as it is made.
func (c *call) streamAnswer(req rag.AskRequest) error {
	s := c.stream()
	defer s.close()
	defer func() {
		if p := recover(); p != nil {
			s.send("", "error", errorBody{c.internal()})
			panic(p) // the handler writes it to the log
		}
	}()
	for e, err := range c.engine.AskStream(c.r.Context(), req) {
		switch {
		case err != nil && c.gone(err):
			c.w.status = statusGone // for the log and the metrics
			return nil
		case err != nil:
			s.send("", "error", errorBody{c.errorOf(err)})
			return nil // the status went out long ago
		case e.Answer != nil:
			c.countAnswer(e.Answer)
			s.send("", "answer", e.Answer)
		case e.Stage != "":
			s.send("", "stage", stageEvent{e.Stage})
		default:
			s.send("", "text", textEvent{e.Text})
		}
	}
	s.send("", "end", endEvent{})
	return nil
}

// explaining is the body of explain.
type explaining struct {
	question
	ChunkID string `json:"chunk_id,omitempty" jsonschema:"the passage"`
	Text    string `json:"text,omitempty" jsonschema:"or words that stand in it"`
	URI     string `json:"uri,omitempty" jsonschema:"or its document"`
}

func explain(c *call) (any, error) {
	var x explaining
	if err := c.read(&x); err != nil {
		return nil, err
	}
	q, err := x.query(c)
	if err != nil {
		return nil, err
	}
	given := 0
	for _, s := range []string{x.ChunkID, x.Text, x.URI} {
		if s != "" {
			given++
		}
	}
	if given != 1 {
		return nil, &Error{Status: http.StatusUnprocessableEntity, Code: codeInvalid, Field: "chunk_id", Message: "give one of chunk_id, text and uri"}
	}
	return c.engine.Explain(c.r.Context(), q, rag.ExplainTarget{ChunkID: x.ChunkID, Text: x.Text, URI: x.URI})
}
