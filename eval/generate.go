package eval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/config"
	"github.com/seed-d8745b77/rag/internal/cite"
	"github.com/seed-d8745b77/rag/internal/prompt"
)

// Draft is a question made from a passage, for people to look at before it is used. Its JSON form is a line of a test set.
type Draft struct {
	ID        string   `json:"id"`
	Question  string   `json:"question"`
	Kind      string   `json:"kind"` // KindCloze or KindDraft
	Lang      string   `json:"lang,omitempty"`
	Answer    bool     `json:"answerable"`
	Sources   []string `json:"expected_sources"`
	Sentence  string   `json:"key_sentence"`
	Reference string   `json:"reference_answer"`
	Notes     string   `json:"notes"`
}

// Kinds of drafts.
const (
	KindCloze = "cloze" // a sentence with a gap, made by rules
	KindDraft = "draft" // written by a chat model
)

// draftNote stands in every draft.
const draftNote = "drafted by the program: to be reviewed"

// GenerateRequest says how questions are drafted.
type GenerateRequest struct {
	Collection string
	Count      int           // questions wanted; at least 1
	Model      rag.ChatModel // nil: sentences with a gap
	Loaded     config.Loaded // as in Options: notes show no secrets
}

// Generate drafts questions from passages that are spread evenly over a collection. It returns fewer than wanted where the
// collection has no more passages that a question can be made of; notes say of which passage a model made none. The same
// collection gives the same sentences.
func Generate(ctx context.Context, eng *rag.Engine, req GenerateRequest) (drafts []Draft, notes []string, err error) {
	if req.Count < 1 {
		return nil, nil, fmt.Errorf("generate: count is %d: it must be at least 1: %w", req.Count, rag.ErrInvalid)
	}
	all, err := collect(eng.Chunks(ctx, req.Collection, rag.Filter{}))
	if err != nil {
		return nil, nil, err
	}
	var usable []rag.Chunk
	for i := range all {
		if c := cloze(&all[i]); c.Question != "" {
			usable = append(usable, all[i])
		}
	}
	n, hide := min(req.Count, len(usable)), req.Loaded.Hider()
	for i := range n {
		chunk := &usable[i*len(usable)/n]
		draft := cloze(chunk)
		if req.Model != nil {
			if draft, err = written(ctx, req.Model, chunk); ctx.Err() != nil {
				return nil, nil, ctx.Err()
			} else if err != nil {
				notes = append(notes, fmt.Sprintf("%s: %s", chunk.URI, hide(err.Error())))
				continue
			}
		}
		draft.ID, draft.Notes, draft.Answer = fmt.Sprintf("draft-%03d", len(drafts)+1), draftNote, true
		draft.Sources, draft.Lang = []string{chunk.URI}, chunk.Language
		drafts = append(drafts, draft)
	}
	return drafts, notes, nil
}

// Bounds of a sentence that a question is made of, in characters: shorter ones say too little, longer ones are lists or
// tables.
const (
	shortestSentence = 40
	longestSentence  = 300
)

// telling finds what a gap is put in place of: numbers with what stands about them, names, codes, quoted words.
var telling = regexp.MustCompile(`\p{Lu}[\p{L}\d]*(?:[-_./]\p{L}*\d[\p{L}\d]*)+|\d[\d.,:/%]*\d|\d+%?|“[^”]+”|"[^"]+"|「[^」]+」|\p{Ll}[ ,]+(\p{Lu}\p{L}{3,}(?: \p{Lu}\p{L}+)*)`)

// cloze makes a gap in the first sentence of a passage that has something to ask for; the zero Draft if none has.
func cloze(c *rag.Chunk) Draft {
	for _, span := range cite.Sentences(c.Text) {
		sentence := c.Text[span.Start:span.End]
		if n := utf8.RuneCountInString(sentence); n < shortestSentence || n > longestSentence || strings.ContainsAny(sentence, "|\n#`") {
			continue
		}
		at := telling.FindStringSubmatchIndex(sentence)
		if at == nil {
			continue
		}
		start, end := at[0], at[1]
		if at[2] >= 0 { // the name, without what shows that it does not begin the sentence
			start, end = at[2], at[3]
		}
		return Draft{Kind: KindCloze, Question: sentence[:start] + "____" + sentence[end:], Sentence: sentence, Reference: sentence[start:end]}
	}
	return Draft{}
}

const draftTask = `Write one question that the passage answers, as somebody would ask who has not read it: in other words than the passage, in its language, without "the passage" or "the text". Quote the sentence of the passage that answers it, word by word, and give the answer in one sentence.
Reply with a JSON object and nothing else: {"question": "...", "sentence": "...", "answer": "..."}.` + prompt.Guard

// written has a chat model write a question. The sentence that it quotes must be in the passage.
func written(ctx context.Context, model rag.ChatModel, c *rag.Chunk) (Draft, error) {
	messages := []rag.ChatMessage{{Role: rag.RoleSystem, Text: draftTask}, {Role: rag.RoleUser, Text: prompt.Quote("passage", c.Text)}}
	var wrong error
	for range attempts {
		reply, err := chat(ctx, model, messages, 0)
		if err != nil {
			return Draft{}, err
		}
		var got struct{ Question, Sentence, Answer string }
		switch wrong = prompt.ReadJSON(reply, &got); {
		case wrong != nil:
		case strings.TrimSpace(got.Question) == "" || strings.TrimSpace(got.Answer) == "":
			wrong = errors.New("question or answer is missing")
		case Fold(got.Sentence) == "" || !strings.Contains(Fold(prompt.Visible(c.Text)), Fold(prompt.Visible(got.Sentence))):
			wrong = errors.New("the sentence is not in the passage")
		default:
			return Draft{Kind: KindDraft, Question: strings.TrimSpace(got.Question), Sentence: got.Sentence, Reference: strings.TrimSpace(got.Answer)}, nil
		}
		messages = append(messages[:2:2], rag.ChatMessage{Role: rag.RoleAssistant, Text: reply},
			rag.ChatMessage{Role: rag.RoleUser, Text: "This cannot be used: " + wrong.Error() + ". Reply with the JSON object that was asked for and nothing else."})
	}
	return Draft{}, wrong
}

// MarshalLine returns the draft as a line of a test set.
func (d *Draft) MarshalLine() ([]byte, error) {
	line, err := json.Marshal(d)
	return append(line, '\n'), err
}
