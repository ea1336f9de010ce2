package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
)

func newReindex(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "reindex",
		Short: "Build a collection's indexes anew, for another model or word index",
		Long: `reindex makes the vectors and the word index of a collection anew from the stored passages, with the embedder and the
word index that are configured now. Searches of the process that reindexes, as of a program that serves them, read the
old indexes until the new ones are whole. Other processes are locked out of the data folder until it is done, this
command's searches among them. A reindex that is cut short changes nothing. The sources are not needed. Passages stay cut as they are: to cut them anew, ingest with --force.`,
		Example: examples("rag reindex", "rag reindex --collection handbook"),
		Args:    exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withExistingData(cmd.Context(), func(eng *rag.Engine) error { return a.reindex(cmd.Context(), eng) })
		},
	}
}

func (a *app) reindex(ctx context.Context, eng *rag.Engine) error {
	bar := a.progress()
	r, err := eng.Reindex(ctx, rag.ReindexRequest{Collection: a.collection, Progress: bar.step})
	bar.clear()
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("the old indexes stay: %w", err)
	}
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(r)
	}
	a.printReindex(r)
	return nil
}

// printReindex writes what a reindex did for a reader.
func (a *app) printReindex(r *rag.ReindexReport) {
	p := a.paint(a.out)
	fmt.Fprintf(a.out, "%s: %s, %s: %d embedded, %d cached, %d reused; %.1f s\n", p.bold("collection "+visible(r.Collection)),
		count(r.Documents, "document"), count(r.Chunks, "passage"), r.Embedded, r.Cached, r.Reused, float64(r.ElapsedMS)/1000)
	for _, part := range []struct{ what, before, after string }{
		{"embedder", r.Before.Embedder, r.After.Embedder}, {"word index", r.Before.Sparse, r.After.Sparse},
	} {
		if part.before != part.after {
			fmt.Fprintf(a.out, "%s: %s, before: %s\n", part.what, visible(builtBy(part.after)), visible(builtBy(part.before)))
		}
	}
	if r.Truncated > 0 {
		fmt.Fprintf(a.out, "%s longer than the model's window: the end was not seen by the vectors\n", count(r.Truncated, "passage"))
	}
}

// builtBy is a fingerprint for a reader.
func builtBy(fingerprint string) string {
	if fingerprint == "" {
		return rag.None
	}
	return fingerprint
}
