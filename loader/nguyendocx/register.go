package nguyendocx

import (
	"cmp"

	"github.com/seed-d8745b77/rag"
)

// Register adds the loader under the name "nguyendocx" to p, as importing the package does to [rag.Default]. Of two loaders of
// one format the first registered is used, so beside package loader it reads nothing until the configuration says
// "loaders: {docx: none}".
func Register(p *rag.Providers) {
	p.Loaders.Register("nguyendocx", rag.Typed(func(env rag.Env, c Config) (rag.Loader, error) {
		c.MaxUnzipped = cmp.Or(c.MaxUnzipped, env.Ingest.MaxUnpackedBytes)
		return New(c)
	}))
}

func init() { Register(rag.Default) }
