package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-d8745b77/rag"
	"github.com/seed-d8745b77/rag/domain"
)

type ingestFlags struct {
	paths    []string
	manifest string
	domain   domainFlag
	force    bool
	prune    bool
	ocr      bool
	dryRun   bool
	watch    bool
	queue    bool

	noManifest bool
	endDomain  bool
	remembered *domain.Domain // by which the manifest is read where no flag names a domain
}

func newIngest(a *app) *cobra.Command {
	var f ingestFlags
	cmd := &cobra.Command{
		Use:   "ingest PATH... | --manifest FILE",
		Short: "Bring a collection up to date with files and folders",
		Long: `ingest reads files, and the files of folders, into a collection. What has not changed since the last time is skipped, a
renamed file is moved, and of a changed file only the changed passages are embedded again. A file that cannot be read
is reported, and the rest goes on. Names that begin with a dot and links are passed over in folders; a link
that leads nowhere or in a circle fails.

With --domain, documents get the metadata and dates that a subject wants. A manifest (JSONL) says what each file is, one a
line; it is checked whole, and every mistake in it reported, before anything is written. The collection remembers the domain,
and each document what a manifest said of it: later ingests and searches need neither. Another --domain takes its place,
--end-domain ends it for all who use the collection; another manifest replaces what it names, --no-manifest drops what manifests said of these files.

With --watch, ingest goes on until it is interrupted: it follows the files and folders, and when something in them has
changed it ingests again, as with --prune. It tells of each time that did something, with --json by one object on a line
of its own. A file that fails is told once, and again when it changes. The data folder stays open; other processes read
it with --snapshot.

With --queue, the files are only listed, and put into a queue in the database, from which any number of workers on any
number of machines ingest them: see worker. What counts is the content that a worker finds.`,
		Example: examples("rag ingest docs", "rag ingest docs --prune --dry-run", "rag ingest docs --watch", "rag ingest docs --domain admissions.yaml --manifest docs/manifest.jsonl", "rag ingest --queue /srv/papers"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.paths = append(args, f.paths...)
			if err := a.checkIngest(cmd, &f); err != nil {
				return err
			}
			switch {
			case f.queue:
				return a.enqueue(cmd.Context(), f)
			case f.watch:
				return a.watch(cmd.Context(), f)
			}
			return a.ingest(cmd.Context(), f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVar(&f.paths, "path", nil, "file or folder, as if given as an argument; may come several times")
	f.domain.addOwn(cmd, "which metadata documents have, and when they are in force", "")
	flags.BoolVar(&f.endDomain, "end-domain", false, "the collection has no domain from now on, for all who use it; what manifests said stays as plain metadata")
	flags.StringVar(&f.manifest, "manifest", "", "file that says of each file what it is (JSONL); without PATH it names the files")
	flags.BoolVar(&f.noManifest, "no-manifest", false, "drop what manifests said of these files before")
	flags.BoolVar(&f.force, "force", false, "read again also what has not changed")
	flags.BoolVar(&f.prune, "prune", false, "remove documents of these folders whose file is gone")
	addOCR(cmd, &f.ocr)
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would be done, and do nothing")
	flags.BoolVar(&f.watch, "watch", false, "go on, and ingest again when something has changed, until interrupted")
	flags.BoolVar(&f.queue, "queue", false, "only put the files into a queue, for workers to ingest")
	return cmd
}

// checkIngest refuses flags that do not go together, and finds out by which domain a manifest is read.
func (a *app) checkIngest(cmd *cobra.Command, f *ingestFlags) error {
	if f.manifest != "" && f.domain.file == "" {
		var err error
		if f.remembered, err = a.remembered(cmd.Context()); err != nil {
			return err
		}
	}
	switch {
	case f.domain.none():
		return usagef(cmd, "--domain none leaves the rules out of a question, and an ingest follows the collection's domain: leave the flag out, or end the domain for all who use the collection with --end-domain")
	case f.endDomain && (f.domain.file != "" || f.manifest != ""):
		return usagef(cmd, "--end-domain does not go with --domain or --manifest, which need one")
	case f.manifest != "" && f.remembered == nil && f.domain.file == "":
		return usagef(cmd, "--manifest needs --domain, which says what a manifest may hold")
	case f.manifest != "" && f.noManifest:
		return usagef(cmd, "--manifest and --no-manifest exclude each other")
	case f.queue && f.noManifest:
		return usagef(cmd, "--queue does not go with --no-manifest: an ingest without --queue drops what manifests said")
	case len(f.paths) == 0 && f.manifest == "":
		return usagef(cmd, "no file or folder given")
	case len(f.paths) == 0 && f.prune:
		return usagef(cmd, "--prune removes documents of folders whose file is gone, and a manifest alone names files: name its folder too, such as %s", filepath.Dir(f.manifest))
	case f.watch && (f.dryRun || f.force):
		return usagef(cmd, "--watch does not go with --dry-run or --force")
	case f.queue && (f.watch || f.dryRun || f.force || f.prune || f.ocr):
		return usagef(cmd, "--queue does not go with --watch, --dry-run, --force, --prune or --ocr: workers read what is new or has changed, and an ingest without --queue prunes")
	}
	return nil
}

func (a *app) ingest(ctx context.Context, f ingestFlags) error {
	if f.prune && !slices.ContainsFunc(f.paths, mayBeFolder) {
		a.note("--prune removes documents of folders whose file is gone, and no folder is named")
	}
	req, err := a.request(f)
	if err != nil {
		return err
	}
	return a.ingestInto(ctx, req, f.ocrChanges()...)
}

// mayBeFolder reports whether a path is no file that is there.
func mayBeFolder(path string) bool {
	st, err := os.Stat(path)
	return err != nil || st.IsDir()
}

// ingestInto runs an ingest over the data that open opens, and tells what it did. A dry run makes no data folder.
func (a *app) ingestInto(ctx context.Context, req rag.IngestRequest, changes ...change) error {
	open := a.withDataToFill
	if _, err := os.Stat(a.dataDir()); req.DryRun && errors.Is(err, os.ErrNotExist) {
		open = func(_ context.Context, use func(*rag.Engine) error, changes ...change) error {
			return a.withScratchData(use, changes...)
		}
	}
	return open(ctx, func(eng *rag.Engine) error {
		report, err := a.runIngest(ctx, eng, req)
		if err != nil && !errors.Is(err, rag.ErrPartial) {
			return err
		}
		if err := a.present(report, func() { a.printIngest(a.out, report) }); err != nil {
			return err
		}
		if err != nil {
			return &reported{ingestCode(report)}
		}
		return nil
	}, changes...)
}

// runIngest ingests and shows progress.
func (a *app) runIngest(ctx context.Context, eng *rag.Engine, req rag.IngestRequest) (*rag.IngestReport, error) {
	bar := a.progress()
	req.Progress = bar.step
	report, err := eng.Ingest(ctx, req)
	bar.clear()
	if errors.Is(err, context.Canceled) {
		err = fmt.Errorf("every document has its whole old or its whole new version, and the next ingest finishes the work: %w", err)
	}
	return report, err
}

// ingestCode is the exit code of an ingest in which sources failed.
func ingestCode(r *rag.IngestReport) int {
	if r.Added+r.Updated+r.Moved+r.Unchanged+r.Deleted == 0 {
		return exitFailed
	}
	return exitPartial
}

// printIngest writes what an ingest did, or would do, for a reader.
func (a *app) printIngest(w io.Writer, r *rag.IngestReport) {
	p := a.paint(w)
	for _, item := range r.Plan {
		if item.Action == "unchanged" && !a.verbose {
			continue
		}
		fmt.Fprintf(w, "%s %s  %s\n", p.cyan(fmt.Sprintf("%-6s", item.Action)), place(item.URI), p.dim(a.planReason(item)))
	}
	title := "collection " + visible(r.Collection)
	if r.DryRun {
		title += ", nothing was done"
	}
	var parts []string
	for _, n := range []struct {
		n    int
		what string
	}{{r.Added, "added"}, {r.Updated, "updated"}, {r.Moved, "moved"}, {r.Unchanged, "unchanged"}, {r.Deleted, "deleted"},
		{r.Empty, "empty"}, {r.Partial, "partial"}, {len(r.Skipped), "skipped"}} {
		if n.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n.n, n.what))
		}
	}
	if len(r.Failed) > 0 {
		parts = append(parts, p.red(fmt.Sprintf("%d failed", len(r.Failed))))
	}
	if len(parts) == 0 {
		parts = append(parts, "no file to ingest")
	}
	fmt.Fprintf(w, "%s: %s\n", p.bold(title), strings.Join(parts, ", "))
	a.printDomain(w, r.Domain)
	if r.Domain != nil && r.Domain.Export != "" {
		fmt.Fprintf(w, "%s the documents have the metadata of the export's domain (%s) until their files are ingested here: searches may not find them\n", p.yellow("warning"), visible(r.Domain.Export))
	}
	if r.Gone > 0 {
		fmt.Fprintf(w, "%s: `--prune` removes %s\n", p.yellow(fmt.Sprintf("%d gone", r.Gone)), pronoun(r.Gone))
	}
	if r.Kept > 0 {
		fmt.Fprintf(w, "metadata of %s as an earlier ingest was given it, such as by a manifest\n", count(r.Kept, "document"))
	}
	if !r.DryRun && r.Chunks != (rag.ChunkCounts{}) {
		fmt.Fprintf(w, "passages: %d new, %d reused, %d removed, %d embedded", r.Chunks.New, r.Chunks.Reused, r.Chunks.Removed, r.Embedded)
		if r.Cached > 0 {
			fmt.Fprintf(w, ", %d from the cache", r.Cached)
		}
		fmt.Fprintf(w, "; %.1f s\n", float64(r.ElapsedMS)/1000)
	}
	if r.Truncated > 0 {
		fmt.Fprintf(w, "%s longer than the model's window: the end was not seen by the vectors\n", count(r.Truncated, "passage"))
	}
	for _, s := range r.Steps {
		printStep(w, p, s)
	}
	a.printRemarks(w, r)
}

