package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/config"
	"github.com/seed-d8745b77/rag/internal/datafile"
)

func newInit(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "Make the data folder with a commented configuration",
		Long: `init makes the data folder and writes a rag.yaml into it in which every setting stands with its default and a comment.
It is not needed: without a configuration the defaults hold. A rag.yaml that is there is left alone, and the exit code
is 1.`,
		Example: examples("rag init", "rag init --dir kb"),
		Args:    exactly(0, ""),
		RunE:    func(*cobra.Command, []string) error { return a.init() },
	}
}

// initJSON is what init prints.
type initJSON struct {
	Dir    string `json:"dir"`
	Config string `json:"config"`
}

func (a *app) init() error {
	dir := a.dataDir()
	if err := rag.CheckDataDir(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, datafile.DirMode); err != nil {
		return fmt.Errorf("make data folder: %w", err)
	}
	path := filepath.Join(dir, config.FileName)
	if err := writeNew(path, config.Template()); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s is there already, and is left as it is: %w", visible(path), rag.ErrInvalid)
		}
		return err
	}
	if a.json {
		return a.printJSON(initJSON{Dir: dir, Config: path})
	}
	fmt.Fprintf(a.out, "wrote %s; next: `rag ingest FOLDER`\n", visible(path))
	return nil
}

// writeNew writes a file that must not be there yet: its owner's alone, since it may come to hold a key, or holds what documents say.
func writeNew(path string, content string) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, datafile.FileMode)
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	_, err = f.WriteString(content)
	return err
}
