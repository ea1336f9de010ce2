package loader

import (
	"cmp"

	"github.com/seed-d8745b77/rag"
)

func init() { Register(rag.Default) }

// Register adds the loaders of this package to p, in the order in which the engine asks them.
func Register(p *rag.Providers) {
	p.Loaders.Register("markdown", rag.Typed(func(_ rag.Env, cfg MarkdownConfig) (rag.Loader, error) { return NewMarkdown(cfg) }))
	p.Loaders.Register("html", rag.Typed(func(_ rag.Env, cfg HTMLConfig) (rag.Loader, error) { return NewHTML(cfg) }))
	p.Loaders.Register("docx", rag.Typed(func(env rag.Env, cfg DOCXConfig) (rag.Loader, error) {
		cfg.MaxUnzipped = cmp.Or(cfg.MaxUnzipped, env.Ingest.MaxUnpackedBytes)
		return NewDOCX(cfg)
	}))
	p.Loaders.Register("pptx", rag.Typed(func(env rag.Env, cfg PPTXConfig) (rag.Loader, error) {
		cfg.MaxUnzipped = cmp.Or(cfg.MaxUnzipped, env.Ingest.MaxUnpackedBytes)
		return NewPPTX(cfg)
	}))
	p.Loaders.Register("xlsx", rag.Typed(func(env rag.Env, cfg XLSXConfig) (rag.Loader, error) {
		cfg.MaxUnzipped = cmp.Or(cfg.MaxUnzipped, env.Ingest.MaxUnpackedBytes)
		return NewXLSX(cfg)
	}))
	p.Loaders.Register("epub", rag.Typed(func(env rag.Env, cfg EPUBConfig) (rag.Loader, error) {
		cfg.MaxUnzipped = cmp.Or(cfg.MaxUnzipped, env.Ingest.MaxUnpackedBytes)
		return NewEPUB(cfg)
	}))
	p.Loaders.Register("eml", rag.Typed(func(_ rag.Env, cfg EMLConfig) (rag.Loader, error) { return NewEML(cfg) }))
	p.Loaders.Register("csv", rag.Typed(func(_ rag.Env, cfg CSVConfig) (rag.Loader, error) { return NewCSV(cfg) }))
	p.Loaders.Register("json", rag.Typed(func(_ rag.Env, cfg JSONConfig) (rag.Loader, error) { return NewJSON(cfg) }))
	p.Loaders.Register("notebook", rag.Typed(func(_ rag.Env, cfg NotebookConfig) (rag.Loader, error) { return NewNotebook(cfg) }))
	p.Loaders.Register("code", rag.Typed(func(_ rag.Env, cfg CodeConfig) (rag.Loader, error) { return NewCode(cfg) }))
	p.Loaders.Register("text", rag.Typed(func(_ rag.Env, cfg TextConfig) (rag.Loader, error) { return NewText(cfg) }))
}
