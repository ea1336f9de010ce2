package main

import (
	"fmt"

	"github.com/seed-d8745b77/rag"
)

// With these names rag.yaml and rag.Config can ask for the stores. The engine closes what it has made by a factory.
func init() {
	rag.Default.VectorStores.Register("lines", rag.Typed(func(env rag.Env, _ struct{}) (rag.VectorStore, error) {
		if err := writable(env); err != nil {
			return nil, err
		}
		return OpenVectors(env.Dir)
	}))
	rag.Default.SparseIndexes.Register("lines", rag.Typed(func(env rag.Env, _ struct{}) (rag.SparseIndex, error) {
		if err := writable(env); err != nil {
			return nil, err
		}
		return OpenWords(env.Dir)
	}))
}

// writable reports an engine that keeps nothing, and one that only reads while another process writes: a line that is
// being written could be read by halves.
func writable(env rag.Env) error {
	if env.Dir == "" || env.Snapshot != "" {
		return fmt.Errorf("lines needs a data folder of its own: %w", rag.ErrUnsupported)
	}
	return nil
}
