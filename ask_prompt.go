package rag

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"strings"
	"text/template"
	"time"

	"github.com/seed-d8745b77/rag/internal/prompt"
)

// PromptData is what the templates of the prompts are given.
type PromptData struct {
	Question string
	Language string // of the question, in English: "French"; "" if it cannot be told
	Refusal  string // what the model is to say if the sources hold no answer, in the question's language
	AsOf     string // day for which the answer is wanted, 2006-01-02; "" if none was given
	Sources  []PromptSource
}

// PromptSource is a numbered passage in a prompt. All fields but Quoted are on one line, of 300 bytes at most, and without
// characters that nobody sees. What a document says itself, its title among it, belongs behind "> ".
type PromptSource struct {
	Number   int
	Title    string // "" if the document has none
	Headings string // sections that the passage stands in, with " › " between them
	URI      string
	Page     int    // 0 if there is none
	Status   string // "needs review", "expired"; "" if it is in force or no date was asked about
	From     string // title, or URI without one, and headings, with " › " between them
	Quoted   string // the passage, each line behind "> ", so that no text can end the quotation
}

// The built-in templates.
var (
	//go:embed ask_system.tmpl
	defaultSystem string
	//go:embed ask_prompt.tmpl
	defaultPrompt string
)

// prompts are the two templates, parsed.
type prompts struct{ system, prompt *template.Template }

// readPrompts parses the configured templates and tries them, so that a mistake is found now. Errors name the line.
func readPrompts(c *AnswerConfig) (p prompts, err error) {
	if p.system, err = readPrompt("answer.system", c.System, c.SystemFile, defaultSystem); err != nil {
		return p, err
	}
	p.prompt, err = readPrompt("answer.prompt", c.Prompt, c.PromptFile, defaultPrompt)
	return p, err
}

func readPrompt(key, text, file, otherwise string) (*template.Template, error) {
	name := key
	switch {
	case text != "" && file != "":
		return nil, &ConfigError{key, fmt.Errorf("it is given, and %s_file too: take one away: %w", key, ErrInvalid)}
	case file != "":
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, &ConfigError{key + "_file", fmt.Errorf("%w: %w", err, ErrInvalid)}
		}
		text, name, key = string(b), file, key+"_file"
	case text == "":
		text = otherwise
	}
	t, err := template.New(name).Parse(text)
	if err == nil {
		err = t.Execute(io.Discard, PromptData{
			Question: "?", Language: "English", Refusal: "?", AsOf: "2006-01-02",
			Sources: []PromptSource{{Number: 1, Title: "?", Headings: "?", URI: "?", Page: 1, Status: "?", From: "?", Quoted: "> ?"}},
		})
	}
	if err != nil {
		return nil, &ConfigError{key, fmt.Errorf("%s: %w", templateError(err, name), ErrInvalid)}
	}
	return t, nil
}

var (
	templatePlace = regexp.MustCompile(`^(\d+)(?::\d+)?: (?:executing .* at <.*?>: )?`)
	templateField = regexp.MustCompile(`^can't evaluate field (\S+) in type (?:\S*\.)?(\w+)$`)
)

// templateError says in words, and with the line in the template, what package text/template found wrong.
func templateError(err error, name string) string {
	said, _ := strings.CutPrefix(err.Error(), "template: "+name+":")
	line := ""
	if place := templatePlace.FindStringSubmatch(said); place != nil {
		line, said = "line "+place[1]+" of the template: ", said[len(place[0]):]
	}
	known := map[string][]string{"PromptData": fieldNames(PromptData{}), "PromptSource": fieldNames(PromptSource{})}
	switch field := templateField.FindStringSubmatch(said); {
	case field != nil && known[field[2]] != nil:
		said = fmt.Sprintf("there is no field .%s%s (known: %s)", field[1], DidYouMean(field[1], known[field[2]]), strings.Join(known[field[2]], ", "))
	case strings.HasPrefix(said, "can't evaluate field"):
		said = "what stands before the last name of a field has no fields"
	case strings.HasSuffix(said, "unexpected EOF"):
		said = "it ends within {{ }}, or an {{end}} is missing"
	}
	return line + typeNames.Replace(said)
}

// typeNames are types of Go in words, as they stand in messages about the wrong use of a template's functions.
var typeNames = strings.NewReplacer("rag.PromptData", "the data of the prompt", "[]rag.PromptSource", "the sources", "rag.PromptSource", "a source",
	"type string", "a text", "type int", "a number", "reflect.Value", "value", "<nil>", "nothing")

// fieldNames are the names of a struct's fields.
func fieldNames(v any) (names []string) {
	for i := range reflect.TypeOf(v).NumField() {
		names = append(names, reflect.TypeOf(v).Field(i).Name)
	}
	return names
}

