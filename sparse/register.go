package sparse

import "github.com/seed-d8745b77/rag"

// Register adds the sparse indexes of this room to p: "bm25".
func Register(p *rag.Providers) {
	p.SparseIndexes.Register("bm25", rag.Typed(func(env rag.Env, c BM25Config) (rag.SparseIndex, error) {
		x, err := OpenBM25(env.Dir, c)
		if err != nil {
			return nil, err // not x: a nil *BM25 in an interface is not nil
		}
		return x, nil
	}))
}

func init() { Register(rag.Default) }
