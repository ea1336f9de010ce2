package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/catalog"
)

func newCompact(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "compact",
		Short: "Make the data folder smaller by what deleted documents left",
		Long: `compact writes rag.db anew without the space that deleted and replaced documents left. It needs as much room on the disk
as the new file takes. If it is cut short, the old file stays.`,
		Example: examples("rag compact"),
		Args:    exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withExistingData(cmd.Context(), func(eng *rag.Engine) error {
				r, err := eng.Compact(cmd.Context())
				switch {
				case err != nil:
					return err
				case a.json:
					return a.printJSON(r)
				}
				fmt.Fprintf(a.out, "%s freed in %s\n", size(r.FreedBytes), visible(a.dataDir()))
				return nil
			})
		},
	}
}

// backupJSON is what backup --json prints.
type backupJSON struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
}

func newBackup(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Write a copy of all collections to one file",
		Long: `backup writes all collections with their indexes, as they are at one instant, to a file, which must not exist. The
caches and the traces are left out, and so is rag.yaml, which is a file of your own. restore makes a data folder of it.`,
		Example: examples("rag backup rag-2026-03-01.backup"),
		Args:    fileToWrite,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withExistingData(cmd.Context(), func(eng *rag.Engine) error { return a.backup(cmd.Context(), eng, args[0]) })
		},
	}
}

func (a *app) backup(ctx context.Context, eng *rag.Engine, file string) error {
	if err := eng.Backup(ctx, file); err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(backupJSON{file, info.Size()})
	}
	fmt.Fprintf(a.out, "%s: %s; `rag restore` makes a data folder of it\n", visible(file), size(info.Size()))
	return nil
}

// restoreJSON is what restore --json prints.
type restoreJSON struct {
	Dir         string               `json:"dir"`
	OK          bool                 `json:"ok"`
	Collections []restoredCollection `json:"collections"`
}

type restoredCollection struct {
	Name       string `json:"name"`
	Documents  int    `json:"documents"`
	Chunks     int    `json:"chunks"`
	OK         bool   `json:"ok"`
	Unfinished bool   `json:"unfinished"`

	Problems []rag.Problem `json:"problems,omitempty"`
}

func newRestore(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "restore FILE",
		Short: "Make a data folder of a backup, and check it",
		Long: `restore puts a backup into the data folder, which must not have collections yet. The file is checked page by page before
it is taken; then every document, passage and picture is read and the indexes are compared with the catalog, as by verify.`,
		Example: examples("rag restore rag-2026-03-01.backup --dir restored"),
		Args:    exactly(1, "the backup"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := a.settings(); err != nil { // before anything is made
				return err
			}
			if err := rag.CheckDataDir(a.dataDir()); err != nil {
				return err
			}
			err := catalog.RestoreBolt(a.dataDir(), args[0])
			if errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("%s is there already and is not replaced: restore into another folder with --dir, or move that file away if `rag list` shows nothing that you need: %w",
					visible(filepath.Join(a.dataDir(), "rag.db")), rag.ErrInvalid)
			}
			if err != nil {
				return err
			}
			return a.withData(func(eng *rag.Engine) error { return a.checkRestored(cmd.Context(), eng) })
		},
	}
}

// checkRestored reads all that was restored.
func (a *app) checkRestored(ctx context.Context, eng *rag.Engine) error {
	out := restoreJSON{Dir: a.dataDir(), OK: true, Collections: []restoredCollection{}}
	infos, err := eng.Collections(ctx)
	if err != nil {
		return err
	}
	for _, info := range infos {
		rep, err := eng.Verify(ctx, info.Name)
		if err != nil {
			return err
		}
		c := restoredCollection{info.Name, rep.Documents, rep.Chunks, rep.OK, rep.Unfinished, rep.Problems}
		out.OK = out.OK && c.OK
		out.Collections = append(out.Collections, c)
	}
	if a.json {
		err = a.printJSON(out)
	} else {
		a.printRestore(&out)
	}
	if err == nil && !out.OK {
		err = &reported{exitFailed}
	}
	return err
}

// verdict says how the collection came back, and what puts right what is wrong.
func (c *restoredCollection) verdict(p paint) string {
	damaged := func(problem rag.Problem) bool { return !problem.Settings }
	found := rag.VerifyReport{Problems: c.Problems}
	switch {
	case slices.ContainsFunc(c.Problems, damaged) && !found.Mendable():
		return p.red("the backup is damaged: take another")
	case slices.ContainsFunc(c.Problems, damaged):
		return p.red("the backup is damaged in an index; `rag verify --repair` builds that anew")
	case len(c.Problems) > 0:
		return p.red("made with other settings than those in force: use the rag.yaml that it was made with, which a backup leaves out")
	case c.Unfinished:
		return p.yellow("a run was under way when the backup was made; the next ingest, or `rag verify --repair`, finishes it")
	case !c.OK:
		return p.red("the indexes differ from the catalog; `rag verify --repair` puts this right")
	}
	return "ok"
}

// printRestore writes what was restored for a reader.
func (a *app) printRestore(r *restoreJSON) {
	p := a.paint(a.out)
	for _, c := range r.Collections {
		fmt.Fprintf(a.out, "%s: %s, %s, %s\n", p.bold("collection "+visible(c.Name)), count(c.Documents, "document"), count(c.Chunks, "passage"), c.verdict(p))
		a.printProblems(c.Problems)
	}
	fmt.Fprintf(a.out, "restored into %s\n", visible(r.Dir))
}