// messageTokens is what a message costs besides its text, about.
const messageTokens = 8

// pack puts the sources into the prompt, best first, as many as the budget holds; the first one is cut if it alone is too
// long. Sources that are left out are no sources of the answer. Of the conversation the last turns come along for which
// there is as much room again.
func (a *answering) pack() ([]ChatMessage, error) {
	span, start := a.begin(StagePack)
	defer a.end(span, start)
	budget := a.req.ContextTokens
	if budget == 0 {
		budget = a.config.Answer.ContextTokens
	}
	data := PromptData{Question: a.req.Question, Language: languageNames[a.language], Refusal: a.phrase()}
	if day := a.req.Query.AsOf; !day.IsZero() {
		data.AsOf = day.Format(time.DateOnly)
	}
	span.In = len(a.answer.Sources)
	used := 0
	for i := range a.answer.Sources {
		s := &a.answer.Sources[i]
		text := passageText(&s.Hit)
		tokens := a.tokens.CountTokens(text)
		if used+tokens > budget && i == 0 {
			text = bestWindow(text, a.req.Question, budget, a.tokens)
			tokens = a.tokens.CountTokens(text)
		} else if used+tokens > budget {
			a.answer.Sources, a.texts = a.answer.Sources[:i], a.texts[:i]
			break
		}
		used += tokens
		a.texts[i] = text
		data.Sources = append(data.Sources, promptSource(s, text))
	}
	span.Out = len(data.Sources)
	span.Detail["tokens"], span.Detail["budget"] = used, budget
	var system, asked strings.Builder
	if err := a.prompts.system.Execute(&system, data); err != nil {
		return nil, fmt.Errorf("answer.system: %w: %w", err, ErrInvalid)
	}
	if err := a.prompts.prompt.Execute(&asked, data); err != nil {
		return nil, fmt.Errorf("answer.prompt: %w: %w", err, ErrInvalid)
	}
	messages := []ChatMessage{{Role: RoleSystem, Text: strings.TrimSpace(system.String())}}
	messages = append(messages, a.lastTurns(budget)...)
	messages = append(messages, ChatMessage{Role: RoleUser, Text: strings.TrimSpace(asked.String())})
	if a.tracing.detail == DetailVerbose {
		span.Detail["prompt"] = asSent(messages)
	}
	return messages, nil
}

// asSent is a conversation in a trace.
func asSent(messages []ChatMessage) []map[string]string {
	sent := make([]map[string]string, len(messages))
	for i, m := range messages {
		sent[i] = map[string]string{"role": m.Role, "text": m.Text}
	}
	return sent
}

// lastTurns returns the end of the conversation that has at most so many tokens. It begins with the user.
func (a *answering) lastTurns(budget int) []ChatMessage {
	first := len(a.req.Turns)
	for first > 0 {
		budget -= a.tokens.CountTokens(a.req.Turns[first-1].Text) + messageTokens
		if budget < 0 {
			break
		}
		first--
	}
	for first < len(a.req.Turns) && a.req.Turns[first].Role != RoleUser {
		first++
	}
	return a.req.Turns[first:]
}

// passageText is what the chat model reads of a hit: the section it is from, or the passage with its neighbours, where
// the search gave them.
func passageText(h *Hit) string {
	if h.Parent != nil && h.Parent.Text != "" {
		return h.Parent.Text
	}
	var parts []string
	for _, c := range h.Before {
		parts = append(parts, c.Text)
	}
	parts = append(parts, h.Chunk.Text)
	for _, c := range h.Chunk.Captions {
		parts = append(parts, c.Text)
	}
	for _, c := range h.After {
		parts = append(parts, c.Text)
	}
	return strings.Join(parts, "\n")
}

// longestName is how many bytes a prompt has of a title, of headings, or of a URI.
const longestName = 300

func promptSource(s *AnswerSource, text string) PromptSource {
	c := &s.Hit.Chunk
	p := PromptSource{
		Number: s.Number, Title: prompt.Line(c.Title, longestName), Headings: prompt.Line(strings.Join(c.Headings, " › "), longestName), URI: prompt.Line(c.URI, longestName),
		Page: c.Page, Quoted: prompt.Lines(text),
	}
	from := c.Headings
	if len(from) == 0 || from[0] != c.Title {
		from = append([]string{cmp.Or(c.Title, c.URI)}, from...)
	}
	p.From = prompt.Line(strings.Join(from, " › "), longestName)
	if s.Hit.Status != "" && s.Hit.Status != StatusCurrent {
		p.Status = strings.ReplaceAll(s.Hit.Status, "_", " ")
	}
	return p
}
