package catalog

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/internal/boltkv"
)

var (
	_ rag.Compacter = (*Bolt)(nil)
	_ rag.Copier    = (*Bolt)(nil)
)

// Compact makes rag.db smaller by the space that deleted records left. Reads go on, writes wait.
func (b *Bolt) Compact(ctx context.Context) (freed int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	freed, err = b.db.Compact()
	return freed, kind(err)
}

// CopyTo writes a copy of rag.db as it is now to path, where no file may be, while others read and write. What other
// rooms keep in rag.db is in it.
func (b *Bolt) CopyTo(ctx context.Context, path string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return kind(b.db.CopyTo(path))
}

// snapshotBolt copies the rag.db of a directory, which another process may be writing, into another one.
func snapshotBolt(from, to string) error {
	err := boltkv.Snapshot(from, to)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: %w", err, rag.ErrNotFound)
	}
	return kind(err)
}

// RestoreBolt makes the rag.db of a directory that has none from a copy made by [Bolt.CopyTo], page by page checked. ErrInvalid:
// the directory has one, or the copy is damaged, of a newer version, or none of ours; nothing is left then.
func RestoreBolt(dir, from string) error {
	err := boltkv.Restore(dir, from)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("restore: %w: %w", err, rag.ErrNotFound)
	}
	return kind(err)
}
