package pdf

import (
	"cmp"

	"github.com/seed-d8745b77/rag"
)

// Register adds the loader under the name "pdf".
func Register(p *rag.Providers) {
	p.Loaders.Register("pdf", rag.Typed(func(env rag.Env, c Config) (rag.Loader, error) {
		c.OCR = env.OCR
		c.MaxPages = cmp.Or(c.MaxPages, env.Ingest.MaxPages)
		return New(c)
	}))
}

func init() { Register(rag.Default) }
