package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
)

// exportJSON is what export --json prints.
type exportJSON struct {
	rag.ExportReport
	File string `json:"file"`
}

func newExport(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "export FILE",
		Short: "Write a collection's documents as lines of JSON",
		Long: `export writes the documents of a collection, with text, outline, pages, metadata, dates and pictures, to a file (JSONL),
which must not exist. import takes it into another collection or data folder, under another model if need be, without
the sources. Passages and vectors are left out: to keep them, make a backup.`,
		Example: examples("rag export handbook.jsonl", "rag export handbook.jsonl --collection handbook"),
		Args:    fileToWrite,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withExistingData(cmd.Context(), func(eng *rag.Engine) error { return a.export(cmd.Context(), eng, args[0]) })
		},
	}
}

func (a *app) export(ctx context.Context, eng *rag.Engine, file string) error {
	out, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s is there already and is not replaced: %w", file, rag.ErrInvalid)
	}
	if err != nil {
		return err
	}
	rep, err := eng.Export(ctx, a.collection, out)
	if err = errors.Join(err, out.Close()); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	if a.json {
		return a.printJSON(exportJSON{*rep, file})
	}
	fmt.Fprintf(a.out, "%s: %s, %s\n", visible(file), count(rep.Documents, "document"), count(rep.Images, "picture"))
	return nil
}

func newImport(a *app) *cobra.Command {
	var force, dryRun bool
	var follow string
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Take in the documents of an export",
		Long: `import takes the documents of an export into a collection, splits and embeds them as they would be after reading their
sources. Documents of the same URI are replaced, unchanged ones are skipped, none is removed. The file is checked
whole, and every mistake in it reported, before anything is written. It prints what ingest prints.

A new collection takes the domain of the export over. One that is there and has another domain, or none where the export
has one, is refused unless --follow says whose rules hold from now on: the documents come with the metadata of theirs, by
which searches under the other may not find them, until their files are ingested here.`,
		Example: examples("rag import handbook.jsonl --collection handbook"),
		Args:    exactly(1, "the export"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if follow != "" && follow != rag.FollowCollection && follow != rag.FollowExport {
				return usagef(cmd, "--follow %q: it must be %s or %s", follow, rag.FollowCollection, rag.FollowExport)
			}
			set, err := rag.Exported(args[0])
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			req := rag.IngestRequest{Collection: a.collection, Sources: []rag.Sources{set}, Follow: follow, Force: force, DryRun: dryRun}
			return a.ingestInto(cmd.Context(), req)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&follow, "follow", "", "where the export and the collection have different domains, whose holds from now on: collection or export")
	cmd.Flags().BoolVar(&force, "force", false, "take in also what has not changed")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "say what would be done, and do nothing")
	return cmd
}
