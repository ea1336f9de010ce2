package transform

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/prompt"
)

// RefineConfig sets up a [Refine].
type RefineConfig struct {
	Mode            string `json:"mode"`             // Rules or LLM; "": Rules
	KeepBoilerplate bool   `json:"keep_boilerplate"` // leave no chunk out
	LLMConfig
}

// Refine is the transformer "refine". A chunk's text is what the document says and stays as it is; what layout broke in it
// is mended beside it: words that a line end, a soft hyphen or spaced letters took apart go whole into the Context, so
// that they are found. Chunks that say nothing, such as page numbers, dotted tables of contents, copyright lines and the
// links around a web page, are left out, unless nothing else would be left. Mode LLM asks a chat model for the broken
// words that no rule sees, and takes only those whose letters stand in the text. It is safe for concurrent use.
type Refine struct {
	c   RefineConfig
	ask *asker // nil by rules
}

var (
	_ rag.Transformer   = (*Refine)(nil)
	_ rag.Fingerprinter = (*Refine)(nil)
)

// NewRefine returns the transformer; mode LLM needs a chat model.
func NewRefine(model rag.ChatModel, c RefineConfig) (*Refine, error) {
	if c.Mode == "" {
		c.Mode = Rules
	}
	if err := checkMode(c.Mode); err != nil {
		return nil, err
	}
	r := &Refine{c: c}
	if c.Mode == Rules {
		return r, nil
	}
	var err error
	if r.ask, err = newAsker("refine", refineTask, model, c.LLMConfig); err != nil {
		return nil, err
	}
	return r, nil
}

// Fingerprint names rules and settings, and prompt and model if one is asked.
func (r *Refine) Fingerprint() string {
	name := "refine/rules/v1"
	if r.ask != nil {
		name = r.ask.name
	}
	return fmt.Sprintf("%s/%t", name, r.c.KeepBoilerplate)
}

// longestMended is the most of a Context that mended words take.
const longestMended = 400

// Transform refines the chunks. Its error is that of ctx.
func (r *Refine) Transform(ctx context.Context, _ rag.Document, chunks []rag.Chunk) ([]rag.Chunk, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := r.withoutBoilerplate(ctx, chunks)
	mend := func(i int) {
		words := brokenWords(out[i].Text)
		if r.ask != nil {
			more, err := r.byModel(ctx, out[i].Text)
			if err != nil {
				r.ask.fellBack(ctx, err)
			}
			words = append(words, more...)
		}
		out[i].Context = joinLines(out[i].Context, oneLine(strings.Join(unique(words), " "), longestMended))
	}
	if r.ask != nil {
		if err := r.ask.each(ctx, len(out), mend); err != nil {
			return nil, err
		}
		return out, nil
	}
	for i := range out {
		mend(i)
	}
	return out, nil
}

// withoutBoilerplate returns a list of its own of the chunks that say or show something.
func (r *Refine) withoutBoilerplate(ctx context.Context, chunks []rag.Chunk) []rag.Chunk {
	var kept []rag.Chunk
	for _, c := range chunks {
		if r.c.KeepBoilerplate || len(c.Images) > 0 || !isBoilerplate(c.Text) {
			kept = append(kept, c)
		}
	}
	if len(kept) == 0 {
		return append([]rag.Chunk{}, chunks...)
	}
	if n := len(chunks) - len(kept); n > 0 {
		rag.StepsOf(ctx).Count(rag.StepCount{Step: "refine", Dropped: n})
	}
	return kept
}

const refineTask = "You are shown a passage that was taken from a printed page. List the words in it that the layout broke apart or ran together, each as it is written properly. Do not correct, translate or add anything. Reply with JSON only: {\"words\": [\"…\"]}, with an empty list if there are none." + prompt.Guard

var refineSchema = json.RawMessage(`{"type":"object","properties":{"words":{"type":"array","items":{"type":"string"}}},"required":["words"],"additionalProperties":false}`)

// byModel returns the words that a chat model sees and whose letters, in this order, stand in the text.
func (r *Refine) byModel(ctx context.Context, text string) ([]string, error) {
	var words []string
	letters := onlyLetters(text)
	err := r.ask.ask(ctx, "", question(refineTask, prompt.Quote("passage", text), refineSchema), func(reply string) error {
		var found struct{ Words []string }
		if err := prompt.ReadJSON(reply, &found); err != nil {
			return err
		}
		words = nil
		for _, w := range found.Words {
			if l := onlyLetters(w); l != "" && strings.Contains(letters, l) && !strings.Contains(text, w) {
				words = append(words, w)
			}
		}
		return nil
	})
	return words, err
}

// onlyLetters returns the letters and digits of a text in lower case.
func onlyLetters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// unique returns the words that come first among equal ones.
func unique(words []string) []string {
	seen := map[string]bool{}
	var list []string
	for _, w := range words {
		if !seen[w] {
			seen[w] = true
			list = append(list, w)
		}
	}
	return list
}
