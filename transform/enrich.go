package transform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/prompt"
)

// Metadata that [Enrich] writes. The names are its own, so that what a document, a manifest or a domain says (title, tags)
// is never replaced by what was generated.
const (
	MetaTitle   = "generated_title"   // string
	MetaTags    = "generated_tags"    // list of strings
	MetaSummary = "generated_summary" // string
)

// EnrichConfig sets up an [Enrich].
type EnrichConfig struct {
	Mode string `json:"mode"`                           // Rules or LLM; "": Rules
	Tags int    `json:"tags,omitzero" range:"[1,1000]"` // most tags of a passage; 0: 5; at least 0
	LLMConfig
}

// Enrich is the transformer "enrich": it gives each chunk a title, tags and a summary, in its metadata, and puts into its
// Context what the text does not have yet: the title, and of a model all three. By rules the title is the nearest heading,
// the tags are keyphrases, and the summary is the sentence that has most of them. It is safe for concurrent use.
type Enrich struct {
	c   EnrichConfig
	ask *asker // nil by rules
}

var (
	_ rag.Transformer   = (*Enrich)(nil)
	_ rag.Fingerprinter = (*Enrich)(nil)
)

// NewEnrich returns the transformer; mode LLM needs a chat model.
func NewEnrich(model rag.ChatModel, c EnrichConfig) (*Enrich, error) {
	if c.Mode == "" {
		c.Mode = Rules
	}
	if err := checkMode(c.Mode); err != nil {
		return nil, err
	}
	if c.Tags < 0 {
		return nil, fmt.Errorf("enrich: tags must not be below 0: %w", rag.ErrInvalid)
	}
	if c.Tags == 0 {
		c.Tags = 5
	}
	e := &Enrich{c: c}
	if c.Mode == Rules {
		return e, nil
	}
	var err error
	if e.ask, err = newAsker("enrich", enrichTask, model, c.LLMConfig); err != nil {
		return nil, err
	}
	return e, nil
}

// Fingerprint names rules, number of tags, and prompt and model if one is asked.
func (e *Enrich) Fingerprint() string {
	if e.ask == nil {
		return fmt.Sprintf("enrich/rules/v1/%d", e.c.Tags)
	}
	return fmt.Sprintf("%s/%d", e.ask.name, e.c.Tags)
}

// Longest texts in bytes: those of a line in a list, and of a short paragraph.
const (
	longestTitle   = 100
	longestTag     = 40
	longestSummary = 300
)

// enrichment is what a chunk is given.
type enrichment struct {
	Title   string   `json:"title"`
	Tags    []string `json:"tags"`
	Summary string   `json:"summary"`
}

