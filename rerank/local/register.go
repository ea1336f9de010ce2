package local

import (
	"cmp"

	"github.com/seed-d8745b77/rag"
)

// Register adds the reranker "local" to p. Its model_dir is the configuration's unless its settings name another.
func Register(p *rag.Providers) {
	p.Rerankers.Register("local", rag.Typed(func(env rag.Env, c Config) (rag.Reranker, error) {
		c.ModelDir = cmp.Or(c.ModelDir, env.ModelDir)
		return New(c)
	}))
}

func init() { Register(rag.Default) }
