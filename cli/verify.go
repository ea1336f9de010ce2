package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
)

func newVerify(a *app) *cobra.Command {
	var repair bool
	var against string
	var how compareFlags
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Read back and compare catalog and indexes, and repair them",
		Long: `verify reads back all that is held of the collection, texts, pictures, vectors and words, with checksums and references,
and looks for passages that an index has and the catalog has not (orphans), and the other way round (missing). The exit
code is 1 if anything is wrong, or if a run was cut short; with --repair it is put right, and a damaged index built anew.
Documents that the catalog does not hold whole any more are taken out by it and named, which makes the exit code 3: the next
ingest of their sources makes them anew. It measures how much of what an exact search
finds a search of the vectors finds, too, where that is not all, and looks for faults of their index. Documents that were
made with other settings than those in force, or under another domain, are listed as stale: that is no fault, and the next ingest makes them
anew. What a manifest said and the domain does not allow any more is listed with what to do.

With --against it compares the collection with that of another store (see copy for DIR|CONFIG) in place of all this: whether both have
the same documents and passages, and how far the first five passages of sampled questions agree; the exit code is 1 below --overlap.`,
		Example: examples("rag verify", "rag verify --repair", "rag verify --against /home/me/kb2"),
		Args:    exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if repair && against != "" {
				return usagef(cmd, "--repair and --against exclude each other")
			}
			return a.withExistingData(cmd.Context(), func(eng *rag.Engine) error {
				if against != "" {
					return a.against(cmd.Context(), eng, against, &how)
				}
				return a.verify(cmd.Context(), eng, repair)
			})
		},
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "put right what differs")
	cmd.Flags().StringVar(&against, "against", "", "store to compare with: data folder or configuration file")
	how.add(cmd, "the stores")
	return cmd
}

func (a *app) verify(ctx context.Context, eng *rag.Engine, repair bool) error {
	compare := eng.Verify
	if repair {
		compare = eng.Repair
	}
	r, err := compare(ctx, a.collection)
	if err != nil {
		return err
	}
	if err := a.present(r, func() { a.printVerify(r) }); err != nil {
		return err
	}
	after := r
	if r.After != nil {
		after = r.After
	}
	switch {
	case !after.OK:
		return &reported{exitFailed}
	case len(r.Dropped) > 0: // it is sound without them
		return &reported{exitPartial}
	}
	return nil
}

// shownGaps is how many differences of a kind are printed; --json has all.
const shownGaps = 10

// printVerify writes a comparison for a reader.
func (a *app) printVerify(r *rag.VerifyReport) {
	p := a.paint(a.out)
	if r.After != nil { // what was wrong, and then how things stand
		fmt.Fprintf(a.out, "%s: %s\n", p.bold("collection "+visible(r.Collection)), p.yellow("repaired what was found:"))
		a.printFaults(r)
		if r.Unfinished {
			fmt.Fprintln(a.out, "  a run was cut short: what it left is cleared away")
		}
		fmt.Fprintln(a.out, "now:")
		r = r.After
	}
	verdict := p.green("ok")
	if !r.OK {
		verdict = p.red("not ok")
	}
	fmt.Fprintf(a.out, "%s: %s\n", p.bold("collection "+visible(r.Collection)), verdict)
	if len(r.Problems) > 0 { // the rest was not counted
		fmt.Fprintf(a.out, "%s, %s\n", count(r.Documents, "document"), count(r.Chunks, "passage"))
	} else {
		fmt.Fprintf(a.out, "%s, %s, %s, %s\n", count(r.Documents, "document"), count(r.Chunks, "passage"), count(r.Vectors, "vector"), count(r.Postings, "word record"))
	}
	a.printFaults(r)
	switch {
	case r.Unfinished && a.snapshot:
		fmt.Fprintln(a.out, "a run was under way when the snapshot was taken, or was cut short: orphans are what it has not committed, or not cleared away")
	case r.Unfinished:
		fmt.Fprintln(a.out, cutShort(r.Run))
	case !r.OK && r.Mendable():
		fmt.Fprintln(a.out, "`rag verify --repair` puts this right")
	}
}

// printFaults lists what a comparison found.
func (a *app) printFaults(r *rag.VerifyReport) {
	if len(r.Problems) == 0 { // else they were not looked for
		fmt.Fprintf(a.out, "%s, %d missing\n", count(len(r.Orphans), "orphan"), len(r.Missing))
	}
	for _, list := range []struct {
		what string
		gaps []rag.IndexGap
	}{{"orphan", r.Orphans}, {"missing", r.Missing}} {
		for i, gap := range list.gaps {
			if i == shownGaps {
				fmt.Fprintf(a.out, "  … and %d more\n", len(list.gaps)-i)
				break
			}
			fmt.Fprintf(a.out, "  %s in %s: chunk %s\n", list.what, gap.Index, gap.ChunkID)
		}
	}
	for i, stale := range r.Stale {
		if i == shownGaps {
			fmt.Fprintf(a.out, "  … and %d more\n", len(r.Stale)-i)
			break
		}
		fmt.Fprintf(a.out, "  stale %s: %s; the next ingest makes it anew\n", place(stale.URI), visible(stale.Reason))
	}
	for i, u := range r.Unfit {
		if i == shownGaps {
			fmt.Fprintf(a.out, "  … and %d more\n", len(r.Unfit)-i)
			break
		}
		fmt.Fprintf(a.out, "  metadata of %s: %s\n", place(u.URI), visible(u.Message))
	}
	for _, index := range r.Unchecked {
		fmt.Fprintf(a.out, "  the %s index cannot list its records, and was not compared\n", index)
	}
	a.printProblems(r.Problems)
	for _, d := range r.Dropped {
		name := "documents whose names cannot be read"
		if d.URI != "" {
			name = place(d.URI)
		}
		fmt.Fprintf(a.out, "  taken out: %s: %s; ingest its source again\n", name, visible(d.Message))
	}
	a.printRecall(r.Recall)
}

// printProblems lists what is damaged, or was built with other settings.
func (a *app) printProblems(list []rag.Problem) {
	for i, problem := range list {
		if i == shownGaps {
			fmt.Fprintf(a.out, "  … and %d more\n", len(list)-i)
			break
		}
		what := problem.Part
		if problem.URI != "" {
			what += " " + place(problem.URI)
		}
		fmt.Fprintf(a.out, "  %s: %s\n", what, visible(problem.Message))
	}
}

// printRecall tells how much an approximate search finds, and what is wrong with its index.
func (a *app) printRecall(r *rag.Recall) {
	if r == nil {
		return
	}
	fmt.Fprintf(a.out, "recall@%d %.3f over %s\n", r.K, r.Value, count(r.Sampled, "question"))
	if r.Unreachable > 0 {
		fmt.Fprintf(a.out, "  %s that no search finds\n", count(r.Unreachable, "vector"))
	}
	for _, problem := range r.Problems {
		fmt.Fprintf(a.out, "  %s\n", visible(problem))
	}
}

// cutShort tells of a run that was cut short, and of the way out.
func cutShort(run string) string {
	switch run {
	case rag.RunReindex:
		return "a reindex was cut short: the indexes in use are whole; the next ingest, or --repair, clears away what it left"
	case rag.RunDelete:
		return "a delete was cut short: the next ingest, or --repair, clears away what it left; what is still listed was not deleted"
	case rag.RunCopy:
		return "a copy was cut short: the next one goes on; --repair puts right what it left"
	case rag.RunIngest:
		return "an ingest was cut short: the next one finishes it; --repair puts right what it left"
	}
	return "a run was cut short: the next ingest, or --repair, puts right what it left"
}
