package gse

import (
	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/sparse"
)

// Register adds the sparse index "bm25-gse" to p.
func Register(p *rag.Providers) {
	p.SparseIndexes.Register("bm25-gse", rag.Typed(func(env rag.Env, c sparse.BM25Config) (rag.SparseIndex, error) {
		x, err := Open(env.Dir, c)
		if err != nil {
			return nil, err // not x: a nil *BM25 in an interface is not nil
		}
		return x, nil
	}))
}

func init() { Register(rag.Default) }
