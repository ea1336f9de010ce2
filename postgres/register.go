package postgres

import (
	"context"

	"github.com/seed-d8745b77/rag"
)

// Register adds the providers "postgres" of the slots catalog, vector_store and sparse_index to p; their settings are
// [Config], [VectorConfig] and [SparseConfig].
func Register(p *rag.Providers) {
	// rag.Open has no context to open its providers with; the driver gives up by itself.
	p.Catalogs.Register("postgres", rag.Typed(func(_ rag.Env, c Config) (rag.Catalog, error) {
		made, err := OpenCatalog(context.Background(), c)
		if err != nil {
			return nil, err // not made: a nil pointer in an interface is not nil
		}
		return made, nil
	}))
	p.VectorStores.Register("postgres", rag.Typed(func(_ rag.Env, c VectorConfig) (rag.VectorStore, error) {
		made, err := OpenVectors(context.Background(), c)
		if err != nil {
			return nil, err
		}
		return made, nil
	}))
	p.SparseIndexes.Register("postgres", rag.Typed(func(_ rag.Env, c SparseConfig) (rag.SparseIndex, error) {
		made, err := OpenSparse(context.Background(), c)
		if err != nil {
			return nil, err
		}
		return made, nil
	}))
}

func init() { Register(rag.Default) }