// Transform enriches each chunk. Its error is that of ctx.
func (e *Enrich) Transform(ctx context.Context, doc rag.Document, chunks []rag.Chunk) ([]rag.Chunk, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := append([]rag.Chunk{}, chunks...)
	if e.ask == nil {
		for i := range out {
			e.apply(&out[i], e.byRules(&out[i], doc.Title), false)
		}
		return out, nil
	}
	err := e.ask.each(ctx, len(out), func(i int) {
		found, err := e.byModel(ctx, &out[i], doc.Title)
		if err != nil {
			e.ask.fellBack(ctx, err)
			found = e.byRules(&out[i], doc.Title)
		}
		e.apply(&out[i], found, err == nil)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// byRules takes everything from the chunk.
func (e *Enrich) byRules(c *rag.Chunk, document string) enrichment {
	sentences := sentencesOf(c.Text)
	found := enrichment{Title: document, Tags: keyphrases(plain(c.Text), e.c.Tags)}
	if n := len(c.Headings); n > 0 {
		found.Title = c.Headings[n-1]
	}
	best := -1
	for _, s := range sentences {
		lower, score := strings.ToLower(s), 0
		for _, tag := range found.Tags {
			if strings.Contains(lower, strings.ToLower(tag)) {
				score++
			}
		}
		if score > best {
			best, found.Summary = score, s
		}
	}
	if found.Title == "" && len(sentences) > 0 {
		found.Title = sentences[0]
	}
	return found
}

const enrichTask = "You describe a passage for a search index, in the language of the passage. Reply with JSON only: {\"title\": a heading of at most ten words, \"tags\": up to %d names or terms that people would search for, \"summary\": one sentence}. Say nothing that the passage does not." + prompt.Guard

var enrichSchema = json.RawMessage(`{"type":"object","properties":{"title":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},"summary":{"type":"string"}},"required":["title","tags","summary"],"additionalProperties":false}`)

// byModel asks the chat model.
func (e *Enrich) byModel(ctx context.Context, c *rag.Chunk, document string) (found enrichment, err error) {
	marks := []string{"title", "headings", "passage"}
	text := prompt.Quote("title", prompt.Line(document, longestTitle), marks...) + prompt.Quote("headings", prompt.Line(strings.Join(c.Headings, separator), longestContext), marks...) + prompt.Quote("passage", c.Text, marks...)
	err = e.ask.ask(ctx, "", question(fmt.Sprintf(enrichTask, e.c.Tags), text, enrichSchema), func(reply string) error {
		found = enrichment{}
		if err := prompt.ReadJSON(reply, &found); err != nil {
			return err
		}
		if oneLine(found.Title, longestTitle) == "" && oneLine(found.Summary, longestSummary) == "" {
			return errors.New("the reply has neither title nor summary")
		}
		return nil
	})
	return found, err
}

// apply writes what was found, without touching metadata that is there.
func (e *Enrich) apply(c *rag.Chunk, found enrichment, generated bool) {
	title, summary := oneLine(found.Title, longestTitle), oneLine(found.Summary, longestSummary)
	var tags []string
	for _, tag := range found.Tags {
		if tag = oneLine(tag, longestTag); tag != "" && len(tags) < e.c.Tags {
			tags = append(tags, tag)
		}
	}
	meta := rag.Meta{}
	for k, v := range c.Meta {
		meta[k] = v
	}
	set := func(name string, value any, ok bool) {
		if _, taken := meta[name]; ok && !taken {
			meta[name] = value
		}
	}
	set(MetaTitle, title, title != "")
	set(MetaTags, tags, len(tags) > 0)
	set(MetaSummary, summary, summary != "")
	c.Meta = meta

	if strings.Contains(c.Context, title) {
		title = ""
	}
	if !generated { // words of the text once more would only shift the weights; see decision 19
		tags, summary = nil, ""
	}
	c.Context = joinLines(c.Context, title, strings.Join(tags, ", "), summary)
}

// plain returns text without the marks of Markdown that stand at the beginning of lines.
func plain(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimLeft(line, "#>*-+ \t"))
	}
	return b.String()
}

// sentencesOf returns the sentences of a text, each on one line: up to a full stop and a blank, or a blank line. Headings
// and tables are none.
func sentencesOf(text string) []string {
	var all []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		paragraph = strings.TrimSpace(paragraph)
		if paragraph == "" || strings.HasPrefix(paragraph, "#") || strings.HasPrefix(paragraph, "|") {
			continue
		}
		one := strings.Join(strings.Fields(plain(paragraph)), " ")
		start := 0
		for i, r := range one {
			end := i + len(string(r))
			if strings.ContainsRune("。！？", r) || strings.ContainsRune(".!?", r) && endsSentence(one[end:]) {
				all = append(all, strings.TrimSpace(one[start:end]))
				start = end
			}
		}
		if rest := strings.TrimSpace(one[start:]); rest != "" {
			all = append(all, rest)
		}
	}
	return all
}

// endsSentence reports whether what follows a full stop begins a sentence: a blank and no lower case letter.
func endsSentence(rest string) bool {
	if rest == "" {
		return true
	}
	after, blank := strings.CutPrefix(rest, " ")
	for _, r := range after {
		return blank && !unicode.IsLower(r)
	}
	return blank
}
