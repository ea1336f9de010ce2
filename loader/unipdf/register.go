package unipdf

import "github.com/seed-d8745b77/rag"

// Register adds the loader under the name "unipdf". It is not called on import: an engine makes every registered loader,
// and this one cannot be made without a key. Register it in place of loader/pdf, or give it to an engine as an option,
// since of two loaders of one format the first registered is used.
func Register(p *rag.Providers) {
	p.Loaders.Register("unipdf", rag.Typed(func(_ rag.Env, c Config) (rag.Loader, error) { return New(c) }))
}
