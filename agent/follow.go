package agent

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"

	"github.com/seed-d8745b77/rag"
)

// Follow does what a decision of [Agent.Route] about the question says: Ask for who has looked at the decision first.
func (a *Agent) Follow(ctx context.Context, req rag.AskRequest, d Decision) iter.Seq2[rag.AnswerEvent, error] {
	switch d.Label.Action {
	case ActChat:
		return a.chatter(ctx, req, d)
	case ActRefuse:
		return refuseTopic(req, d, a.engine.Config().Collection)
	}
	narrowed := narrow(req, d)
	if d.Label.Action == ActCompare {
		for _, side := range d.SubQueries {
			narrowed.Query.Also = append(narrowed.Query.Also, rag.SubQuery{Text: side})
		}
	}
	if d.Filters.IsZero() && d.Collection == "" {
		return a.engine.AskStream(ctx, narrowed)
	}
	wide := narrow(req, Decision{Intent: d.Intent, Label: d.Label})
	wide.Query.Also = narrowed.Query.Also
	return a.askWithin(ctx, narrowed, wide, d)
}

// narrow puts what a decision says about passages and places into a question. The caller's own conditions hold besides.
func narrow(req rag.AskRequest, d Decision) rag.AskRequest {
	own, _ := d.Label.filter() // checked when the set was made
	req.Intent = d.Intent
	req.Query.Filter = rag.And(req.Query.Filter, own, d.Filters)
	req.Query.Collection = cmp.Or(req.Query.Collection, d.Collection)
	req.Query.TopK = cmp.Or(req.Query.TopK, d.Label.TopK)
	req.ContextTokens = cmp.Or(req.ContextTokens, d.Label.ContextTokens)
	return req
}

// askWithin asks among the documents that the question names, and among all where these hold no answer: what a question says
// about where to look must not hide the passage that answers it.
func (a *Agent) askWithin(ctx context.Context, narrowed, wide rag.AskRequest, d Decision) iter.Seq2[rag.AnswerEvent, error] {
	return func(yield func(rag.AnswerEvent, error) bool) {
		var said []rag.AnswerEvent // text, and the answer: shown when it is known to stand
		var answer *rag.Answer
		for event, err := range a.engine.AskStream(ctx, narrowed) {
			switch {
			case err != nil:
				yield(rag.AnswerEvent{}, err)
				return
			case event.Stage != "":
				if !yield(event, nil) {
					return
				}
			default:
				said = append(said, event)
				answer = cmp.Or(event.Answer, answer)
			}
		}
		if answer != nil && !answer.Refused {
			for _, event := range said {
				if !yield(event, nil) {
					return
				}
			}
			return
		}
		note := rag.Note{Stage: stageRoute, Reason: "nothing in " + place(d) + " answers the question: all documents were searched"}
		for event, err := range a.engine.AskStream(ctx, wide) {
			if event.Answer != nil {
				event.Answer.Notes = append(event.Answer.Notes, note)
			}
			if !yield(event, err) {
				return
			}
		}
	}
}

// place names where a question was looked for.
func place(d Decision) string {
	var parts []string
	if d.Collection != "" {
		parts = append(parts, "the collection "+d.Collection)
	}
	if !d.Filters.IsZero() {
		parts = append(parts, "documents with "+d.Filters.String())
	}
	return strings.Join(parts, ", ")
}

// chatter answers small talk, in words of its own where there is no model or it fails.
func (a *Agent) chatter(ctx context.Context, req rag.AskRequest, d Decision) iter.Seq2[rag.AnswerEvent, error] {
	return func(yield func(rag.AnswerEvent, error) bool) {
		answer := &rag.Answer{Question: question(&req), Collection: cmp.Or(req.Query.Collection, a.engine.Config().Collection), Intent: d.Intent, Mode: rag.AnswerChat}
		if !yield(rag.AnswerEvent{Stage: stageChat}, nil) {
			return
		}
		text := a.reply(ctx, req, answer)
		if ctx.Err() != nil {
			yield(rag.AnswerEvent{}, ctx.Err())
			return
		}
		if text == "" {
			words := speak(answer.Question)
			if text = words.hello; classifyTalk(readText(answer.Question).folded) == meta {
				text = words.help
			}
		}
		answer.Text = text
		if yield(rag.AnswerEvent{Text: text}, nil) {
			yield(rag.AnswerEvent{Answer: answer}, nil)
		}
	}
}

