package fusion

import "github.com/seed-d8745b77/rag"

// Register adds the fusers of this room to p: "dbsf", "rrf", "tmm", "weighted" and "zscore".
func Register(p *rag.Providers) {
	p.Fusers.Register("rrf", rag.Typed(func(_ rag.Env, c RRFConfig) (rag.Fuser, error) { return RRF(c) }))
	p.Fusers.Register("dbsf", rag.Typed(func(_ rag.Env, c DBSFConfig) (rag.Fuser, error) { return DBSF(c) }))
	p.Fusers.Register("tmm", rag.Typed(func(_ rag.Env, c TMMConfig) (rag.Fuser, error) { return TMM(c) }))
	p.Fusers.Register("zscore", rag.Typed(func(_ rag.Env, c ZScoreConfig) (rag.Fuser, error) { return ZScore(c) }))
	p.Fusers.Register("weighted", rag.Typed(func(_ rag.Env, c WeightedConfig) (rag.Fuser, error) { return Weighted(c) }))
}

func init() { Register(rag.Default) }