// pronoun stands for n things.
func pronoun(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// printDomain says whose rules the documents follow.
func (a *app) printDomain(w io.Writer, d *rag.DomainUse) {
	switch {
	case d == nil, d.Name == "" && d.Was == "" && d.Asked == "":
	case d.Asked != "":
		fmt.Fprintf(w, "nothing was ingested, so the domain of the collection stays %s (%s was asked for)\n", visible(cmp.Or(d.Name, rag.None)), visible(d.Asked))
	case d.Name == "":
		fmt.Fprintf(w, "no domain any more (it was %s: documents that this ingest did not read keep what it made of them until they are ingested again)\n", visible(d.Was))
	case d.Was != "":
		fmt.Fprintf(w, "domain %s (it was %s: documents that this ingest did not read follow that until they are ingested again)\n", visible(d.Name), visible(d.Was))
	case d.Remembered:
		fmt.Fprintf(w, "domain %s (remembered)\n", visible(d.Name))
	default:
		fmt.Fprintf(w, "domain %s\n", visible(d.Name))
	}
}

// printStep writes what a transformer counted.
func printStep(w io.Writer, p paint, s rag.StepCount) {
	var parts []string
	for _, n := range []struct {
		n    int
		what string
	}{{s.Calls, "calls of the chat model"}, {s.Cached, "replies kept from earlier ingests"}, {s.Fallbacks, "without an answer"}, {s.Skipped, "not worked on"}, {s.Dropped, "passages left out"}} {
		if n.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n.n, n.what))
		}
	}
	line := visible(s.Step) + ": " + strings.Join(parts, ", ")
	if s.Reason != "" {
		line = p.yellow(line) + ": " + visible(message(s.Reason))
	}
	fmt.Fprintln(w, line)
}

