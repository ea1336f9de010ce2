package trace

import (
	"fmt"

	"github.com/seed-d8745b77/rag"
)

func init() { Register(rag.Default) }

// Register adds "jsonl", which writes to the engine's data directory, and "ring". An engine without a data directory
// keeps the traces of "jsonl" nowhere it could write: that is ErrInvalid.
func Register(p *rag.Providers) {
	p.TraceSinks.Register("jsonl", rag.Typed(func(env rag.Env, c JSONLConfig) (rag.TraceSink, error) {
		if env.Dir == "" {
			return nil, fmt.Errorf("trace sink jsonl needs a data directory: use \"ring\" or \"none\": %w", rag.ErrInvalid)
		}
		sink := NewJSONL(env.Dir, c)
		if env.Now != nil {
			sink.now = env.Now
		}
		return sink, nil
	}))
	p.TraceSinks.Register("ring", rag.Typed(func(_ rag.Env, c RingConfig) (rag.TraceSink, error) {
		return NewRing(c), nil
	}))
}
