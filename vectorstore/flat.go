package vectorstore

import (
	"fmt"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/slab"
)

// FlatConfig sets up a [Flat].
type FlatConfig struct {
	Workers int `json:"workers" range:"[0,1024]"` // goroutines a search of a large collection may use; 0: GOMAXPROCS; at least 0
}

// Flat finds the nearest vectors exactly, by comparing the question with every vector whose record matches the filter.
// The vectors lie in memory, about their raw size, and in <dir>/rag.db, in the same records as those of [HNSW]; a
// collection is read at its first use. It is safe for concurrent use, also several stores on one directory.
type Flat struct{ store }

var (
	_ rag.VectorStore   = (*Flat)(nil)
	_ rag.IDLister      = (*Flat)(nil)
	_ rag.Dropper       = (*Flat)(nil)
	_ rag.VectorReader  = (*Flat)(nil)
	_ rag.Fingerprinter = (*Flat)(nil)
)

// OpenFlat opens the vectors in a directory, and makes the directory where it is missing; dir "" keeps them in memory
// only. ErrLocked names the process that has it open; a file that is corrupted, of a newer version or not ours is
// ErrInvalid and stays untouched.
func OpenFlat(dir string, c FlatConfig) (*Flat, error) {
	if c.Workers < 0 {
		return nil, fmt.Errorf("flat: workers is %d, it cannot be below 0: %w", c.Workers, rag.ErrInvalid)
	}
	f := &Flat{store{kind: slab.Float32}}
	if err := f.open(dir, c.Workers); err != nil {
		return nil, err
	}
	return f, nil
}

// Fingerprint names the layout of the stored vectors; the results depend on nothing else.
func (f *Flat) Fingerprint() string { return fmt.Sprintf("flat/%d", layoutVersion) }
