package transform

import (
	"path/filepath"

	"github.com/seed-d8745b77/rag"
)

func init() { Register(rag.Default) }

// Register adds "context" (modes headings and llm), "refine", "enrich", "tables" and "caption" to p. Those that ask a
// chat model ask the engine's, and keep its replies in the data folder.
func Register(p *rag.Providers) {
	p.Transformers.Register("context", rag.Typed(newContext))
	p.Transformers.Register("refine", rag.Typed(func(env rag.Env, c RefineConfig) (rag.Transformer, error) {
		c.Replies = repliesIn(env)
		return made(NewRefine(env.Chat, c))
	}))
	p.Transformers.Register("enrich", rag.Typed(func(env rag.Env, c EnrichConfig) (rag.Transformer, error) {
		c.Replies = repliesIn(env)
		return made(NewEnrich(env.Chat, c))
	}))
	p.Transformers.Register("tables", rag.Typed(func(rag.Env, struct{}) (rag.Transformer, error) { return NewTables(), nil }))
	p.Transformers.Register("caption", rag.Typed(func(env rag.Env, c CaptionConfig) (rag.Transformer, error) {
		c.Replies = repliesIn(env)
		return made(NewCaption(env.Vision, c))
	}))
}

// Headings is the mode of "context" that asks no model.
const Headings = "headings"

// contextSettings are those of "context" in both modes.
type contextSettings struct {
	Mode string `json:"mode"` // Headings or LLM; "": Headings
	SituateConfig
}

func newContext(env rag.Env, c contextSettings) (rag.Transformer, error) {
	switch c.Mode {
	case "", Headings:
		return NewContext(), nil
	case LLM:
		c.Replies = repliesIn(env)
		return made(NewSituate(env.Chat, c.SituateConfig))
	}
	return nil, rag.UnknownName("mode", c.Mode, []string{Headings, LLM})
}

// repliesIn keeps replies in the engine's data folder, if it has one.
func repliesIn(env rag.Env) *Replies {
	if env.Dir == "" {
		return NewReplies("")
	}
	return NewReplies(filepath.Join(env.Dir, "replies"))
}

// made keeps a nil pointer out of the interface.
func made[T rag.Transformer](t T, err error) (rag.Transformer, error) {
	if err != nil {
		return nil, err
	}
	return t, nil
}