// chatTokens is the longest reply to small talk.
const chatTokens = 256

// reply has the model answer small talk; "" without one. Its markers are taken out: there are no sources.
func (a *Agent) reply(ctx context.Context, req rag.AskRequest, answer *rag.Answer) string {
	if a.config.Model == nil || req.Extractive {
		return ""
	}
	messages := append([]rag.ChatMessage{{Role: rag.RoleSystem, Text: chatTask}}, req.Turns...)
	reply, err := rag.Reply(ctx, a.config.Model, rag.ChatRequest{
		Messages: append(messages, rag.ChatMessage{Role: rag.RoleUser, Text: answer.Question}), MaxTokens: chatTokens, Temperature: agentTemperature,
	}, maxReply)
	answer.Usage.Add(reply.Usage)
	if err != nil {
		answer.Notes = append(answer.Notes, rag.Note{Stage: stageChat, Reason: "the chat model did not answer: " + a.engine.HideSecrets(err.Error())})
		return ""
	}
	text, rejected := readCitations(reply.Text, 0)
	answer.Rejected = rejected
	return text
}

// refuseTopic refuses without a search and without a model.
func refuseTopic(req rag.AskRequest, d Decision, collection string) iter.Seq2[rag.AnswerEvent, error] {
	return func(yield func(rag.AnswerEvent, error) bool) {
		answer := &rag.Answer{
			Question: question(&req), Collection: cmp.Or(req.Query.Collection, collection), Intent: d.Intent, Mode: rag.AnswerChat,
			Refused: true, Reliability: rag.NoAnswer, Reason: "the question is " + strings.ReplaceAll(d.Intent, "_", " ") + ": " + d.Reasoning,
			Text: speak(question(&req)).unknown,
		}
		if yield(rag.AnswerEvent{Text: answer.Text}, nil) {
			yield(rag.AnswerEvent{Answer: answer}, nil)
		}
	}
}

// vocabularyCache keeps what questions can name, by collection, until the collection changes.
type vocabularyCache struct {
	mu   sync.Mutex
	kept map[string]keptVocabulary
}

type keptVocabulary struct {
	state  string // of the collection when it was read
	fields []Field
}

// fields are what a question to a collection can name: its metadata, the configured names, and the other collections.
func (a *Agent) fields(ctx context.Context, collection string) ([]Field, error) {
	infos, err := a.engine.Collections(ctx)
	if err != nil {
		return nil, err
	}
	name := cmp.Or(collection, a.engine.Config().Collection)
	others := Field{Name: FieldCollection}
	state := ""
	for _, info := range infos {
		if info.Name == name {
			state = fmt.Sprintf("%v/%v/%d/%d", info.Updated, info.Header.Created, info.Documents, info.Chunks)
		}
		if collection == "" {
			others.Values = append(others.Values, Value{Value: info.Name, Names: []string{info.Name + " collection", "collection " + info.Name}})
		}
	}
	a.vocabulary.mu.Lock()
	defer a.vocabulary.mu.Unlock()
	kept, ok := a.vocabulary.kept[name]
	if !ok || kept.state != state {
		kept.state = state
		if kept.fields, err = CollectVocabulary(ctx, a.engine, name); err != nil {
			return nil, err
		}
		if a.vocabulary.kept == nil {
			a.vocabulary.kept = map[string]keptVocabulary{}
		}
		a.vocabulary.kept[name] = kept
	}
	fields := Merge(kept.fields, a.config.Fields)
	if len(others.Values) > 1 {
		fields = append(fields, others)
	}
	return fields, nil
}
