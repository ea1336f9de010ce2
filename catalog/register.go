// Package catalog holds the systems of record: bolt, in <dir>/rag.db, and memory, which keeps nothing.
//
//	c, err := catalog.OpenBolt(dir)
//	eng, err := rag.Open(dir, rag.WithCatalog(c))
package catalog

import "github.com/seed-d8745b77/rag"

// Register adds the catalogs "bolt" and "memory" to p. Neither has settings. "bolt" in an engine without a directory is
// "memory"; for a snapshot it copies rag.db, which other rooms keep their data in, too.
func Register(p *rag.Providers) {
	p.Catalogs.Register("bolt", rag.Typed(func(env rag.Env, _ struct{}) (rag.Catalog, error) {
		if env.Dir == "" {
			return NewMemory(), nil
		}
		if env.Snapshot != "" {
			if err := snapshotBolt(env.Snapshot, env.Dir); err != nil {
				return nil, err
			}
		}
		return OpenBolt(env.Dir)
	}))
	p.Catalogs.Register("memory", rag.Typed(func(rag.Env, struct{}) (rag.Catalog, error) {
		return NewMemory(), nil
	}))
}

func init() { Register(rag.Default) }