// planReason is a plan's reason with the URI in it shown as a path.
func (a *app) planReason(item rag.PlanItem) string {
	const was = "was "
	if item.Action == "move" && len(item.Reason) > len(was) {
		return was + place(item.Reason[len(was):])
	}
	if item.Action == "gone" {
		return "the file is gone; --prune deletes the document"
	}
	return item.Reason
}

// shownSkipped is how many skipped files are listed without --verbose.
const shownSkipped = 10

// printRemarks lists what was skipped, what was lost, and what failed.
func (a *app) printRemarks(w io.Writer, r *rag.IngestReport) {
	p := a.paint(w)
	for i, n := range r.Skipped {
		if i == shownSkipped && !a.verbose {
			fmt.Fprintf(w, "%s and %d more (--verbose lists all)\n", p.yellow("skipped"), len(r.Skipped)-i)
			break
		}
		fmt.Fprintf(w, "%s %s: %s\n", p.yellow("skipped"), place(n.URI), visible(n.Message))
	}
	for _, n := range r.Warnings {
		fmt.Fprintf(w, "%s %s: %s\n", p.yellow("warning"), place(n.URI), visible(n.Message))
	}
	for _, f := range r.Failed {
		fmt.Fprintf(w, "%s %s: %s: %s\n", p.red("failed"), place(f.URI), f.Stage, visible(message(f.Error)))
	}
}
