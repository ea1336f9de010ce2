package access

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/seed-d8745b77/rag"
)

// Folder is data in a folder, opened when it is first needed. With write it is held open, which no other process may then do;
// without, it is read as a snapshot, and again whenever another process has written: any number of servers, and an ingest
// beside them, work on one folder.
func Folder(dir string, write bool, log *slog.Logger, opts ...rag.Option) *Following {
	if write {
		return Follow(func(context.Context) (*rag.Engine, error) { return rag.Open(dir, opts...) }, func() string { return "" }, log)
	}
	open := func(context.Context) (*rag.Engine, error) {
		eng, err := rag.Open(dir, append([]rag.Option{rag.WithSnapshot()}, opts...)...)
		if _, gone := os.Stat(dir); err != nil && errors.Is(gone, fs.ErrNotExist) {
			return nil, fmt.Errorf("nothing has been ingested into %[1]s yet: run `rag ingest FOLDER --dir %[1]s`: %[2]w", dir, rag.ErrNotFound)
		}
		return eng, err
	}
	return Follow(open, func() string { return stampOf(filepath.Join(dir, dataFile)) }, log)
}

// dataFile is what every commit changes; see docs/formats.md.
const dataFile = "rag.db"

// stampOf changes when a file does.
func stampOf(file string) string {
	st, err := os.Stat(file)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %d", st.Size(), st.ModTime().UnixNano())
}
